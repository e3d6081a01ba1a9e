"""The labels of a page, computed once for both training and extraction.

They are computed where page work is done and stay there: the result is a summary, and on request a
training example and the article.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse, Response

from scrapy_mss import stats
from scrapy_mss.crawl.jobs import PageJob, PageJobs, answered
from scrapy_mss.crawl.wire import LabelSummary, PageAnswer, PageRequest
from scrapy_mss.stats import CrawlStats
from scrapy_mss.wrappers import Registry, Wrapper


@dataclass(slots=True)
class LabelJob:
    """The labelling of one page: under way or done."""

    wrapper: Wrapper
    url: str
    job: PageJob
    with_article: bool
    counted: bool = False


class PageLabels:
    """Labels pages by the wrappers of their sites, and counts hits and misses by site."""

    def __init__(self, wrappers: Registry, jobs: PageJobs, numbers: CrawlStats) -> None:
        self._wrappers = wrappers
        self._jobs = jobs
        self._stats = numbers
        self._labelled: WeakKeyDictionary[Response, LabelJob] = WeakKeyDictionary()

    def wrapper_for(self, response: HtmlResponse) -> Wrapper | None:
        """The wrapper that matches the URL of *response*."""
        return self._wrappers.find(response.url)

    def begin(
        self, response: HtmlResponse, *, example: bool = False, article: bool = False
    ) -> LabelJob | None:
        """Have the page labelled, unless it is already; None if no wrapper matches its URL.

        An *example* is for whoever asks first, which is the training middleware.
        """
        known = self._labelled.get(response)
        if known is not None and (known.with_article or not article):
            return known
        wrapper = self._wrappers.find(response.url)
        if wrapper is None:
            return None
        page = PageRequest(response.text, response.url, wrapper, example, article)
        # Whoever began the first labelling counts it, be it under way or done.
        job = self._jobs.begin(page)
        begun = LabelJob(wrapper, response.url, job, article, counted=known is not None)
        self._labelled[response] = begun
        return begun

    def forget_example(self, labelled: LabelJob) -> None:
        """Keep what came of *labelled* without its training example, which is learned by now.

        It may be as large as the page, and a response lives until its cycles are collected.
        """
        answer = labelled.job.result()
        labelled.job = Future()
        labelled.job.set_result(replace(answer, example=None))

    async def answer(self, labelled: LabelJob) -> PageAnswer:
        """What came of *labelled*, which is counted once."""
        answer = await answered(labelled.job)
        if answer.labels is not None and not labelled.counted:
            labelled.counted = True
            self._count(labelled.wrapper.site, answer.labels)
            if self._jobs.quality is not None:
                self._jobs.quality.labels(labelled.url, answer.labels)
        return answer

    def _count(self, site: str, labels: LabelSummary) -> None:
        self._stats.add(stats.WRAPPER_MISS if labels.reason else stats.WRAPPER_HIT, site=site)
        for name, hit in labels.field_hits.items():
            self._stats.add(stats.FIELD_HIT if hit else stats.FIELD_MISS, site=site, field=name)
