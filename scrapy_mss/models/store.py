"""A model in a file: read whole, written so that a crash leaves the old file or the new one.

Several crawls may share a file. Counts add, so none has to know of the others: each keeps what
it learned since its last checkpoint apart, and a checkpoint adds that to what the file holds by
then, under a lock that the system lets go when a process dies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from secrets import token_hex
from time import time
from typing import BinaryIO

from scrapy_mss.models.format import (
    MAGIC,
    DamagedModelError,
    IncompatibleModelError,
    ModelError,
    from_bytes,
    to_bytes,
)
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import Profile
from scrapy_mss.untrusted import open_regular

LOCK_SECONDS = 60.0  # a checkpoint holds the lock for less than a second
LARGEST_FILE = 2**26  # bytes: the full tables of a profile take 48 MiB before they are packed
STALE_SECONDS = 3600.0  # nobody is still writing a file of a few megabytes after an hour


class StoreError(OSError):
    """The store cannot be used now; the message says why."""


class FileStore:
    """A model file that crawls add to."""

    def __init__(self, path: str | os.PathLike[str], profile: Profile) -> None:
        """Keep a model for *profile* in the file *path*, which need not exist yet."""
        self.path = Path(path)
        self.profile = profile

    def load(self) -> Model:
        """The model in the file; an empty one where there is no file."""
        if not self.path.exists():
            return Model(self.profile)
        model = read_model(self.path)
        if model.profile.families != self.profile.families:
            raise IncompatibleModelError(
                f"{self.path}: the model is for the profile {model.profile.name!r}, not for "
                f"{self.profile.name!r}. Name another file, or remove this one"
            )
        return model

    def add(self, learned: Model) -> Model:
        """Add what was *learned* to the file; what the file holds now."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            model = self.load()
            model.bayes.merge(learned.bayes)
            write_model(self.path, model)
            self._sweep()
        return model

    def _sweep(self) -> None:
        """Remove what writers have left that were killed."""
        for left in self.path.parent.glob(f".{escape(self.path.name)}.*-*"):
            with suppress(FileNotFoundError):
                if time() - left.stat().st_mtime > STALE_SECONDS:
                    left.unlink()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # reading a model needs none

        lock = self.path.with_name(f"{self.path.name}.lock")
        try:
            with FileLock(lock, timeout=LOCK_SECONDS):
                yield
        except Timeout as error:
            raise StoreError(
                f"{self.path}: another process has held {lock} for {LOCK_SECONDS:.0f} seconds"
            ) from error


def read_model(path: str | os.PathLike[str]) -> Model:
    """The model in the file *path*; a ``ModelError`` names the file and what is wrong with it."""
    try:
        with open_regular(path) as file:
            return from_bytes(_model_bytes(file))
    except ModelError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from error


def _model_bytes(file: BinaryIO) -> bytes:
    """The content of *file*; of what is no model the first bytes, however large it is."""
    start = file.read(len(MAGIC))
    if start != MAGIC:
        return start
    data = start + file.read(LARGEST_FILE)
    if len(data) > LARGEST_FILE:
        message = f"expected a model of at most {LARGEST_FILE:,} bytes, got a larger file"
        raise DamagedModelError(message)
    return data


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
