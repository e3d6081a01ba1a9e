from __future__ import annotations

import multiprocessing
from dataclasses import asdict
from typing import Any

import pytest

from research.bench.runner import Plan, Rows, Split, run, splits
from research.datasets.pages import Dataset, LabelledPage
from tests.research.bench.fakes import create, page, pages

TIMES = {"ms", "lxml_ms"}


def dataset(name: str, given: tuple[LabelledPage, ...]) -> Dataset:
    return Dataset(name, name, given)


def sites(given: tuple[LabelledPage, ...]) -> set[str]:
    return {each.site for each in given}


def asked_of(split: Split) -> tuple[LabelledPage, ...]:
    return tuple(place.page for place in split.test)


def test_folds_test_every_page_once_and_learn_from_no_site_they_test() -> None:
    whole = pages(sites=7)

    found = splits([dataset("t", whole)], [], 3)

    assert sorted(each.id for split in found for each in asked_of(split)) == sorted(
        each.id for each in whole
    )
    for split in found:
        assert sites(asked_of(split)).isdisjoint(sites(split.train))
        assert sites(asked_of(split)) | sites(split.train) == sites(whole)


def test_training_sets_come_without_the_sites_of_any_test_set() -> None:
    tests = [dataset("t", pages(2)), dataset("u", (page(1, "z.example"),))]
    trains = [dataset("s", (*pages(4), page(5, "z.example")))]

    (whole,) = splits(tests, trains, None)
    folded = splits(tests[:1], trains, 2)

    assert sites(whole.train) == {"c.example", "d.example"}
    assert all({"c.example", "d.example", "z.example"} < sites(split.train) for split in folded)


def test_only_articles_and_pages_of_no_type_teach() -> None:
    given = tuple(page(n, f"{n}.example", page_type=kind) for n, kind in KINDS)

    (split,) = splits([dataset("t", (page(9),))], [dataset("s", given)], None)

    assert [each.page_type for each in split.train] == ["article", None]


KINDS: list[tuple[int, str | None]] = [(0, "article"), (1, None), (2, "forum")]


def plan(*systems: str) -> Plan:
    """Two sets in three folds each, for these systems."""
    sets = [dataset("t", pages(3)), dataset("u", pages(4))]
    return Plan(systems, tuple(splits(sets, [], 3)), create)


def untimed(rows: Rows) -> dict[tuple[int, str], list[dict[str, Any]]]:
    return {
        key: [{k: v for k, v in asdict(row).items() if k not in TIMES} for row in each]
        for key, each in rows.items()
    }


def quiet(_pages: int, _system: str) -> None:
    """Nobody watches."""


def test_systems_learn_from_the_other_folds() -> None:
    """All pages share all words but their number, and each number is on another site too."""
    rows = run(plan("vocabulary"), quiet)[0, "vocabulary"]

    assert {row.f1 for row in rows} == {1.0}


def test_a_system_that_cannot_learn_does_not_end_the_run() -> None:
    rows = run(plan("unteachable", "paragraphs"), quiet)

    errors = {row.error for row in rows[0, "unteachable"]}
    assert errors == {"fit: RuntimeError: 4 examples are not enough"}
    assert {row.f1 for row in rows[0, "unteachable"]} == {0.0}
    assert {row.error for row in rows[0, "paragraphs"]} == {None}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_two_processes_give_the_rows_of_one(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this platform has no {method}")
    work = plan("vocabulary", "fragile", "common")
    counted: list[int] = []

    alone = run(work, quiet)
    context = multiprocessing.get_context(method)
    together = run(work, lambda n, _: counted.append(n), jobs=2, context=context)

    assert untimed(together) == untimed(alone)
    assert list(together) == list(alone)
    assert sum(counted) == 3 * (6 + 8)
