"""Leave one set out: who learns from what, and what the tables say of it."""

from __future__ import annotations

from dataclasses import replace

from research.bench.loso import folds, left_out
from research.training.cases import Case
from research.training.sets import OTHERS
from scrapy_mss.blocks.page import Page
from tests.research.bench.fakes import page as labelled


def case(dataset: str, site: str, url: str | None = None) -> Case:
    return Case(dataset, replace(labelled(0, site), url=url), Page.of("<p>One line.</p>"), ())


CASES = (
    *(case("one", "a.org"), case("one", "b.org"), case("two", "B.org")),
    *(case("two", "c.org"), case("three", "publisher", "https://news.a.org/1")),
)


def test_a_model_knows_neither_the_set_nor_its_sites() -> None:
    known = [[CASES.index(each) for each in split.known] for split in left_out(CASES)]

    # b.org is in both sets, written in two ways; the publisher's page is one of a.org.
    assert known == [[3], [0, 4], [1, 2, 3]]


def test_other_pages_are_learned_from_but_for_the_sites_of_the_set_and_never_asked_about() -> None:
    others = (case(OTHERS, "b.org"), case(OTHERS, "d.org"))

    known = [[each for each in split.known if each in others] for split in left_out(CASES, others)]
    assert known == [[others[1]], [others[1]], [*others]]
    for splits in (left_out(CASES, others), folds(CASES, others)):
        asked = []
        for split in splits:
            asked += split.asked
            sites = {CASES[i].labelled.site for i in split.asked}
            assert not [each for each in split.known if each.labelled.site in sites]
        assert sorted(asked) == list(range(len(CASES)))
