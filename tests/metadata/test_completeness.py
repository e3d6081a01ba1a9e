"""Whether a text is complete: what says so, and what says nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.metadata.completeness import MAX_ELEMENTS, MAX_NAMES, completeness
from scrapy_mss.metadata.parsed_page import ParsedPage

LINE = "The council has closed the old bridge again, for the third time in a year. "
LONG = (LINE * 15).strip()  # 225 words
SHORT = (LINE * 3).strip()
OFFER = "\n\nSubscribe to continue."
PAID = {"isAccessibleForFree": False}
PART = {**PAID, "hasPart": {"@type": "WebPageElement", **PAID, "cssSelector": ".paid, #more"}}
FREE = {"isAccessibleForFree": True}
WALL = '<script src="https://cdn.tinypass.com/api/tinypass.min.js"></script>'


def found(text: str, declared: dict[str, Any], source: str = "") -> tuple[bool | None, str | None]:
    node = json.dumps({"@type": "NewsArticle", **declared})
    page = f'<script type="application/ld+json">{node}</script>{source}'
    return completeness(ParsedPage(tokenize(page), "https://news.example/17"), text)


@pytest.mark.parametrize(
    ("text", "declared", "source"),
    [
        (LONG, {"wordCount": 225}, ""),
        (LONG, {"wordCount": "240"}, ""),
        (LONG, {**PAID, "wordCount": 230}, ""),
        (f"{LONG} Or so he said ...", {"wordCount": 230}, WALL),
        (LONG, FREE, ""),
        (LONG, PART, f"<div class='a paid'><p>{LONG}</div>"),
        (LONG, PART, f"<div id=more><p>{LONG}</div>"),
    ],
)
def test_a_text_is_complete(text: str, declared: dict[str, Any], source: str) -> None:
    assert found(text, declared, source) == (True, None)


@pytest.mark.parametrize(
    ("text", "declared", "source", "reason"),
    [
        (LONG + OFFER, {}, "", "cut_end"),
        (LONG + OFFER, FREE, "", "cut_end"),
        (LONG + OFFER, {}, WALL, "paywall"),
        (LONG + OFFER, PART, f"<div class=paid><p>{LONG}</div>", "paywall"),
        (f"{LONG}\n\nLa suite est réservée aux abonnés.", PAID, "", "paywall"),
        (f"{LONG}\n\n続きを読む", {}, "", "cut_end"),
        (f"{SHORT} Nobody knew …", {}, "", "cut_end"),
        (f"{SHORT} Nobody knew [ … ]", {}, "", "cut_end"),
        (f"{SHORT} Nobody knew", PAID, "", "paywall"),
        (f"{LONG} Nobody knew ...", PAID, "", "paywall"),
        (f"{LONG} Nobody knew ...", {}, WALL, "paywall"),
        (LONG, {"wordCount": 800}, "", "word_count"),
        (LONG, {**PAID, "wordCount": "1,900"}, "", "paywall"),
    ],
)
def test_a_text_is_not_complete(
    text: str, declared: dict[str, Any], source: str, reason: str
) -> None:
    assert found(text, declared, source) == (False, reason)


@pytest.mark.parametrize(
    ("text", "declared", "source"),
    [
        (LONG, {}, ""),
        (LONG, {}, WALL),
        (SHORT, {}, WALL),
        (LONG, PAID, ""),
        (LONG, PART, ""),
        (LONG, PART, "<div class=paid></div>"),
        (LONG, PART, f"<div class=unpaid><p>{LONG}</div>"),
        (LONG, {**PART, "hasPart": [None, {**PAID, "cssSelector": "div > ["}]}, ""),
        (f"{LONG} Nobody knew ...", {}, ""),
        (f"{LONG}\n\nAnn Lee", PAID, ""),
        (LONG, {"wordCount": 300}, ""),
        (LONG, {"wordCount": len(LONG)}, ""),
        (LONG, {"wordCount": True}, ""),
        (LONG, {"wordCount": "many"}, ""),
        ("桥又关闭了。" * 50, {"wordCount": 900}, ""),
    ],
)
def test_nothing_is_guessed(text: str, declared: dict[str, Any], source: str) -> None:
    assert found(text, declared, source) == (None, None)


JSON: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(JSON, JSON, JSON, st.text())
def test_any_declaration_has_an_answer(
    count: object, free: object, part: object, text: str
) -> None:
    declared = {"wordCount": count, "isAccessibleForFree": free, "hasPart": part}
    paid = {**PAID, "hasPart": {**PAID, "cssSelector": part}}

    for each in (declared, paid):
        is_complete, reason = found(text, each, LONG)
        assert (is_complete is False) == (reason is not None)


def test_a_selector_of_many_elements_is_bounded() -> None:
    many = "<i class=paid>one two</i>" * (10 * MAX_ELEMENTS)

    assert found(LONG, PART, many) == (None, None)


def test_the_names_of_many_parts_are_bounded() -> None:
    """The page is searched for each name, so one of many parts is looked for but once."""
    first = [{**PAID, "cssSelector": f".p{n}, .p0"} for n in range(MAX_NAMES)]
    last = [{**PAID, "cssSelector": ".paid"}]
    source = f"<div class=paid><p>{LONG}</div>"

    assert found(LONG, {**PAID, "hasPart": [*first, *last]}, source) == (None, None)
    assert found(LONG, {**PAID, "hasPart": [*first[1:], *last]}, source) == (None, None)
    assert found(LONG, {**PAID, "hasPart": [*first[2:], *last]}, source) == (True, None)
