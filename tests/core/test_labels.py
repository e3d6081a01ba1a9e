from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.labels import Rejection, check_example, span_labels
from scrapy_mss.markup.tokenizer import tokenize


def check(inside: str, outside: str = "") -> Rejection | None:
    """The check of a page that begins with *inside*."""
    tokens = tokenize(inside + outside)
    return check_example(tokens, span_labels(len(tokens), 0, len(tokenize(inside))))


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("", Rejection.EMPTY),
        ("one", Rejection.TOO_FEW_WORDS),
        ("one " * 49, Rejection.TOO_FEW_WORDS),
        ("one " * 50, None),
        # Symbols count as words do, tags do not.
        ("one " * 49 + ".", None),
        ("one " * 49 + "<p>", Rejection.TOO_FEW_WORDS),
        # One fifth of tags is allowed: 20 of 100, but not 21 of 101.
        ("one " * 80 + "<p>" * 20, None),
        ("one " * 80 + "<p>" * 21, Rejection.TOO_MANY_TAGS),
        ("one " * 81 + "<p>" * 20, None),
        ("one " * 50 + "<p>" * 12, None),
        ("one " * 50 + "<p>" * 13, Rejection.TOO_MANY_TAGS),
        # Closing and opening tags count alike.
        ("one " * 80 + "<p></p>" * 10, None),
        ("one " * 80 + "<p></p>" * 10 + "</p>", Rejection.TOO_MANY_TAGS),
        # Of two reasons, too few words is reported.
        ("<p>" * 100, Rejection.TOO_FEW_WORDS),
    ],
)
def test_examples_are_checked_at_both_sides_of_each_threshold(
    inside: str, expected: Rejection | None
) -> None:
    assert check(inside) is expected
    assert check(inside, outside="<ul>" + "<li>menu" * 60) is expected


def test_words_outside_the_label_do_not_help() -> None:
    assert check("one " * 20, outside="two " * 100) is Rejection.TOO_FEW_WORDS


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_span_labels_are_true_inside(n_tokens: int, start: int, end: int) -> None:
    labels = span_labels(n_tokens, start, end)

    assert labels.dtype == np.bool_
    assert labels.tolist() == [start <= i < end for i in range(n_tokens)]


def test_reasons_are_names_of_stats() -> None:
    assert all(reason.value == reason.name.lower() for reason in Rejection)
