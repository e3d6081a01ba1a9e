from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.cleaning import count_sentences, is_article, simple_scores, span_probability
from scrapy_mss.core.subsequence import EMPTY, Span
from scrapy_mss.markup.tokenizer import tokenize


def test_words_and_symbols_score_1_and_tags_the_penalty() -> None:
    tokens = tokenize("<p>one, <b>2</b></p>")

    assert simple_scores(tokens, -2.0).tolist() == [-2, 1, 1, -2, 1, -2, -2]
    assert simple_scores(tokens)[0] == -3.25  # the paper's


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        # Eight sentences and two paragraphs are enough, one less of either is not.
        ("One. " * 4 + "\n\n" + "Two. " * 4, True),
        ("One. " * 4 + "\n\n" + "Two. " * 3, False),
        ("One. " * 7 + "\n\n" + "Two.", True),
        ("One. " * 7 + "\n\n" + "Two", False),
        ("One. " * 8, False),
        ("One. " * 100, False),
        ("One. " * 4 + "\n" + "Two. " * 4, False),
        ("One. " * 4 + "\n\n" + "Two\n\n" + "Three. " * 4, True),
        ("One.\n\n" * 8, True),
        ("One\n\n" * 100, False),
    ],
)
def test_an_article_has_two_paragraphs_and_eight_sentences(
    text: str,
    expected: bool,  # noqa: FBT001
) -> None:
    assert is_article(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("No end", 0),
        ("One.", 1),
        ("One. Two", 1),
        ("One. Two.", 2),
        ("One! Two? Three\u2026 Four.", 4),
        ("One.\nTwo.\n\nThree.", 3),
        # Quotes and brackets may follow the full stop.
        ('"One." (Two.) \u201cThree.\u201d \u00abFour.\u00bb', 4),
        ('He said "one.") Two.', 2),
        # Near misses: full stops within a number, an address, an abbreviation; several in a row.
        ("3.5 www.example.com e.g.this", 0),
        ("One.Two", 0),
        ("One...", 1),
        ("One?!", 1),
        # Other scripts; in those without spaces the full stop alone is enough.
        ("\u4e00\u3002\u4e8c\uff01\u4e09\uff1f\u56db", 3),
        ("\u0645\u0631\u062d\u0628\u0627\u061f \u0646\u0639\u0645.", 2),
        ("\u0939\u093e\u0901\u0964 \u0939\u093e\u0901\u0964", 2),
    ],
)
def test_sentences_are_counted_by_their_ends(text: str, expected: int) -> None:
    assert count_sentences(text) == expected


def test_the_probability_of_a_span_is_the_mean_of_its_tokens() -> None:
    scores = np.array([-0.5, 0.5, 0.25, 0.0, -0.5])

    assert span_probability(scores, Span(1, 4, 0.75)) == 0.75
    assert span_probability(scores, Span(0, 5, -0.25)) == 0.45
    assert span_probability(scores, EMPTY) == 0


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=9))
def test_a_probability_is_between_0_and_1_for_any_scores(scores: list[float]) -> None:
    """Scores of simple MSS are no probabilities, and a bias lifts scores over one half."""
    assert 0 <= span_probability(np.array(scores), Span(0, len(scores), sum(scores))) <= 1
