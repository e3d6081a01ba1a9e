from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.feature_extractor import (
    FeatureExtractor,
    KFeatureExtractor,
    block_counts,
    blocks,
    shares,
)
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.markup import SOUP, TAG_SOUP

MENU = "".join(f"<ul><li><a>one two {n}</a><li><a>three four {n}</a></ul>" for n in range(6))
FORM = "<div>Name <input> Mail <input> <button>Send</button></div>"
# Paragraphs long and short: alike in their shares, not in their counts.
ARTICLE = "".join(f"<p>{'word ' * n}</p>" for n in (30, 4, 40, 5))
N_WORDS = 79


def test_a_block_ends_where_a_tag_cuts() -> None:
    tokens = tokenize("a<div>b <b>c</b></div>d<hr>e")

    assert blocks(tokens).tolist() == [0, 1, 1, 1, 1, 1, 2, 2, 3, 3]


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


def test_a_share_is_of_all_that_is_counted_in_a_block() -> None:
    counts = np.array([[3.0, 1.0], [0.0, 0.0]])

    assert shares(counts).tolist() == [[0.75, 0.25], [0.0, 0.0]]


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


def test_the_cluster_with_the_most_words_a_block_wins() -> None:
    text = KFeatureExtractor().extract(MENU + FORM * 30 + ARTICLE + MENU)

    assert text.split() == ["word"] * N_WORDS
    assert text.split().count("word") < 30 * len("Name Mail Send".split())


@pytest.mark.parametrize("source", ["", "<p><img></p>", "<p><a>link</a></p>"])
def test_without_words_there_is_no_cluster(source: str) -> None:
    assert KFeatureExtractor().extract(source) == ""


@given(st.one_of(SOUP, TAG_SOUP))
def test_one_block_is_kept_whole_or_a_cluster_of_blocks_with_words(source: str) -> None:
    tokens = tokenize(source)
    block = blocks(tokens)

    one = set(block[FeatureExtractor().kept(tokens)].tolist())
    several = KFeatureExtractor().kept(tokens)

    assert len(one) <= 1
    chosen = set(block[several].tolist())
    assert several.tolist() == [number in chosen for number in block.tolist()]
    assert all(block_counts(tokens, block)[number, 0] > 0 for number in chosen)
