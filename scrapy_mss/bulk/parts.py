"""Parts: Parquet files of articles, one row per page, under a temporary name until they are listed.

The process that makes a part writes and syncs ``part-….parquet.….new``. The owner of the manifest
lists the part there and then renames the file. Any file that ends in ``.parquet`` is thus complete
and listed, and what a killed run leaves is recognized by its name.

Pages become rows by worker processes that hold the model, with the time and memory limits of a
crawl. A page that exceeds them costs its worker, which is replaced, and becomes a row with the
reason, like any other page without an article.

Parts are made by processes of this machine, groups, each of which has a few workers of its own.
Reading and decoding pages and writing Parquet take a tenth of the time of extraction, so one
process can keep several workers busy, and several groups any number of cores. A group is sent the
settings, and then parts; it sends the progress of a part and finally its result.

If a group is lost, killed for its memory or by accident, no page is lost: a new group makes its
part again, without a page at which two were lost. A part that costs still more groups is given up.
"""

from __future__ import annotations

import json
import logging
import os
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from queue import SimpleQueue
from secrets import token_hex
from time import monotonic
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from scrapy.settings import Settings

from scrapy_mss import settings
from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl.pool import NoWorkerError, WorkerPool
from scrapy_mss.crawl.processes import (
    LOST,
    NEEDS,
    Child,
    can_have_workers,
    message,
    parent,
    receive,
    send,
)
from scrapy_mss.crawl.wire import CRASH, PageAnswer, PageRequest
from scrapy_mss.files.parquet import ArticleColumns, batches_of, write_groups
from scrapy_mss.files.sources import PIECE, format_of
from scrapy_mss.files.stored_pages import (
    LEFT_OUT,
    LONGEST_DETAIL,
    LOST_TWICE,
    TOO_LARGE,
    Ends,
    Piece,
    Record,
)
from scrapy_mss.items import ARTICLE_FIELDS, values_of
from scrapy_mss.models.files import ModelFile, bundled_model, with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.settings import Options

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

REASON: Final = "reason"  # why a page has no article; empty where it has one
DETAIL: Final = "detail"  # what is known of that
SOURCE, PLACE = "source", "place"  # the file that a page is from, and where in that it begins
OF_ARTICLES: Final = ArticleColumns.of({name: name for name in ARTICLE_FIELDS}, ARTICLE_FIELDS)
COLUMNS: Final = ArticleColumns(
    {**OF_ARTICLES.types, SOURCE: str, PLACE: int, REASON: str, DETAIL: str}, has_other=False
)

Row = dict[str, Any]


class CannotStartError(RuntimeError):
    """No worker can be started; the pool has logged why."""


class ArticleExtractor:
    """Extracts pages with the *settings* of a crawl, such as ``MSS_FIELDS=['markdown']``.

    *model* is a model file; without it, only the bundled model is used. ``MSS_WORKERS`` is the
    number of processes.
    """

    def __init__(self, model: str = "", **settings: Any) -> None:
        if not can_have_workers():
            raise CannotStartError(f"articles of archives are read by processes; they need {NEEDS}")
        self._options = options_of(settings)
        self._pool = WorkerPool(model_in(model), self._options)

    def close(self) -> None:
        self._pool.close()

    def rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """A row for each of *records*, in their order; they are taken as workers have room."""
        try:
            for record, answer in self._pool.in_order(map(self._asked, records)):
                yield _row(record, answer)
        except NoWorkerError as error:
            raise CannotStartError("no process can be started that reads pages") from error

    def _asked(self, record: Record) -> tuple[Record, PageRequest | None]:
        page = record.page
        if page is None:
            return record, None
        record = replace(record, page=None, url=page.url)
        if len(page.html) > self._options.max_body:
            return replace(record, problem=TOO_LARGE), None
        return record, PageRequest(page.html, page.url)


def _row(record: Record, answer: PageAnswer | None) -> Row:
    values: dict[str, Any] = {}
    reason, detail = record.problem, record.detail
    if answer is not None:
        result = answer.article or ArticleResult()
        reason = answer.failure or result.reason
        # Where a worker has failed on the page, the last line that it has logged is the exception.
        lines = answer.logged[-1][1].splitlines() if answer.failure and answer.logged else []
        detail = lines[-1][:LONGEST_DETAIL] if lines else ""
        values = values_of(result.article) if result.article else {}
    values |= {"url": record.url, "crawled": record.crawled}
    values |= {SOURCE: record.source, PLACE: record.place}
    values |= {REASON: reason or None, DETAIL: detail or None}
    row, _ = COLUMNS.row(values.items())
    return row


