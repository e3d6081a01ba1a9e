"""The worker processes of a crawl: whether they are possible, and their life cycle.

Shared memory is created with the components; processes are started with the crawl.
"""

from __future__ import annotations

import logging

from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.jobs import PageJobs
from scrapy_mss.crawl.learner import Learner, unshared
from scrapy_mss.crawl.pool import INSTEAD, WorkerPool, can_have_workers
from scrapy_mss.settings import Options

logger = logging.getLogger(__name__)


class Workers:
    """The workers that do the *jobs* of a crawl with the model of *learner*, if there are any."""

    def __init__(
        self, options: Options, learner: Learner, jobs: PageJobs, *, asked_for: bool
    ) -> None:
        """Prepare them; a project that has *asked_for* them is warned if there can be none."""
        self._wanted = bool(options.workers)
        self._asked_for = asked_for
        self._learner = learner
        self._jobs = jobs
        self._pool = _prepared_pool(options, learner)

    def start(self) -> None:
        """Start them, and have them do what there is to do from now on."""
        if self._wanted and self._is_possible() and self._pool is not None:
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


def _prepared_pool(options: Options, learner: Learner) -> WorkerPool | None:
    """The workers that read with the model of *learner*, not started; None if there can be none."""
    if not options.workers or not can_have_workers():
        return None
    try:
        return WorkerPool(learner.model, options)
    except OSError as error:
        logger.warning("scrapy-mss: no memory can be shared with workers: %s. %s", error, INSTEAD)
        return None
