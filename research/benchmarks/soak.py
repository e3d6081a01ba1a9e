"""Long crawls of real local servers, with and without scrapy-mss, as one table.

Half of the sites have wrappers but in one crawl, and from their pages the crawl learns while all
pages are read. In the last crawl workers are killed and stopped all the time. The exit code is 1
beyond a bound:

    told    pages that a stat says were given up; at most one for each worker that was disturbed
    lost    pages that have no item, though no stat says so; or wrapped ones neither learned nor
            refused; none
    twice   items beyond one for each page, or wrapped pages learned or refused twice; none
    mixed   items with the text of another page; none
    growth  of the crawl's process or the workers, from the middle of the crawl to its end, where
            it has 2,000 pages or more: shorter ones are not steady by then
    above   what the crawl's process takes more at the end than the one without scrapy-mss
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from research.benchmarks.soak_crawl import LONG, Job, Measured, Memory
from research.benchmarks.soak_server import Site, serving
from research.command_line import at_least

N_SITES = 4
N_WRAPPED = 2  # of them
DISTURB_EVERY = 3.0  # seconds; a worker has started by then and has read a hundred pages
TIMEOUT = 2.0  # seconds, or a stopped worker would hold up the crawl for ten

MEGABYTE = 10**6
MAX_ABOVE = 60  # MB that scrapy-mss may add to the crawl's process where workers read the pages
MAX_GROWTH = 16  # MB; over 10,000 pages, half of 20,000, that is 1.6 kB a page
# Of fewer pages, the second half is still the beginning: the site memory of four sites fills up,
# workers grow to what pages take, the first checkpoint is written after 500 learned pages.
STEADY = 2_000


@dataclass(frozen=True, slots=True)
class Mode:
    """A row of the table: a crawl with these settings."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    is_disturbed: bool = False

    @property
    def has_workers(self) -> bool:
        return bool(self.settings.get("MSS_WORKERS"))


def _plugin(workers: int, **more: object) -> dict[str, Any]:
    return {"ADDONS": {"scrapy_mss.Addon": 500}, "MSS_WORKERS": workers, **more}


