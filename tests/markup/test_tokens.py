from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup.tokenizer import nearest_ancestors, tokenize
from scrapy_mss.markup.tokens import (
    Bools,
    Tokens,
    element_starts,
    is_tag_of,
    linked_words,
    mask_inside,
    mask_runs,
    sum_inside,
)
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP, shown

PAGE = "<p>One, <b>two</b>!</p>"
PAGES = st.one_of(SOUP, TAG_SOUP, NESTED)
NAMES = st.sampled_from([None, frozenset({"div", "p"}), frozenset({"a"})])
# Tokens 0 <div>  1 a  2 <br>  3 <p>  4 b  5 <i>  6 c  7 </i>  8 </div>  9 d
ELEMENTS = "<div>a<br><p>b<i>c</i></div>d"


def test_is_open_finds_opening_tags_of_one_name() -> None:
    tokens = tokenize(PAGE)

    assert np.flatnonzero(tokens.is_open("b")).tolist() == [3]
    assert not tokens.is_open("i").any()


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(0, 8, PAGE), (1, 5, "One, <b>two"), (3, 4, "<b>"), (3, 3, ""), (0, 0, ""), (5, 3, "")],
)
def test_html_is_the_exact_source(first: int, last: int, expected: str) -> None:
    assert tokenize(PAGE).html(first, last) == expected


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


def ancestors(tokens: Tokens, chosen: Bools, at: int) -> list[int]:
    """The chosen elements around token *at*, outermost first."""
    return [
        start for start in np.flatnonzero(chosen).tolist() if start < at <= tokens.partner[start]
    ]


def test_only_closed_tags_begin_elements() -> None:
    tokens = tokenize(ELEMENTS)

    assert np.flatnonzero(element_starts(tokens)).tolist() == [0, 5]
    assert np.flatnonzero(element_starts(tokens, frozenset({"i", "p"}))).tolist() == [5]


@given(PAGES)
def test_tags_of_a_name_are_its_opening_and_closing_tags(source: str) -> None:
    tokens = tokenize(source)

    found = is_tag_of(tokens, frozenset({"p", "br"}))

    names = {"<p>", "</p>", "<br>", "</br>"}
    expected = [name in names for name in shown(tokens)]
    assert found.tolist() == [a and b for a, b in zip(expected, tokens.is_tag, strict=True)]


@given(PAGES, NAMES)
def test_a_sum_inside_counts_the_tokens_between_the_element_s_tags(
    source: str, names: frozenset[str] | None
) -> None:
    tokens = tokenize(source)
    starts = np.flatnonzero(element_starts(tokens, names))

    found = sum_inside(tokens, starts, tokens.is_word)

    assert found.tolist() == [
        sum(tokens.is_word[start + 1 : tokens.partner[start]].tolist()) for start in starts
    ]


@given(PAGES, NAMES)
def test_a_mask_inside_has_every_token_of_the_elements_and_their_tags(
    source: str, names: frozenset[str] | None
) -> None:
    tokens = tokenize(source)
    chosen = element_starts(tokens, names)

    found = mask_inside(tokens, chosen)

    assert found.tolist() == [
        bool(ancestors(tokens, chosen, at)) or bool(chosen[at]) for at in range(len(tokens))
    ]


PLACES = st.lists(st.integers(0, 11), max_size=6, unique=True).map(sorted)


@given(PLACES, PLACES)
def test_a_mask_of_runs_has_the_tokens_of_any_run(starts: list[int], ends: list[int]) -> None:
    runs = [(first, last) for first, last in zip(starts, ends, strict=False) if first <= last]
    first, last = (np.array([run[side] for run in runs], np.int32) for side in (0, 1))

    found = mask_runs(12, first, last)

    assert found.tolist() == [any(a <= at <= b for a, b in runs) for at in range(12)]


def test_linked_words_are_the_words_of_closed_links() -> None:
    tokens = tokenize("a <a href=x>b, <b>c</b></a> d <a>e")

    assert np.flatnonzero(linked_words(tokens)).tolist() == [2, 5]


@given(PAGES, NAMES)
def test_the_nearest_ancestor_is_the_innermost_chosen_element_around_a_token(
    source: str, names: frozenset[str] | None
) -> None:
    tokens = tokenize(source)
    chosen = element_starts(tokens, names)

    found = nearest_ancestors(tokens, chosen)

    assert found.tolist() == [
        max(ancestors(tokens, chosen, at), default=-1) for at in range(len(tokens))
    ]
