"""An algorithm for NeMo Curator's ``CommonCrawlHTMLExtractor(algorithm=MssAlgorithm())``."""

from __future__ import annotations

from nemo_curator.stages.text.download.html_extractors.base import HTMLExtractorAlgorithm

from scrapy_mss.bulk.texts import text_of


class MssAlgorithm(HTMLExtractorAlgorithm):  # type: ignore[misc]
    """The paragraphs of each page that is an article; with *only_articles* off, of any page.

    *model* is a model file; without it the bundled model reads.
    """

    def __init__(self, model: str = "", *, only_articles: bool = True) -> None:
        self._model, self._only_articles = model, only_articles

    def extract_text(
        self, html: str, stop_words: frozenset[str], language: str
    ) -> list[str] | None:
        """The paragraphs in *html*, None if there are none; words and language are not needed."""
        text = text_of(html, self._model, only_articles=self._only_articles)
        return text.split("\n\n") if text else None
