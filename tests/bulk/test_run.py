"""Runs over archives: each page is a row once, whatever was killed on the way."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("fastwarc")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from scrapy_mss.bulk.extracting import ArticleExtractor  # noqa: E402 - not without these
from scrapy_mss.bulk.parts import DonePart, OnProgress, Part, make_part, record_at  # noqa: E402
from scrapy_mss.bulk.run import (  # noqa: E402
    MANIFEST,
    Bulk,
    Manifest,
    ManifestError,
    Summary,
)
from scrapy_mss.bulk.worker_groups import (  # noqa: E402
    WORKER_GROUP,
    WorkerGroupError,
    WorkerGroups,
    shares,
)
from scrapy_mss.files.stored_pages import Piece, StoredPage  # noqa: E402
from tests.helpers.archives import (  # noqa: E402
    json_lines,
    stored,
    warc_members,
    warc_record,
    write_parquet,
)
from tests.plugin.crawling import environment, run_scrapy  # noqa: E402
from tests.plugin.site import index, plain  # noqa: E402

PIECE = 5000  # bytes: a few pages
COUNT = 30
LIMIT = 120.0  # seconds; no test waits that long unless something is wrong


def pages(first: int, count: int = COUNT) -> list[StoredPage]:
    return [
        StoredPage(f"https://news.example/{n}", plain(n) if n % 5 else index(n))
        for n in range(first, first + count)
    ]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    (folder / "a.warc.gz").write_bytes(b"".join(warc_members(pages(0))))
    (folder / "b.jsonl").write_bytes(json_lines(pages(100)))
    write_parquet(folder / "c.parquet", pages(200), group=10)
    for number in range(4):
        (folder / f"small-{number}.jsonl").write_bytes(json_lines(pages(300 + number, 1)))
    return folder


ALL = Counter(page.url for first in (0, 100, 200) for page in pages(first))
ALL.update(page.url for page in pages(300, 4))


@pytest.fixture(autouse=True)
def _no_pwrite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are made without what Windows has not."""
    monkeypatch.delattr(os, "pwrite", raising=False)


class Here(WorkerGroups):
    """Makes parts in this process, and fails after so many."""

    def __init__(self, extractor: ArticleExtractor, most: int = 1000) -> None:
        self.extractor = extractor
        self.most = most
        self.parts: list[Part] = []

    def made(self, parts: Iterable[Part], folder: Path, report: OnProgress) -> Iterator[DonePart]:
        for part in parts:
            done = make_part(part, folder, self.extractor, report)
            if len(self.parts) == self.most:
                raise KeyboardInterrupt
            self.parts.append(part)
            yield done


def run(bulk: Bulk, groups: WorkerGroups) -> Summary:
    return bulk.run(groups, lambda _total, _done: lambda _pages, _size: None)


def bulk_of(archive: Path, folder: Path, *names: str, **settings: Any) -> Bulk:
    inputs = [str(archive / name) for name in names or ["*"]]
    return Bulk(inputs, folder, settings, PIECE)


