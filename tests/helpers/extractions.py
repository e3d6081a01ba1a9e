"""What is true of an extraction from any page, and an extractor that keeps all of it."""

from __future__ import annotations

import numpy as np

from scrapy_mss import Extraction, Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.rendering import readable, render
from scrapy_mss.markup.tokens import Floats


class WholePage(Extractor):
    """Keeps every token, so that all is rendered."""

    def scores(self, page: Page) -> Floats:
        return np.ones(len(page.tokens))


def assert_sound(found: Extraction, source: str) -> None:
    """It is of the page *source*, its numbers are finite, and nothing beyond its span is kept."""
    n = len(found.tokens)
    assert found.tokens.source == source
    assert 0 <= found.span.start <= found.span.end <= n
    assert len(found.kept) == len(found.scores) == n
    assert not found.kept[: found.span.start].any()
    assert not found.kept[found.span.end :].any()
    assert 0 <= found.probability <= 1
    assert np.isfinite(found.scores).all()
    # The paper's way adds no marks.
    assert found.text in {way(found.tokens, found.kept) for way in (render, readable)}
    assert found.text.encode().decode() == found.text
    assert (found.html == "") == (not found.kept.any())
