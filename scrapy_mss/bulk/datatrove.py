"""An extractor for datatrove's pipelines, in place of its `Trafilatura`.

datatrove runs it in a process of its own and gives up pages that take too long. It calls the
extractor once before the first page, which loads the model.
"""

from __future__ import annotations

from functools import lru_cache

from datatrove.pipeline.extractors.base import BaseExtractor

from scrapy_mss.extractor import Extractor

_extractor = lru_cache(4)(Extractor)  # loaded where pages are read; a process has one or two


class MssExtractor(BaseExtractor):  # type: ignore[misc]
    """The text of each page that is an article; with *only_articles* off, of any page.

    *timeout* is in seconds a page; *model* is a model file, without it the bundled model reads.
    """

    name = "⛏ scrapy-mss"

    def __init__(self, timeout: float = 1, model: str = "", *, only_articles: bool = True) -> None:
        super().__init__(timeout)
        self._model, self._only_articles = model, only_articles

    def extract(self, text: str) -> str:
        """The text in the HTML *text*; datatrove drops a document where it is empty."""
        extraction = _extractor(self._model or None).extract(text)
        return extraction.text if extraction.is_article or not self._only_articles else ""
