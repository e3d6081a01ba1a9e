"""The work for a page of a crawl: labels, a training example, an article, learning.

It is the same in a worker process and in the crawl's own. A page of a site with a wrapper is parsed
and labelled once for all purposes, and read by the model at once if the wrapper misses it. So is a
page whose text a feed has.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from time import perf_counter

from scrapy_mss.article import (
    ArticleResult,
    ModelState,
    ReadOptions,
    article_of_extraction,
    article_of_feed,
    article_of_labels,
    read_article,
)
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.text_labels import TRUST, agreed_tokens, plain_words
from scrapy_mss.core.labels import Rejection
from scrapy_mss.crawl.processes import ERROR
from scrapy_mss.crawl.wire import LabelSummary, PageAnswer, PageRequest
from scrapy_mss.extractor import Extraction, Extractor
from scrapy_mss.items import FEED, WRAPPER
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.models.model import Example, Model, example_of
from scrapy_mss.seen.paragraphs import Paragraphs
from scrapy_mss.sites.context import SiteContext, SiteUpdate
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.wrappers import Labelling, Reason, Wrapper, label
from scrapy_mss.wrappers.reading import MIN_PROBABILITY, read_at

logger = logging.getLogger(__name__)

WRAPPER_MISS = "wrapper_miss"  # the wrapper of its site found nothing, which decides
# Of a labelling, what says something of the page; of a selector that failed nothing follows.
MISSES = (Reason.NO_MATCH, Reason.NO_WORDS, Reason.NOT_READ, Reason.EMPTY_PAGE)

_FAILED = "scrapy-mss: cannot read %s; the crawl continues"


@dataclass(frozen=True, slots=True)
class PageWork:
    """Answers pages by a *model*, which may learn between them."""

    model: Model
    options: ReadOptions

    def answer(self, page: PageRequest) -> PageAnswer:
        """What *page* asks for; MemoryError alone is raised, for it concerns the process."""
        try:
            if page.emitted:  # even without site memory
                site = page.site or SiteContext(SiteMemory(), 0, page.url)
                emitted = Paragraphs.from_bytes(page.emitted)
                page = replace(page, site=replace(site, emitted=emitted))
            if page.wrapper is not None:
                return self._labelled(page, page.wrapper)
            if page.text is not None:
                return self._by_text(page, page.text)
            article = self._read(page, page.html)
            return PageAnswer(article, update=page.site.update if page.site else None)
        except MemoryError:
            raise
        except Exception:
            logger.exception(_FAILED, page.url)
            return PageAnswer(failure=ERROR)

    def _labelled(self, page: PageRequest, wrapper: Wrapper) -> PageAnswer:
        started = perf_counter()
        labelling = label(wrapper, page.html)
        article = update = None
        example: Example | Rejection | None = None
        source = Page(labelling.tokens, page.url)
        if page.example and labelling.reason is None:
            example = Rejection.READ_BY_MODEL  # which learns nothing from itself
            if not wrapper.around:
                example = self._example(page, source, labelling.inside)
        if page.site is not None and labelling.reason is None and wrapper.body:
            update = page.site.labelled(source, labelling.inside)
        seconds = perf_counter() - started
        if page.article:
            article, labelling = self._article(page, labelling)
            if page.site is not None and update is None:
                update = page.site.update  # of what the model has read
        labels = LabelSummary(labelling.reason, labelling.field_hits, len(labelling.tokens))
        return PageAnswer(article, labels, example, seconds=seconds, update=update)

    def _by_text(self, page: PageRequest, text: FedText) -> PageAnswer:
        """The answer for a page that its feed may label, where the reading agrees."""
        if not page.html:
            return PageAnswer(article_of_feed(text, page.url, self.options))
        started = perf_counter()
        state, extractor = ModelState.of(self.model), Extractor.of(self.model)
        source = Page.of(page.html, extractor.profile.stem, page.url, page.requested)
        extraction = extractor.extract_page(source, page.site)
        article = None
        if page.article:
            article = article_of_extraction(extraction, state, self._options(page))
            article = replace(article, seconds=perf_counter() - started)
            started = perf_counter()
        example, update = self._taught_by_text(page, text, extraction)
        if update is None and page.site is not None:
            update = page.site.update  # of what the model has read
        labels = LabelSummary(None, {}, len(source.tokens), source=FEED)
        seconds = perf_counter() - started
        return PageAnswer(article, labels, example, seconds=seconds, update=update)

    def _taught_by_text(
        self, page: PageRequest, text: FedText, extraction: Extraction
    ) -> tuple[Example | Rejection, SiteUpdate | None]:
        """What is to be learned by the text of *page*, and what the memory of its site is told."""
        if not extraction.is_article:
            return Rejection.DISAGREES, None
        source = extraction.page
        inside = agreed_tokens(source, plain_words(text.html), extraction.kept)
        if isinstance(inside, Rejection):
            return inside, None
        example = self._example(page, source, inside)
        if isinstance(example, Rejection):
            return example, None
        update = None if page.site is None else page.site.labelled(source, inside)
        return example.trusted(TRUST), update

    def _example(self, page: PageRequest, source: Page, inside: Bools) -> Example | Rejection:
        """What is learned of the labelled *source* of *page*, with what is known of its site."""
        recalled = page.site.recalled if page.site is not None else None
        return example_of(source, inside, self.model, recalled)

    def _article(self, page: PageRequest, labelling: Labelling) -> tuple[ArticleResult, Labelling]:
        """The article of a labelled *page*, and the labels that it has where the model reads, too.

        An error in making it costs neither the example nor what the rule has found.
        """
        started = perf_counter()
        try:
            extraction = None
            if labelling.reason is None and labelling.wrapper.around:
                read = Page(labelling.tokens, page.url, page.requested)
                extraction = Extractor.of(self.model).extract_page(read, page.site)
                # A further page is short, and known to be of an article.
                least = 0.0 if page.further else MIN_PROBABILITY
                labelling = read_at(labelling, read, extraction, least)
            result = self._result(page, labelling, extraction)
        except MemoryError:
            raise
        except Exception:
            logger.exception(_FAILED, page.url)
            return ArticleResult(reason=ERROR), labelling
        return replace(result, seconds=perf_counter() - started), labelling

    def _result(
        self, page: PageRequest, labelling: Labelling, alone: Extraction | None
    ) -> ArticleResult:
        """The article by *labelling*, or by what the model reads *alone*, where that has read."""
        if labelling.reason is None:
            confidence = alone.confidence if alone else None
            return article_of_labels(labelling, page.url, self._options(page), confidence)
        if labelling.reason in MISSES and labelling.wrapper.drop_misses:
            return ArticleResult(reason=WRAPPER_MISS, source=WRAPPER)
        if alone is not None:
            state = ModelState.of(self.model)
            return article_of_extraction(alone, state, self._options(page))
        return self._read(page, labelling.tokens)

    def _read(self, page: PageRequest, source: str | Tokens) -> ArticleResult:
        """The article of a *page* without its wrapper; *source* is its HTML, or its tokens."""
        return read_article(source, page.url, ModelState.of(self.model), self._options(page))

    def _options(self, page: PageRequest) -> ReadOptions:
        return replace(
            self.options,
            site=page.site,
            requested=page.requested,
            further=page.further,
            paragraphs=page.emitted is not None,
            emitted=page.site.emitted if page.site else None,
        )
