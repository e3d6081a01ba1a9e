from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.pages.addresses import MAX_SHAPE_BYTES, address_of
from scrapy_mss.sites.address_counts import (
    MAX_SHAPES,
    MIN_PAGES,
    AddressCounts,
    guess,
    needs_browser,
    of_browser,
    with_address,
)
from tests.helpers.memories import NOW, numbered

PARTS = st.sampled_from(["news", "2024", "03", "tag", "storm-over-the-harbour", "a1", "café", "17"])
URLS = st.lists(PARTS, max_size=6).map(lambda parts: f"http://a.example/{'/'.join(parts)}")
PAGES = st.lists(st.tuples(URLS, st.floats(0, 1), st.integers(0, 3)), max_size=12)


def counts_of(pages: list[tuple[str, float, int]]) -> AddressCounts:
    return total([AddressCounts.of(url, share, NOW + age) for url, share, age in pages])


def total(counts: list[AddressCounts]) -> AddressCounts:
    return reduce(AddressCounts.plus, counts, AddressCounts())


@pytest.mark.parametrize(
    ("path", "general", "place", "exact"),
    [
        ("/", "/", "/", "/"),
        ("", "/", "/", "/"),
        ("/section/council/", "/{word}/{word}", "/section/{word}", "/section/council"),
        (
            "/news/2024/03/26/storm-over-the-harbour.html",
            "/{word}/{year}/{n}/{slug}.html",
            "/news/{year}/{n}/{slug}.html",
            "/news/{year}/{n}/{slug}.html",
        ),
        ("/2024-03-26/x1", "/{date}/{id}", "/{date}/{id}", "/{date}/{id}"),
        ("/story.php?id=17", "/{word}.php?id={n}", "/story.php?id={n}", "/story.php?id={n}"),
        ("/news/17?utm_source=x&ref=y", "/{word}/{n}", "/news/{n}", "/news/{n}"),
        (
            "/house.php?page=imprint",
            "/{word}.php?page={word}",
            "/house.php?page={word}",
            "/house.php?page=imprint",
        ),
        ("/тема/%D0%BF%D0%BE%D1%80%D1%82", "/{word}/{word}", "/тема/{word}", "/тема/порт"),
    ],
)
def test_shapes_name_by_their_kind_what_differs_from_page_to_page(
    path: str, general: str, place: str, exact: str
) -> None:
    address = address_of(f"http://www.a.example{path}")

    assert address is not None
    assert address.shapes == (general, place, exact)


@pytest.mark.parametrize("url", ["http://[/", f"http://a.example/{'x' * 3000}"])
def test_an_address_that_cannot_be_read_has_no_shape(url: str) -> None:
    assert address_of(url) is None
    assert not AddressCounts.of(url, 1.0, NOW)


@given(st.text(), st.text())
def test_a_shape_is_bounded_and_printable_whatever_the_address(path: str, query: str) -> None:
    address = address_of(f"http://a.example/{path}?{query}")

    for shape in address.shapes if address else ():
        assert len(shape.encode()) <= MAX_SHAPE_BYTES
        assert shape.isprintable()


@given(PAGES, st.data())
def test_the_same_pages_in_another_order_give_the_same_counts(
    pages: list[tuple[str, float, int]], data: st.DataObject
) -> None:
    assert counts_of(pages) == counts_of(data.draw(st.permutations(pages)))


@given(PAGES, st.integers(0, 12))
def test_the_counts_of_two_crawls_add_up(pages: list[tuple[str, float, int]], cut: int) -> None:
    assert counts_of(pages[:cut]).plus(counts_of(pages[cut:])) == counts_of(pages)


def test_a_page_counts_once_where_its_shapes_are_the_same() -> None:
    counts = AddressCounts.of("http://a.example/17", 1.0, NOW)

    assert [(shape, seen.pages) for shape, seen in counts] == [("/{n}", 1.0)]


def test_the_number_of_shapes_is_bounded_and_what_was_seen_again_is_kept() -> None:
    repeated = [AddressCounts.of("http://a.example/news/17", 1.0, NOW)] * 2
    others = [
        AddressCounts.of(f"http://a.example/tag/{numbered(n)}/x/17", 0.0, NOW + 1)
        for n in range(3 * MAX_SHAPES)
    ]

    counts = total(repeated + others)

    assert MAX_SHAPES / 2 < len(counts) <= MAX_SHAPES
    assert counts.find("/news/{n}").pages == 2


def test_counts_are_halved_and_what_counts_nothing_is_gone() -> None:
    counts = AddressCounts.of("http://a.example/news/17", 0.5, NOW)

    assert counts.scaled(1).find("/news/{n}") == (0.5, 0.25, NOW)
    assert len(counts.scaled(9)) == 0


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
    urls = (f"http://a.example{path.format(n=n)}" for n in range(n_pages))
    return counts_of([(url, float(is_article), 0) for url in urls])


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


NEEDED = st.lists(st.booleans(), max_size=60)


def after(pages: list[bool]) -> AddressCounts:
    known = AddressCounts()
    for needed in pages:
        known = known.plus(of_browser("http://a.example/news/17", known, NOW, needed=needed))
    return known


@given(NEEDED)
def test_one_page_that_needs_no_browser_ends_what_others_have_taught(pages: list[bool]) -> None:
    url = "http://a.example/news/18"

    assert not needs_browser(url, after([*pages, False]))
    assert needs_browser(url, after([*pages, *[True] * (len(pages) + 3)]))
    assert not needs_browser("http://a.example/news/tag/18", after([True] * 3))
    assert not after([False] * len(pages))  # of most sites nothing is counted


@given(NEEDED, URLS)
def test_what_needs_a_browser_says_nothing_of_articles(pages: list[bool], url: str) -> None:
    assert guess(url, after(pages)) == guess(url, AddressCounts())
