"""Who learns from what and is asked about which pages; the work, in one process or several.

Strategy: a `Plan` is made before anything runs. It holds `Split`s: with folds one for each fold
of each test set, which learns from the rest of that set; without folds a single one with all
test sets. Training sets come on top, without any site of any test set. The unit of work is one
system on one split. Units are independent and each row knows its place, so the rows are the same
whatever the number of processes.

Processes get the plan once, when they start, and hand back rows of numbers. That works by fork
and by spawn: everything in the plan is a value or a function of a module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from research.bench import measurement
from research.bench.folds import assign
from research.bench.measurement import Factory
from research.bench.scoring import PageScore, score_page
from research.command_line import Advance
from research.datasets.pages import Dataset, LabelledPage, site_of
from research.errors import UserError

TRAINABLE_TYPES: Final = frozenset({"article", None})


class Place(NamedTuple):
    """A page of a test set: the number of the set and of the page in it."""

    dataset: int
    number: int
    page: LabelledPage


@dataclass(frozen=True, slots=True)
class Split:
    """Pages that are asked about, and those that were learned from before."""

    fold: int | None
    test: tuple[Place, ...]
    train: tuple[LabelledPage, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a process has to know."""

    systems: tuple[str, ...]
    splits: tuple[Split, ...]
    factory: Factory
    model: Path | None = None
    rouge: bool = False


class Row(NamedTuple):
    """A score and where it belongs."""

    system: str
    dataset: int
    number: int
    score: PageScore


Rows = dict[tuple[int, str], list[PageScore]]


def splits(tests: Sequence[Dataset], trains: Sequence[Dataset], folds: int | None) -> list[Split]:
    """Lay out who learns from what; a split that has nothing to learn from is an error."""
    extra = _of_other_sites(trains, tests)
    laid = list(_cross(tests, extra, folds)) if folds else [Split(None, _places(tests), extra)]
    for split in laid if folds or trains else ():
        if not split.train:
            raise UserError(_nothing_left(split, tests))
    return laid


def _cross(
    tests: Sequence[Dataset], extra: tuple[LabelledPage, ...], folds: int
) -> Iterator[Split]:
    for dataset, pages in enumerate(test.pages for test in tests):
        sites = {page.site for page in pages}
        if len(sites) < folds:
            name = tests[dataset].name
            raise UserError(f"set {name!r} has {len(sites)} sites, too few for --folds {folds}")
        side = assign([page.site for page in pages], folds)
        for fold in range(folds):
            inside = (Place(dataset, i, page) for i, page in enumerate(pages) if side[i] == fold)
            rest = (page for i, page in enumerate(pages) if side[i] != fold)
            yield Split(fold, tuple(inside), tuple(filter(_teaches, rest)) + extra)


def _places(tests: Sequence[Dataset]) -> tuple[Place, ...]:
    numbered = enumerate(test.pages for test in tests)
    return tuple(Place(n, i, page) for n, pages in numbered for i, page in enumerate(pages))


def _of_other_sites(
    trains: Sequence[Dataset], tests: Sequence[Dataset]
) -> tuple[LabelledPage, ...]:
    """Pages to learn from whose site is in no test set, by its name and by its URL."""
    known = {key for test in tests for page in test.pages for key in site_keys(page)}
    pages = (page for train in trains for page in train.pages if _teaches(page))
    return tuple(page for page in pages if known.isdisjoint(site_keys(page)))


def site_keys(page: LabelledPage) -> set[str]:
    """Sets name a site by its domain or its publisher; the URL tells that two names are one."""
    return {page.site.lower(), site_of(page.url, page.site.lower())}


def _teaches(page: LabelledPage) -> bool:
    return page.page_type in TRAINABLE_TYPES


def _nothing_left(split: Split, tests: Sequence[Dataset]) -> str:
    if split.fold is None:
        return "no page to learn from: all articles of --train are of sites that are tested"
    name = tests[split.test[0].dataset].name
    return f"set {name!r}: no article to learn from outside fold {split.fold + 1}"


def run(plan: Plan, advance: Advance, jobs: int = 1, context: BaseContext | None = None) -> Rows:
    """Ask every system about every page; the rows of a set and system are in the set's order."""
    tasks = [(system, i) for system in plan.systems for i in range(len(plan.splits))]
    if jobs > 1:
        workers = min(jobs, len(tasks))
        with ProcessPoolExecutor(workers, context, _Worker.start, (plan,)) as pool:
            found = list(_pooled(pool, tasks, advance))
    else:
        found = list(_here(plan, tasks, advance))
    order = {system: number for number, system in enumerate(plan.systems)}
    rows: Rows = {}
    for row in sorted(found, key=lambda row: (row.dataset, order[row.system], row.number)):
        rows.setdefault((row.dataset, row.system), []).append(row.score)
    return rows


Task = tuple[str, int]


def _here(plan: Plan, tasks: Sequence[Task], advance: Advance) -> Iterator[Row]:
    for task in tasks:
        for row in perform(plan, task):
            yield row
            advance(1, row.system)


def _pooled(pool: ProcessPoolExecutor, tasks: Sequence[Task], advance: Advance) -> Iterator[Row]:
    futures = {pool.submit(_Worker.perform, task): task for task in tasks}
    try:
        for future in as_completed(futures):
            rows = future.result()
            yield from rows
            advance(len(rows), futures[future][0])
    except BrokenProcessPool as error:
        message = "a process died (killed, or crashed in a native library); try --jobs 1"
        raise UserError(message) from error
    finally:
        pool.shutdown(cancel_futures=True)


class _Worker:
    """What a worker process holds: its plan, since sending pages with every task would cost most.

    The pool starts each process with `start`; the tasks that it sends find the plan here.
    """

    plan: ClassVar[Plan]

    @classmethod
    def start(cls, plan: Plan) -> None:
        cls.plan = plan

    @classmethod
    def perform(cls, task: Task) -> list[Row]:
        return list(perform(cls.plan, task))


def perform(plan: Plan, task: Task) -> Iterator[Row]:
    """One system on one split: learn, then answer and score page by page."""
    spec, split = task[0], plan.splits[task[1]]
    pages = [place.page for place in split.test]
    try:
        system = measurement.prepare(spec, plan.factory, split.train, plan.model)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - a system that cannot learn fails on its pages
        answers = measurement.failed(pages, error)
    else:
        answers = measurement.answers(system, pages)
    for index, answer in answers:
        place = split.test[index]
        score = score_page(place.page, answer, rouge=plan.rouge)
        yield Row(spec, place.dataset, place.number, score)
