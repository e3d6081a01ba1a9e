"""Kills whole crawls that share their stores, and looks at what they leave there.

A made-up site of `--pages` pages is crawled by three Scrapy processes at once, each a third of it,
as what two learn at the same time would count twice. Each is killed at a random moment, and started
again, until so many were killed. Their store is in a folder or, with `--redis`, on a server, which
is killed after every third of them. With `--full FOLDER`, it is on a small disk, that is filled and
freed again in the place of each kill. Items are written to a file when they leave the pipelines.
Then a crawl is left alone, and another one after it:

    before   pages in the model by then
    learned  pages in the model in the end
    items    lines in the file, of as many pages as there are
    lost     pages that are not in the model, or have no item: a killed crawl said they were seen
    twice    pages that the model has counted, beyond those that it knows by their keys
    more     pages that the quality of the site counts, beyond those that crawls asked for
    apart    pages by which the parts differ: those that were seen have been learned, told and
             counted, by then, too, and in the end all have
    again    items of the last crawl: what was seen already, and is new to it

The last five must be 0; the program exits with 1 otherwise. It needs a POSIX system.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, closing, redirect_stderr, suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from research.benchmarks.redis_server import PROGRAMS, RedisServer, program, running
from research.benchmarks.soak_server import serving
from research.command_line import at_least
from scrapy_mss.crawl import extension, training
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.quality.counts import NEW, PAGES
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.seen.articles import SeenStore
from scrapy_mss.seen.keys import address_key
from scrapy_mss.seen.stories import StoryStore
from scrapy_mss.storage.opening import store_at

CRAWLS: Final = 3  # at once
MOST_ITEMS: Final = 40  # of all crawls together, between two kills
LONGEST_PAUSE: Final = 0.2  # seconds after that
KILLS_A_RESTART: Final = 3
FILLED_AT_ONCE: Final = 2**16  # bytes
SETTINGS: Final[dict[str, Any]] = {
    "ADDONS": {"scrapy_mss.Addon": 500},
    "ITEM_PIPELINES": {"research.benchmarks.crash_crawls.Written": 900},
    "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
    "DOWNLOAD_DELAY": 0.03,  # a crawl that is done cannot be killed
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "MSS_WRAPPERS": [{"site": "127.0.0.1", "body": "article"}],
    "MSS_WORKERS": 0,
    "MSS_ONLY_NEW": True,
    "MSS_COPIES": "mark",
}


class Written:
    """The last pipeline: an item is in the file when it has passed."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Written:
        return cls(crawler.settings["CRASH_ITEMS"])

    def process_item(self, item: Any) -> Any:
        os.write(self._file, f"{item.url}\n".encode())
        return item


class Pages(Spider):
    """Asks for the pages that nobody has seen, in an order of its own."""

    name = "pages"
    urls: list[str]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url)

    def parse(self, response: Response, **_: Any) -> None:
        """Yield nothing."""


def crawl(job: dict[str, Any]) -> None:
    """Crawl what a job says, in this process, with a checkpoint now and then."""
    training.CHECKPOINT_PAGES = 5
    extension.CHECKPOINT_SECONDS = 0.5
    process = CrawlerProcess({**SETTINGS, **job["settings"]})
    process.crawl(Pages, urls=job["urls"])
    process.start()


