"""What the parts of one crawl share: options, wrappers, the learner, workers, numbers.

Each part asks for the session of its crawler; the first to ask makes it. It begins with the
crawl and ends with it: at the end the model is written, workers are stopped and one summary is
logged. Responses are only ever held weakly, so a page is gone when the crawl is done with it.
"""

from __future__ import annotations

import logging
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakValueDictionary

from scrapy import signals
from scrapy.http import HtmlResponse, Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.job import job_dir
from scrapy.utils.project import data_path

from scrapy_mss import settings, stats
from scrapy_mss.article import Found, read_labelled, read_page
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.learner import Learner
from scrapy_mss.crawl.pool import GivenUpError, Workers
from scrapy_mss.crawl.summary import summarized
from scrapy_mss.crawl.worker import Page
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore
from scrapy_mss.systems import chosen
from scrapy_mss.wrappers import Labelling, Wrapper, label, load_wrappers

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

SKIP_TRAINING = "mss_skip_training"
SKIP_EXTRACTION = "mss_skip_extraction"
MODEL_FILE = "mss/model"
OK = 200


class Session:
    """Everything of scrapy-mss that belongs to one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        """Read the settings of *crawler*, its wrappers and its model; any fault stops it here."""
        self.options = settings.read(crawler.settings)
        for complaint in settings.unknown(crawler.settings):
            logger.warning("scrapy-mss: %s", complaint)
        self.wrappers = load_wrappers(self.options.wrappers)
        self.system = chosen(self.options.extractor)
        self.learner = Learner(FileStore(_model_path(crawler, self.options), DEFAULT))
        self.numbers = stats.Numbers(crawler.stats)
        self._labellings: WeakKeyDictionary[Response, Labelling] = WeakKeyDictionary()
        self._pages: WeakValueDictionary[int, Response] = WeakValueDictionary()
        self._made: WeakValueDictionary[int, Response] = WeakValueDictionary()
        self._workers: Workers | None = None
        self._timer: _compat.Stoppable | None = None
        self._faults: set[str] = set()
        crawler.signals.connect(self.open, signals.spider_opened)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def of(cls, crawler: Crawler) -> Session:
        """The session of *crawler*, made when first asked for."""
        session = _sessions.get(crawler)
        if session is None:
            session = _sessions[crawler] = cls(crawler)
        return session

    def open(self) -> None:
        """Begin with the crawl."""
        if self.options.workers and _compat.runs_asyncio():
            self._workers = Workers(
                self.options.workers, self.learner.model, self.options.extractor
            )
        elif self.options.workers:
            logger.warning(
                "scrapy-mss: MSS_WORKERS needs Scrapy to run on asyncio (TWISTED_REACTOR); "
                "pages are extracted in the crawl's own process"
            )
        if self.options.train:
            self._timer = _compat.every(self.options.checkpoint_seconds, self.learner.checkpoint)

    def close(self, spider: Spider) -> None:
        """End with the crawl: write the model, stop the workers, say what was done."""
        if self._timer:
            self._timer.stop()
        if self._workers:
            self._workers.close()
        self.learner.close()
        self.numbers.put(stats.MODEL_PAGES, self.learner.pages)
        self.numbers.put(stats.MODEL_GENERATION, self.learner.generation)
        self.numbers.put(stats.MODEL_FAILED, self.learner.failures)
        sites = (wrapper.site for wrapper in self.wrappers)
        logger.info("%s", summarized(self.numbers, self.learner.name, sites))
        _sessions.pop(spider.crawler, None)  # by its stats the session holds the crawler, too

    # Training

    def train(self, response: HtmlResponse) -> None:
        """Learn the page of a wrapped site; the page is not kept."""
        wrapper = self.wrappers.find(response.url)
        if wrapper is None:
            return
        started = perf_counter()
        self.numbers.add(stats.TRAIN_SEEN)
        reason = self._learn(response, wrapper)
        if reason:
            self.numbers.add(stats.TRAIN_REFUSED, reason=reason)
        self.numbers.add(stats.TRAIN_SECONDS, perf_counter() - started)
        if self.learner.unsaved >= self.options.checkpoint_pages:
            self.learner.checkpoint()

    def _learn(self, response: HtmlResponse, wrapper: Wrapper) -> str:
        """Learn one page; why it was not learned, or nothing."""
        if len(response.text) > self.options.max_body:
            return "too_large"
        labelling = self._labelled(response, wrapper)
        if labelling.reason is not None:
            return labelling.reason.value
        limit = self.options.freeze_after
        if limit and self.learner.pages >= limit:
            return "frozen"
        rejection = self.learner.learn(labelling.tokens, labelling.inside)
        if rejection is not None:
            return rejection.value
        self.numbers.add(stats.TRAIN_LEARNED)
        self.numbers.add(stats.TRAIN_TOKENS, len(labelling.tokens))
        return ""

    def _labelled(self, response: HtmlResponse, wrapper: Wrapper) -> Labelling:
        labelling = self._labellings.get(response)
        if labelling is None:
            labelling = label(wrapper, response.text, tokenize(response.text))
            self._labellings[response] = labelling
            stat = stats.WRAPPER_MISS if labelling.reason else stats.WRAPPER_HIT
            self.numbers.add(stat, site=wrapper.site)
        return labelling

    # Items and the pages they are of

    def pair(self, item: object, response: Response, *, made: bool) -> None:
        """Remember that *item* is of *response*, and whether it was *made* by us."""
        self._pages[id(item)] = response
        if made:
            self._made[id(item)] = response

    def page_of(self, item: object) -> tuple[HtmlResponse | None, bool]:
        """The response that *item* is of, as long as the crawl holds it, and whether we made it."""
        response = self._pages.pop(id(item), None)
        made = self._made.pop(id(item), None) is not None
        return (response if isinstance(response, HtmlResponse) else None), made

    # Extraction

    async def find(self, response: HtmlResponse) -> Found:
        """The article in the page of *response*."""
        try:
            found = self._ruled(response) if self.options.prefer_wrapper else None
        except Exception:
            self.numbers.add(stats.EXTRACT_PAGES)
            return self._broken(response.url)
        if found is None:
            return await self.find_in(response.text, response.url)
        self.numbers.add(stats.EXTRACT_PAGES)
        return self._counted(found, "wrapper")

    def _ruled(self, response: HtmlResponse) -> Found | None:
        """The article as a wrapper has it, if there is one that labels the page."""
        wrapper = self.wrappers.find(response.url)
        if wrapper is None or len(response.text) > self.options.max_body:
            return None
        labelling = self._labelled(response, wrapper)
        if labelling.reason is not None:
            return None
        return read_labelled(labelling, wrapper, response.url)

    async def find_in(self, source: str, url: str) -> Found:
        """The article in the page *source*."""
        self.numbers.add(stats.EXTRACT_PAGES)
        if len(source) > self.options.max_body:
            return self._counted(Found(reason="too_large"), "")
        try:
            found = await self._read(source, url)
        except GivenUpError as error:
            self.numbers.add(stats.EXTRACT_FAILED, reason=str(error))
            logger.warning("scrapy-mss: gave up on %s: %s", url, error)
            return Found(reason=str(error))
        except Exception:
            return self._broken(url)
        if found.fault:
            self._fell_back(found.fault, url)
        by_system = self.system is not None and not found.fault
        name = self.options.extractor if by_system else f"mss:{self.learner.name}"
        found.fields["extractor"] = name
        return self._counted(found, "system" if by_system else "model")

    def _fell_back(self, fault: str, url: str) -> None:
        """Count a page that the system of MSS_EXTRACTOR failed on; each kind is logged once."""
        kind = fault.partition(":")[0]
        self.numbers.add(stats.EXTRACT_FALLBACK, error=kind)
        if kind not in self._faults:
            self._faults.add(kind)
            logger.warning(
                "scrapy-mss: %s failed on %s (%s); mss reads such pages, and further ones of this "
                "kind are only counted",
                self.options.extractor,
                url,
                fault,
            )

    async def _read(self, source: str, url: str) -> Found:
        if self._workers is None:
            return read_page(self.learner.model, source, url, self.system)
        return await self._workers.read(self.options.timeout, Page(source, url))

    def _broken(self, url: str) -> Found:
        """Count and log the fault that is being handled."""
        self.numbers.add(stats.EXTRACT_FAILED, reason="error")
        logger.exception("scrapy-mss: cannot extract %s; the crawl goes on", url)  # noqa: LOG004
        return Found(reason="error")

    def _counted(self, found: Found, source: str) -> Found:
        if found.is_article and found.probability < self.options.min_probability:
            found = Found(reason="improbable")
        self.numbers.add(stats.EXTRACT_SECONDS, found.seconds)
        if not found.is_article:
            self.numbers.add(stats.EXTRACT_DROPPED, reason=found.reason)
            return found
        self.numbers.add(stats.EXTRACT_ARTICLES)
        self.numbers.add(stats.EXTRACT_PROBABILITY, found.probability)
        self.numbers.add(stats.EXTRACT_SOURCE, source=source)
        return found


_sessions: WeakKeyDictionary[Crawler, Session] = WeakKeyDictionary()


def is_page(request: Request, response: Response) -> bool:
    """Whether a spider asked for *response* and it is a whole HTML page."""
    return (
        isinstance(response, HtmlResponse)
        and response.status == OK
        and request.callback is not NO_CALLBACK
    )


def _model_path(crawler: Crawler, options: settings.Options) -> Path:
    if options.model:
        return Path(options.model)
    folder = job_dir(crawler.settings)
    return Path(folder) / MODEL_FILE if folder else Path(data_path(MODEL_FILE))
