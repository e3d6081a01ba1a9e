"""The files of wrappers at a path: the file itself, those of a folder, or those of an archive.

They are other people's, and are read in memory, with a bound on work and memory. What an archive
states about itself may be a lie, so every bound is on what is read: a compressed file is read up to
a limit, whatever size it states, and a tar file through a stream that counts what tarfile asks of
it. Nothing is written to disk.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeAlias

from scrapy_mss.files.untrusted import open_regular, path_inside
from scrapy_mss.wrappers.errors import Problem, WrapperError, located, rejected

# Bytes: some five thousand wrappers as YAML, of which `schema` reads so many.
LARGEST_FILE: Final = 2**20
LARGEST_ARCHIVE: Final = 2**26  # bytes of all its files together; ftr-site-config has 1 MB
LARGEST_ZIP: Final = 2**24  # bytes as it is: zipfile reads the list of files whole
MOST_FILES: Final = 2**16  # in an archive; ftr-site-config has two thousand
# Bytes of a header that tarfile reads whole: a path, as long as Linux takes it. Its parser takes a
# time quadratic in them; all such headers together may have so many that this stays seconds.
LONGEST_HEADER: Final = 2**12
LONGEST_HEADERS: Final = 2**20

# zipfile bounds what these unpack at a time. Of bzip2 and LZMA it unpacks everything at once.
_BOUNDED_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_OTHER_METHODS: Final = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}

UNREADABLE: Final = (
    OSError,
    EOFError,
    RuntimeError,  # an archive with a password, headers nested without end
    NotImplementedError,  # a compression that Python does not know
    ValueError,  # a name that is not in its encoding, a negative offset
    MemoryError,  # a stream of LZMA states how much memory its reader needs
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
)


class RuleFile(NamedTuple):
    """A file and its bytes; ``problem`` is why there are none."""

    place: str
    data: bytes = b""
    problem: Problem | None = None


def too_large() -> Problem:
    """What is wrong with a file of more than `LARGEST_FILE` bytes."""
    return Problem(f"a file of at most {LARGEST_FILE:,} bytes", "a larger one")


def bounded_file(place: str, file: BinaryIO | io.BufferedIOBase | None) -> RuleFile:
    """The rest of *file*, if it is not too large."""
    data = file.read(LARGEST_FILE + 1) if file else b""
    return (
        RuleFile(place, problem=too_large()) if len(data) > LARGEST_FILE else RuleFile(place, data)
    )


def _bounded(total: int) -> int:
    if total > LARGEST_ARCHIVE:
        raise rejected(f"an archive of at most {LARGEST_ARCHIVE:,} bytes unpacked", "more")
    return total


def _counted(number: int) -> int:
    if number > MOST_FILES:
        raise rejected(f"an archive of at most {MOST_FILES:,} files", "more")
    return number


def in_zip(file: BinaryIO, place: str, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    """The files of the zip archive *file* with one of *suffixes*."""
    if file.seek(0, io.SEEK_END) > LARGEST_ZIP:
        raise rejected(f"a zip archive of at most {LARGEST_ZIP:,} bytes", "a larger one")
    total = 0
    with zipfile.ZipFile(file) as archive:
        _counted(len(archive.infolist()))
        for member in archive.infolist():
            total = _bounded(total + member.file_size)
            if not member.is_dir() and member.filename.lower().endswith(suffixes):
                yield _zip_member(archive, member, f"{place}/{member.filename}")


def _zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: str) -> RuleFile:
    if member.compress_type not in _BOUNDED_METHODS:
        got = _OTHER_METHODS.get(member.compress_type, f"method {member.compress_type}")
        return RuleFile(place, problem=Problem("a file that is stored or deflated", got))
    if member.file_size > LARGEST_FILE:
        return RuleFile(place, problem=too_large())
    with archive.open(member) as content:
        return bounded_file(place, content)  # type: ignore[arg-type]


def in_tar(file: BinaryIO, place: str, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    """The files of the tar archive *file*, compressed or not, with one of *suffixes*."""
    with _unpacked(file) as unpacked:
        stream = _CountingStream(unpacked)
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            for number, member in enumerate(archive, 1):
                _counted(number)
                # Each keeps its headers, and is not asked for again; Python 3.13 has stream=True.
                archive.members = []  # type: ignore[attr-defined]
                if member.isfile() and member.name.lower().endswith(suffixes):
                    yield _tar_member(archive, member, f"{place}/{member.name}", stream)


def _tar_member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, place: str, stream: _CountingStream
) -> RuleFile:
    if member.size > LARGEST_FILE:
        return RuleFile(place, problem=too_large())
    with stream.reading_content():
        content = archive.extractfile(member)
        return bounded_file(place, content)  # type: ignore[arg-type]


_Opener: TypeAlias = Callable[[BinaryIO], BinaryIO]
_COMPRESSIONS: Final[Mapping[bytes, _Opener]] = {
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]
    b"BZh": bz2.open,  # type: ignore[dict-item]
    b"\xfd7zXZ\0": lzma.open,  # type: ignore[dict-item]
    b"\x5d\0\0": lzma.open,  # type: ignore[dict-item]
}


@contextmanager
def _unpacked(file: BinaryIO) -> Iterator[BinaryIO]:
    """*file* as the reader of its compression gives it, which its first bytes tell."""
    start = file.read(max(map(len, _COMPRESSIONS)))
    file.seek(0)
    opener = next((each for magic, each in _COMPRESSIONS.items() if start.startswith(magic)), None)
    if opener is None:
        yield file
    else:
        with opener(file) as unpacked:
            yield unpacked


class _CountingStream(io.RawIOBase):
    """What tarfile reads through: only forward, and never more than the bounds allow.

    A header may state any size, and tarfile reads it whole before anybody sees the member.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._position = 0
        self._of_headers = 0
        self._in_content = False

    @contextmanager
    def reading_content(self) -> Iterator[None]:
        """The block reads the content of a member, of a size that it has checked."""
        self._in_content = True
        try:
            yield
        finally:
            self._in_content = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        wanted = LARGEST_ARCHIVE if size is None or size < 0 else size
        if not self._in_content and wanted > tarfile.BLOCKSIZE:
            self._count_header(wanted)
        data = self._file.read(wanted)
        self._position = _bounded(self._position + len(data))
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        # Between members tarfile goes one byte back, and reads it again to see that it is there.
        if whence != io.SEEK_SET or offset < self._position - 1:
            raise tarfile.ReadError("a header that leads back")
        self._position = self._file.seek(_bounded(offset))
        return self._position

    def _count_header(self, size: int) -> None:
        self._of_headers += size
        if size > LONGEST_HEADER or self._of_headers > LONGEST_HEADERS:
            raise rejected(f"tar headers of at most {LONGEST_HEADER:,} bytes", "longer ones")