def rows_in(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.parquet")):
        rows += pq.read_table(path).to_pylist()
    return rows


def urls_in(folder: Path) -> Counter[str]:
    return Counter(row["url"] for row in rows_in(folder))


def test_each_page_is_a_row(archive: Path, tmp_path: Path, extractor: ArticleExtractor) -> None:
    reported: list[tuple[int, int]] = []

    def begin(total: int, done: int) -> OnProgress:
        reported.append((0, done - total))
        return lambda more, size: reported.append((more, size))

    summary = bulk_of(archive, tmp_path / "out").run(Here(extractor), begin)

    rows = rows_in(tmp_path / "out")
    assert Counter(row["url"] for row in rows) == ALL
    assert sum(row["text"] is not None for row in rows) == summary.articles > 50
    assert Counter(row["reason"] for row in rows if row["reason"]) == summary.reasons
    assert summary.pages == len(rows) == sum(more for more, _ in reported)
    assert sum(size for _, size in reported) == 0
    assert {Path(row["source"]).name for row in rows} == {path.name for path in archive.iterdir()}
    assert len({(row["source"], row["place"]) for row in rows}) == len(rows)


def test_parts_that_are_done_are_not_made_again(
    archive: Path, tmp_path: Path, extractor: ArticleExtractor
) -> None:
    bulk, made, out = bulk_of(archive, tmp_path / "out"), [], tmp_path / "out"
    while True:
        groups = Here(extractor, most=3)
        with suppress(KeyboardInterrupt):
            run(bulk, groups)
        made += groups.parts
        assert urls_in(out) <= ALL
        if len(groups.parts) < groups.most:
            break

    assert urls_in(out) == ALL
    assert len({piece for part in made for piece in part.pieces}) == sum(
        len(part.pieces) for part in made
    )
    assert not list(out.glob("*.new"))
    groups = Here(extractor)
    assert run(bulk, groups).pages == ALL.total()
    assert not groups.parts


def test_files_that_come_later_are_added(
    archive: Path, tmp_path: Path, extractor: ArticleExtractor
) -> None:
    out = tmp_path / "out"
    run(bulk_of(archive, out, "b.jsonl", "small-2.jsonl"), Here(extractor))

    run(bulk_of(archive, out), Here(extractor))

    assert urls_in(out) == ALL


def test_rows_of_an_archive_inside_a_record_are_withdrawn(
    tmp_path: Path, extractor: ArticleExtractor
) -> None:
    """A record that holds an archive looks like more records."""
    inner = b"".join(warc_members(pages(500)))
    head = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: %d\r\n\r\n" % len(inner)
    outer = stored(head + inner + b"\r\n\r\n")
    members = warc_members(pages(0, 8))
    (tmp_path / "a.warc.gz").write_bytes(b"".join([*members[:4], outer, *members[4:]]))

    groups = Here(extractor)
    run(bulk_of(tmp_path, tmp_path / "out", "a.warc.gz"), groups)

    assert urls_in(tmp_path / "out") == Counter(page.url for page in pages(0, 8))
    assert len(groups.parts) > len({part.pieces[0].key for part in groups.parts})


# What cannot be gone on with


def test_a_folder_with_other_files_is_left_alone(
    archive: Path, tmp_path: Path, extractor: ArticleExtractor
) -> None:
    (tmp_path / "part-00000.parquet").write_bytes(b"of someone")

    with pytest.raises(ManifestError, match="expected a new or empty folder"):
        run(bulk_of(archive, tmp_path), Here(extractor))
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000.parquet"]


def test_articles_of_other_settings_are_not_mixed(
    archive: Path, tmp_path: Path, extractor: ArticleExtractor
) -> None:
    run(bulk_of(archive, tmp_path / "out", "b.jsonl"), Here(extractor))

    with pytest.raises(ManifestError, match=r"made with fields = \[\], not \['markdown'\]"):
        run(bulk_of(archive, tmp_path / "out", "b.jsonl", MSS_FIELDS=["markdown"]), Here(extractor))


def test_a_run_is_not_resumed_if_a_file_has_changed(
    tmp_path: Path, extractor: ArticleExtractor
) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "out"
    path.write_bytes(json_lines(pages(0, 2)))
    run(bulk_of(tmp_path, out, "a.jsonl"), Here(extractor))
    path.write_bytes(json_lines(pages(0, 3)))

    with pytest.raises(ManifestError, match=r"a\.jsonl: had .* bytes when its articles were begun"):
        run(bulk_of(tmp_path, out, "a.jsonl"), Here(extractor))


def test_a_folder_has_one_run_at_a_time(tmp_path: Path) -> None:
    made = {"model": "m"}
    first = Manifest(tmp_path, made)

    with pytest.raises(ManifestError, match="another run"):
        Manifest(tmp_path, made)
    first.close()
    Manifest(tmp_path, made).close()


def test_a_run_is_resumed_wherever_the_manifest_is_cut(
    archive: Path, tmp_path: Path, extractor: ArticleExtractor
) -> None:
    out = tmp_path / "out"
    run(bulk_of(archive, out, "small-*"), Here(extractor))
    path = out / MANIFEST
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    begin = len(whole) - len(lines[-1])
    for size in range(begin, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ManifestError, match="made with"):  # it is read, and not this one
            Manifest(out, {})

    path.write_bytes(whole[: begin + 10])
    run(bulk_of(archive, out, "small-*"), Here(extractor))

    assert urls_in(out) == Counter(page.url for page in pages(300, 4))


# Processes


def test_workers_are_shared_out_to_groups() -> None:
    for processes in range(1, 100):
        assert sum(shares(processes)) == processes
        assert max(shares(processes)) - min(shares(processes)) <= 1
        assert max(shares(processes)) <= 4


@pytest.mark.slow("processes that are killed")
def test_groups_and_workers_that_are_killed_cost_no_more_than_a_page(
    archive: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    killed: list[str] = []

    def begin(_total: int, _done: int) -> OnProgress:
        return lambda _pages, _size: kill_one(killed)

    bulk_of(archive, out).run(WorkerGroups({}, 2), begin)

    assert killed == ["group", "worker"]
    rows = rows_in(out)
    assert Counter(row["url"] for row in rows) == ALL
    assert Counter(row["reason"] for row in rows)["crash"] <= 1
    assert not list(out.glob("*.new"))


def is_group(child: psutil.Process) -> bool:
    try:
        return WORKER_GROUP in " ".join(child.cmdline())
    except psutil.Error:  # it has ended
        return False


def kill_one(killed: list[str]) -> None:
    """Kill a group the first time, a worker the second time."""
    children = psutil.Process().children()  # among them servers of other tests
    groups = [child for child in children if is_group(child)]
    workers = [worker for group in groups for worker in group.children()]
    for what, processes in list({"group": groups, "worker": workers}.items())[len(killed) :][:1]:
        for process in processes[:1]:
            process.kill()
            killed.append(what)


@pytest.mark.slow("processes that are killed")
def test_a_part_that_costs_all_its_groups_is_given_up(tmp_path: Path) -> None:
    """What is no Parquet file, though it was when the run was planned."""
    path = tmp_path / "a.parquet"
    path.write_bytes(b"garbage")
    part = Part(0, (Piece(str(path), 2, 3, 7, 2),))

    (done,) = WorkerGroups({}, 1).made([part], tmp_path, lambda _pages, _size: None)

    (row,) = pq.read_table(tmp_path / done.new).to_pylist()
    assert (row["source"], row["place"], row["reason"]) == (str(path), 2, "crash")
    assert row["detail"] == "too many processes were lost that read it"


def test_a_record_counts_for_the_process_alone_that_was_lost_at_it(
    tmp_path: Path, extractor: ArticleExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one may be lost before it is at any."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(pages(0, 3)))
    part = Part(0, (Piece(str(path), 0, path.stat().st_size, path.stat().st_size, 0),))

    def lost_at_the_second(records: Iterator[object]) -> None:
        next(records)
        next(records)
        raise KeyboardInterrupt

    monkeypatch.setattr(extractor, "rows", lost_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        make_part(part, tmp_path, extractor, lambda _pages, _size: None)

    assert [record_at(part, tmp_path) for _ in range(2)] == [2, 0]


# A library that a page of this encoding is unpacked with, and what is wrong with it.
KILLING = """
import os, signal

error = ValueError

class Decompressor:
    def process(self, body, output_buffer_limit):
        if b"be killed" in body:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"be gone" in body:
            os._exit(1)
        return body
"""


def damaging_archive(folder: Path) -> list[StoredPage]:
    """An archive of pages, the third and the sixth of which end the process that reads them."""
    (folder / "brotli.py").write_text(KILLING)
    found = pages(0, 9)
    for number, words in ((2, "be killed"), (5, "be gone")):
        found[number] = StoredPage(found[number].url, f"<p>{words}")
    records = [gzip.compress(warc_record(page, "Content-Encoding: br")) for page in found]
    (folder / "a.warc.gz").write_bytes(b"".join(records))
    return found


@pytest.mark.slow("processes that are killed")
def test_a_page_that_kills_its_reader_is_left_out_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    archived = damaging_archive(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "out"

    summary = Bulk([str(tmp_path / "a.warc.gz")], out, {}).run(
        WorkerGroups({}, 1), lambda _total, _done: lambda _pages, _size: None
    )

    rows = {row["url"]: row for row in rows_in(out)}
    assert [*rows] == [page.url for page in archived]
    left_out = [row for row in rows.values() if row["reason"] == "left_out"]
    assert [row["url"] for row in left_out] == [archived[2].url, archived[5].url]
    assert {row["detail"] for row in left_out} == {"2 processes were lost that read it"}
    assert summary.reasons["left_out"] == 2
    assert not summary.reasons["crash"]
    assert '"left_out": 2' in (out / MANIFEST).read_text()
    logged = capfd.readouterr().err
    assert all(f"left out {row['source']} at {row['place']}," in logged for row in left_out)
    assert not list(out.glob("*.new"))


@pytest.mark.parametrize(
    ("settings", "folder", "message"),
    [({}, "gone", "No such file"), ({"MSS_TIMEOUT": "x"}, "", "cannot be started")],
    ids=["folder", "settings"],
)
def test_a_fault_of_all_parts_ends_the_run(
    tmp_path: Path, settings: dict[str, Any], folder: str, message: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(pages(0, 1)))
    parts = [Part(n, (Piece(str(path), 0, 1, 1, 0),)) for n in range(3)]

    with pytest.raises(WorkerGroupError, match=message):
        list(WorkerGroups(settings, 1).made(parts, tmp_path / folder, lambda _pages, _size: None))


@pytest.mark.slow("processes that are killed")
def test_a_killed_command_is_resumed(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = f"mss bulk {archive}/* -b -p 2 --part 1 -o {out}".split()
    program = [sys.executable, "-m", "scrapy", *command]
    begun = subprocess.Popen(program, env=environment(), cwd=tmp_path)
    deadline = time.monotonic() + LIMIT
    while not list(out.glob("*.new")) and time.monotonic() < deadline:
        time.sleep(0.01)
    left = psutil.Process(begun.pid).children(recursive=True)
    begun.send_signal(signal.SIGKILL)
    begun.wait()

    gone, alive = psutil.wait_procs(left, timeout=LIMIT)
    assert gone
    assert not alive
    outcome = run_scrapy(tmp_path, *command)

    assert (outcome.code, outcome.err) == (0, "")
    assert f"{ALL.total()} pages, " in outcome.out
    assert urls_in(out) == ALL
    assert not list(out.glob("*.new"))
