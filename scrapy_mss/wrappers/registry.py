"""Loads wrappers from files, folders or objects, and finds the one for a URL.

Files may be of third parties, so only regular ones inside their folder are read, up to a size. All
sources are read before any problem is raised: one `WrapperError` has the problems of all of them.

Of several wrappers that match a URL, the one with the highest priority is used, then the one with
the most specific host, then the most specific URL pattern, then the one that was given first. If
only that decides, the log says so, once for each pair.
"""

from __future__ import annotations

import errno
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final, TypeAlias

from scrapy_mss.files.untrusted import path_inside, read_regular
from scrapy_mss.wrappers.errors import WrapperError, gathered, located, rejected, shown
from scrapy_mss.wrappers.rules import WILDCARD, UrlParts, Wrapper
from scrapy_mss.wrappers.schema import PLACES, documents, read_document

logger = logging.getLogger(__name__)

Source: TypeAlias = str | Path | Wrapper | Mapping[str, object] | Iterable[Wrapper]

SUFFIXES: Final = (".yaml", ".yml")
# Bytes: some five thousand wrappers as YAML, which is as many as `schema` reads.
LARGEST_FILE: Final = 2**20
_ARCHIVES = (".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".zip", ".7z")
_PYTHON_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_SOURCES = "a path, a Wrapper, a mapping, or a list of the last two"


class Registry:
    """Wrappers by host."""

    def __init__(self, wrappers: Iterable[Wrapper] = ()) -> None:
        self.wrappers = tuple(wrappers)
        self._exact: dict[str, list[int]] = defaultdict(list)  # their numbers
        self._wildcard: dict[str, list[int]] = defaultdict(list)
        self._logged: set[tuple[int, int]] = set()
        for number, wrapper in enumerate(self.wrappers):
            table = self._wildcard if wrapper.site.startswith(WILDCARD) else self._exact
            table[wrapper.host].append(number)

    def __len__(self) -> int:
        return len(self.wrappers)

    def __iter__(self) -> Iterator[Wrapper]:
        return iter(self.wrappers)

    def find(self, url: str) -> Wrapper | None:
        """The wrapper for the page at *url*."""
        parts = UrlParts.of(url) if self.wrappers else None
        if parts is None:
            return None
        matches = []
        for host, number in self._candidates(parts.host):
            wrapper = self.wrappers[number]
            specificity = wrapper.specificity(parts)
            if specificity is not None:
                matches.append(((-wrapper.priority, -host, -specificity), number))
        best = nsmallest(2, matches)
        if not best:
            return None
        (rank, number), *others = best
        if others and others[0][0] == rank:
            self._log_tie(number, others[0][1])
        return self.wrappers[number]

    def _candidates(self, host: str) -> Iterator[tuple[int, int]]:
        """The specificity of the host of each wrapper for *host*, and its number."""
        for number in self._exact.get(host, ()):
            yield len(host) + 1, number
        _, _, parent = host.partition(".")
        while parent:
            for number in self._wildcard.get(parent, ()):
                yield len(parent), number
            _, _, parent = parent.partition(".")

    def _log_tie(self, used: int, other: int) -> None:
        if (used, other) not in self._logged:
            self._logged.add((used, other))
            logger.warning(
                "%s and %s match the same page; the first is used, because it is listed first. To "
                "change that, give one of them a higher 'priority', or narrow its 'url'.",
                self.wrappers[used],
                self.wrappers[other],
            )


def load_wrappers(sources: Iterable[Source] | Source) -> Registry:
    """The wrappers of all *sources*, in their order; a `WrapperError` if anything is wrong.

    A source is a YAML file, a folder of such files, a `Wrapper`, a mapping shaped as in YAML, or a
    list of these two.
    """
    if isinstance(sources, (str, Path, Wrapper, Mapping)):
        sources = [sources]
    # In messages, a source without a name of its own has its number.
    named = ((f"source {number}", each) for number, each in enumerate(sources, 1))
    return Registry(_read_all(_from_source, named))


def _read_all(
    read: Callable[[Any, str], list[Wrapper]], named: Iterable[tuple[str, object]]
) -> list[Wrapper]:
    """The wrappers in all sources; the problems of each are those of the file with its name."""
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for name, source in named:
            with problems.at(file=name):
                wrappers += read(source, name)
    return wrappers


def _from_source(source: object, place: str) -> list[Wrapper]:
    match source:
        case str() if _PYTHON_NAME.fullmatch(source) and not Path(source).exists():
            raise rejected(f"{_SOURCES}: import the name in settings.py", shown(source))
        case str() | Path():
            with located(file=str(source)):
                return _from_files(Path(source))
        case list() | tuple() | set() | frozenset() | Registry():
            named = ((f"{place}[{number}]", each) for number, each in enumerate(source))
            return _read_all(_from_object, named)
        case Wrapper() | Mapping():
            return _from_object(source, place)
    raise rejected(_SOURCES, shown(source))


def _from_object(source: object, place: str) -> list[Wrapper]:
    if isinstance(source, Wrapper):
        return [source]
    if isinstance(source, Mapping):
        return read_document(source, place)
    raise rejected("a Wrapper or a mapping", shown(source))


def _from_files(path: Path) -> list[Wrapper]:
    with _readable():
        files = _files(path)
    named = ((str(file), file) for file in files)
    return _read_all(lambda file, name: _read_yaml(_content(file, path), name), named)


def _files(path: Path) -> list[Path]:
    endings = f"end in {', '.join(SUFFIXES)}"
    if path.is_dir():
        inside = (each for each in path.rglob("*") if each.suffix.lower() in SUFFIXES)
        files = [each for each in inside if ".git" not in each.parts and not each.is_dir()]
        if not files:
            raise rejected(f"a folder of files that {endings}", "one without any")
        return sorted(files, key=str)
    path.stat()  # of what is not there the error says so
    if path.suffix.lower() not in SUFFIXES:
        is_archive = path.name.lower().endswith(_ARCHIVES)
        got = "an archive: unpack it and name the folder" if is_archive else "another file"
        raise rejected(f"a folder of files that {endings}, or one of them", got)
    return [path]


def _content(file: Path, source: Path) -> bytes:
    with _readable():
        inside = path_inside(file, source)
        if inside is None:
            raise rejected("a file of this folder", "a link out of it")
        return read_regular(inside, LARGEST_FILE)


@contextmanager
def _readable() -> Iterator[None]:
    """Raise a `WrapperError` with the reason if a path in the block cannot be read."""
    try:
        yield
    except WrapperError:  # a ValueError too
        raise
    # Links in a circle are a RuntimeError before Python 3.13, a path with a NUL is a ValueError.
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            raise rejected(f"a file of at most {LARGEST_FILE:,} bytes", "a larger one") from None
        reason = error.strerror if isinstance(error, OSError) else None
        raise rejected("a readable file or folder", (reason or str(error)).lower()) from error


def _read_yaml(data: bytes, place: str) -> list[Wrapper]:
    found = documents(data)
    if not found:
        raise rejected(f"a mapping with 'site' and {PLACES}", "an empty file")
    wrappers: list[Wrapper] = []
    with gathered() as problems:
        for number, document in enumerate(found, 1):
            path = "$" if len(found) == 1 else f"document {number}: $"
            with problems.at():
                wrappers += document.wrappers(place, path)
    return wrappers