def crawl_silently(job: dict[str, Any]) -> None:
    """The same in a forked child, which has imported everything; its server may be away."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        crawl(job)


class SmallDisk:
    """The disk that a *folder* is on, which is full or has room."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def turn(self) -> None:
        """Fill it, or free it again."""
        if self._filler.exists():
            self.free()
            return
        with self._filler.open("xb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(FILLED_AT_ONCE))

    def free(self) -> None:
        """Let it have room."""
        self._filler.unlink(missing_ok=True)


class State(NamedTuple):
    """How many pages the parts of the store have."""

    known: int  # in the model, by their keys
    learned: int  # and by its counts
    seen: int
    told: int
    pages: int  # counted for the report; more than once where a crawl was killed
    new: int

    @property
    def apart(self) -> int:
        """By how much the parts differ: what was seen is in all of them."""
        others = (self.known, self.pages, self.new)
        return abs(self.told - self.seen) + sum(max(0, self.seen - each) for each in others)


class Campaign:
    """The crawls of a site with one store: on a server, in a folder or on a small disk."""

    def __init__(self, urls: list[str], folder: Path, on: RedisServer | SmallDisk | None) -> None:
        self.urls = urls
        self.items = folder / "items"
        self.on = on
        place = on.folder if isinstance(on, SmallDisk) else folder
        self._store = on.address() if isinstance(on, RedisServer) else str(place / "store")
        self._settings = {"MSS_STORE": self._store, "CRASH_ITEMS": str(self.items)}
        self._n_asked = 0

    def started(self, urls: Sequence[str], chance: random.Random) -> BaseProcess:
        """A crawl of pages in some order."""
        self._n_asked += len(urls)
        job = {"urls": chance.sample(urls, len(urls)), "settings": self._settings}
        process = get_context("fork").Process(target=crawl_silently, args=(job,))
        process.start()
        return process

    def disturb(self, kills: int, chance: random.Random) -> tuple[int, int]:
        """Kill crawls one after the other, each replaced by the next; kills and restarts."""
        shares = [self.urls[number::CRAWLS] for number in range(CRAWLS)]
        crawls = [self.started(share, chance) for share in shares]
        killed = restarts = 0
        try:
            while killed < kills and not self._is_done():
                self._wait_for(chance.randint(0, MOST_ITEMS), crawls)
                time.sleep(chance.uniform(0, LONGEST_PAUSE))
                number = chance.randrange(CRAWLS)
                killed += crawls[number].is_alive()
                if isinstance(self.on, SmallDisk):
                    self.on.turn()
                else:
                    crawls[number].kill()
                    crawls[number].join()
                if isinstance(self.on, RedisServer) and killed // KILLS_A_RESTART > restarts:
                    self.on.restart()
                    restarts += 1
                for other, share in enumerate(shares):  # also those that found no server
                    if not crawls[other].is_alive():
                        crawls[other] = self.started(share, chance)
        finally:
            for each in crawls:
                each.kill()
                each.join()
            if isinstance(self.on, SmallDisk):
                self.on.free()
        return killed, restarts

    def finished(self, chance: random.Random) -> int:
        """Let a crawl come to its end; how many items it had."""
        before = self._n_items()
        self.started(self.urls, chance).join()
        return self._n_items() - before

    def _is_done(self) -> bool:
        return self._n_items() >= len(self.urls)

    def _wait_for(self, items: int, crawls: Sequence[BaseProcess]) -> None:
        """Wait for so many more items, while any of the *crawls* goes on.

        Time on the clock says little of how far a crawl is, where other programs run beside it.
        """
        enough = self._n_items() + items
        while self._n_items() < enough and any(each.is_alive() for each in crawls):
            time.sleep(0.01)

    def state(self) -> State:
        """What is in the store."""
        with closing(store_at(self._store)) as store:
            model = StoredModel(store, DEFAULT).load()
            keys = [address_key(url) for url in self.urls]
            days = [day for of in QualityStore(store).sites(0).values() for day in of.values()]
            return State(
                len(model.learned_pages),
                model.bayes.pages,
                sum(bool(each.text) for each in SeenStore(store).articles(keys).values()),
                len(StoryStore(store).at(keys)),
                sum(day[PAGES] for day in days),
                sum(n for day in days for name, n in day.items() if name.startswith(NEW)),
            )

    def _n_items(self) -> int:
        return len(self.items.read_text().splitlines()) if self.items.exists() else 0

    def row(self, before: State, again: int) -> dict[str, int]:
        """What is wrong in the end, and was *before* the last crawls."""
        end, items = self.state(), self.items.read_text().splitlines()
        return {
            "before": before.known,
            "learned": end.learned,
            "items": len(items),
            "lost": max(len(self.urls) - end.known, 0) + len(set(self.urls).difference(items)),
            "twice": end.learned - end.known,
            "more": max(0, end.pages - self._n_asked),
            "apart": before.apart + end.apart + end.known - end.seen,
            "again": again,
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--kills", type=at_least(1), default=50, help="50 unless given")
    parser.add_argument("--pages", type=at_least(1), default=1000, help="of the site; 1000")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    places = parser.add_mutually_exclusive_group()
    places.add_argument("--redis", action="store_true", help="a Redis server instead of a folder")
    places.add_argument("--full", type=Path, metavar="FOLDER", help="on a small disk, to be filled")
    options = parser.parse_args()
    if options.job:
        crawl(options.job)
        return 0
    if options.redis and program() is None:
        parser.error(f"--redis needs one of {', '.join(PROGRAMS)}")
    chance = random.Random(options.seed)
    with ExitStack() as stack:
        (site,) = stack.enter_context(serving(1))
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="scrapy-mss-crash-")))
        on = SmallDisk(options.full) if options.full else None
        campaign = Campaign(
            [site.url(number) for number in range(options.pages)],
            folder,
            stack.enter_context(running()) if options.redis else on,
        )
        kills, restarts = campaign.disturb(options.kills, chance)
        before = campaign.state()
        campaign.finished(chance)
        again = campaign.finished(chance)
        row = {"kills": kills, "restarts": restarts, **campaign.row(before, again)}
    print("  ".join(row))
    print("  ".join(f"{number:{len(name)}}" for name, number in row.items()))
    is_good = not any(row[name] for name in ("lost", "twice", "more", "apart", "again"))
    return 0 if is_good and row["learned"] else 1


if __name__ == "__main__":
    sys.exit(main())
