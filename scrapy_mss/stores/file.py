"""A model in a file: read whole, written so that a crash leaves the old file or the new one."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_hex

from scrapy_mss.core.model import Model, ModelError, from_bytes, to_bytes


def read_model(path: str | os.PathLike[str]) -> Model:
    """The model in the file *path*; a ``ModelError`` names the file and what is wrong with it."""
    try:
        return from_bytes(Path(path).read_bytes())
    except ModelError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from error


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    """Write *model* to the file *path* in place of what was there."""
    write_atomically(Path(path), to_bytes(model))


def write_atomically(path: Path, data: bytes) -> None:
    """Write *data* beside *path*, see it to the disk, and rename it over."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    """Make a rename last through a power cut, where directories can be synced at all."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
