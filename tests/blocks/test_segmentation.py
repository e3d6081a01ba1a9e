from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.segmentation import LEVELS, segment
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
