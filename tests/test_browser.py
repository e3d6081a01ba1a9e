"""Hostile HTML in a real Chromium: nothing of ours runs, and the same unsanitized does.

`make test-browser` installs the browser; without one these tests are skipped.
"""

from __future__ import annotations

import numpy as np
import pytest

from research.rendering.browser import chromium
from scrapy_mss import Extractor
from scrapy_mss.markup.rendering import well_formed
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.output.sanitizing import sanitized
from scrapy_mss.quality.page import page
from scrapy_mss.quality.report import report
from tests.helpers.browser import tripped
from tests.helpers.html_payloads import aimed, payloads
from tests.helpers.news_pages import news_page
from tests.quality.made_up import TODAY, MadeUpSite, broken

PAYLOADS = payloads()
FEWEST_IN_ARTICLES = 20  # payloads that run where a whole extraction is shown as it was

pytestmark = [
    pytest.mark.skipif(
        chromium() is None, reason="there is no chromium here: make test-browser installs it"
    ),
    pytest.mark.slow("a browser"),
]


def in_article(markup: str) -> str:
    return news_page(3).html.replace("</p>\n<p>", f"</p>\n{markup}<p>", 1)


def alone(markup: str, *, safe: bool) -> str:
    """The markup as if it were an article by itself."""
    tokens = tokenize(markup)
    everything = np.ones(len(tokens), np.bool_)
    return sanitized(tokens, everything) if safe else well_formed(tokens, everything)


def names(numbers: set[int]) -> set[str]:
    return {PAYLOADS[number].name for number in numbers}


def test_nothing_in_sanitized_html_runs() -> None:
    extract = Extractor().extract

    def documents(address: str) -> list[str]:
        shown = [alone(markup, safe=True) for markup in aimed(address)]
        articles = [extract(in_article(markup)).html for markup in aimed(address)]
        return [f"{one}<hr>{two}" for one, two in zip(shown, articles, strict=True)]

    assert names(tripped(documents)) == set()


def test_nothing_in_the_names_of_a_report_runs() -> None:
    def documents(address: str) -> list[str]:
        site = broken(MadeUpSite(pages=12), TODAY, fields=0.0)
        return [page(report(dict.fromkeys(aimed(address), site), TODAY))]

    assert names(tripped(documents)) == set()


def test_the_tripwire_catches_what_is_not_sanitized() -> None:
    """Alone, and in the source of an extraction, which is not safe."""
    extract = Extractor().extract

    def documents(address: str) -> list[str]:
        again = aimed(address, len(PAYLOADS))
        return [*aimed(address), *(extract(in_article(markup)).raw_html for markup in again)]

    ran = tripped(documents)

    alone = {n for n in ran if n < len(PAYLOADS)}
    assert {each.name for each in PAYLOADS if each.trips} - names(alone) == set()
    assert len(ran - alone) >= FEWEST_IN_ARTICLES
