"""Untrusted input: files that are opened, and text that is printed to a terminal.

A path may lead to a named pipe without a writer, or to an endless device, so only regular
files are opened. A name may contain escape sequences that control a terminal, so these are escaped.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
# Flags that not every system has: neither waits for the writer of a pipe, nor changes line ends.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# Bytes: ten times what MSS_MAX_BODY takes by default. Packed, a page of gigabytes takes kilobytes.
LARGEST_PAGE = 50_000_000
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """The regular file *path*, opened for reading; an `OSError` if it is anything else."""
    _check_regular(path, Path(path).stat())  # some devices do something when they are opened
    descriptor = os.open(path, _FLAGS)
    try:
        _check_regular(path, os.fstat(descriptor))  # it may have been replaced meanwhile
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of the regular file *path*; an `OSError` if it has more than *most* bytes."""
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"expected at most {most:,} bytes", os.fspath(path))
    return content


def _check_regular(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "something else")
        raise OSError(errno.EINVAL, f"expected a regular file, got {kind}", os.fspath(path))


def path_inside(path: Path, folder: Path) -> Path | None:
    """*path* without symbolic links; None if they lead out of *folder*."""
    resolved = path.resolve()
    return resolved if resolved.is_relative_to(folder.resolve()) else None


def printable(text: str) -> str:
    """*text* on one line, with escapes in the place of characters that are not shown."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def without_controls(text: str) -> str:
    """*text* of several lines, with escapes in the place of what would control a terminal."""
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)
