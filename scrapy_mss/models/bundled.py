"""The bundled model: where a crawl starts, and to which its own counts are added.

A model file written by a crawl has the counts of crawls and no classifier. It stays small, several
crawls can share it, and a later version of this package can bring a better bundled model, whose
counts are added when the file is loaded. A model with a classifier is complete.
"""

from __future__ import annotations

import os
from importlib.resources import files

from scrapy_mss.models.format import FullModelError, from_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import read_model, warn_of_restarts

FILE = "models/default.model"


def bundled_model() -> Model:
    """A copy of the bundled model."""
    return from_bytes(files("scrapy_mss").joinpath(FILE).read_bytes())


def is_complete(model: Model) -> bool:
    """Whether *model* can extract by itself: counts of the default profile need a classifier."""
    return model.classifier is not None or model.profile != DEFAULT


def bundled_part_of(learned: Model) -> Model | None:
    """What has to be added to *learned*: the bundled model, or nothing to a complete one."""
    return None if is_complete(learned) else bundled_model()


def with_bundled(learned: Model) -> Model:
    """What was *learned*, on top of the bundled model."""
    bundled = bundled_part_of(learned)
    if bundled is None:
        return learned
    try:
        bundled.merge(learned)
    except OverflowError as error:
        raise FullModelError(
            "the model's counts and those of the bundled model, which they are added to, exceed "
            "their limit. Remove the model and train again"
        ) from error
    return bundled


def load_with_bundled(path: str | os.PathLike[str]) -> Model:
    """What is in the file *path*, on top of the bundled model."""
    learned = read_model(path)
    warn_of_restarts(os.fspath(path), learned)
    try:
        return with_bundled(learned)
    except FullModelError as error:
        raise FullModelError(f"{os.fspath(path)}: {error}") from error
