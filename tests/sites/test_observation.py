from __future__ import annotations

import numpy as np
from hypothesis import given

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.sites.memory import BlockKeys, Observation, observation
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
