"""The compiled steps of site memory beside their Python."""

from __future__ import annotations

from functools import reduce

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.sites.evidence import adjusted
from scrapy_mss.sites.memory import BlockKeys, KeyedCounts, SiteMemory
from tests.helpers.compiled import both
from tests.helpers.layouts import PAGES

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1)


def memory_of(html: str, chosen: list[float], minute: int) -> SiteMemory:
    """The memory of a page whose blocks have the *chosen* probabilities in turn."""
    keys = BlockKeys.of(Page.of(html))
    inside = np.resize(chosen, len(keys.words))
    return SiteMemory.of_page(keys, inside, minute, labelled=minute % 2 == 1)


@given(st.lists(st.tuples(PAGES, PROBABILITIES), max_size=6), PAGES, PROBABILITIES)
def test_memory_and_evidence_are_the_same_without_the_compiled_part(
    known: list[tuple[str, list[float]]], html: str, chosen: list[float]
) -> None:
    def perform() -> tuple[SiteMemory, list[float], list[bool]]:
        each = (memory_of(*page, minute) for minute, page in enumerate(known))
        memory = reduce(SiteMemory.plus, each, SiteMemory(pages=3.0))
        keys = BlockKeys.of(Page.of(html))
        probability = adjusted(memory, keys, np.resize(chosen, len(keys.words)))
        return memory, probability.tolist(), keys.once.tolist()

    compiled, python = both(perform)

    assert compiled == python


def test_what_is_added_is_the_same_to_the_last_bit() -> None:
    one, other = (
        KeyedCounts.of(np.array(keys, np.uint64), np.full((2, 4), -1e-9), 1)  # next to no share
        for keys in ([1, 2], [2, 3])
    )

    compiled, python = both(lambda: KeyedCounts.plus(one, other).rows)

    assert compiled.tobytes() == python.tobytes()
