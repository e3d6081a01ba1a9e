"""Parts made by processes of this machine: groups, each of which has a few workers of its own.

Reading and decoding pages and writing Parquet take a tenth of the time of extraction, so one
process can keep several workers busy, and several groups any number of cores. A group is sent the
settings, and then parts; it sends the progress of a part and finally its result.

If a group is lost, killed for its memory or by accident, no page is lost: a new group makes its
part again, without a page at which two were lost. A part that costs still more groups is given up.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from queue import SimpleQueue
from types import NoneType
from typing import Any, Final, NamedTuple

from scrapy_mss.bulk.extracting import ArticleExtractor, CannotStartError
from scrapy_mss.bulk.parts import (
    DonePart,
    OnProgress,
    Part,
    given_up,
    is_given_up,
    left_out_after,
    make_part,
    record_at,
)
from scrapy_mss.crawl.processes import LOST, Child, message, parent, receive, send

WORKER_GROUP: Final = "scrapy_mss.bulk.worker_groups"
# A group has about a tenth of the work of each of its workers.
WORKERS_OF_A_GROUP: Final = 4


class WorkerGroupError(RuntimeError):
    """No group can make any part; the message says why."""


class Answer(NamedTuple):
    """So many more pages and bytes of a part are read, the part itself, or why none can be made."""

    pages: int = 0
    size: int = 0
    part: DonePart | None = None
    failure: str = ""


@dataclass
class WorkerGroups:
    """As many groups as *processes* need, which read with *settings*."""

    settings: Mapping[str, Any]
    processes: int

    def made(self, parts: Sequence[Part], folder: Path, report: OnProgress) -> Iterator[DonePart]:
        groups = [
            _WorkerGroup({**self.settings, "MSS_WORKERS": workers}, folder, report)
            for workers in shares(self.processes)
        ]
        idle: SimpleQueue[_WorkerGroup] = SimpleQueue()
        for group in groups:
            idle.put(group)

        def make(part: Part) -> DonePart:
            group = idle.get()
            try:
                return group.make(part)
            finally:
                idle.put(group)

        threads = ThreadPoolExecutor(len(groups))
        futures = [threads.submit(make, part) for part in parts]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
            for group in groups:
                group.child.close()
            threads.shutdown()
            for group in groups:
                group.child.end()


def shares(processes: int) -> list[int]:
    """How many workers each group has, of *processes* in all."""
    groups = ceil(processes / WORKERS_OF_A_GROUP)
    return [processes // groups + (number < processes % groups) for number in range(groups)]


class _WorkerGroup:
    """A group that makes one part at a time; its process may be replaced."""

    def __init__(self, settings: Mapping[str, Any], folder: Path, report: OnProgress) -> None:
        self._settings = settings
        self._folder = folder
        self._report = report
        self.child = Child(WORKER_GROUP)

    def make(self, part: Part) -> DonePart:
        """Make *part*, again where the process is lost."""
        lost = Counter[int]()  # processes, by the record that they were at
        while not is_given_up(lost):
            self._begin()
            pages = size = 0
            with suppress(*LOST):
                self.child.send(message(replace(part, left_out=left_out_after(lost))))
                while (answer := self.child.receive(Answer)).part is None:
                    if answer.failure:
                        raise WorkerGroupError(answer.failure)
                    pages += answer.pages
                    size += answer.size
                    self._report(answer.pages, answer.size)
                return answer.part
            self._report(-pages, -size)  # it does not count if the part is made again
            self.child.end()
            lost[record_at(part, self._folder)] += 1
        return given_up(part, self._folder, "too many processes were lost that read it")

    def _begin(self) -> None:
        try:
            if self.child.begin():
                self.child.send(message((json.dumps(self._settings), str(self._folder))))
                self.child.receive(NoneType)
        except LOST as error:
            raise WorkerGroupError("a process that reads archives cannot be started") from error


# --- the process ----------------------------------------------------------------------------------


def main() -> None:
    """Make the parts that the parent asks for."""
    asked, answers = parent()

    def report(pages: int, size: int) -> None:
        send(answers, Answer(pages, size))

    with suppress(EOFError, ConnectionError):  # the parent has ended, or was killed
        settings, folder = receive(asked, tuple[str, str])
        with closing(ArticleExtractor(**json.loads(settings))) as extractor:
            send(answers, None)
            while True:
                part = receive(asked, Part)
                try:
                    done = make_part(part, Path(folder), extractor, report)
                    send(answers, Answer(part=done))
                except ConnectionError:
                    raise
                except (OSError, CannotStartError) as error:  # a full disk: no part can be made
                    send(answers, Answer(failure=f"{type(error).__name__}: {error}"))
