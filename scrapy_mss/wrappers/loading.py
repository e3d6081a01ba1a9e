"""Where wrappers are loaded from: files, folders, archives, names in Python, or the objects.

The suffix of a file's name says who reads it (`READERS`). All sources are read before any problem
is raised: one `WrapperError` has the problems of all of them.

An archive is read in memory, and nothing of it is written to disk. How much it may unpack to is
bounded by the sizes that it states, before anything is unpacked.
"""

from __future__ import annotations

import importlib
import logging
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Final, Literal, NamedTuple, TypeAlias

from scrapy_mss.wrappers.errors import WrapperError, gathered, located, rejected, shown
from scrapy_mss.wrappers.ftr import SUFFIX, ImportReport, read_site_config
from scrapy_mss.wrappers.registry import Registry
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.schema import documents, read_document

logger = logging.getLogger(__name__)

Source: TypeAlias = str | Path | Wrapper | Mapping[str, object] | Iterable[Wrapper]
Policy: TypeAlias = Literal["skip", "raise"]
Reader: TypeAlias = Callable[[bytes, str, ImportReport], list[Wrapper]]

# Bytes: some five thousand wrappers, which take ten seconds to read as YAML.
LARGEST_FILE: Final = 2**20
LARGEST_ARCHIVE: Final = 2**26  # bytes of all its files together; ftr-site-config has 1 MB

_PYTHON_NAME = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")
_SOURCES = "a path, 'module:NAME', a Wrapper, a mapping, or a list of the last two"
_UNREADABLE: Final = (
    OSError,
    EOFError,
    RuntimeError,  # an archive with a password
    NotImplementedError,  # and one with a compression that Python does not know
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
)


def load_wrappers(sources: Iterable[Source] | Source, *, third_party: Policy = "skip") -> Registry:
    """The wrappers of all *sources*, in their order; a `WrapperError` if anything is wrong.

    A source is a YAML file, a folder or an archive of such files or of site config files of
    Full-Text RSS, ``"module:NAME"`` for wrappers in Python, a `Wrapper`, a mapping shaped as in
    YAML, or a list of these two. *third_party* says what a problem in a site config file does:
    ``"skip"`` leaves out what has it, ``"raise"`` treats it as in one's own wrappers.
    """
    if isinstance(sources, (str, Path, Wrapper, Mapping)):
        sources = [sources]
    report = ImportReport()
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for number, source in enumerate(sources, 1):
            place = f"source {number}"  # in messages, unless the source has a name
            with problems.at(file=place):
                wrappers += _from_source(source, place, report)
        if third_party == "raise":
            problems.found += report.problems
    if report.files:
        logger.info("site config files: %s", report)
    return Registry(wrappers, report)


def _from_source(source: object, place: str, report: ImportReport) -> list[Wrapper]:
    match source:
        case str() if _PYTHON_NAME.fullmatch(source) and not Path(source).exists():
            with located(file=source):
                return _from_objects(_imported(source), source)
        case str() | Path():
            return _from_files(rule_files(Path(source), tuple(READERS)), report)
        case _:
            return _from_objects(source, place)


def _imported(source: str) -> object:
    module, _, name = source.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except WrapperError:  # of a Wrapper that is made there
        raise
    except Exception as error:  # whatever it is, the problems of other sources are reported too
        raise rejected("a name in a Python module", f"{type(error).__name__}: {error}") from error


def _from_objects(source: object, place: str) -> list[Wrapper]:
    if isinstance(source, (Wrapper, Mapping)):
        return _from_object(source, place)
    if not isinstance(source, (list, tuple, set, frozenset, Registry)):
        raise rejected(_SOURCES, shown(source))
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for number, item in enumerate(source):
            with problems.at(file=f"{place}[{number}]"):
                wrappers += _from_object(item, f"{place}[{number}]")
    return wrappers


def _from_object(item: object, place: str) -> list[Wrapper]:
    match item:
        case Wrapper():
            return [item]
        case Mapping():
            return read_document(item, place)
        case _:
            raise rejected("a Wrapper or a mapping", shown(item))


def _from_files(files: Iterable[RuleFile], report: ImportReport) -> list[Wrapper]:
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for file in files:
            with problems.at(file=file.place):
                if file.data is None:
                    raise rejected(f"a file of at most {LARGEST_FILE:,} bytes", "a larger one")
                read = READERS[PurePath(file.place).suffix.lower()]
                wrappers += read(file.data, file.place, report)
    return wrappers


def _read_yaml(data: bytes, place: str, _report: ImportReport) -> list[Wrapper]:
    found = documents(data)
    if not found:
        raise rejected("a mapping with 'site' and 'body'", "an empty file")
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for number, document in enumerate(found, 1):
            path = "$" if len(found) == 1 else f"document {number}: $"
            with problems.at():
                wrappers += read_document(document, place, path)
    return wrappers


def _read_site_config(data: bytes, place: str, report: ImportReport) -> list[Wrapper]:
    return read_site_config(data.decode("utf-8-sig", "replace"), place, report)


READERS: Final[Mapping[str, Reader]] = {
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
    SUFFIX: _read_site_config,
}


class RuleFile(NamedTuple):
    """A file and its bytes, or None in their place if it is too large for one of wrappers."""

    place: str
    data: bytes | None


def rule_files(path: Path, suffixes: tuple[str, ...]) -> list[RuleFile]:
    """The files at *path* with one of *suffixes*, by name; a `WrapperError` if there are none."""
    walk = next((walk for ending, walk in _ARCHIVES if path.name.lower().endswith(ending)), None)
    with located(file=str(path)):
        try:
            if path.is_dir():
                files = sorted(_in_folder(path, suffixes))
            elif walk:
                files = sorted(walk(path, suffixes))
            else:
                files = [_file(path)] if path.name.lower().endswith(suffixes) else []
                path.stat()
        except _UNREADABLE as error:
            raise rejected("a readable file, folder or archive", _reason(error)) from error
        if not files:
            raise rejected(f"files that end in {', '.join(suffixes)}", "none")
    return files


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {text}"


def _file(path: Path) -> RuleFile:
    too_large = path.stat().st_size > LARGEST_FILE
    return RuleFile(str(path), None if too_large else path.read_bytes())


def _in_folder(path: Path, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    for file in path.rglob("*"):
        if file.name.lower().endswith(suffixes) and ".git" not in file.parts and file.is_file():
            yield _file(file)


def _in_tar(path: Path, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    total = 0
    with tarfile.open(path) as archive:
        for member in archive:
            total = _bounded(total + member.size)
            if member.isfile() and member.name.lower().endswith(suffixes):
                content = archive.extractfile(member) if member.size <= LARGEST_FILE else None
                yield RuleFile(f"{path}/{member.name}", content.read() if content else None)


def _in_zip(path: Path, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    total = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            total = _bounded(total + member.file_size)
            if not member.is_dir() and member.filename.lower().endswith(suffixes):
                content = archive.read(member) if member.file_size <= LARGEST_FILE else None
                yield RuleFile(f"{path}/{member.filename}", content)


def _bounded(total: int) -> int:
    if total > LARGEST_ARCHIVE:
        raise rejected(f"an archive of at most {LARGEST_ARCHIVE:,} bytes unpacked", "more")
    return total


_Walk = Callable[[Path, tuple[str, ...]], Iterator[RuleFile]]
_ARCHIVES: Final[tuple[tuple[str | tuple[str, ...], _Walk], ...]] = (
    (".zip", _in_zip),
    ((".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2"), _in_tar),
)
