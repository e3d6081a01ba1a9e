from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.segmentation import LEVELS, segment
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_ancestors, block_runs
from tests.helpers.markup import shown


def texts(source: str) -> list[str]:
    """The words and symbols of each text block."""
    tokens = tokenize(source)
    seen, blocks = shown(tokens), segment(tokens)
    return [
        " ".join(seen[at] for at in np.flatnonzero(blocks.of_token == n) if not tokens.is_tag[at])
        for n in range(len(blocks))
    ]


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


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("one two", ["one two"]),
        ("<p>one <b>two</b></p><p>three", ["one two", "three"]),
        ("one<div>two</div>three", ["one", "two", "three"]),
        ("<td>1</td><td>2</td>", ["1", "2"]),
        # One line break is a line of the block, two end it …
        ("one<br>two", ["one two"]),
        ("one<br><br>two", ["one", "two"]),
        ("one <br>\n<br/> two", ["one", "two"]),
        ("one<br><b><br>two</b>", ["one", "two"]),
        # … but not if there is text between them.
        ("one<br>.<br>two", ["one . two"]),
        ("one<br>two<br>three", ["one two three"]),
        # Symbols alone are no block.
        ("<p>***</p><p>one</p><p>...</p>", ["one"]),
        ("<p>- one!</p>", ["- one !"]),
        ("one<nosuch>two</nosuch>", ["one two"]),
        ("one<!-- two -->three", ["onethree"]),
        ("", []),
        ("<p></p>", []),
        (". , !", []),
    ],
)
def test_blocks_of_a_page(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


def test_ancestors_beyond_the_last_level_are_ignored() -> None:
    depth = LEVELS + 3

    blocks = segment(tokenize("<div>" * depth + "one" + "</div>" * depth))

    assert blocks.ancestors[:, 0].tolist() == list(range(depth - 1, depth - 1 - LEVELS, -1))