Walk: TypeAlias = Callable[[BinaryIO, str, tuple[str, ...]], Iterator[RuleFile]]
ARCHIVES: Final[tuple[tuple[str | tuple[str, ...], Walk], ...]] = (
    (".zip", in_zip),
    ((".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2"), in_tar),
)


def rule_files(path: Path, suffixes: tuple[str, ...]) -> list[RuleFile]:
    """The files at *path* with one of *suffixes*, by name; a `WrapperError` if there are none."""
    with located(file=str(path)):
        try:
            files = sorted(_found(path, suffixes), key=attrgetter("place"))
        except WrapperError:  # a ValueError too
            raise
        except UNREADABLE as error:
            raise rejected("a readable file, folder or archive", _reason(error)) from error
        if not files:
            raise rejected(f"files that end in {', '.join(suffixes)}", "none")
    return files


def _found(path: Path, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    if path.is_dir():
        yield from _in_folder(path, suffixes)
        return
    walk = next((walk for ending, walk in ARCHIVES if path.name.lower().endswith(ending)), None)
    with open_regular(path) as file:
        if walk:
            yield from walk(file, str(path), suffixes)
        elif path.name.lower().endswith(suffixes):
            yield bounded_file(str(path), file)


def _in_folder(folder: Path, suffixes: tuple[str, ...]) -> Iterator[RuleFile]:
    for path in folder.rglob("*"):
        if path.name.lower().endswith(suffixes) and ".git" not in path.parts and not path.is_dir():
            yield _in_folder_file(path, folder)


def _in_folder_file(path: Path, folder: Path) -> RuleFile:
    try:
        inside = path_inside(path, folder)
        if inside is None:
            return RuleFile(str(path), problem=Problem("a file of this folder", "a link out of it"))
        with open_regular(inside) as file:
            return bounded_file(str(path), file)
    except (OSError, RuntimeError) as error:  # before 3.13 links in a circle are a RuntimeError
        return RuleFile(str(path), problem=Problem("a readable file", _reason(error)))


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
