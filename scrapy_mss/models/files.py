"""A model in a file: read completely, written so that a crash leaves the old file or the new one.

A symbolic link to it is followed. Crawls keep their models in a store (`scrapy_mss.models.store`).

A model file that a crawl has written has what it learned and no classifier: it stays small, several
crawls can share it, and a later version of this package can bring a better bundled model, beside
which it is used. A model with a classifier is complete.
"""

from __future__ import annotations

import logging
import os
from importlib.resources import files
from pathlib import Path
from secrets import token_hex

from scrapy_mss.blocks.lessons import Lessons
from scrapy_mss.files.untrusted import open_regular
from scrapy_mss.models.format import ModelError, from_bytes, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, Profile

logger = logging.getLogger(__name__)

LARGEST_FILE = 2**26  # bytes: the full tables of a profile take 48 MiB before they are packed


class ModelFile:
    """A model in a file, which one process at a time adds to."""

    def __init__(self, path: str | os.PathLike[str], profile: Profile) -> None:
        """Keep a model for *profile* in the file *path*, which need not exist yet."""
        self.path = _target(path)
        self.profile = profile
        self._has_warned = False

    @property
    def name(self) -> str:
        return str(self.path)

    def load(self) -> Model:
        """The model in the file; an empty one where there is no file."""
        try:
            model = read_model(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return Model(self.profile)
        except OSError as error:
            raise ModelError(
                f"{self.path}: the model cannot be read: {error.strerror}. Give the path of a "
                "file that scrapy-mss has written, or of a new one"
            ) from None
        if model.profile.families != self.profile.families:
            raise ModelError(
                f"{self.path}: the model is for the profile {model.profile.name!r}, not for "
                f"{self.profile.name!r}. Name another file, or remove this one"
            )
        if not self._has_warned:
            self._has_warned = True
            warn_of_restarts(self.name, model)
        return model

    def add(self, learned: Model) -> None:
        """Add what was *learned* to the file; where this raises, nothing was added."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        model = self.load()
        try:
            model.merge(learned)
        except OverflowError as error:
            raise ModelError(f"{self.path}: {error}") from error
        write_model(self.path, model)


def read_model(path: str | os.PathLike[str]) -> Model:
    """The model in the file *path*; a ``ModelError`` names the file and what is wrong with it."""
    name = os.fspath(path)
    with open_regular(path) as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ModelError(
            f"{name}: expected a model of at most {LARGEST_FILE:,} bytes, got a larger file"
        )
    try:
        return from_bytes(data)
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None  # Scrapy logs a traceback of each


def warn_of_restarts(name: str, model: Model) -> None:
    """Warn of what was stored as *name* by another version of this library, and is not used."""
    if model.restarted:
        restarted = (f"{family} ({pages:,} pages)" for family, pages in model.restarted.items())
        logger.warning(
            "scrapy-mss: %s: this version computes feature families differently from the one that "
            "counted them: %s. They start from zero; the other families, and pages that are known, "
            "are kept",
            name,
            ", ".join(restarted),
        )
    if model.unusable_classifier:
        logger.warning(
            "scrapy-mss: %s: this version cannot use the model's block classifier: %s. The bundled "
            "one is used in its place",
            name,
            model.unusable_classifier,
        )


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    """Write *model* to the file *path* in place of what was there."""
    write_atomically(Path(path), to_bytes(model))


def write_atomically(path: Path, data: bytes) -> None:
    """Write *data* to a file next to *path*, sync it, and rename it to *path*.

    Where this raises, the old file is unchanged. A link is followed: its target is replaced.
    """
    path = _target(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # as where the disk is full
            error.filename = str(path)
        raise
    try:
        sync_directory(path.parent)
    except OSError as error:  # it is written, whatever fails after it
        logger.warning(
            "scrapy-mss: %s cannot be synced; a power cut may undo the last change: %s",
            path.parent,
            error,
        )


def _target(path: str | os.PathLike[str]) -> Path:
    """The file that *path* leads to.

    Where links go in circles, `Path.resolve` raises RuntimeError; this leaves the error to `open`.
    """
    return Path(os.path.realpath(path))


def sync_directory(path: Path) -> None:
    """Make a rename last through a power cut, where directories can be synced at all."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


FILE = "models/default.model"


def bundled_model() -> Model:
    """A copy of the bundled model."""
    return from_bytes(files("scrapy_mss").joinpath(FILE).read_bytes(), is_bundled=True)


def is_complete(model: Model) -> bool:
    """Whether *model* can extract by itself: counts of the default profile need a classifier."""
    return model.classifier is not None or model.profile != DEFAULT


def with_bundled(learned: Model) -> Model:
    """The bundled model with what was *learned* beside it; a complete model itself."""
    if is_complete(learned):
        return learned
    bundled, lessons = bundled_model(), learned.lessons
    if len(lessons) and lessons.reader != bundled.reader:
        logger.warning(
            "scrapy-mss: what %d labelled pages taught was relative to another release's model: it "
            "starts from zero; the counts of these pages are kept",
            round(lessons.pages),
        )
        learned.lessons = Lessons()
    bundled.learned = learned
    return bundled


def load_with_bundled(path: str | os.PathLike[str]) -> Model:
    """The bundled model with what is in the file *path* beside it."""
    learned = read_model(path)
    warn_of_restarts(os.fspath(path), learned)
    return with_bundled(learned)
