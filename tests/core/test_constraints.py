from __future__ import annotations

import numpy as np
import pytest
from scrapy_mss.core.constraints import HORIZONTAL_RULE, Boundary, cut

from scrapy_mss.core.subsequence import EMPTY, Span, best_span
from scrapy_mss.markup.tokenizer import tokenize

RULE = (HORIZONTAL_RULE,)


def cut_page(source: str, first: int, last: int) -> Span:
    """The span first … last-1 of *source* after the cut; token n scores 2**n."""
    tokens = tokenize(source)
    scores = np.exp2(np.arange(len(tokens), dtype=np.float64))
    return cut(Span(first, last, float(scores[first:last].sum())), tokens, scores, RULE)


@pytest.mark.parametrize(
    ("source", "first", "last", "expected"),
    [
        ("a b c d", 0, 4, Span(0, 4, 15)),
        ("a b <hr> c", 0, 4, Span(0, 2, 3)),
        ("a b <HR noshade/> c", 0, 4, Span(0, 2, 3)),
        # The first rule counts.
        ("a <hr> b <hr> c", 0, 5, Span(0, 1, 1)),
        # A rule outside the span does not.
        ("a <hr> b <hr> c", 2, 3, Span(2, 3, 4)),
        ("a <hr> b c", 2, 4, Span(2, 4, 12)),
        ("a b <hr> c", 0, 2, Span(0, 2, 3)),
        # Nothing stands before a rule at the span's beginning.
        ("a <hr> b", 1, 3, Span(1, 1, 0)),
        # Near misses: a closing tag, another tag, a comment, a rule's name as a word.
        ("a </hr> b", 0, 3, Span(0, 3, 7)),
        ("a <h1> b", 0, 3, Span(0, 3, 7)),
        ("a <hrx> b", 0, 3, Span(0, 3, 7)),
        ("a <!--<hr>--> b", 0, 2, Span(0, 2, 3)),
        ("a hr b", 0, 3, Span(0, 3, 7)),
    ],
)
def test_a_span_ends_before_its_first_rule(
    source: str, first: int, last: int, expected: Span
) -> None:
    assert cut_page(source, first, last) == expected


def test_without_boundaries_nothing_is_cut() -> None:
    tokens, span = tokenize("a <hr> b"), Span(0, 3, 3.0)

    assert cut(span, tokens, np.ones(3), ()) is span


def test_an_empty_span_stays_empty() -> None:
    tokens = tokenize("<hr>")

    assert cut(EMPTY, tokens, np.zeros(1), RULE) == EMPTY


def test_several_boundaries_cut_at_whichever_comes_first() -> None:
    tokens = tokenize("a b <aside> c <hr> d")
    scores = np.ones(len(tokens))
    boundaries = (HORIZONTAL_RULE, Boundary("aside", "stands beside the text"))

    assert cut(best_span(scores), tokens, scores, boundaries) == Span(0, 2, 2.0)
