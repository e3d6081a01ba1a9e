from __future__ import annotations

from research.systems.feature_extractor import (
    FeatureExtractor,
    block_counts,
    blocks,
)
from scrapy_mss.markup.tokenizer import tokenize


def test_words_and_what_is_no_text_are_counted() -> None:
    tokens = tokenize("<div><a>x</a> y z.<p><img>w<script>v</script></p><form><li></form>")

    counts = block_counts(tokens, blocks(tokens))

    # Words that are no links; links, items, pictures, frames, forms, scripts.
    assert counts.tolist() == [
        [0, 0, 0, 0, 0, 0, 0],
        [2, 1, 0, 0, 0, 0, 0],
        [1, 0, 0, 1, 0, 0, 1],
        [0, 0, 1, 0, 0, 1, 0],
    ]


def test_the_block_with_the_most_words_wins() -> None:
    cases = [
        ("<p>one two<p>one two three<p>one", "one two three"),
        # Of equal ones the first; a table cell is no block of its own.
        ("<p>one<p>two", "one"),
        ("<tr><td>one<td>two</tr>three", "one\n\ntwo"),
        # Words of a link are none, and text must be the greater part.
        ("<p>one<p><a>one two three</a>", "one"),
        ("<p>one<p>one two <img><img>", "one"),
        ("<p>one<p>one two <img>", "one two"),
        ("<p><img>", ""),
        ("", ""),
    ]

    assert [(source, FeatureExtractor().extract(source)) for source, _ in cases] == cases
