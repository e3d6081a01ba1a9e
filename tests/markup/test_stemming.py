from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from scrapy_mss.markup.stemming import MAX_STEMMED, Stem, normalizer, porter, porter_nltk

# Stems and endings that take every rule of Porter's algorithm, and the measures that rules ask for.
STEMS = """
    a abl activ adjust adopt agre airl allow anal angular be bowdler call caress cas cat ceas com
    conflat conform control cry day decis defens depend die digit effect elect electr fall feed fil
    form formal fun gener good gyroscop happ hesit hiss homolog hop hope hopp infer irrit lay man
    matr motor operat oscill plast play pleas plot pon predic prob radic rat ration relat replac
    rev reviv rol roll run sens siz sk sky snow tann th the tie tr triplic troubl valen vietnam vil
    x3 y zz
""".split()
ENDINGS = """
    s es ies sses ss eed eeds ed ing y ly ational tional enci anci izer abli alli entli eli ousli
    ization ation ator alism iveness fulness ousness aliti iviti biliti logi icate ative alize iciti
    ical ful ness al ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous
    ive ize e le ll
""".split()
SECOND_ENDINGS = ("", "s", "ed", "ing", "ly", "ness")

# Where the two implementations differ. Porter's rule takes the second of two equal consonants but
# l, s and z before -ed and -ing; PyStemmer does so for those that English doubles. "trekked" and
# "revving" are the best known of such words.
DOUBLED = re.compile(r"([^aeioulszbdfgmnprt])\1(ed|ing)s?$")
WORDS = [
    word
    for word in map("".join, product(STEMS, ENDINGS, SECOND_ENDINGS))
    if not DOUBLED.search(word)
]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Running", "run"),
        ("RUNS", "run"),
        # The rules are for English: words with other letters are only lower-cased.
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
def test_normal_forms(word: str, expected: str) -> None:
    assert normalizer(porter)(word) == normalizer(porter_nltk)(word) == expected


@pytest.mark.parametrize("stem", [porter, porter_nltk])
def test_words_are_stemmed_up_to_a_length(stem: Stem) -> None:
    longest = "a" * (MAX_STEMMED - 3) + "ing"

    assert normalizer(stem)(longest) == longest.removesuffix("ing")
    assert normalizer(stem)("B" + longest) == "b" + longest


def by_nltk(word: str) -> str:
    return str(PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM).stem(word, to_lowercase=False))


def test_both_stemmers_agree_on_thousands_of_words_with_that_of_nltk() -> None:
    different = [word for word in WORDS if not porter(word) == porter_nltk(word) == by_nltk(word)]

    assert len(set(WORDS)) > 20_000
    assert different == []


@pytest.mark.parametrize(
    ("word", "stem", "stem_nltk"), [("trekked", "trekk", "trek"), ("revving", "revv", "rev")]
)
def test_stemmers_differ_on_uncommon_doubled_letters(word: str, stem: str, stem_nltk: str) -> None:
    assert (porter(word), porter_nltk(word)) == (stem, stem_nltk)
    assert by_nltk(word) == stem_nltk


@given(st.text())
def test_any_text_has_a_normal_form_and_case_does_not_matter(text: str) -> None:
    assert normalizer(porter)(text) == normalizer(porter)(text.lower())
