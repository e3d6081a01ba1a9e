"""Crawls for tests, in child processes: what to run, and what came of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scrapy_mss.crawl.extension import CHECKPOINT_SECONDS
from scrapy_mss.crawl.training import CHECKPOINT_PAGES
from tests.plugin.forking import FORKS, crawls, run, scrapy

ROOT = Path(__file__).parents[2]
RESULTS = "results.json"
ADDON = {"ADDONS": {"scrapy_mss.Addon": 500}}

LONGEST = 600.0  # seconds; a crawl of the tests takes a few, of five thousand pages some thirty

# Nothing that listens, waits or looks outside, and no worker, which takes longer to start than most
# crawls of the tests take.
QUIET: dict[str, Any] = {
    "MSS_WORKERS": 0,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "AUTOTHROTTLE_ENABLED": False,
}


@dataclass(frozen=True, slots=True)
class Job:
    """One crawl: which spider, what it is given, under which settings."""

    spider: str = "silent"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    keep: bool = True  # or neither items nor what is logged below WARNING
    checkpoint_pages: int = CHECKPOINT_PAGES
    checkpoint_seconds: float = CHECKPOINT_SECONDS


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it left the pipeline."""

    fields: dict[str, Any]
    kind: str

    @property
    def url(self) -> str:
        return str(self.fields.get("url", ""))


@dataclass(frozen=True, slots=True)
class Crawl:
    """What came of a crawl; *error* is the fault that it did not start for."""

    items: list[Item]
    stats: dict[str, Any]
    error: str
    log: list[list[str]]  # level and text of each line
    longest_pause: float = 0.0  # seconds in which the event loop did not come round

    def mss(self, name: str) -> float:
        """The stat *name* of ours; 0 if there is none."""
        return float(self.stats.get(f"mss/{name}", 0))

    def logged(self, level: str) -> list[str]:
        return [text for at, text in self.log if at == level]

    def by_url(self) -> dict[str, dict[str, Any]]:
        """The fields of each item by its address; two of one address are a fault."""
        urls = [item.url for item in self.items]
        assert len(urls) == len(set(urls)), urls
        return {item.url: item.fields for item in self.items}


def environment() -> dict[str, str]:
    """What child processes are given: this checkout first, no proxy."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**kept, "PYTHONPATH": path}


@dataclass(frozen=True, slots=True)
class Done:
    """What a program printed, and its exit code."""

    code: int
    out: str
    err: str

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def _run(folder: Path, jobs: Iterable[Job]) -> Done:
    """Run *jobs*, one after the other; each has a store of its own unless it names one."""
    asked = [
        {
            **asdict(job),
            "settings": {**QUIET, "MSS_STORE": str(folder / f"{number}.store"), **job.settings},
        }
        for number, job in enumerate(jobs)
    ]
    return _forked(folder, partial(crawls, asked, str(folder / RESULTS)))


def run_scrapy(folder: Path, *words: str) -> Done:
    """What comes of the command line `scrapy` with these *words*, in *folder*."""
    return _forked(folder, partial(scrapy, *words))


def _forked(folder: Path, call: Callable[[], int]) -> Done:
    """What comes of a *call* in a process of its own, whose exit code it gives."""
    with TemporaryDirectory() as printed:
        files = [str(Path(printed, name)) for name in ("out", "err")]
        process = FORKS.Process(target=run, args=(call, str(folder), environment(), files))
        process.start()
        process.join(LONGEST)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"{call} in {folder} takes more than {LONGEST} seconds")
        return Done(process.exitcode, *(Path(file).read_text() for file in files))


def crawl(folder: Path, jobs: Iterable[Job]) -> list[Crawl]:
    """Run *jobs*, one after the other, in one child process in *folder*."""
    done = _run(folder, jobs)
    assert done.code == 0, done.err
    return [
        Crawl(**{**result, "items": [Item(**item) for item in result["items"]]})
        for result in json.loads((folder / RESULTS).read_text())
    ]


def fetching(urls: Sequence[str], **settings: Any) -> Job:
    """A crawl of *urls* with the add-on."""
    return Job(arguments={"urls": urls}, settings={**ADDON, **settings})


def crawl_news(folder: Path, sites: str, *, limit: int = 200, **settings: Any) -> Crawl:
    """What comes of a crawl of *sites* by `NewsSpider`, with the one store that *folder* has."""
    stored = {"MSS_STORE": str(folder / "store"), **settings}
    (found,) = crawl(folder, [Job("news", {"sites": sites, "limit": limit}, stored)])
    assert not found.error
    return found


def crawl_all(folder: Path, jobs: Mapping[str, Job]) -> dict[str, Crawl]:
    """Run *jobs*, one after the other, all of which start; what came of them by name."""
    done = dict(zip(jobs, crawl(folder, jobs.values()), strict=True))
    assert [name for name, each in done.items() if each.error] == []
    return done


def exit_code(folder: Path, job: Job) -> int:
    """That of a process that runs a *job*, which may kill it."""
    return _run(folder, [job]).code
