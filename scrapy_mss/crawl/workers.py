"""The worker processes of a crawl: whether they are possible, and their life cycle.

They are started with the crawl.
"""

from __future__ import annotations

import logging

from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.jobs import PageJobs
from scrapy_mss.crawl.learner import Learner, unshared
from scrapy_mss.crawl.pool import WorkerPool, can_have_workers
from scrapy_mss.settings import Options

logger = logging.getLogger(__name__)


class Workers:
    """The workers that do the *jobs* of a crawl with the model of *learner*, if there are any."""

    def __init__(
        self, options: Options, learner: Learner, jobs: PageJobs, *, asked_for: bool
    ) -> None:
        """A project that has *asked_for* them is warned if there can be none."""
        self._options = options
        self._asked_for = asked_for
        self._learner = learner
        self._jobs = jobs
        self._pool: WorkerPool | None = None

    def start(self) -> None:
        """Start them, and have them do what there is to do from now on."""
        if self._options.workers and self._is_possible():
            self._pool = WorkerPool(self._learner.model, self._options)
            self._pool.start()
            self._jobs.pool, self._learner.changing = self._pool, self._pool.changing

    def close(self) -> None:
        """Stop them."""
        if self._pool is not None:
            self._jobs.pool, self._learner.changing = None, unshared
            self._pool.close()

    def _is_possible(self) -> bool:
        """Whether there can be worker processes in this crawl; if not, it is logged why."""
        if not can_have_workers():
            why = "MSS_WORKERS needs a POSIX system and an executable of Python, not a frozen one"
        elif not _compat.runs_asyncio():
            why = "MSS_WORKERS needs Scrapy to run on asyncio (TWISTED_REACTOR)"
        else:
            return True
        logger.log(
            logging.WARNING if self._asked_for else logging.INFO,
            "scrapy-mss: %s; pages are read in the crawl's own process instead",
            why,
        )
        return False
