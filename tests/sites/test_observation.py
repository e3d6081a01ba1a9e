from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.compiled import IS_COMPILED, compiled_part, python_alone
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.sites.observation import BlockKeys, Groups, Observation, observation
from tests.helpers.layouts import PAGES

LONG = "word " * 30


def observed(page: Page, inside: Floats, *, labelled: bool = False) -> Observation:
    return observation(BlockKeys.of(page), inside, 1, labelled=labelled)


def text_counts(html: str, inside: list[float]) -> dict[int, list[float]]:
    """The counts of the text of each block, by the block's number."""
    page = Page.of(html)
    texts = observed(page, np.array(inside)).texts
    rows = texts.find(BlockKeys.of(page).texts).T
    return dict(enumerate(rows.tolist()))


@given(PAGES)
def test_a_page_counts_each_text_and_each_container_once(html: str) -> None:
    page = Page.of(html)
    keys = BlockKeys.of(page)

    seen = observed(page, np.ones(len(page.blocks)))

    assert seen.texts.keys.tolist() == sorted(set(keys.texts.tolist()))
    assert seen.containers.keys.tolist() == sorted(set(keys.containers.tolist()))
    assert set(seen.texts.rows[:, 0].tolist()) <= {1.0}
    assert set(seen.containers.rows[:, 0].tolist()) <= {1.0}


def test_shares_of_the_article_are_before_and_after_a_text() -> None:
    html = f"<p>{LONG}</p><p>Advertisement</p><p>{LONG}more</p>"

    counts = text_counts(html, [1.0, 0.0, 1.0])

    _, once, before, after = counts[1]
    assert once == 1.0
    assert (round(before, 1), round(after, 1)) == (0.5, 0.5)
    assert counts[0][2] == 0.0
    assert counts[2][3] == 0.0


def test_a_text_that_occurs_twice_says_nothing_of_its_place() -> None:
    counts = text_counts(f"<p>Share</p><p>{LONG}</p><p>Share</p>", [0.0, 1.0, 0.0])

    assert counts[0] == [1.0, 0.0, 0.0, 0.0]


def test_a_page_without_an_article_says_nothing_of_places() -> None:
    counts = text_counts("<p>Share</p><p>One line</p>", [0.0, 1.0])

    assert counts[0] == [1.0, 0.0, 0.0, 0.0]


def test_the_vote_of_a_container_is_the_mean_of_its_blocks_whatever_their_length() -> None:
    page = Page.of(f"<div class=story><p>{LONG}</p><p>Ad</p></div>")

    containers = observed(page, np.array([1.0, 0.0])).containers

    assert containers.rows.tolist() == [[1.0, 0.5, 0.0, 0.0]]


def test_labels_vote_in_columns_of_their_own_too() -> None:
    page = Page.of(f"<div class=story><p>{LONG}</p></div><div class=menu>Home</div>")

    containers = observed(page, np.array([1.0, 0.0]), labelled=True).containers

    assert sorted(containers.rows.tolist()) == [[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]


@given(st.lists(st.integers(0, 5), max_size=20))
def test_the_compiled_part_groups_the_same(keys: list[int]) -> None:
    def groups() -> Groups:
        hashes = np.array(keys, np.uint64)
        return BlockKeys(hashes, hashes, np.ones(len(keys), np.int64)).by_text

    compiled = groups()
    with python_alone():
        python = groups()

    assert [each.tolist() for each in compiled] == [each.tolist() for each in python]
    assert [each.dtype for each in compiled] == [each.dtype for each in python]


@given(html=PAGES, labelled=st.booleans(), data=st.data())
def test_the_compiled_part_observes_the_same(
    *, html: str, labelled: bool, data: st.DataObject
) -> None:
    page = Page.of(html)
    n = len(page.blocks)
    inside = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))

    compiled = observed(page, inside, labelled=labelled)
    with python_alone():
        python = observed(page, inside, labelled=labelled)

    assert compiled.texts == python.texts
    assert compiled.containers == python.containers


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled part was not built")
def test_the_compiled_part_rejects_columns_that_do_not_fit() -> None:
    compiled = compiled_part()
    assert compiled is not None
    two, one = np.zeros(2).tobytes(), np.ones(1, np.int64).tobytes()

    with pytest.raises(ValueError, match="not those of 1 blocks"):
        compiled.arrays.observed_texts(one, b"\1", two, 1.0)
    with pytest.raises(ValueError, match="no block 1"):
        compiled.arrays.observed_texts(one, b"\1", two[:8], 1.0)
    with pytest.raises(ValueError, match="not those of 1 blocks"):
        compiled.arrays.observed_containers(one, one, two)
    with pytest.raises(ValueError, match="no container 1 of 1"):
        compiled.arrays.observed_containers(one, one, two[:8])
