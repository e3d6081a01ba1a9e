from __future__ import annotations

import pytest

from scrapy_mss.markup.attributes import FEWEST_WORDS, LONGEST_TAG, described_pairs, description
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.layouts import ODD


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta name="description" content="One two three four">', "One two three four"),
        ("<meta content='One \"two\"' property=og:description>", 'One "two"'),
        ('<META NAME="Description"\nCONTENT="One">', "One"),
        ('<meta itemprop="description" content="One"/>', "One"),
        ('<meta name="twitter:description" content="One">', "One"),
        # The longest of several, wherever it stands.
        (
            '<meta name="description" content="One"><meta itemprop=description content="One two">',
            "One two",
        ),
        # None.
        ("", ""),
        ('<meta name="description">', ""),
        ('<meta name="description" content="">', ""),
        ('<meta name="keywords" content="description">', ""),
        ('<meta name="dcterms.description" content="One">', ""),
        ('<p name="description" content="One">x</p>', ""),
        ('<meta name="description" content="One', ""),
        ('<!-- <meta name="description" content="One"> -->', ""),
    ],
)
def test_the_description_of_a_page(head: str, expected: str) -> None:
    assert description(tokenize(head)) == expected


def test_of_an_endless_description_the_beginning_is_looked_at() -> None:
    tokens = tokenize(f'<meta name="description" content="{"one " * LONGEST_TAG}">')

    assert description(tokens) == ""


def test_pairs_of_words_are_known_each_once_and_only_of_what_is_long_enough() -> None:
    def known(text: str) -> int:
        return len(described_pairs(tokenize(f'<meta name="description" content="{text}">')))

    assert known("one two one two one") == 2
    assert known("caf&eacute; &amp; tea, caf\u00e9 tea") == 2
    assert known("one " * FEWEST_WORDS) == 1
    assert known("one " * (FEWEST_WORDS - 1)) == 0


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_have_none(name: str) -> None:
    assert description(tokenize(ODD[name])) == ""
