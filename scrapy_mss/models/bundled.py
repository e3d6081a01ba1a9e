"""The model in the box: what a crawl starts from, and what its own counts are added to.

A model file that a crawl writes has the counts that were learned in crawls and no judge: it stays
small, several crawls can share it, and a later version of this package brings its better start.
What is in the box is added when such a file is read. A model with a judge is complete as it is.
"""

from __future__ import annotations

from importlib.resources import files

from scrapy_mss.models.format import Model, from_bytes
from scrapy_mss.models.profiles import DEFAULT

FILE = "models/default.model"


def shipped() -> Model:
    """A copy of the model in the box."""
    return from_bytes(files("scrapy_mss").joinpath(FILE).read_bytes())


def box_of(learned: Model) -> Model | None:
    """What has to be added to *learned*: the model in the box, or nothing to a complete one."""
    return None if learned.judge is not None or learned.profile != DEFAULT else shipped()


def completed(learned: Model) -> Model:
    """What was *learned*, with what is in the box."""
    box = box_of(learned)
    if box is None:
        return learned
    box.bayes.merge(learned.bayes)
    return box
