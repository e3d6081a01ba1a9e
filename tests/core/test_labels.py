from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.labels import (
    Rejection,
    align,
    check_example,
    match_words,
    span_labels,
    words_of,
)
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens
from tests.helpers.effort import examples


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


def test_reasons_are_names_of_stats() -> None:
    assert all(reason.value == reason.name.lower() for reason in Rejection)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "A"]), max_size=10)


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of a longest common subsequence, by its recursive definition in a table."""
    lengths = {(i, j): 0 for i in range(len(one) + 1) for j in range(len(other) + 1)}
    for i, word in enumerate(one, 1):
        for j, match in enumerate(other, 1):
            longest = max(lengths[i - 1, j], lengths[i, j - 1])
            lengths[i, j] = lengths[i - 1, j - 1] + 1 if word == match else longest
    return lengths[len(one), len(other)]


def is_subsequence(words: Sequence[str], of: Sequence[str]) -> bool:
    rest = iter(of)
    return all(word in rest for word in words)


def words_at(tokens: Tokens, labels: Bools) -> list[str]:
    """The words that have a label."""
    return [
        word
        for word, label in zip(tokens.words(), labels[tokens.is_word].tolist(), strict=True)
        if label
    ]


@given(WORDS, WORDS)
@examples(2)
def test_matched_words_are_a_longest_common_subsequence(page: list[str], text: list[str]) -> None:
    tokens = tokenize("<p>".join(page))

    matched = match_words(tokens, " ".join(text))

    lowered = [word.lower() for word in text]
    words = [word.lower() for word in words_at(tokens, matched)]
    assert len(words) == common_length([word.lower() for word in page], lowered)
    assert is_subsequence(words, lowered)
    assert not (matched & tokens.is_tag).any()


@given(WORDS, WORDS)
def test_labels_are_one_span_that_begins_and_ends_with_a_matched_word(
    page: list[str], text: list[str]
) -> None:
    tokens = tokenize("<p>".join(page))
    matched = match_words(tokens, " ".join(text))

    labels = align(tokens, " ".join(text))[0]

    at = np.flatnonzero(labels)
    assert bool(len(at)) == bool(matched.any())
    if len(at):
        assert matched[at[0]]
        assert matched[at[-1]]
        assert len(at) == at[-1] - at[0] + 1


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("<p>one two three</p>", "one two three", "one two three"),
        ("<li>menu<p>One TWO</p>", "one two", "One TWO"),
        ("<p>one <b>two</b></p><p>three", "one\n\ntwo three", "one two three"),
        ("<p>caf&eacute; &amp; bar", "caf\u00e9 & bar", "caf\u00e9 bar"),
        # Words of the page that the text lacks stay inside the span …
        ("<p>one two x three four", "one two three four", "one two x three four"),
        # … and single ones that it has, far away, stay outside.
        (
            "<li>four <li>x y z w v u<p>one two three four",
            "one two three four",
            "one two three four",
        ),
        ("<p>one two three<li>x y z w v u t s r<li>four", "one two three four", "one two three"),
        # Matched words count 1, others -1/2: three words reach over five, not over six.
        ("a x x x x x b c d", "a b c d", "b c d"),
        ("a b c x x x x x d e f", "a b c d e f", "a b c x x x x x d e f"),
        ("a b c x x x x x x d e f", "a b c d e f", "a b c"),
        # Nothing in common, no text, no page.
        ("<p>one two", "three", ""),
        ("<p>one two", "", ""),
        ("", "", ""),
        ("\u4e2d\u6587\u3002<p>\u6b63\u6587", "\u6b63\u6587", "\u6b63 \u6587"),
    ],
)
def test_labelled_words(page: str, text: str, expected: str) -> None:
    tokens = tokenize(page)

    labels = align(tokens, text)[0]

    assert words_at(tokens, labels) == expected.split()
    assert len(labels) == len(tokens)


@given(
    st.text(alphabet="aB\u00e91_ .,-\n\u4e2d\u3042\u30fc\u30fb\uac00\u0645\U00020000", max_size=30)
)
def test_words_of_text_are_cut_as_those_of_a_page(text: str) -> None:
    assert words_of(text) == tokenize(text).words()
