from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import DENSEST, LEVELS, MIN_BLOCKS, segment
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_ancestors, block_runs


@given(PAGES)
@examples(2)
def test_blocks_are_the_runs_of_a_walk_from_token_to_token(source: str) -> None:
    tokens = tokenize(source)
    runs = block_runs(tokens)

    blocks = segment(tokens)

    assert blocks.first.tolist() == [run[0] for run in runs]
    assert blocks.last.tolist() == [run[-1] for run in runs]
    of_token = [-1] * len(tokens)
    for number, run in enumerate(runs):
        of_token[run[0] : run[-1] + 1] = [number] * (run[-1] + 1 - run[0])
    assert blocks.of_token.tolist() == of_token


@given(PAGES)
@examples(2)
def test_ancestors_are_those_of_a_walk_through_the_tree(source: str) -> None:
    tokens = tokenize(source)
    ancestors = block_ancestors(tokens)

    blocks = segment(tokens)

    for number, first in enumerate(blocks.first.tolist()):
        expected = (ancestors[first] + [-1] * LEVELS)[:LEVELS]
        assert blocks.ancestors[:, number].tolist() == expected


@given(PAGES)
def test_words_and_linked_words_are_those_of_the_runs(source: str) -> None:
    tokens = tokenize(source)
    linked = set()
    for opened in np.flatnonzero(tokens.is_open("a") & (tokens.partner >= 0)).tolist():
        linked |= set(range(opened, tokens.partner[opened]))

    blocks = segment(tokens)

    words = [[at for at in run if tokens.is_word[at]] for run in block_runs(tokens)]
    assert blocks.words.tolist() == [len(run) for run in words]
    assert blocks.linked_words.tolist() == [len(linked.intersection(run)) for run in words]


@given(PAGES, st.data())
def test_values_of_blocks_spread_to_their_tokens_and_tokens_are_counted_by_block(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    blocks = segment(tokens)
    flags = st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens))
    chosen = np.array(data.draw(flags), np.bool_)
    values = np.arange(1, len(blocks) + 1)

    spread, counts = blocks.spread(values), blocks.count(chosen)

    assert spread.tolist() == [number + 1 for number in blocks.of_token.tolist()]
    pairs = list(zip(blocks.of_token.tolist(), chosen.tolist(), strict=True))
    assert counts.tolist() == [pairs.count((number, True)) for number in range(len(blocks))]


def test_ancestors_beyond_the_last_level_are_ignored() -> None:
    depth = LEVELS + 3

    blocks = segment(tokenize("<div>" * depth + "one" + "</div>" * depth))

    assert blocks.ancestors[:, 0].tolist() == list(range(depth - 1, depth - 1 - LEVELS, -1))


MAX_MEMORY = 140  # bytes a byte: 60, and the 72 of lxml's tree of paragraphs of a letter


def test_blocks_that_are_too_many_are_joined_and_lose_no_word() -> None:
    n = 4 * MIN_BLOCKS
    blocks = Page.of("<p>a" * n + "<p>" + "word " * 1000 + "<p>end").blocks

    assert len(blocks) <= MIN_BLOCKS
    assert blocks.words.sum() == n + 1001
    assert blocks.words.max() == 1000
    assert (blocks.first[1:] > blocks.last[:-1]).all()


@pytest.mark.parametrize("part", ["<p>a", "<p>" + "a" * DENSEST])
def test_blocks_of_short_and_of_ordinary_pages_are_not_joined(part: str) -> None:
    n = MIN_BLOCKS if part == "<p>a" else 4 * MIN_BLOCKS

    assert len(Page.of(part * n).blocks) == n


@pytest.mark.parametrize("part", ["<p>a", "<li>a b", "<td>1</td>", "<b></b>"])
def test_memory_of_dense_markup_is_bounded(part: str) -> None:
    extractor, source = Extractor(), part * (400_000 // len(part))
    extractor.extract(part * 100)
    tracemalloc.start()
    try:
        extractor.extract(source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= MAX_MEMORY * len(source)


@given(PAGES, st.data())
@examples(2)
def test_sums_and_masks_are_those_of_the_blocks_inside(source: str, data: st.DataObject) -> None:
    page = Page.of(source)
    containers, n = page.containers, len(page.blocks)
    starts, partner = page.attributes.start, page.tokens.partner
    values = np.arange(1.0, n + 1)
    inside = [
        [start < first < partner[start] for first in page.blocks.first.tolist()]
        for start in starts.tolist()
    ]
    drawn = data.draw(st.lists(st.booleans(), min_size=len(starts), max_size=len(starts)))

    total = containers.total(values)
    either = containers.inside(np.array(drawn, np.bool_))

    assert total.tolist() == [sum(values[row]) for row in np.array(inside, np.bool_)]
    chosen = [row for row, is_chosen in zip(inside, drawn, strict=True) if is_chosen]
    assert either.tolist() == [any(row[block] for row in chosen) for block in range(n)]
    for row in range(len(containers)):
        assert containers.run(row).tolist() == inside[row]


@given(PAGES)
@examples(2)
def test_the_parent_is_the_next_element_around_a_block(source: str) -> None:
    page = Page.of(source)
    containers, ancestors = page.containers, page.blocks.ancestors
    start = np.append(page.attributes.start, -1)

    assert start[containers.around].tolist() == ancestors.tolist()
    for level in range(LEVELS - 1):
        assert (containers.parent[containers.around[level]] == containers.around[level + 1]).all()
