"""Which addresses are one, and which texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.seen.keys import address_key, canonical, text_key

STORY = "https://news.example/2026/ferry.html"


@pytest.mark.parametrize(
    "url",
    [
        "http://news.example/2026/ferry.html",
        "https://news.example:443/2026/ferry.html#comments",
        "https://NEWS.example/2026/ferry.html/",
        f"{STORY}?utm_source=feed&utm_medium=rss",
        f"{STORY}?fbclid=x",
    ],
)
def test_an_address_is_the_same_without_what_does_not_change_the_page(url: str) -> None:
    assert address_key(url) == address_key(STORY)


@pytest.mark.parametrize(
    "url", [f"{STORY}?page=2", STORY.replace("ferry", "Ferry"), STORY.replace("news.", "www.")]
)
def test_other_addresses_are_others(url: str) -> None:
    assert address_key(url) != address_key(STORY)


def test_the_order_of_parameters_does_not_count() -> None:
    assert canonical(f"{STORY}?b=2&a=1&utm_id=3") == canonical(f"{STORY}?a=1&b=2")


@given(st.text(max_size=60))
def test_any_text_has_a_key_as_address_and_as_text(text: str) -> None:
    for key in (address_key(text), address_key(f"http://[{text}"), text_key(text)):
        assert -(2**63) <= key < 2**63


def test_a_text_is_the_same_in_other_white_space_and_case() -> None:
    assert text_key("Rain  falls.\n\nIn May") == text_key("rain falls in May!")
    assert text_key("Rain falls in May") != text_key("Rain fell in May")
    assert text_key(None) == text_key("")
