"""Page work in progress: in the worker processes if there are any, otherwise in this process.

A job is a `concurrent.futures.Future`, which needs no event loop. In a crawl without workers it
is done when it is created, so callers need not know where the work happens. The labels of a page
are computed once for both training and extraction: the result is a summary, and on request a
training example and the article.

There is room for more pages while workers might run out of them, and downloads wait for room. Pages
downloaded earlier would wait in Scrapy's scraper, which holds 5 MB of pages and a hundred tasks for
each, and would make the crawl slower than its workers are.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse, Response

from scrapy_mss import stats
from scrapy_mss.article import ReadOptions
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.crawl._compat import runs_asyncio
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.pages import requested_url
from scrapy_mss.crawl.pool import NoWorkerError, WorkerPool
from scrapy_mss.crawl.processes import (
    CRASH,
    ERROR,
    FAILURES,
    MEMORY,
    NEEDS,
    can_have_workers,
    unpacked,
)
from scrapy_mss.crawl.site_quality import SiteQuality
from scrapy_mss.crawl.wire import ModelChanges, PageAnswer, PageRequest
from scrapy_mss.seen.articles import SeenArticles
from scrapy_mss.settings import Options
from scrapy_mss.sites.crawled import CrawledSites
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.checkpoints import completed
from scrapy_mss.wrappers import Registry, Wrapper

logger = logging.getLogger(__name__)

PageJob: TypeAlias = Future[PageAnswer]

# For each worker, one page that is read, and others that are at hand when the event loop is busy
# elsewhere for a while. Each is in memory, where Scrapy's scraper takes 5 MB of them at once: with
# six, a crawl whose workers are disturbed ended 58 and 64 MB above one without the plugin.
PAGES_A_WORKER = 4


class PageJobs:
    """Begins jobs, and logs what there is to say of each."""

    def __init__(
        self,
        options: Options,
        changes: ModelChanges,
        sites: CrawledSites | None = None,
        quality: SiteQuality | None = None,
    ) -> None:
        self._options = options
        self._changes = changes
        self._here = PageWork(changes.model, ReadOptions(options.fields, options.emit))
        self._sites = sites
        self.seen: SeenArticles | None = None  # where only new articles are wanted
        self.quality = quality
        self.pool: WorkerPool | None = None  # while the crawl runs, if it has workers
        self._under_way = 0  # jobs of the workers
        self._enough = PAGES_A_WORKER * options.workers
        self._has_room = asyncio.Event()
        self._has_room.set()

    def start_workers(self, *, asked_for: bool) -> None:
        """Start the workers, if there can be any; a project that has *asked_for* them is warned."""
        if not self._options.workers:
            return
        if not can_have_workers():
            why = f"MSS_WORKERS needs {NEEDS}"
        elif not runs_asyncio():
            why = "MSS_WORKERS needs Scrapy to run on asyncio (TWISTED_REACTOR)"
        else:
            self.pool = WorkerPool(self._changes, self._options)
            return
        logger.log(
            logging.WARNING if asked_for else logging.INFO,
            "scrapy-mss: %s; pages are read in the crawl's own process instead",
            why,
        )

    def stop_workers(self) -> None:
        pool, self.pool = self.pool, None
        if pool is not None:
            pool.close()

    async def room(self) -> None:
        """Wait while the workers have pages enough."""
        while not self._has_room.is_set():  # others may have woken up before
            await self._has_room.wait()

    def begin(self, page: PageRequest, *, with_site: bool = True) -> PageJob:
        """Have *page* answered; the answer is one of the `FAILURES`, never an exception.

        Without what is known of its site, nothing is learned of it either.
        """
        if self._sites is not None and with_site:
            page = replace(page, site=self._sites.context(page.url))
        if self.seen is not None and with_site:
            page = replace(page, emitted=self.seen.emitted(page.url))
        job: PageJob = Future()
        if self.pool is None or self.pool.cannot_start:
            job.set_result(self._answer_here(page))
            self._remember(page.url, job.result())
            return job
        loop, url = asyncio.get_running_loop(), page.url  # a job keeps what it calls, not the page
        submitted = self.pool.submit(page)
        self._count(1)
        submitted.add_done_callback(
            lambda done: loop.call_soon_threadsafe(self._take, url, done, job)
        )
        return job

    def _take(self, url: str, done: PageJob, job: PageJob) -> None:
        """Let *job* be answered as the pool has *done* it, or here if it has no workers."""
        self._count(-1)
        error = None if done.cancelled() else done.exception()
        if isinstance(error, NoWorkerError):
            answer = self._answer_here(unpacked(error.page, PageRequest))
        else:
            answer = self._answer_of(url, done, error)
        job.set_result(answer)
        self._remember(url, answer)

    def _answer_of(self, url: str, done: PageJob, error: BaseException | None) -> PageAnswer:
        """What the pool answers; what there is to say of it is logged, however many wait."""
        if error is not None:
            logger.error("scrapy-mss: lost %s; the crawl continues", url, exc_info=error)
            return PageAnswer(failure=ERROR)
        # The end of the crawl cancels pages that had no turn.
        answer = PageAnswer(failure=CRASH) if done.cancelled() else done.result()
        for level, message in answer.logged:
            logger.log(level, "%s", message)
        if answer.failure in FAILURES and answer.failure != ERROR:
            _warn(url, answer.failure)
        return answer

    def _count(self, change: int) -> None:
        """Count jobs that are under way; there is room again when half of them are done.

        All that wait for room wake up then: after each page, that would take as much time as it.
        """
        self._under_way += change
        if self._under_way >= self._enough:
            self._has_room.clear()
        elif self._under_way <= self._enough // 2:
            self._has_room.set()

    def _remember(self, url: str, answer: PageAnswer) -> None:
        if self._sites is not None and answer.update is not None:
            n_changed = self._sites.changed
            is_learned = self._sites.learn(url, answer.update)
            if self.quality is None:
                return
            if is_learned and answer.update.place:
                self.quality.place(url, answer.update.place)
            if self._sites.changed > n_changed:
                self.quality.redesigned(url)

    def _answer_here(self, page: PageRequest) -> PageAnswer:
        try:
            return self._here.answer(page)
        except MemoryError:
            _warn(page.url, MEMORY)
            return PageAnswer(failure=MEMORY)


async def answered(job: PageJob) -> PageAnswer:
    """The answer of *job*; several may wait for the same one."""
    await completed(job)
    return job.result()


def _warn(url: str, failure: str) -> None:
    logger.warning("scrapy-mss: gave up on %s: %s", url, failure)


@dataclass(slots=True)
class LabelJob:
    """The labelling of one page: under way or done."""

    job: PageJob
    with_article: bool


class PageLabels:
    """Labels pages by the wrappers of their sites, and counts hits and misses by site.

    Others are labelled by the text that a feed has, if an example is asked for.
    """

    def __init__(self, wrappers: Registry, jobs: PageJobs, numbers: CrawlStats) -> None:
        self._wrappers = wrappers
        self.jobs = jobs
        self._stats = numbers
        self._labelled: WeakKeyDictionary[Response, LabelJob] = WeakKeyDictionary()

    def wrapper_for(self, response: HtmlResponse) -> Wrapper | None:
        return self._wrappers.find(response.url)

    def begin(
        self,
        response: HtmlResponse,
        *,
        example: bool = False,
        article: bool = False,
        text: FedText | None = None,
    ) -> LabelJob | None:
        """Have the page labelled, unless it is already; None if nothing labels it.

        Without a wrapper it is labelled by the *text* that its feed has. An *example* is for
        whoever asks first, which is the training middleware.
        """
        known = self._labelled.get(response)
        if known is not None and (known.with_article or not article):
            return known
        wrapper = self._wrappers.find(response.url)
        if wrapper is None and text is None:
            return None
        page = PageRequest(
            response.text,
            response.url,
            wrapper,
            example,
            article,
            text=text,
            requested=requested_url(response),
        )
        begun = self._labelled[response] = LabelJob(self.jobs.begin(page), article)
        if known is None and wrapper is not None:
            begun.job.add_done_callback(partial(self._count, wrapper.site, response.url))
        return begun

    def forget_example(self, labelled: LabelJob) -> None:
        """Keep the answer of *labelled* without its training example, which is learned by now.

        It may be as large as the page, and a response lives until its cycles are collected.
        """
        answer = labelled.job.result()
        labelled.job = Future()
        labelled.job.set_result(replace(answer, example=None))

    def _count(self, site: str, url: str, job: PageJob) -> None:
        labels = job.result().labels
        if labels is None:
            return
        self._stats.add(stats.WRAPPER_MISS if labels.reason else stats.WRAPPER_HIT, site=site)
        for name, hit in labels.field_hits.items():
            self._stats.add(stats.FIELD_HIT if hit else stats.FIELD_MISS, site=site, field=name)
        if self.jobs.quality is not None:
            self.jobs.quality.labels(url, labels)
