"""Kills writers of one model at random moments, and counts what the model then has wrong.

The model is in a file or, with `--redis`, on a server of its own, which is killed and started
again, too, after every fourth kill of a writer.

Each round some writers, one to eight processes, add pages to the file, each pages of its own, one
after the other, and report each through a pipe when the store says that it is added. Each is killed
after a random time. A writer of the next round goes on where the file says that the one before it
was, as a crawl does that is started again. After each kill, while others go on writing, the file is
read; after each round it is compared with the reports:

    lost        pages that were reported as added and are not in the file
    twice       pages that the file counts, beyond those that it knows by their keys
    unloadable  times that the file could not be read, or was not the sum of so many pages

All three must be 0; the program exits with 1 otherwise. It needs a POSIX system.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scrapy_mss.models.redis_store import RedisModelStore
from scrapy_mss.storage.redis_server import LostConnectionError

from research.benchmarks.redis_server import PROGRAMS, program, running
from research.benchmarks.synthetic import page as made_up_page
from research.benchmarks.victims import KEY_SHIFT, Report, Victim, goes_on, killed_in_turn
from research.command_line import at_least
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import span_labels
from scrapy_mss.models.format import ModelError
from scrapy_mss.models.learned_pages import LearnedPages
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore, ModelStore

MAX_WRITERS = 8
LONGEST = 0.5  # seconds that a lone writer lives at most; an addition takes a tenth of one
PAUSE = 0.01  # seconds until a server that is away is tried again
KILLS_A_RESTART = 4
PAGE_BYTES = 10_000


@dataclass(slots=True)
class Outcome:
    """What a campaign has found so far."""

    kills: int = 0
    restarts: int = 0  # of the server
    loads: int = 0
    lost: int = 0
    twice: int = 0
    unloadable: int = 0
    reported: set[int] = field(default_factory=set)  # keys

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.twice or self.unloadable)


def counts_of_one_page() -> Model:
    """What all writers add each time, each time with another key."""
    page, model = Page.of(made_up_page(PAGE_BYTES)), Model(DEFAULT)
    model.learn(page, span_labels(len(page.tokens), 10, len(page.tokens) // 2))
    return model


def write_forever(store: ModelStore, one: Model, writer: int, report: Report) -> None:
    """Add pages that the file does not have yet, and report each."""
    known = store.load().learned_pages
    key = writer << KEY_SHIFT
    while True:
        key += 1
        if key not in known:
            one.learned_pages = LearnedPages()
            one.learned_pages.add(key, 0)
            add_surely(store, one)
            report(key)


def add_surely(store: ModelStore, one: Model) -> None:
    """Add a page, and return when it is known to be there."""
    while True:
        try:
            store.add(one)
            break
        except LostConnectionError:  # it was not sent
            time.sleep(PAUSE)
    while isinstance(store, RedisModelStore) and not store.is_settled:
        try:
            store.settle()
        except LostConnectionError:
            time.sleep(PAUSE)


@dataclass(frozen=True, slots=True)
class Target:
    """What is written to, what each writer adds, and how to kill and start what it is on."""

    store: ModelStore
    one: Model
    restart: Callable[[], None] | None = None


def one_round(target: Target, chance: random.Random, outcome: Outcome) -> None:
    """Start some writers, kill each at a moment of its own, and look at the model."""
    store, one = target.store, target.one
    n_writers = chance.randint(1, MAX_WRITERS)
    writers = [
        Victim.started(partial(write_forever, store, one, number)) for number in range(n_writers)
    ]
    for reported in killed_in_turn(writers, LONGEST, chance):
        outcome.reported |= reported
        outcome.kills += 1
        if target.restart is not None and outcome.kills % KILLS_A_RESTART == 0:
            target.restart()
            outcome.restarts += 1
        loaded(store, outcome)
    compare(loaded(store, outcome), one, outcome)


def loaded(store: ModelStore, outcome: Outcome) -> Model:
    """What is in the store; an empty model where it cannot be read, which is counted."""
    outcome.loads += 1
    try:
        return store.load()
    except (ModelError, OSError):
        outcome.unloadable += 1
        return Model(DEFAULT)


def compare(model: Model, one: Model, outcome: Outcome) -> None:
    """Count what *model* lacks of what was reported, has twice, or has and cannot have."""
    n_known, n_pages = len(model.learned_pages), model.bayes.pages
    outcome.lost = max(outcome.lost, sum(k not in model.learned_pages for k in outcome.reported))
    outcome.twice = max(outcome.twice, n_pages - n_known)
    is_sum = n_pages >= n_known and all(
        np.array_equal(counts, n_pages * one.bayes.counts[name].astype(np.int64))
        for name, counts in model.bayes.counts.items()
    )
    outcome.unloadable += not is_sum


@contextmanager
def model_file(folder: Path | None) -> Iterator[ModelStore]:
    """A model file in *folder*, else in one that is removed afterwards."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield FileStore(folder / "crash.model", DEFAULT)
        return
    with TemporaryDirectory(prefix="scrapy-mss-crash-") as made:
        yield FileStore(Path(made) / "crash.model", DEFAULT)


def campaign(options: argparse.Namespace, outcome: Outcome) -> None:
    """Round after round, until enough writers are killed or something is wrong."""
    chance, one = random.Random(options.seed), counts_of_one_page()
    with ExitStack() as stack:
        if options.redis:
            server = stack.enter_context(running())
            store = RedisModelStore(server.address(), DEFAULT)
            target = Target(store, one, server.restart)
        else:
            target = Target(stack.enter_context(model_file(options.folder)), one)
        while outcome.is_good and goes_on(options.kills, outcome.kills, outcome.reported):
            one_round(target, chance, outcome)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=at_least(1), default=200, help="200 unless given")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    places = parser.add_mutually_exclusive_group()
    places.add_argument("--folder", type=Path, help="where the model file is kept afterwards")
    places.add_argument("--redis", action="store_true", help="a Redis server instead of a file")
    options = parser.parse_args()
    if options.redis and program() is None:
        parser.error(f"--redis needs one of {', '.join(PROGRAMS)}")
    outcome = Outcome()
    campaign(options, outcome)
    print("kills  restarts  added  loads  lost  twice  unloadable")
    print(
        f"{outcome.kills:5}  {outcome.restarts:8}  {len(outcome.reported):5}  {outcome.loads:5}  "
        f"{outcome.lost:4}  {outcome.twice:5}  {outcome.unloadable:10}"
    )
    return 0 if outcome.is_good and outcome.reported else 1


if __name__ == "__main__":
    raise SystemExit(main())
