"""Kills writers of one model file at random moments, and counts what the file then has wrong.

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
import os
import random
import signal
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from research.benchmarks.synthetic import page as made_up_page
from research.command_line import at_least
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import span_labels
from scrapy_mss.models.format import ModelError
from scrapy_mss.models.learned_pages import LearnedPages
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore, read_model

MAX_WRITERS = 8
LONGEST = 0.5  # seconds that a lone writer lives at most; an addition takes a tenth of one
PAGE_BYTES = 10_000
_KEY = struct.Struct("<Q")
WRITER_SHIFT = 32  # a key is the number of its writer above that of the page


@dataclass(slots=True)
class Outcome:
    """What a campaign has found so far."""

    kills: int = 0
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


def write_forever(store: FileStore, one: Model, writer: int, report: int) -> None:
    """Add pages that the file does not have yet, and report each."""
    known = store.load().learned_pages
    key = writer << WRITER_SHIFT
    while True:
        key += 1
        if key not in known:
            one.learned_pages = LearnedPages()
            one.learned_pages.add(key, 0)
            store.add(one)
            os.write(report, _KEY.pack(key))


@dataclass(frozen=True, slots=True)
class Writer:
    """A process that adds pages, and the end of the pipe that its reports come from."""

    pid: int
    reports: int

    @classmethod
    def started(cls, store: FileStore, one: Model, number: int) -> Writer:
        """Forked, so that a kill costs no start of Python."""
        reports, report = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            try:
                write_forever(store, one, number, report)
            finally:
                os._exit(1)
        os.close(report)
        return cls(pid, reports)

    def killed(self) -> set[int]:
        """Kill it; the keys that it has reported."""
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSIGNALED(status):
            raise RuntimeError("a writer failed before it was killed; its error is above")
        with os.fdopen(self.reports, "rb") as pipe:
            return {key for (key,) in _KEY.iter_unpack(pipe.read())}


def one_round(store: FileStore, one: Model, chance: random.Random, outcome: Outcome) -> None:
    """Start some writers, kill each at a moment of its own, and look at the file."""
    n_writers = chance.randint(1, MAX_WRITERS)
    writers = [Writer.started(store, one, number) for number in range(n_writers)]
    started = time.monotonic()
    moments = sorted(chance.uniform(0, LONGEST * n_writers) for _ in writers)
    chance.shuffle(writers)
    for writer, moment in zip(writers, moments, strict=True):
        time.sleep(max(0.0, started + moment - time.monotonic()))
        outcome.reported |= writer.killed()
        outcome.kills += 1
        loaded(store.path, outcome)
    compare(loaded(store.path, outcome), one, outcome)


def loaded(path: Path, outcome: Outcome) -> Model:
    """What is in the file; an empty model where it cannot be read, which is counted."""
    if not path.exists():  # nobody has come so far
        return Model(DEFAULT)
    outcome.loads += 1
    try:
        return read_model(path)
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
def model_path(folder: Path | None) -> Iterator[Path]:
    """A model file in *folder*, else in one that is removed afterwards."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder / "crash.model"
        return
    with TemporaryDirectory(prefix="scrapy-mss-crash-") as made:
        yield Path(made) / "crash.model"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=at_least(1), default=200, help="200 unless given")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    parser.add_argument("--folder", type=Path, help="where the model file is kept afterwards")
    options = parser.parse_args()
    outcome, chance, one = Outcome(), random.Random(options.seed), counts_of_one_page()
    with model_path(options.folder) as path:
        while outcome.kills < options.kills and outcome.is_good:
            one_round(FileStore(path, DEFAULT), one, chance, outcome)
    print("kills  added  loads  lost  twice  unloadable")
    print(
        f"{outcome.kills:5}  {len(outcome.reported):5}  {outcome.loads:5}  {outcome.lost:4}  "
        f"{outcome.twice:5}  {outcome.unloadable:10}"
    )
    return 0 if outcome.is_good and outcome.reported else 1


if __name__ == "__main__":
    raise SystemExit(main())
