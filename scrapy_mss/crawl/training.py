"""Learning from the pages of wrapped sites; a page is not kept."""

from __future__ import annotations

from time import perf_counter

from scrapy.http import HtmlResponse

from scrapy_mss import stats
from scrapy_mss.crawl.labelling import PageLabels
from scrapy_mss.crawl.learner import Learner
from scrapy_mss.settings import Options
from scrapy_mss.stats import CrawlStats

TOO_LARGE = "too_large"
FROZEN = "frozen"


class Trainer:
    """Trains the model on the pages that wrappers label, and counts what came of each."""

    def __init__(
        self, options: Options, labels: PageLabels, learner: Learner, numbers: CrawlStats
    ) -> None:
        self._options = options
        self._labels = labels
        self._learner = learner
        self._stats = numbers

    def train(self, response: HtmlResponse) -> None:
        """Learn the page, if there is a wrapper for it."""
        if not self._labels.covers(response):
            return
        started = perf_counter()
        self._stats.add(stats.TRAIN_SEEN)
        rejection = self._learn(response)
        if rejection:
            self._stats.add(stats.TRAIN_REFUSED, reason=rejection)
        self._stats.add(stats.TRAIN_SECONDS, perf_counter() - started)
        if self._learner.unsaved_pages >= self._options.checkpoint_pages:
            self._learner.checkpoint()

    def _learn(self, response: HtmlResponse) -> str:
        """Learn one page; the reason if it was not learned, else an empty string."""
        if len(response.text) > self._options.max_body:
            return TOO_LARGE
        labelling = self._labels.of(response)
        assert labelling is not None
        if labelling.reason is not None:
            return labelling.reason.value
        limit = self._options.freeze_after
        if limit and self._learner.pages >= limit:
            return FROZEN
        rejection = self._learner.learn(labelling.tokens, labelling.inside, response.url)
        if rejection is not None:
            return rejection.value
        self._stats.add(stats.TRAIN_LEARNED)
        self._stats.add(stats.TRAIN_TOKENS, len(labelling.tokens))
        return ""
