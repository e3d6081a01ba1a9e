"""The text of a page, by a model that is loaded on first use.

Pipelines are created in one process and run in others; only the path is sent there.
"""

from __future__ import annotations

from scrapy_mss.extractor import Extractor


class Texts:
    """Texts by the model in the file *model*, by the bundled one without it."""

    def __init__(self, model: str, *, only_articles: bool) -> None:
        self._model = model
        self._only_articles = only_articles
        self._extractor: Extractor | None = None

    def of(self, html: str) -> str:
        """The main text of the page; empty if it has none, or is to be an article and is none."""
        if self._extractor is None:
            self._extractor = Extractor(self._model or None)
        extraction = self._extractor.extract(html)
        return extraction.text if extraction.is_article or not self._only_articles else ""

    def __getstate__(self) -> dict[str, object]:
        """All but the model."""
        return {**self.__dict__, "_extractor": None}