def options_of(values: Mapping[str, Any]) -> Options:
    """The options of *values*, which are settings by their names."""
    return settings.read(Settings(dict(values)))


def model_in(path: str) -> Model:
    """The model in the file *path*, if that is given, beside the bundled one."""
    return with_bundled(ModelFile(path, DEFAULT).load()) if path else bundled_model()


# --- parts ----------------------------------------------------------------------------------------

NEW: Final = ".new"
AT: Final = ".at.new"  # of files that say where the process is that makes a part
TRIES: Final = 3  # of a part, besides those that its pages have cost
MOST_LEFT_OUT: Final = 10  # pages of a part; each has it read again twice
REPORT_SECONDS: Final = 0.5  # between two reports of how far a part is

OnProgress = Callable[[int, int], None]  # so many more pages, and bytes of the archive, are done


@dataclass(frozen=True, slots=True)
class Part:
    """Pieces whose articles make up one Parquet file, the one of this *number*."""

    number: int
    pieces: tuple[Piece, ...]


def grouped(pieces: Iterable[Piece], first: int, size: int = PIECE) -> Iterator[Part]:
    """*pieces* as parts of at least *size* bytes, numbered from *first*.

    So small files share a part. A piece that may have to be read again has one of its own.
    """
    group: list[Piece] = []
    weight = 0
    for piece in pieces:
        is_alone = bool(group and (piece.begin or group[-1].begin))
        if is_alone or (group and weight + piece.weight > size):
            yield Part(first, tuple(group))
            group, weight, first = [], 0, first + 1
        group.append(piece)
        weight += piece.weight
    if group:
        yield Part(first, tuple(group))


@dataclass(frozen=True, slots=True)
class DonePiece:
    """A piece, and where its records began and ended."""

    piece: Piece
    ends: Ends


@dataclass(frozen=True, slots=True)
class DonePart:
    """A part that is written: the file *new* is to be called *name*.

    It has *pages* rows, *articles* of them with an article, the others by their *reasons*.
    """

    name: str
    new: str
    pages: int
    articles: int
    reasons: dict[str, int]
    pieces: tuple[DonePiece, ...]

    @property
    def number(self) -> int:
        return int(self.name.removeprefix("part-").removesuffix(".parquet"))

    @classmethod
    def of(cls, values: dict[str, Any]) -> DonePart:
        pieces = (
            DonePiece(Piece(**each["piece"]), Ends(**each["ends"])) for each in values["pieces"]
        )
        return cls(**{**values, "pieces": tuple(pieces)})


