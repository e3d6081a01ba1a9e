from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata import languages
from scrapy_mss.pages.text import clean, folded, spellings

CLEANED = [
    (" a \n\t b ", "a b"),
    ("a\u00a0b", "a b"),
    ("a\u200bb\ufeff", "ab"),
    ("a\ud800b", "ab"),
    ("a\x00b\x1f", "ab"),
    ("Tom &amp; Ann", "Tom & Ann"),
    ("Tom &amp;amp; Ann", "Tom & Ann"),
    ("a <b>c</b>", "a c"),
    ("a < b > c", "a < b > c"),
    ("AT&T", "AT&T"),
    ("?a=1&copy=2", "?a=1&copy=2"),
    ("新聞", "新聞"),
]
LANGUAGES = [
    ("en", "en"),
    ("en-US", "en"),
    ("en_GB", "en"),
    ("EN", "en"),
    ("zh-Hant-TW", "zh"),
    ("de-AT, en", "de"),
    ("deu", "de"),
    ("iw", "he"),
    ("English", "en"),
    ("haw", "haw"),
]
NOT_LANGUAGES = ["", "und", "x", "utf-8", "english please", "{{lang}}", "12"]


@pytest.mark.parametrize(("text", "expected"), CLEANED)
def test_clean_text_is_one_line(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text(st.characters(), max_size=50))
def test_clean_text_can_be_encoded_and_stays_clean(text: str) -> None:
    once = clean(text)

    assert once.encode().decode() == once
    assert clean(clean(once)) == clean(once)


@pytest.mark.parametrize(
    ("text", "expected"), [*LANGUAGES, *((text, None) for text in NOT_LANGUAGES)]
)
def test_languages_are_primary_subtags(text: str, expected: str | None) -> None:
    assert languages.parse(text) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("", ""),
        ("en de", "en de"),
        ("no", "no nb nn"),
        ("nb", "no nb nn"),
        ("sh", "sh sr"),
        ("iw in", "he id"),
        ("hr", "hr"),
    ],
)
def test_a_language_is_accepted_under_each_of_its_names(asked: str, expected: str) -> None:
    assert languages.accepted(asked.split()) == set(expected.split())


def test_spellings_are_those_in_domains() -> None:
    assert folded("Ça va, Zoë?") == "ca va zoe"
    assert spellings("Börsen-Zeitung") == {"borsenzeitung", "boersenzeitung"}
    assert spellings(" - ") == frozenset()


@given(st.text(max_size=40) | st.text(st.characters(max_codepoint=127), max_size=40))
def test_only_letters_and_digits_are_folded(text: str) -> None:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = (c for c in decomposed if not unicodedata.combining(c))

    assert folded(text) == " ".join(re.split(r"[\W_]+", "".join(letters))).strip()
