from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.pages.addresses import MAX_DIGITS, MAX_SLUG, PageUrl

SITE = "https://www.a.example"


@pytest.mark.parametrize(
    "path",
    [
        "/2024/05/06/ferry.html",
        "/news/2024-5-6/ferry",
        "/2024/may/6/ferry",
        "/20240506/ferry",
        "/a/ferry-2024-05-06",
        "/2024.12.31/",
    ],
)
def test_a_date_in_the_path(path: str) -> None:
    assert PageUrl(SITE + path).has_date


@pytest.mark.parametrize(
    "path",
    ["/2024/ferry", "/1224/05/06/", "/2024/13/45", "/202/4/05/6", "/12024/05/06", "/?2024/05/06"],
)
def test_what_is_no_date(path: str) -> None:
    assert not PageUrl(SITE + path).has_date


@pytest.mark.parametrize(
    ("path", "words", "digits"),
    [
        ("/news/the-ferry-sails-again-12345", 4, 5),
        ("/the-ferry-sails-again/news.html", 4, 0),
        ("/artikel.php?id=4021", 1, 4),
        ("/a?ref=x7f00ba12&id=7", 1, 1),
        ("/%D0%BF%D0%B0%D1%80%D0%BE%D0%BC-%D1%88%D0%B5%D0%BB", 2, 0),
        ("/" + "-".join("abcdefghijkl"), MAX_SLUG, 0),
        ("/" + "1" * 40, 0, MAX_DIGITS),
        ("/", 0, 0),
        ("", 0, 0),
    ],
)
def test_the_longest_slug_and_number(path: str, words: int, digits: int) -> None:
    address = PageUrl(SITE + path)

    assert (address.slug_words, address.digits) == (words, digits)


@pytest.mark.parametrize("path", ["", "/", "/#top", "/?"])
def test_the_front_page(path: str) -> None:
    assert PageUrl(SITE + path).is_root


@pytest.mark.parametrize("path", ["/tag/ferries", "/Category/Sport/", "/index.html", "/a/search"])
def test_a_list_by_a_word_in_its_path(path: str) -> None:
    assert PageUrl(SITE + path).is_list


@pytest.mark.parametrize("path", ["/?p=12", "/tags-of-dogs-are-back", "/story/1"])
def test_neither_a_front_nor_a_list(path: str) -> None:
    address = PageUrl(SITE + path)

    assert not address.is_root
    assert not address.is_list


def test_of_an_unknown_address_nothing_is_told() -> None:
    unknown = PageUrl("")

    assert not unknown.is_known
    assert not unknown.is_root
    assert not unknown.is_list
    assert not unknown.has_date
    assert (unknown.slug_words, unknown.digits) == (0, 0)


@given(st.text() | st.text().map(lambda text: f"http://{text}"))
def test_anything_can_be_an_address(url: str) -> None:
    address = PageUrl(url)

    assert 0 <= address.digits <= MAX_DIGITS
    assert 0 <= address.slug_words <= MAX_SLUG
    assert address.is_root in {True, False}
    assert not (address.is_root and (address.is_list or address.has_date))
