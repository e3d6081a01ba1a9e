"""What is joined without the library is what the library joins."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.pages.addresses import path_of, plainly_joined

PARTS = """http:// https:// HTTP:// // / ? # ; : @ . .. ./ ../ /. & = %2e [ ] a x.example news
    :80 :x mailto: user@ a.png 1 - _ ~ , é \t é""".split(" ")
ADDRESSES = st.lists(st.sampled_from([*PARTS, " ", "\n", "\0"]), max_size=6).map("".join)
BASES = st.sampled_from(
    [
        "https://x.example/a/b.html?c#d",
        "http://x.example",
        "http://u@x.example:8/a",
        "HTTP://x/",
        "",
    ]
)


@given(BASES | ADDRESSES, ADDRESSES)
@example("https://x.example/a/b", "https://y.example/c/../d?e=f/../g")
@example("https://x.example/a/b", "/c//d.e/f./g?h")
@example("https://x.example/a/b", "/c/../d")
@example("https://x.example\n/a/b", "/c")
def test_an_address_is_joined_as_the_library_does(base: str, address: str) -> None:
    joined = plainly_joined(base, address)

    if joined is not None:
        assert joined == urljoin(base, address)
        assert urlsplit(joined).scheme in ("http", "https")
        assert urlsplit(joined).hostname


@given(ADDRESSES)
def test_a_path_is_that_of_the_library(address: str) -> None:
    try:
        expected = urlsplit(address).path
    except ValueError:
        expected = ""

    assert path_of(address) == expected


@pytest.mark.parametrize(
    ("address", "joined"),
    [
        ("https://y-z.example/a-b.jpg?w=1&h=2", "https://y-z.example/a-b.jpg?w=1&h=2"),
        ("/a-b/c.jpg", "https://x.example/a-b/c.jpg"),
        ("b.jpg", None),
        ("//y.example/a.jpg", None),
        ("/a/../b.jpg", None),
        ("https://y.example/a;", None),
        ("https://y.example/a#", None),
        ("data:image/gif", None),
    ],
)
def test_most_addresses_need_no_parser(address: str, joined: str | None) -> None:
    assert plainly_joined("https://x.example/story/1", address) == joined
