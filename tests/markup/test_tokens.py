from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, OPEN, SYMBOL, WORD
from tests.helpers.markup import SOUP

PAGE = "<p>One, <b>two</b>!</p>"


def test_kinds_of_tokens() -> None:
    tokens = tokenize(PAGE)

    assert tokens.kind.tolist() == [OPEN, WORD, SYMBOL, OPEN, WORD, CLOSE, SYMBOL, CLOSE]
    assert tokens.is_tag.tolist() == [kind in {OPEN, CLOSE} for kind in tokens.kind.tolist()]
    assert tokens.is_word.tolist() == [kind == WORD for kind in tokens.kind.tolist()]
    assert len(tokens) == 8


def test_is_open_finds_opening_tags_of_one_name() -> None:
    tokens = tokenize(PAGE)

    assert np.flatnonzero(tokens.is_open("b")).tolist() == [3]
    assert not tokens.is_open("i").any()


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (0, 8, PAGE),
        (1, 5, "One, <b>two"),
        (3, 4, "<b>"),
        (3, 3, ""),
        (0, 0, ""),
        (5, 3, ""),
    ],
)
def test_html_is_the_exact_source(first: int, last: int, expected: str) -> None:
    assert tokenize(PAGE).html(first, last) == expected


def test_no_tokens_have_no_html_and_no_words() -> None:
    tokens = tokenize("")

    assert (tokens.html(0, 0), tokens.words(), len(tokens)) == ("", [], 0)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("one two", [False, True]),
        (" one", [True]),
        ("one, <b>two</b>", [False, False, True, False, False]),
        ("one\n<b> two", [False, True, True]),
        ("", []),
    ],
)
def test_blanks_between_tokens_are_known(source: str, expected: list[bool]) -> None:
    assert tokenize(source).blank_before.tolist() == expected


@given(SOUP)
def test_arrays_have_one_length_and_the_documented_types(source: str) -> None:
    tokens = tokenize(source)

    types = {
        "token_id": np.uint64,
        "kind": np.uint8,
        "tag": np.uint8,
        "start": np.int32,
        "end": np.int32,
        "clean_start": np.int32,
        "clean_end": np.int32,
        "unclosed": np.int32,
        "partner": np.int32,
    }
    assert {name: getattr(tokens, name).dtype for name in types} == types
    assert {getattr(tokens, name).shape for name in types} == {(len(tokens),)}
