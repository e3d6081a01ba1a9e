"""The text of a page, for pipelines of other programs.

Pipelines are created in one process and run in others: only the path of the model is sent there,
and the model is loaded when the first page is read.
"""

from __future__ import annotations

from functools import lru_cache

from scrapy_mss.extractor import Extractor

_extractor = lru_cache(4)(Extractor)  # a process has one or two


def text_of(html: str, model: str, *, only_articles: bool) -> str:
    """The main text of the page by the model in the file *model*, by the bundled one without it.

    It is empty if the page has none, or is no article and *only_articles* is set.
    """
    extraction = _extractor(model or None).extract(html)
    return extraction.text if extraction.is_article or not only_articles else ""
