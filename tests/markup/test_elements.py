from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup.elements import elements, held, holders, linked, totals, within
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP

PAGES = st.one_of(SOUP, TAG_SOUP, NESTED)
# Tokens 0 <div>  1 a  2 <br>  3 <p>  4 b  5 <i>  6 c  7 </i>  8 </div>  9 d
PAGE = "<div>a<br><p>b<i>c</i></div>d"


def test_an_element_is_what_was_closed() -> None:
    tokens = tokenize(PAGE)

    assert np.flatnonzero(elements(tokens)).tolist() == [0, 5]
    assert np.flatnonzero(elements(tokens, frozenset({"i", "p"}))).tolist() == [5]


def test_totals_are_of_none_one_two_and_so_on() -> None:
    assert totals(np.array([True, False, True])).tolist() == [0, 1, 1, 2]
    assert totals(np.zeros(0, np.bool_)).tolist() == [0]


def test_an_element_holds_what_stands_between_its_tags() -> None:
    tokens = tokenize(PAGE)

    assert held(tokens, np.array([0, 5]), tokens.is_word).tolist() == [3, 1]


def test_within_an_element_are_its_tags_too() -> None:
    tokens = tokenize(PAGE)

    assert np.flatnonzero(within(tokens, elements(tokens, frozenset({"i"})))).tolist() == [5, 6, 7]


def test_the_words_of_a_link_are_links() -> None:
    tokens = tokenize("a <a href=x>b, <b>c</b></a> d <a>e")

    assert np.flatnonzero(linked(tokens)).tolist() == [2, 5]


def test_what_is_left_open_holds_nothing() -> None:
    tokens = tokenize(PAGE)

    assert holders(tokens, elements(tokens)).tolist() == [-1, 0, 0, 0, 0, 0, 5, 5, 0, -1]
    assert holders(tokens, np.zeros(len(tokens), np.bool_)).tolist() == [-1] * len(tokens)


@given(PAGES, st.sampled_from([None, frozenset({"div", "p"}), frozenset({"a"})]))
def test_the_holder_is_the_innermost_element_around_a_token(
    source: str, names: frozenset[str] | None
) -> None:
    tokens = tokenize(source)
    chosen = elements(tokens, names)

    expected = [max(around(tokens, chosen, at), default=-1) for at in range(len(tokens))]
    assert holders(tokens, chosen).tolist() == expected


@given(PAGES)
def test_a_token_is_within_if_some_element_is_around_it_or_begins_with_it(source: str) -> None:
    tokens = tokenize(source)
    chosen = elements(tokens)

    inside = [bool(around(tokens, chosen, at)) or chosen[at] for at in range(len(tokens))]
    assert within(tokens, chosen).tolist() == inside


def around(tokens: Tokens, chosen: Bools, at: int) -> list[int]:
    """The chosen elements that token *at* stands in, outermost first."""
    return [
        opened
        for opened in np.flatnonzero(chosen).tolist()
        if opened < at <= tokens.partner[opened]
    ]
