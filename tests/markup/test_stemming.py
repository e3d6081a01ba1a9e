from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup.stemming import LONGEST_STEMMED, stem
from tests.markup import oracle_tokenizer


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("relational", "relat"),
        ("Running", "run"),
        ("RUNS", "run"),
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("is", "i"),
        # The rules are for English: words with other letters stay as they are.
        ("\u00c9t\u00e9s", "\u00e9t\u00e9s"),
        ("Stra\u00dfen", "stra\u00dfen"),
        ("\u4e2d", "\u4e2d"),
        ("0", "1"),
        ("1984", "1"),
        ("\u0661\u0662", "1"),
        ("\u00b2", "1"),
        # Not only digits: no number.
        ("3rd", "3rd"),
        ("x2", "x2"),
        ("1_000", "1_000"),
        ("\u00bd", "\u00bd"),
        ("", ""),
    ],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_words_are_stemmed_up_to_a_length() -> None:
    longest = "a" * (LONGEST_STEMMED - 3) + "ing"

    assert stem(longest) == longest.removesuffix("ing")
    assert stem("B" + longest) == "b" + longest


@given(st.text(alphabet="aeiouybcdlnrstvzINGED\u00e9\u0130", max_size=14))
def test_stems_are_those_of_a_fresh_stemmer(word: str) -> None:
    assert stem(word) == oracle_tokenizer.stem(word)


@given(st.text())
def test_any_text_has_a_stem_and_case_does_not_matter(text: str) -> None:
    assert stem(text) == stem(text.lower())
