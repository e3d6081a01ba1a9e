"""Parts made by processes of this machine: groups, each of which has a few workers of its own.

Reading and decoding pages and writing Parquet take a tenth of the time of extraction, so one
process can keep several workers busy, and several groups any number of cores. JSON lines go to
a group's standard input, first the settings and then parts; JSON lines come back with the progress
of a part and finally its result. The group exits when its standard input ends.

If a group is lost, killed for its memory or by accident, no page is lost: a new group makes its
part again, without a page at which two were lost. A part that costs still more groups is given up.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TextIO

from scrapy_mss.bulk.extracting import ArticleExtractor, CannotStartError
from scrapy_mss.bulk.parts import (
    MOST_LEFT_OUT,
    TRIES,
    DonePart,
    EngineError,
    OnProgress,
    Part,
    given_up,
    has_failed_too_often,
    make_part,
)
from scrapy_mss.crawl.pool import RUN, child_environment
from scrapy_mss.files.stored_pages import LOST_TWICE

WORKER_GROUP: Final = "scrapy_mss.bulk.worker_groups"
# A group has about a tenth of the work of each of its workers.
WORKERS_OF_A_GROUP: Final = 4
MOST_TRIES: Final = TRIES + LOST_TWICE * MOST_LEFT_OUT  # of a part, wherever groups are lost
LOST: Final = (OSError, EOFError, ValueError)


@dataclass
class WorkerGroups:
    """An `Engine`: as many groups as *processes* need, which read with *settings*."""

    settings: Mapping[str, Any]
    processes: int

    def __call__(
        self, parts: Sequence[Part], folder: Path, report: OnProgress
    ) -> Iterator[DonePart]:
        """Make *parts* in *folder*, several at a time."""
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
                group.close()
            threads.shutdown()
            for group in groups:
                group.end()


def shares(processes: int) -> list[int]:
    """How many workers each group has, of *processes* in all."""
    groups = ceil(processes / WORKERS_OF_A_GROUP)
    return [processes // groups + (number < processes % groups) for number in range(groups)]


class _WorkerGroup:
    """A group that makes one part at a time; its process may be replaced."""

    def __init__(self, settings: Mapping[str, Any], folder: Path, report: OnProgress) -> None:
        self._start = {"settings": dict(settings), "folder": str(folder)}
        self._folder = folder
        self._report = report
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def close(self) -> None:
        """Kill the process, which ends `make` in another thread, and start no more."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def make(self, part: Part) -> DonePart:
        """Make *part*, again where the process is lost."""
        for _ in range(MOST_TRIES):
            process = self._running()
            pages = size = 0
            with suppress(*LOST):
                _send(process, asdict(part))
                while "done" not in (answer := _receive(process)):
                    if "error" in answer:
                        raise EngineError(answer["error"])
                    pages += answer["pages"]
                    size += answer["bytes"]
                    self._report(answer["pages"], answer["bytes"])
                return DonePart.of(answer["done"])
            self._report(-pages, -size)  # it does not count if the part is made again
            self.end()
            if self._closed or has_failed_too_often(part, self._folder):
                break
        return given_up(part, self._folder, "too many processes were lost that read it")

    def _running(self) -> subprocess.Popen[str]:
        """The process, which is started if there is none."""
        process = self._process
        if process is None:
            process = self._process = _started()
            if self._closed:  # meanwhile, by another thread, which may have found no process
                process.kill()
            try:
                _send(process, self._start)
                _receive(process)
            except LOST as error:
                raise EngineError("a process that reads archives cannot be started") from error
        return process

    def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    if stream is not None:
                        stream.close()


def _started() -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-c", RUN, WORKER_GROUP],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=child_environment(),
        start_new_session=True,  # Ctrl-C is for the command, which ends its groups
    )


def _send(process: subprocess.Popen[str], values: Mapping[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(values) + "\n")
    process.stdin.flush()


def _receive(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.endswith("\n"):
        raise EOFError("the process is gone")
    return dict(json.loads(line))


# --- the process ----------------------------------------------------------------------------------


def main() -> None:
    """Make the parts that standard input names."""
    asked, answers = _lines()
    first = asked.readline()
    if not first:
        return
    start = json.loads(first)
    folder = Path(start["folder"])

    def answer(**values: Any) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    def report(pages: int, size: int) -> None:
        answer(pages=pages, bytes=size)

    # The pipe breaks when who asked was killed.
    with suppress(BrokenPipeError), ArticleExtractor(**start["settings"]) as extractor:
        answer(ready=True)
        for line in asked:
            try:
                done = make_part(Part.of(json.loads(line)), folder, extractor, report)
            except BrokenPipeError:
                raise
            except (OSError, CannotStartError) as error:  # a full disk: no part can be made
                answer(error=f"{type(error).__name__}: {error}")
            else:
                answer(done=asdict(done))


def _lines() -> tuple[TextIO, TextIO]:
    """Standard input and output, for us alone: what a library prints is no answer."""
    asked, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return asked, answers


if __name__ == "__main__":
    main()
