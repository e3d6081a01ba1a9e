"""One run: worker groups make what is left of the parts of an archive, listed in a manifest.

``manifest.jsonl`` has a line for the options of the run, one for each file of the archive and one
for each part: which pieces of which files are done, in which part. It is a write-ahead log: a line
is written and synced before its action is done. A listed part is then renamed, and a withdrawn one
removed. If a run was killed in between, the next one completes it, and does not make listed parts
again. A partial line at the end is ignored.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from scrapy_mss.bulk.extracting import model_in, options_of
from scrapy_mss.bulk.parts import NEW, DonePart, DonePiece, OnProgress, grouped
from scrapy_mss.bulk.worker_groups import WorkerGroups
from scrapy_mss.files.parquet import Appended, locked
from scrapy_mss.files.sources import PIECE, pieces_of
from scrapy_mss.files.stored_pages import Piece, SourceError
from scrapy_mss.models.files import sync_directory


class Summary(NamedTuple):
    """What is in a folder of parts: rows, those with an article, the others by their reasons."""

    parts: int
    pages: int
    articles: int
    reasons: Counter[str]

    @classmethod
    def of(cls, parts: Collection[DonePart]) -> Summary:
        reasons = sum((Counter(part.reasons) for part in parts), Counter[str]())
        pages, articles = (sum(part.pages for part in parts), sum(part.articles for part in parts))
        return cls(len(parts), pages, articles, reasons)


@dataclass(frozen=True, slots=True)
class Bulk:
    """Articles of *inputs*, paths and patterns, in parts of *piece* bytes of these, for *folder*.

    Pages are read with *settings*, those of a crawl by their names.
    """

    inputs: Sequence[str]
    folder: Path
    settings: Mapping[str, Any]
    piece: int = PIECE

    def run(self, groups: WorkerGroups, begin: Callable[[int, int], OnProgress]) -> Summary:
        """Have *groups* make the parts that are left, and report the progress.

        *begin* gets the number of bytes in all and of those done before, and returns what takes
        the progress from then on.
        """
        files = files_of(self.inputs, self.folder)
        pieces = [piece for path in files for piece in pieces_of(path, self.piece)]
        with closing(Manifest(self.folder, self._made())) as manifest:
            manifest.add_files({str(path): path.stat().st_size for path in files})
            left = manifest.left(pieces)
            total = _weight(pieces)
            report = begin(total, total - _weight(left))
            while left:
                parts = list(grouped(left, manifest.next_number, self.piece))
                for done in groups.made(parts, self.folder, report):
                    manifest.add(done)
                left = manifest.wrongly_begun(pieces)
            manifest.settle()
            return Summary.of(manifest.parts.values())

    def _made(self) -> dict[str, Any]:
        """What has to be the same for all parts of a folder."""
        settings = dict(self.settings)
        model = model_in(settings.pop("model", ""))
        options = options_of(settings)
        of_articles = {"fields": [*options.fields], "max_body": options.max_body}
        return {"model": model.identifier, "piece": self.piece, **of_articles}


def files_of(inputs: Iterable[str], folder: Path) -> list[Path]:
    """The files that paths and patterns name, each once, with absolute paths; none in *folder*."""
    paths = (os.path.abspath(path) for each in inputs for path in _matching(each))  # noqa: PTH100 - without ".."
    output = folder.resolve()
    files = dict.fromkeys(map(Path, paths))
    return [path for path in files if path.resolve().parent != output]


def _matching(text: str) -> Iterator[str]:
    """The files that *text* names, or that it is a pattern for."""
    if Path(text).exists() or not has_magic(text):
        yield text
        return
    found = sorted(glob(text, recursive=True))  # noqa: PTH207 - Path has none for absolute ones
    if not found:
        raise SourceError(f"{text}: no file has such a name")
    yield from found


def _weight(pieces: Iterable[Piece]) -> int:
    return sum(piece.weight for piece in pieces)


# --- the manifest ---------------------------------------------------------------------------------

MANIFEST: Final = "manifest.jsonl"
MODEL: Final = "learned.model"  # that of a store, as it was when the run began
FORMAT: Final = 1
MADE, FILE, PART, WITHDRAWN = "made", "file", "part", "withdrawn"  # what lines are of


class ManifestError(ValueError):
    """The folder cannot be added to; the message names it and says what to do."""


class Manifest:
    """The manifest in *folder*, for parts *made* with these values."""

    def __init__(self, folder: Path, made: Mapping[str, Any]) -> None:
        self.folder = folder
        self.parts: dict[str, DonePart] = {}  # those that count, by their names
        self._sizes: dict[str, int] = {}
        self.next_number = 0  # of parts
        self._withdrawn: set[str] = set()
        expected = {"format": FORMAT, **made}
        self._file = _opened(folder)
        try:
            whole = self._read(expected)
            self._file.truncate(whole)
            self._lines = Appended(self._file)
            if not whole:
                self._append({MADE: expected})
            self.settle()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file, which lets other runs have the folder."""
        self._file.close()

    def left(self, pieces: Iterable[Piece]) -> list[Piece]:
        done = {each.piece.key for part in self.parts.values() for each in part.pieces}
        return [piece for piece in pieces if piece.key not in done]

    def add_files(self, sizes: Mapping[str, int]) -> None:
        """List the files of the archive with their *sizes*, which have to be as they were."""
        for path, size in sizes.items():
            before = self._sizes.setdefault(path, -1)
            if before >= 0 and before != size:
                raise ManifestError(
                    f"{path}: had {before:,} bytes when its articles were begun, and has {size:,} "
                    f"now. Give a folder other than {self.folder} for what it is now"
                )
            if before < 0:
                self._append({FILE: path, "bytes": size})
                self._sizes[path] = size

    def add(self, part: DonePart) -> None:
        """List *part*, and give its file its final name."""
        self._append({PART: asdict(part)})
        self._list(part)
        self._name(part)

    def wrongly_begun(self, pieces: Iterable[Piece]) -> list[Piece]:
        """The first piece that was begun within a record, if any, with the right start.

        Its part is withdrawn, and its file removed. Later pieces are checked once this one was read
        again: they may fit then. All *pieces* are done, and in the order of their files.
        """
        done = {
            each.piece.key: (part, each) for part in self.parts.values() for each in part.pieces
        }
        expected: int | None = None  # where the next piece has to begin, as far as that is known
        for piece in pieces:
            part, each = done[piece.key]
            expected = expected if piece.begin else 0
            if expected is not None and each.ends.known and not _fits(each, expected):
                self._append({WITHDRAWN: part.name})
                del self.parts[part.name]
                (self.folder / part.name).unlink(missing_ok=True)
                return [replace(piece, start=expected)]
            if not each.ends.known:
                expected = None
            elif each.ends.stop is not None:
                expected = each.ends.stop
        return []

    def _list(self, part: DonePart) -> None:
        self.parts[part.name] = part
        self.next_number = max(self.next_number, part.number + 1)

    def _name(self, part: DonePart) -> None:
        new = self.folder / part.new
        if new.exists():
            new.replace(self.folder / part.name)
            sync_directory(self.folder)

    def _append(self, values: Mapping[str, Any]) -> None:
        self._lines.append(json.dumps(values).encode() + b"\n")
        os.fsync(self._file.fileno())

    def _read(self, expected: Mapping[str, Any]) -> int:
        """Read all whole lines; how many bytes they are."""
        self._file.seek(0)
        *lines, _ = self._file.read().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                self._take(json.loads(line), expected)
            except (ValueError, KeyError, TypeError) as error:
                if isinstance(error, ManifestError):
                    raise
                raise ManifestError(
                    f"{self.folder / MANIFEST}: line {number} was not written by scrapy-mss: "
                    f"{error}. Give another folder, or remove all files of this one"
                ) from error
        return sum(len(line) + 1 for line in lines)

    def _take(self, values: dict[str, Any], expected: Mapping[str, Any]) -> None:
        match values:
            case {"made": made}:
                if made != json.loads(json.dumps(expected)):
                    raise ManifestError(
                        f"{self.folder}: its articles were made with {_difference(made, expected)}."
                        " Give another folder, or the same model and settings"
                    )
            case {"file": path, "bytes": size}:
                self._sizes[path] = int(size)
            case {"part": part}:
                self._list(DonePart.of(part))
            case {"withdrawn": name}:
                del self.parts[name]
                self._withdrawn.add(name)
            case _:
                raise ValueError(f"expected one of {MADE}, {FILE}, {PART}, {WITHDRAWN}")

    def settle(self) -> None:
        """Complete what a killed run has listed, and remove the files that it has left."""
        for part in self.parts.values():
            self._name(part)
        for name in self._withdrawn:
            (self.folder / name).unlink(missing_ok=True)
        for path in self.folder.glob(f"part-*.parquet.*{NEW}"):
            path.unlink()


def _opened(folder: Path) -> IO[bytes]:
    """The manifest in *folder*, for this run alone; a folder that has other files is refused."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    if not path.exists() and any(each.name != MODEL for each in folder.iterdir()):
        raise ManifestError(
            f"{folder}: expected a new or empty folder, or one that has a {MANIFEST}, got other "
            "files. Give the name of a new one"
        )
    file = path.open("a+b", buffering=0)
    if not locked(file):
        file.close()
        raise ManifestError(f"{folder}: another run of scrapy mss bulk is running in this folder")
    return file


def _fits(done: DonePiece, expected: int) -> bool:
    """Whether the piece was begun at *expected*, where the one before it had stopped."""
    first = done.ends.first
    return first is None if expected >= done.piece.end else first == expected


def _difference(made: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    names = [name for name in {**made, **expected} if made.get(name) != expected.get(name)]
    return ", ".join(f"{name} = {made.get(name)!r}, not {expected.get(name)!r}" for name in names)
