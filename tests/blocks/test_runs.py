"""The runs of kept blocks at a place: against their definition, block by block."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.selection import kept_at, kept_tokens
from scrapy_mss.markup.rendering import readable
from scrapy_mss.markup.tokens import Bools
from tests.helpers.effort import examples

BLOCKS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=12)


def spread(page: Page, of_block: list[bool]) -> Bools:
    """bool[n_tokens]: the tokens of these blocks."""
    return page.blocks.spread(np.array(of_block, np.bool_))


def by_definition(rows: list[tuple[bool, bool, bool]]) -> list[str]:
    """The names of the blocks that stay: from each kept one at the place, on to both sides."""
    wanted = [kept and not excluded for kept, _, excluded in rows]
    stays = set[int]()
    for start, (_, at_place, _) in enumerate(rows):
        for step in (-1, 1):
            at = start
            while at_place and 0 <= at < len(rows) and wanted[at]:
                stays.add(at)
                at += step
    return [f"w{n}" for n in sorted(stays)]


@examples(1)
@given(BLOCKS)
def test_what_stays_are_the_kept_blocks_at_the_place_and_on_from_there(
    rows: list[tuple[bool, bool, bool]],
) -> None:
    page = Page.of("".join(f"<div><p>w{n}</p></div>" for n in range(len(rows))))
    kept, place, excluded = (list(each) for each in zip(*rows, strict=True)) if rows else ([],) * 3
    tokens = kept_tokens(page, np.array(kept, np.bool_))

    found = kept_at(page, tokens, spread(page, place), spread(page, excluded))

    assert readable(page.tokens, found).split() == by_definition(rows)
    assert not (found & ~tokens).any()


def test_a_page_without_a_block_has_none() -> None:
    page = Page.of("<img>")
    nothing = np.zeros(len(page.tokens), np.bool_)

    assert not kept_at(page, nothing, nothing, nothing).any()


def test_part_of_a_block_can_be_excluded() -> None:
    page = Page.of("<p>one <b>two</b> three</p>")
    everything = np.ones(len(page.tokens), np.bool_)
    at = int(np.flatnonzero(page.tokens.is_word)[1])
    excluded = np.zeros_like(everything)
    excluded[at - 1 : at + 2] = True

    found = kept_at(page, everything, everything, excluded)

    assert readable(page.tokens, found).split() == ["one", "three"]
