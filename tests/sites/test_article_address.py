from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites.address_counts import MIN_PAGES, AddressCounts, guess, with_address
from tests.helpers.memories import NOW

NOTHING = AddressCounts()
ARTICLES = [
    "/2024/03/26/storm-over-the-harbour",
    "/news/story-of-the-storm-100040",
    "/news/1234567",
]
OTHERS = [
    "/",
    "/tag/storm",
    "/author/ann-lee",
    "/login",
    "/news",
    "/section/council",
    "/a/photo.jpg",
]


def known(path: str, n_pages: int, *, is_article: bool) -> AddressCounts:
    """A site with so many pages at addresses like *path*, in which {n} is a number."""
    pages = [
        AddressCounts.of(f"http://a.example{path.format(n=n)}", float(is_article), NOW)
        for n in range(n_pages)
    ]
    return reduce(AddressCounts.plus, pages, NOTHING)


def probability(path: str, counts: AddressCounts = NOTHING) -> float:
    return guess(f"http://www.a.example{path}", counts).probability


def test_without_a_memory_addresses_of_articles_are_told_from_others() -> None:
    assert min(map(probability, ARTICLES)) > 0.5 > max(map(probability, OTHERS))


@pytest.mark.parametrize("is_article", [True, False])
def test_what_pages_at_such_addresses_were_overrules_the_start(*, is_article: bool) -> None:
    path = "/tag/{n}" if is_article else "/2024/03/26/storm-over-the-harbour-{n}"
    counts = known(path, 20, is_article=is_article)

    assert (probability(path.format(n=7)) > 0.5) is not is_article
    assert (probability(path.format(n=7), counts) > 0.5) is is_article


def test_addresses_of_another_shape_are_left_alone() -> None:
    counts = known("/tag/{n}", 20, is_article=True)

    assert probability("/author/ann-lee", counts) == probability("/author/ann-lee")


def test_an_address_that_cannot_be_read_is_no_article() -> None:
    assert guess("http://[/", known("/{n}", 20, is_article=True)) == (0.0, 0.0)


@given(st.floats(0, 1), st.text(), st.integers(0, int(MIN_PAGES) - 1))
def test_a_page_of_which_too_little_is_known_is_what_it_was_read_as(
    before: float, path: str, n_pages: int
) -> None:
    counts = known("/{n}", n_pages, is_article=True)

    assert with_address(f"http://a.example/{path}", counts, before) == before


@given(before=st.floats(0, 1), n_pages=st.integers(1, 50), is_article=st.booleans())
def test_a_page_moves_towards_what_others_at_such_addresses_were(
    before: float, n_pages: int, *, is_article: bool
) -> None:
    counts = known("/pictures/{n}", n_pages, is_article=is_article)

    after = with_address("http://a.example/pictures/99", counts, before)

    near = 0.02  # of certainty, as near as pages are known
    if near < before < 1 - near:
        assert after >= before if is_article else after <= before


def test_pages_at_one_script_say_nothing_of_those_at_another() -> None:
    counts = known("/story.php?id={n}", 20, is_article=True)

    assert with_address("http://a.example/video.php?id=3", counts, 0.3) == 0.3
    assert with_address("http://a.example/story.php?id=99", counts, 0.3) > 0.5