class _Tracked:
    """The number of the record of *part* that this process is at, in a file that outlives it.

    Records are counted from 1; 0 is for a process that is at none.
    """

    FORM: ClassVar = struct.Struct("<q")

    def __init__(self, part: Part, folder: Path) -> None:
        lost = _lost(part, folder)
        self._left_out = {number for number in lost if number and lost[number] >= LOST_TWICE}
        self._files = [*_tracks(part, folder), folder / f"{_name(part)}.{token_hex(4)}{AT}"]
        self._file = self._files[-1].open("xb", buffering=0)
        self._count = 0
        self._note(0)

    def _note(self, number: int) -> None:
        self._file.seek(0)
        self._file.write(self.FORM.pack(number))

    def enter(self) -> bool:
        """Note that the process is at the next record; whether it is to be read."""
        self._count += 1
        self._note(self._count)
        return self._count not in self._left_out

    def leave(self) -> None:
        """Note that the process has read the last record."""
        self._note(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the file. It stays where the part was not made, as if the process were lost."""
        self._file.close()
        for path in self._files if kind is None else ():
            path.unlink(missing_ok=True)


def make_part(
    part: Part, folder: Path, extractor: ArticleExtractor, report: OnProgress
) -> DonePart:
    """Write *part* to *folder*, under its temporary name."""
    pages, reasons = 0, Counter[str]()
    left_out: list[tuple[str, int]] = []
    ends = [Ends() for _ in part.pieces]
    with _Tracked(part, folder) as tracked:

        def rows() -> Iterator[Row]:
            nonlocal pages
            for row in extractor.rows(_records(part, ends, tracked, report)):
                pages += 1
                if row[REASON]:
                    reasons[row[REASON]] += 1
                if row[REASON] == LEFT_OUT:
                    left_out.append((row[SOURCE], row[PLACE]))
                yield row
            tracked.leave()

        name, new = _write(part, folder, rows())
    for place in left_out:
        logger.warning("scrapy-mss: left out %s at %d, which has cost processes", *place)
    pieces = tuple(map(DonePiece, part.pieces, ends))
    return DonePart(name, new, pages, pages - reasons.total(), dict(reasons), pieces)


def has_failed_too_often(part: Part, folder: Path) -> bool:
    """Whether so many processes were lost that made *part* that it is given up."""
    lost = _lost(part, folder)
    left_out = sum(count >= LOST_TWICE for number, count in lost.items() if number)
    return lost.total() - left_out * LOST_TWICE >= TRIES or left_out > MOST_LEFT_OUT


def _lost(part: Part, folder: Path) -> Counter[int]:
    """The records at which processes were lost that made *part*; each has left a file."""
    found = (path.read_bytes() for path in _tracks(part, folder))
    return Counter(_Tracked.FORM.unpack(each)[0] if each else 0 for each in found)


def _tracks(part: Part, folder: Path) -> Iterator[Path]:
    return folder.glob(f"{_name(part)}.*{AT}")


def given_up(part: Part, folder: Path, detail: str) -> DonePart:
    """A part that cannot be made, as *detail* says: a row for each piece of it."""
    row = {REASON: CRASH, DETAIL: detail}
    rows = ({**row, SOURCE: piece.path, PLACE: piece.begin} for piece in part.pieces)
    name, new = _write(part, folder, rows)
    count = len(part.pieces)
    pieces = tuple(DonePiece(piece, Ends()) for piece in part.pieces)
    return DonePart(name, new, count, 0, {CRASH: count}, pieces)


def _records(
    part: Part, all_ends: list[Ends], tracked: _Tracked, report: OnProgress
) -> Iterator[Record]:
    """The records of *part*; sets the ends of its pieces, and reports the progress now and then."""
    pages = size = 0
    reported_at = monotonic()
    for piece, ends in zip(part.pieces, all_ends, strict=True):
        done = 0
        for record in format_of(piece.path).read(piece, ends, tracked.enter):
            before, done = done, max(done, min(record.done, piece.weight))
            pages += 1
            size += done - before
            if monotonic() - reported_at >= REPORT_SECONDS:
                report(pages, size)
                pages, size, reported_at = 0, 0, monotonic()
            yield replace(record, source=piece.path)
        size += piece.weight - done
    report(pages, size)


def _name(part: Part) -> str:
    return f"part-{part.number:05}.parquet"


def _write(part: Part, folder: Path, rows: Iterable[Row]) -> tuple[str, str]:
    name = _name(part)
    new = f"{name}.{token_hex(4)}{NEW}"
    schema = COLUMNS.schema()
    with (folder / new).open("xb") as file:
        write_groups(file, schema, batches_of(rows, schema))
        file.flush()
        os.fsync(file.fileno())
    return name, new


# --- groups of workers ----------------------------------------------------------------------------

WORKER_GROUP: Final = "scrapy_mss.bulk.parts"
# A group has about a tenth of the work of each of its workers.
WORKERS_OF_A_GROUP: Final = 4
MOST_TRIES: Final = TRIES + LOST_TWICE * MOST_LEFT_OUT  # of a part, wherever groups are lost


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
        for _ in range(MOST_TRIES):
            self._begin()
            pages = size = 0
            with suppress(*LOST):
                self.child.send(message(part))
                while (answer := self.child.receive(Answer)).part is None:
                    if answer.failure:
                        raise WorkerGroupError(answer.failure)
                    pages += answer.pages
                    size += answer.size
                    self._report(answer.pages, answer.size)
                return answer.part
            self._report(-pages, -size)  # it does not count if the part is made again
            self.child.end()
            if has_failed_too_often(part, self._folder):
                break
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