BARE = Mode("without scrapy-mss")
MODES = (
    BARE,
    Mode("without wrappers", _plugin(0, MSS_WRAPPERS=[])),
    Mode("MSS_WORKERS = 0", _plugin(0)),
    Mode("MSS_WORKERS = 1", _plugin(1)),
    Mode("MSS_WORKERS = 2", _plugin(2)),
    Mode("MSS_WORKERS = 2, disturbed", _plugin(2, MSS_TIMEOUT=TIMEOUT), is_disturbed=True),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a crawl, and what is wrong with it."""

    mode: Mode
    measured: Measured
    bare_memory: int  # bytes at the end of the crawl without scrapy-mss

    def _stat(self, *prefixes: str) -> int:
        names = tuple(f"mss/{prefix}" for prefix in prefixes)
        return int(sum(n for name, n in self.measured.stats.items() if name.startswith(names)))

    @property
    def told(self) -> int:
        return self._stat("extract/failed/", "extract/dropped/")

    @property
    def _missing(self) -> tuple[int, int]:
        """Pages without an item and wrapped pages without an outcome; below 0 if one has two."""
        if self.mode == BARE:
            return 0, 0
        without_item = self.measured.pages - self.measured.items - self.told
        not_learned = self._stat("train/seen") - self._stat("train/learned", "train/refused/")
        return without_item, not_learned

    @property
    def lost(self) -> int:
        return max(0, *self._missing)

    @property
    def twice(self) -> int:
        return max(0, *(-n for n in self._missing))

    @property
    def memory(self) -> tuple[Memory, Memory, Memory]:
        """At the start, in the middle and at the end."""
        samples = self.measured.memory
        return samples[0], samples[len(samples) // 2], samples[-1]

    @property
    def growth(self) -> float:
        """Megabytes; disturbed workers come and go, and grow as they do."""
        _, middle, end = self.memory
        of_workers = 0 if self.mode.is_disturbed else end.workers - middle.workers
        return max(end.crawl - middle.crawl, of_workers) / MEGABYTE

    @property
    def above(self) -> float:
        return (self.memory[-1].crawl - self.bare_memory) / MEGABYTE

    def broken(self) -> Iterator[str]:
        """The bounds that do not hold."""
        if self.told > self.measured.disturbed:
            yield f"{self.told} pages given up, {self.measured.disturbed} workers disturbed"
        if self.lost or self.measured.mixed:
            yield f"{self.lost} pages lost, {self.measured.mixed} mixed up"
        if self.twice:
            yield f"{self.twice} pages counted twice"
        if self.growth > MAX_GROWTH and self.measured.pages >= STEADY:
            yield f"grows by {self.growth:.0f} MB in the second half, at most {MAX_GROWTH}"
        if self.mode.has_workers and self.above > MAX_ABOVE:
            yield f"{self.above:.0f} MB above the crawl without scrapy-mss, at most {MAX_ABOVE}"

    def __str__(self) -> str:
        found = self.measured
        start, middle, end = (sample.crawl // MEGABYTE for sample in self.memory)
        workers = self.memory[-1].workers // MEGABYTE
        return (
            f"{self.mode.name:28} {found.pages / found.seconds:7.0f} "
            f"{1000 * found.cpu / found.pages:6.1f} {start:5} {middle:5} {end:5} {workers:7} "
            f"{1000 * found.longest_stall:7.0f} {found.stalls:6} {found.disturbed:9} {self.told:5} "
            f"{self.lost:5} {found.mixed:5} {self._stat('train/learned'):7}"
        )


HEADING = (
    f"{'RSS in MB, stalls in ms':28} pages/s ms CPU start   mid   end workers longest "
    f"{f'>{1000 * LONG:.0f}':>6} disturbed  told  lost mixed learned"
)


def crawled(mode: Mode, sites: list[Site], n_pages: int) -> Measured:
    """What a crawl measures, in a process of its own."""
    with TemporaryDirectory(prefix="scrapy-mss-soak-") as folder:
        wrappers = [{"site": site.host, "body": "article"} for site in sites[:N_WRAPPED]]
        ours = {
            "MSS_WRAPPERS": wrappers,
            "MSS_STORE": folder,
        }
        urls = [sites[number % len(sites)].url(number) for number in range(n_pages)]
        job = Job(
            urls,
            (ours if mode.settings else {}) | mode.settings,
            DISTURB_EVERY if mode.is_disturbed else 0.0,
        )
        command = [sys.executable, "-m", "research.benchmarks.soak_crawl"]
        done = subprocess.run(  # noqa: S603 - our own program
            command, input=json.dumps(asdict(job)), stdout=subprocess.PIPE, text=True, check=True
        )
    values = json.loads(done.stdout.splitlines()[-1])
    return Measured(**{**values, "memory": [Memory(**each) for each in values["memory"]]})


def report(modes: tuple[Mode, ...], n_pages: int) -> bool:
    """Print the table; return whether all bounds hold."""
    print(HEADING)
    faults, bare_memory = [], 0
    with serving(N_SITES) as sites:
        for mode in modes:
            row = Row(mode, crawled(mode, sites, n_pages), bare_memory)
            bare_memory = bare_memory or row.memory[-1].crawl
            print(row, flush=True)
            faults += [f"{mode.name}: {fault}" for fault in row.broken()]
    if n_pages < STEADY:
        print(f"growth is not checked: that needs {STEADY:,} pages")
    print("\n".join(faults or ["all bounds hold"]))
    return not faults


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=at_least(40), default=2_000, help="2,000 unless given")
    parser.add_argument("--only", default="", help="modes whose name contains this, and the bare")
    options = parser.parse_args()
    modes = tuple(mode for mode in MODES if mode == BARE or options.only in mode.name)
    return 0 if report(modes, options.pages) else 1


if __name__ == "__main__":
    sys.exit(main())
