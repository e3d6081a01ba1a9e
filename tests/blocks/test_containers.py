"""Elements as runs of blocks, against walks over the blocks' ancestors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import LEVELS
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES


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
