"""Hostile HTML in a real Chromium: nothing of ours runs, and the same unsanitized does.

`make test-browser` installs the browser; without one these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from research.rendering.browser import chromium
from scrapy_mss import Extractor, metadata
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.output.sanitizing import sanitized
from scrapy_mss.quality.page import page
from scrapy_mss.quality.report import report
from scrapy_mss.workbench.drawing import why_page
from tests.helpers.browser import tripped
from tests.helpers.html_payloads import aimed, payloads
from tests.helpers.news_pages import news_page
from tests.quality.made_up import TODAY, MadeUpSite, broken

PAYLOADS = payloads()
FEWEST_IN_ARTICLES = 20  # payloads that run where a whole extraction is shown as it was
EXTRACTOR = Extractor()

pytestmark = [
    pytest.mark.skipif(
        chromium() is None, reason="there is no chromium here: make test-browser installs it"
    ),
    pytest.mark.slow("a browser"),
]


def in_article(markup: str) -> str:
    return news_page(3).html.replace("</p>\n<p>", f"</p>\n{markup}<p>", 1)


def articles(address: str) -> list[str]:
    """The payloads as if each were an article by itself, and in one."""
    shown = []
    for markup in aimed(address):
        tokens = tokenize(markup)
        alone = sanitized(tokens, np.ones(len(tokens), np.bool_))
        shown.append(f"{alone}<hr>{EXTRACTOR.extract(in_article(markup)).html}")
    return shown


def names_in_a_report(address: str) -> list[str]:
    site = broken(MadeUpSite(pages=12), TODAY, fields=0.0)
    return [page(report(dict.fromkeys(aimed(address), site), TODAY))]


def explanations(address: str) -> list[str]:
    pages = [in_article(markup) for markup in aimed(address)]
    read = [(EXTRACTOR.explain(each), metadata.read_html(each)) for each in pages]
    return [why_page(explanation, found.values, found.sources) for explanation, found in read]


def names(numbers: set[int]) -> set[str]:
    return {PAYLOADS[number].name for number in numbers}


@pytest.mark.parametrize("documents", [articles, names_in_a_report, explanations])
def test_nothing_that_is_shown_runs(documents: Callable[[str], list[str]]) -> None:
    assert names(tripped(documents)) == set()


def test_the_tripwire_catches_what_is_not_sanitized() -> None:
    """Alone, and in the source of an extraction, which is not safe."""

    def documents(address: str) -> list[str]:
        again = map(in_article, aimed(address, len(PAYLOADS)))
        return [*aimed(address), *(EXTRACTOR.extract(html).raw_html for html in again)]

    ran = tripped(documents)

    alone = {n for n in ran if n < len(PAYLOADS)}
    assert {each.name for each in PAYLOADS if each.trips} - names(alone) == set()
    assert len(ran - alone) >= FEWEST_IN_ARTICLES
