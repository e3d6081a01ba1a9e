"""What the articles of an archive cost: pages and megabytes a second, processor time, memory.

The archive is a WARC file of the labelled pages, again and again, with a damaged record and one of
100 MB. It is read by one process and by two, then by two of which one is killed, and with them the
command, which is given again. What is measured is of all processes of a run together, as sampled;
memory is each process's share (PSS).

The program exits with 1 if a page is lost or comes twice, if two processes take more than
`MOST_MORE` of the processor time of one, or if memory grows.
"""

from __future__ import annotations

import argparse
import gzip
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psutil

from research.command_line import add_data, at_least
from research.datasets.pages import LabelledPage
from research.datasets.readers import read_jsonl

SETS: Final = ("articles_wcxb", "articles_fundus", "articles_l3s")
PAGES: Final = 1500  # different ones
LARGE: Final = 100_000_000  # characters
SAMPLE_SECONDS: Final = 0.5
MOST_MORE: Final = 1.1
MOST_GROWTH: Final = 1.15  # of the last third of a run over the second
PROGRAM: Final = "from scrapy.cmdline import execute; execute()"


@dataclass(slots=True)
class Run:
    """What a run has taken, and what came of it."""

    seconds: float = 0.0
    processor: dict[int, float] = field(default_factory=dict)  # seconds, by process
    memory: list[float] = field(default_factory=list)  # megabytes, sample by sample

    @property
    def processor_seconds(self) -> float:
        return sum(self.processor.values())

    def sample(self, root: psutil.Process) -> None:
        """Look at *root* and all that it has started."""
        memory = 0.0
        for process in [root, *root.children(recursive=True)]:
            with suppress(psutil.Error):
                times = process.cpu_times()
                self.processor[process.pid] = times.user + times.system
                memory += process.memory_full_info().pss / 1e6
        self.memory.append(memory)

    def growth(self) -> float:
        """The greatest memory of the last third, as a multiple of that of the second."""
        third = len(self.memory) // 3
        return max(self.memory[-third:]) / max(self.memory[third : 2 * third]) if third else 1.0


def main() -> int:
    """Measure, and print what was measured; 1 if a bound was passed."""
    parser = argparse.ArgumentParser(prog="python -m research.benchmarks.bulk", description=__doc__)
    add_data(parser)
    parser.add_argument("--megabytes", type=at_least(1), default=2000, metavar="MB")
    parser.add_argument("--part", type=at_least(1), default=64, metavar="MB")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        archive = folder / "pages.warc.gz"
        records = write_archive(archive, options.data, options.megabytes)
        megabytes = archive.stat().st_size / 1e6
        print(f"{records:,} pages, {megabytes:,.0f} MB")
        runs = {}
        for options_of_run in (["-p", "1"], ["-p", "2"]):
            line = command(archive, folder / "-".join(["out", *options_of_run]), options.part)
            run = runs["".join(options_of_run)] = measured([*line, *options_of_run])
            print_run(" ".join(options_of_run), run, records, megabytes)
        out = folder / "out-killed"
        print_kills(kill_and_go_on([*command(archive, out, options.part), "-p", "2"]))
        results = [*sorted(folder.glob("out-*"))]
        faults = [*faults_of(results, records), *slow(runs)]
    print("\n".join(faults or ["no page was lost, none came twice"]))
    return bool(faults)


def write_archive(path: Path, data: Path, megabytes: int) -> int:
    """Write labelled pages to *path*; how many records there are, the odd ones included."""
    members = [
        gzip.compress(record(page.url or "http://made.example/", page.html)) for page in pages(data)
    ]
    damaged = bytearray(members[0])
    damaged[len(damaged) // 2] ^= 0xFF
    with path.open("wb") as file:
        file.write(damaged)
        file.write(
            gzip.compress(record("http://large.example/", "<p>" + "large " * (LARGE // 6)), 1)
        )
        count = 2
        while file.tell() < megabytes * 1e6:
            file.write(members[count % len(members)])
            count += 1
    return count


def pages(data: Path) -> Iterator[LabelledPage]:
    for name in SETS:
        found = (
            page for page in read_jsonl(data / f"{name}.jsonl.xz") if isinstance(page, LabelledPage)
        )
        for number, page in enumerate(found):
            if number == PAGES // len(SETS):
                break
            yield page


def record(url: str, html: str) -> bytes:
    """A WARC record of a response."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    content = http + html.encode("utf-8", "replace")
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2026-11-22T00:00:00Z\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def command(archive: Path, out: Path, part: int) -> list[str]:
    line = ["mss", "bulk", str(archive), "--bundled", "--part", str(part), "-o", str(out)]
    return [sys.executable, "-c", PROGRAM, *line]


def measured(line: list[str]) -> Run:
    """What the command *line* takes until it ends."""
    run, begun = Run(), time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    root = psutil.Process(process.pid)
    while process.poll() is None:
        with suppress(psutil.Error):
            run.sample(root)
        time.sleep(SAMPLE_SECONDS)
    run.seconds = time.perf_counter() - begun
    if process.returncode:
        sys.exit(f"the command failed with {process.returncode}")
    return run


def kill_and_go_on(line: list[str]) -> Counter[str]:
    """Kill a worker, then the command, and give it again; what was killed."""
    killed: Counter[str] = Counter()
    out = Path(line[line.index("-o") + 1])
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    wait_for(lambda: bool(list(out.glob("*.parquet"))))
    for group in psutil.Process(process.pid).children():
        for worker in group.children()[:1]:
            worker.kill()
            killed["worker"] += 1
    time.sleep(2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    killed["command"] += 1
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    return killed


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.1)


def faults_of(results: list[Path], records: int) -> Iterator[str]:
    """What is wrong with the rows in the folders *results*."""
    import duckdb

    for folder in results:
        query = (
            "select count(*), count(distinct place), count(*) filter (reason = 'damaged'),"
            "count(*) filter (reason = 'too_large'), count(*) filter (reason = 'crash')"
            f"from '{folder}/*.parquet'"
        )
        with duckdb.connect() as database:
            rows = database.execute(query).fetchall()
        count, places, damaged, large, crashed = rows[0]
        print(
            f"{folder.name}: {count:,} rows, {damaged} damaged, {large} too large, {crashed} crash"
        )
        if (count, places, damaged) != (records, records, 1) or large < 1 or crashed > 1:
            yield f"{folder.name}: expected {records:,} rows, 1 damaged, at least 1 too large"


def slow(runs: dict[str, Run]) -> Iterator[str]:
    one, two = runs["-p1"], runs["-p2"]
    more = two.processor_seconds / one.processor_seconds
    print(f"processor time of two processes: {more:.2f} of that of one, at most {MOST_MORE}")
    if more > MOST_MORE:
        yield "two processes take too much processor time"
    for name, run in runs.items():
        if run.growth() > MOST_GROWTH:
            yield f"{name}: memory grew to {run.growth():.2f}"


def print_run(name: str, run: Run, records: int, megabytes: float) -> None:
    rate, speed = records / run.seconds, megabytes / run.seconds
    each = 1000 * run.processor_seconds / records
    print(
        f"{name}: {run.seconds:.0f} s, {rate:.0f} pages/s, {speed:.1f} MB/s, "
        f"{each:.2f} ms of processor time a page, {max(run.memory):.0f} MB of memory, "
        f"last third to second third {run.growth():.2f}"
    )


def print_kills(killed: Counter[str]) -> None:
    print("killed: " + ", ".join(f"{count} {what}" for what, count in killed.items()))


if __name__ == "__main__":
    sys.exit(main())
