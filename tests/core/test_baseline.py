from __future__ import annotations

import pytest

from scrapy_mss.core.baseline import simple_scores
from scrapy_mss.core.subsequence import best_span
from scrapy_mss.markup.tokenizer import tokenize


def test_words_and_symbols_score_1_and_tags_the_penalty() -> None:
    tokens = tokenize("<p>one, <b>2</b></p>")

    assert simple_scores(tokens, -2.0).tolist() == [-2, 1, 1, -2, 1, -2, -2]
    assert simple_scores(tokens)[0] == -3.25  # the paper's


@pytest.mark.parametrize(
    ("words_before", "first"),
    [
        # A tag costs 3.25: four words outweigh it, three do not.
        (4, 0),
        (3, 4),
    ],
)
def test_text_before_a_tag_is_taken_if_it_outweighs_the_tag(words_before: int, first: int) -> None:
    tokens = tokenize("one " * words_before + "<p>" + "two " * 9)

    assert best_span(simple_scores(tokens)).start == first
