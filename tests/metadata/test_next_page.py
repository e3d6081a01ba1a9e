"""Which address is that of the next page of the same article."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss import metadata
from scrapy_mss.pages.addresses import follows, is_first

SITE = "https://news.example"


@pytest.mark.parametrize(
    ("before", "url"),
    [
        ("/ferry.html", "/ferry-2.html"),
        ("/ferry.html", "/ferry_2.html"),
        ("/ferry,2.html", "/ferry,3.html"),
        ("/ferry", "/ferry/2"),
        ("/ferry/", "/ferry/page/2/"),
        ("/ferry/page/2/", "/ferry/page/3/"),
        ("/ferry", "/ferry/seite-2"),
        ("/ferry", "/ferry?page=2"),
        ("/ferry", "/ferry?page=1"),  # counted from zero
        ("/ferry?page=1", "/ferry?page=2"),
        ("/story?id=7", "/story?id=7&p=2"),
        ("/2024/03/ferry-4", "/2024/03/ferry-4/2"),
    ],
)
def test_the_next_number_is_the_next_page(before: str, url: str) -> None:
    assert follows(SITE + url, SITE + before)


@pytest.mark.parametrize(
    ("before", "url"),
    [
        ("/ferry", "/harbour"),
        ("/ferry.html", "/harbour-2.html"),
        ("/ferry/2", "/ferry/2"),
        ("/ferry/3", "/ferry/2"),
        ("/ferry", "/ferry/4"),
        ("/story?id=7", "/story?id=8"),
        ("/story?id=7", "/story?id=8&p=2"),
        ("/12345", "/12346"),
        ("/2024/03/05/", "/2024/03/06/"),
        ("/ferry", "/ferry#page=2"),
    ],
)
def test_another_article_is_not_the_next_page(before: str, url: str) -> None:
    assert not follows(SITE + url, SITE + before)
    assert not follows("https://other.example/ferry-2.html", f"{SITE}/ferry.html")


def test_pages_are_joined_from_the_first_one() -> None:
    assert is_first(f"{SITE}/ferry", f"{SITE}/ferry/2")
    assert is_first(f"{SITE}/ferry?page=1", f"{SITE}/ferry?page=2")
    assert not is_first(f"{SITE}/ferry/2", f"{SITE}/ferry/3")
    assert not is_first(f"{SITE}/part-4", f"{SITE}/part-5")


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("<link rel=next href=/ferry/2>", "", f"{SITE}/ferry/2"),
        ("", "<a rel='nofollow next' href=/ferry/2>2</a>", f"{SITE}/ferry/2"),
        ("<link rel=next href=/harbour>", "<a rel=next href=/ferry/2>2</a>", f"{SITE}/ferry/2"),
        ("<link rel=next href=/harbour>", "", ""),
        ("", "<a rel=nextgen href=/ferry/2>2</a>", ""),
        ("", "<a href=/ferry/2>Next page</a>", ""),
        ("<link rel=next href='https://[/ferry/2'>", "", ""),
    ],
)
def test_a_page_names_its_next_one_by_rel(head: str, body: str, expected: str) -> None:
    source = f"<html><head>{head}</head><body>{body}</body></html>"

    assert metadata.read_html(source, f"{SITE}/ferry").next_page == expected
    assert metadata.read_html(source).next_page == ""


PARTS = st.lists(st.sampled_from("/ferry 2 - ? page= p= & 10 .html 0 é".split()), max_size=8)


@given(PARTS, PARTS)
def test_no_two_pages_follow_one_another_in_a_circle(one: list[str], other: list[str]) -> None:
    first, second = (f"{SITE}/{''.join(parts)}" for parts in (one, other))

    assert not follows(first, first) or "page=" in first or "p=" in first
    follows(first, second)
    is_first(first, second)
