"""A finished run as one value, and that value as JSON.

Strategy: `Report` is dataclasses all the way down and its field names are the keys of the JSON
file, so the file has one definition. A key is always there; what was not measured is null.
Numbers are rounded to what the measurement carries, and NaN, which is no JSON, is refused.

Files appear whole or not at all, by the same function that writes models.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from research.bench import summary
from research.bench.resampling import Resampler
from research.bench.runner import Rows, Split
from research.bench.scoring import PageScore
from research.bench.summary import Draws, Estimates, Slice, Speed, differences, estimates
from research.datasets.pages import Dataset
from research.errors import UserError
from scrapy_mss.models.files import write_atomically

FORMAT: Final = "scrapy-mss-bench/1"
DIGITS: Final = 5  # of a score; of milliseconds too, where the clock gives no more
SHOWN_BROKEN: Final = 20  # messages kept of the records that were skipped
PACKAGES: Final = ("scrapy-mss", "numpy", "lxml", "rapidfuzz", "rouge-score")
# Systems that one may compare with; those that are installed are named with their version.
PEERS: Final = (
    "boilerpy3",
    "goose3",
    "jusText",
    "newspaper4k",
    "readability-lxml",
    "resiliparse",
    "rs-trafilatura",
    "trafilatura",
    "turbohtml",
)


Scores = Mapping[str, list[PageScore]]


@dataclass(frozen=True, slots=True)
class SetInfo:
    """What was measured on, or learned from."""

    name: str
    spec: str
    sha256: str
    pages: int
    sites: int
    languages: int
    bytes: int
    skipped: int
    skipped_messages: list[str]


@dataclass(frozen=True, slots=True)
class SplitInfo:
    """How many pages were learned from, and how many asked about."""

    fold: int | None
    set: str | None
    train_pages: int
    test_pages: int


@dataclass(frozen=True, slots=True)
class Result:
    """One system on one set."""

    set: str
    system: str
    pages: int
    failures: int
    errors: list[str]
    metrics: Estimates
    speed: Speed
    languages: list[Slice]
    sites: list[Slice]
    rows: list[PageScore]


@dataclass(frozen=True, slots=True)
class Difference:
    """*system* minus *other* on one set."""

    set: str
    system: str
    other: str
    metrics: Estimates


@dataclass(frozen=True, slots=True)
class Settings:
    """What the run was asked for."""

    folds: int | None
    model: str | None
    model_sha256: str | None
    limit: int | None
    jobs: int
    rouge: bool
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything about a run."""

    format: str
    date: str
    command: str
    versions: dict[str, str | None]
    settings: Settings
    systems: list[str]
    test_sets: list[SetInfo]
    train_sets: list[SetInfo]
    splits: list[SplitInfo]
    results: list[Result]
    differences: list[Difference]

    def result(self, dataset: str, system: str) -> Result:
        """The result of *system* on *dataset*."""
        return next(r for r in self.results if (r.set, r.system) == (dataset, system))


@dataclass(frozen=True, slots=True)
class Run:
    """What the runner was given."""

    command: str
    settings: Settings
    systems: Sequence[str]
    tests: Sequence[Dataset]
    trains: Sequence[Dataset]
    splits: Sequence[Split]


def build(run: Run, rows: Rows) -> Report:
    """Sum up the *rows* of a *run*."""
    results: list[Result] = []
    compared: list[Difference] = []
    for number, test in enumerate(run.tests):
        scores = {system: rows[number, system] for system in run.systems}
        drawn = _drawn(test, scores, run.settings)
        results += [_result(test.name, s, scores[s], estimates(drawn[s])) for s in scores]
        compared += [
            Difference(test.name, later, first, differences(drawn[later], drawn[first]))
            for first, later in combinations(scores, 2)
        ]
    return Report(
        format=FORMAT,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        command=run.command,
        versions=versions(),
        settings=run.settings,
        systems=list(run.systems),
        test_sets=[set_info(test) for test in run.tests],
        train_sets=[set_info(train) for train in run.trains],
        splits=[_split_info(split, run.tests) for split in run.splits],
        results=results,
        differences=compared,
    )


def _drawn(test: Dataset, scores: Scores, settings: Settings) -> dict[str, Draws]:
    """Every statistic of every system, on the same resamples of the set."""
    sites = [page.site for page in test.pages]
    resampler = Resampler(sites, settings.resamples, settings.seed)
    return {system: summary.draws(rows, resampler) for system, rows in scores.items()}


def _result(name: str, system: str, rows: list[PageScore], metrics: Estimates) -> Result:
    return Result(
        set=name,
        system=system,
        pages=len(rows),
        failures=summary.failures(rows),
        errors=summary.first_errors(rows),
        metrics=metrics,
        speed=summary.speed(rows),
        languages=summary.slices(rows, "lang"),
        sites=summary.slices(rows, "site"),
        rows=rows,
    )


def set_info(dataset: Dataset) -> SetInfo:
    """Describe a set by what identifies it."""
    return SetInfo(
        name=dataset.name,
        spec=dataset.spec,
        sha256=dataset.sha256,
        pages=len(dataset.pages),
        sites=len({page.site for page in dataset.pages}),
        languages=len({page.language for page in dataset.pages}),
        bytes=sum(len(page.source) for page in dataset.pages),
        skipped=len(dataset.broken),
        skipped_messages=[str(broken) for broken in dataset.broken[:SHOWN_BROKEN]],
    )


def _split_info(split: Split, tests: Sequence[Dataset]) -> SplitInfo:
    name = None if split.fold is None else tests[split.test[0].dataset].name
    return SplitInfo(split.fold, name, len(split.train), len(split.test))


def versions() -> dict[str, str | None]:
    """What the numbers depend on."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    found.update(dict.fromkeys(PACKAGES))
    for package in PACKAGES + PEERS:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    found["platform"] = f"{sys.platform} {platform.machine()}, {os.cpu_count()} cores"
    return found


def to_json(report: Report) -> str:
    """The report as JSON text."""
    document = _rounded(asdict(report))
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return value


def writable(path: Path) -> None:
    """Fail before the run, not after it, where *path* cannot be written."""
    if path.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        raise UserError(f"cannot write {path}: expected a file in a folder that can be written")


def write(path: Path, text: str) -> None:
    """Write *text* to *path*, whole or not at all."""
    try:
        write_atomically(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error
