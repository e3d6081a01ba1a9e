"""A mutated page is made of its seed and number alone, and no longer than a bound."""

from __future__ import annotations

from research.benchmarks.fuzz import source_pages
from research.benchmarks.mutations import LENGTHS, MOST_GROWTH, mutant


def test_a_page_depends_on_seed_and_number_alone() -> None:
    pages = [*source_pages(None), "<p>one two " * 50_000, "", "<", "\ud800"]
    made = [mutant(pages, 1, number) for number in range(200)]

    assert made == [mutant(pages, 1, number) for number in range(200)]
    assert len({each.html for each in made}) > 150
    assert mutant(pages, 2, 0) != made[0]
    assert max(len(each.html) for each in made) <= MOST_GROWTH * max(LENGTHS)
