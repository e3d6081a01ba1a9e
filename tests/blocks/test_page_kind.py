from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.features import Columns
from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import agreements, times_in_text
from scrapy_mss.markup.tokens import Bools, Floats
from tests.helpers.layouts import PAGES

TIMES = "<time>a</time><p>one<p>two <time>b</time><div><time>c</time></div><p>three<time>d</time>"


@pytest.mark.parametrize(
    ("kept", "n"),
    [((1, 2), 1), ((1, 2, 3, 4), 3), ((2, 4), 3), ((4,), 1), ((1,), 0), ((), 0)],
)
def test_times_are_those_between_the_first_and_the_last_kept_block(
    kept: tuple[int, ...], n: int
) -> None:
    page = Page.of(TIMES)
    mask: Bools = np.isin(np.arange(len(page.blocks)), kept)

    assert len(page.blocks) == 5
    assert times_in_text(page, mask) == n


PAGE = Page.of("<p>one two three four<p>five six<p>seven eight")  # of 4, 2 and 2 words


def said(kept: Floats) -> Columns:
    """Inputs of opinions that keep blocks as *kept* (float64[n_opinions, n]) has it."""
    names = [opinion.name for opinion in OPINIONS]
    shares = np.empty(kept.shape)
    shares[:] = kept.mean(axis=1, keepdims=True) if kept.size else 0.0
    of_blocks, of_page = (f"opinion_{name}" for name in names), (f"share_of_{n}" for n in names)
    return Columns((*of_blocks, *of_page), np.concatenate((kept, shares)))


def columns(*opinions: list[float]) -> Columns:
    """Inputs of the first opinions; the others keep nothing."""
    silent = [[0.0, 0.0, 0.0]] * (len(OPINIONS) - len(opinions))
    return said(np.array([*opinions, *silent]))


def test_agreement_is_f1_by_words_with_each_opinion_that_keeps_anything() -> None:
    kept: Bools = np.array([True, True, False])

    found = agreements(PAGE, kept, columns([1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]))

    assert found == pytest.approx([1, 2 * 4 / (6 + 4), 0])


def test_without_an_opinion_there_is_no_agreement() -> None:
    kept: Bools = np.ones(3, np.bool_)

    assert agreements(PAGE, kept, columns()) == []


@given(PAGES, st.data())
def test_agreement_is_a_share(html: str, data: st.DataObject) -> None:
    page = Page.of(html)
    n = len(page.blocks)
    masks = st.lists(st.booleans(), min_size=n, max_size=n)
    found = said(np.array([data.draw(masks) for _ in OPINIONS], np.float64))
    mask: Bools = np.array(data.draw(masks), np.bool_)

    assert all(0 <= each <= 1 for each in agreements(page, mask, found))
