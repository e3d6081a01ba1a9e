"""An algorithm for NeMo Curator's ``CommonCrawlHTMLExtractor(algorithm=MssAlgorithm())``."""

from __future__ import annotations

from nemo_curator.stages.text.download.html_extractors.base import HTMLExtractorAlgorithm

from scrapy_mss.bulk.texts import Texts


class MssAlgorithm(HTMLExtractorAlgorithm):  # type: ignore[misc]
    """The paragraphs of each page that is an article; with *only_articles* off, of any page.

    *model* is a model file; without it the bundled model reads.
    """

    def __init__(self, model: str = "", *, only_articles: bool = True) -> None:
        self._texts = Texts(model, only_articles=only_articles)

    def extract_text(
        self, html: str, stop_words: frozenset[str], language: str
    ) -> list[str] | None:
        """The paragraphs in *html*, None if there are none; words and language are not needed."""
        text = self._texts.of(html)
        return text.split("\n\n") if text else None
