from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.markup.attributes import class_words
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Tokens
from tests.helpers.layouts import PAGES, block_ancestors, block_runs, tag_of


def key_of(tokens: Tokens, at: int) -> int:
    source = tokens.clean[tokens.clean_start[at] : tokens.clean_end[at]]
    return crc32(" ".join([tag_of(tokens, at), *class_words(source)]).encode())


@given(PAGES)
def test_ancestors_have_their_tags_and_the_keys_of_tag_and_class_words(source: str) -> None:
    page = Page.of(source)
    tokens, ancestors = page.tokens, block_ancestors(page.tokens)

    for number, run in enumerate(block_runs(tokens)):
        above = ancestors[run[0]][:LEVELS]
        beyond = [0] * (LEVELS - len(above))
        keys, tags = page.ancestor_keys[:, number], page.ancestor_tags[:, number]
        assert keys.tolist() == [key_of(tokens, at) for at in above] + beyond
        assert tags.tolist() == [TAG_NUMBERS[tag_of(tokens, at)] for at in above] + beyond


@given(PAGES)
def test_blocks_of_the_title_are_in_it(source: str) -> None:
    page = Page.of(source)
    tokens, ancestors = page.tokens, block_ancestors(page.tokens)
    parents = [[tag_of(tokens, at) for at in ancestors[run[0]][:1]] for run in block_runs(tokens)]

    assert page.in_title.tolist() == [tags == ["title"] for tags in parents]


@given(PAGES)
def test_blocks_have_equal_hashes_exactly_if_they_have_equal_texts(source: str) -> None:
    page = Page.of(source)
    texts = [tuple(page.tokens.token_id[run].tolist()) for run in block_runs(page.tokens)]

    hashes = page.text_hashes.tolist()

    for text, number in zip(texts, hashes, strict=True):
        assert [other == text for other in texts] == [other == number for other in hashes]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<div hidden><section><p>one</p></section></div><p>two</p>", [True, False]),
        # Near misses: the text is after it, or the element is never closed.
        ("<div hidden></div><p>one</p>", [False]),
        ("<div hidden><p>one</p>", [False]),
    ],
)
def test_blocks_inside_hidden_elements_are_hidden(source: str, expected: list[bool]) -> None:
    assert Page.of(source).hidden.tolist() == expected
