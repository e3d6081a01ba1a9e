"""Mutators change pages, each for its number always in the same way."""

from __future__ import annotations

from random import Random

import pytest

from research.benchmarks.fuzz import source_pages
from research.benchmarks.mutations import LENGTHS, MOST_GROWTH, MUTATORS, mutant

PAGE = """<html><head><title>Rain</title></head><body><div class="story" id=a><p>It rained for a
day, and then for another.</p> <p>Nobody "was" wet.</p></div></body></html>"""
OTHER = "<ul><li>One <li>two</ul>"


@pytest.mark.parametrize("name", MUTATORS)
@pytest.mark.parametrize("page", ["", "<", "a", "<p>", "\ud800"])
def test_every_mutator_takes_any_page(name: str, page: str) -> None:
    for seed in range(10):
        assert isinstance(MUTATORS[name](page, OTHER, Random(seed)), str)  # noqa: S311


def test_a_page_depends_on_seed_and_number_alone() -> None:
    pages = source_pages(None)
    made = [mutant(pages, 1, number) for number in range(20)]

    assert made == [mutant(pages, 1, number) for number in range(20)]
    assert len({each.html for each in made}) == 20
    assert mutant(pages, 2, 0) != made[0]


def test_pages_have_a_bound() -> None:
    made = [mutant(["<p>one two " * 50_000], 1, number) for number in range(50)]

    assert max(len(each.html) for each in made) <= MOST_GROWTH * max(LENGTHS)
