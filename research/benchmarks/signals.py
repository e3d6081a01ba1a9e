"""Ends crawls by signals at random moments of their lives, and counts what is then wrong.

Crawls of a made-up site, one after the other, share a store and a folder of feeds; a worker reads
their pages. Each gets SIGINT or SIGTERM, half of them two, at random moments from the start of
Python to after the end of an undisturbed crawl. Then it has to end, and the store and the feeds are
read:

    hung     crawls that had to be killed
    left     processes of theirs that outlived them
    errors   crawls that wrote a traceback of scrapy-mss, other than of an interrupted import
    damaged  times that one of these could not be read, or the model had a page twice

All must be 0; the program exits with 1 otherwise. It needs a POSIX system.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import psutil
import pyarrow.parquet as pq

from research.benchmarks.soak_server import Site, serving
from research.command_line import at_least
from scrapy_mss.files.parquet import finish_left
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.seen.articles import SeenStore
from scrapy_mss.seen.keys import address_key
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.opening import store_at

PAGES: Final = 60
MOST_SECONDS: Final = 60.0  # that a crawl takes to end; it waits for its pages for some seconds
MOST_ALONE: Final = 15.0  # that a worker goes on: its page has ten, and two more
BETWEEN: Final = 1.0  # seconds, at most, between two signals
IN_OURS: Final = "/scrapy_mss/"
INTERRUPTED: Final = ("KeyboardInterrupt", "SystemExit")


class Campaign:
    """Crawls with the files of one folder."""

    def __init__(self, site: Site, folder: Path) -> None:
        self._site = site
        self._folder = folder
        self._n_begun = 0
        self._urls: list[str] = []  # of the last crawl
        self.wrong: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()

    def started(self) -> subprocess.Popen[str]:
        """A crawl of pages that no other has."""
        first = self._n_begun * PAGES
        self._n_begun += 1
        feed = self._folder / f"{self._n_begun}.parquet"
        settings: dict[str, Any] = {
            "MSS_STORE": str(self._folder / "store"),
            "CRASH_ITEMS": str(self._folder / "items"),
            "FEEDS": {str(feed): {"format": "parquet"}},
            "MSS_WORKERS": 1,
        }
        self._urls = [self._site.url(first + number) for number in range(PAGES)]
        job = json.dumps({"urls": self._urls, "settings": settings})
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "research.benchmarks.crash_crawls", "--job", job],
            stderr=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        )

    def one(self, delays: Sequence[float], sent: Sequence[signal.Signals]) -> None:
        """A crawl that gets each signal after a delay of its own."""
        with self.started() as crawl:
            for delay, each in zip(delays, sent, strict=True):
                with suppress(subprocess.TimeoutExpired):
                    crawl.wait(delay)
                crawl.send_signal(each)
            try:
                _, written = crawl.communicate(timeout=MOST_SECONDS)
            except subprocess.TimeoutExpired:
                self.wrong["hung"] += 1
                crawl.kill()
                _, written = crawl.communicate()
        self.ends[str(crawl.returncode)] += 1
        self._look(written)

    def _look(self, written: str) -> None:
        self.wrong["left"] += self._n_left()
        if IN_OURS in written and written.rsplit(maxsplit=1)[-1] not in INTERRUPTED:
            self.wrong["errors"] += 1
            sys.stderr.write(written)
        try:
            self._read()
        except (OSError, ValueError) as error:
            self.wrong["damaged"] += 1
            sys.stderr.write(f"{error}\n")

    def _n_left(self) -> int:
        """How many processes in the folder do not end by themselves."""
        until = time.monotonic() + MOST_ALONE
        while (left := list(filter(self._is_ours, psutil.process_iter()))) and (
            time.monotonic() < until
        ):
            time.sleep(0.05)
        for process in left:
            process.kill()
        return len(left)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return Path(process.cwd()) == self._folder
        except psutil.Error:
            return False

    def _read(self) -> None:
        with closing(store_at(str(self._folder / "store"))) as store:
            learned = StoredModel(store, DEFAULT).load()
            if learned.bayes.pages != len(learned.learned_pages):
                raise ValueError(f"{learned.bayes.pages} pages, {len(learned.learned_pages)} known")
            QualityStore(store).sites(0)
            sites = SiteStore(store)
            for site in sites.sites():
                sites.load(site.name)
            SeenStore(store).articles(map(address_key, self._urls))
        finish_left(self._folder)
        for feed in self._folder.glob("*.parquet"):
            pq.read_table(feed)
            feed.unlink()
        if left := list(self._folder.glob("*.mss-*")):
            raise ValueError(f"{left[0]} cannot be read")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--crawls", type=at_least(1), default=100, help="100 unless given")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with serving(1) as (site,), TemporaryDirectory(prefix="scrapy-mss-signals-") as folder:
        campaign = Campaign(site, Path(folder))
        began = time.monotonic()
        campaign.one((), ())
        life = 1.2 * (time.monotonic() - began)
        for _ in range(options.crawls):
            sent = [chance.choice((signal.SIGINT, signal.SIGTERM)) for _ in range(2)]
            delays = [chance.uniform(0, life), chance.uniform(0, BETWEEN)]
            count = chance.randint(1, 2)
            campaign.one(delays[:count], sent[:count])
    names = ("hung", "left", "errors", "damaged")
    print("  ".join(("crawls", *names)), f"  exit codes: {dict(campaign.ends)}")
    print("  ".join((f"{options.crawls:6}", *(f"{campaign.wrong[n]:{len(n)}}" for n in names))))
    return int(any(campaign.wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
