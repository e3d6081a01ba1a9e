"""The bundled model: what a crawl starts from, and what its own counts are added to.

A model file that a crawl writes has the counts of crawls and no classifier: it stays small, several
crawls can share it, and a later version of this package brings its better start. The bundled counts
are added when such a file is read. A model with a classifier is complete.
"""

from __future__ import annotations

from importlib.resources import files

from scrapy_mss.models.format import from_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT

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
    bundled.bayes.merge(learned.bayes)
    return bundled
