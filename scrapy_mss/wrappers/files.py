"""Files of rules, wherever they are: one on disk, a folder of them, or an archive of them.

An archive is read in memory and nothing of it is written to disk. How much it may unpack to is
bounded by the sizes that it states, before anything is unpacked.
"""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from scrapy_mss.wrappers.errors import Fault, WrapperError

LARGEST_FILE: Final = 2**20  # bytes; the largest of ftr-site-config has 8 kB
LARGEST_ARCHIVE: Final = 2**26  # bytes of all its files together; ftr-site-config has 1 MB
DAMAGED: Final = (
    OSError,
    EOFError,
    RuntimeError,  # an archive with a password
    NotImplementedError,  # and one packed in a way that Python does not know
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
)


class RuleFile(NamedTuple):
    """A file and its bytes, or None in their place if it is too large to be one of rules."""

    place: str
    data: bytes | None


def rule_files(path: Path, endings: tuple[str, ...]) -> list[RuleFile]:
    """The files at *path* whose name ends so, by name; a `WrapperError` if there are none."""
    walk = next((walk for ending, walk in _ARCHIVES if path.name.lower().endswith(ending)), None)
    try:
        if path.is_dir():
            files = sorted(_in_folder(path, endings))
        elif walk:
            files = sorted(walk(path, endings))
        else:
            files = [_file(path)] if path.name.lower().endswith(endings) else []
            path.stat()
    except DAMAGED as error:
        expected = "a file, folder or archive that can be read"
        raise WrapperError([Fault(expected, _told(error), file=str(path))]) from error
    if not files:
        expected = f"files that end in {', '.join(endings)}"
        raise WrapperError([Fault(expected, "none", file=str(path))])
    return files


def _told(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {text}"


def _file(path: Path) -> RuleFile:
    too_large = path.stat().st_size > LARGEST_FILE
    return RuleFile(str(path), None if too_large else path.read_bytes())


def _in_folder(path: Path, endings: tuple[str, ...]) -> Iterator[RuleFile]:
    for file in path.rglob("*"):
        if file.name.lower().endswith(endings) and ".git" not in file.parts and file.is_file():
            yield _file(file)


def _in_tar(path: Path, endings: tuple[str, ...]) -> Iterator[RuleFile]:
    total = 0
    with tarfile.open(path) as archive:
        for member in archive:
            total = _bounded(path, total + member.size)
            if member.isfile() and member.name.lower().endswith(endings):
                content = archive.extractfile(member) if member.size <= LARGEST_FILE else None
                yield RuleFile(f"{path}/{member.name}", content.read() if content else None)


def _in_zip(path: Path, endings: tuple[str, ...]) -> Iterator[RuleFile]:
    total = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            total = _bounded(path, total + member.file_size)
            if not member.is_dir() and member.filename.lower().endswith(endings):
                content = archive.read(member) if member.file_size <= LARGEST_FILE else None
                yield RuleFile(f"{path}/{member.filename}", content)


def _bounded(path: Path, total: int) -> int:
    if total > LARGEST_ARCHIVE:
        expected = f"an archive of at most {LARGEST_ARCHIVE:,} bytes unpacked"
        raise WrapperError([Fault(expected, "more", file=str(path))])
    return total


_Walk = Callable[[Path, tuple[str, ...]], Iterator[RuleFile]]
_ARCHIVES: Final[tuple[tuple[str | tuple[str, ...], _Walk], ...]] = (
    (".zip", _in_zip),
    ((".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2"), _in_tar),
)
