"""The extractor that people import: the core's, with models in files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy_mss import extractor
from scrapy_mss.models.bundled import completed, shipped
from scrapy_mss.models.store import read_model, write_model

if TYPE_CHECKING:
    from typing_extensions import Self


class Extractor(extractor.Extractor):
    """Finds the article in a page.

    Without a model it is the paper's baseline that has learned nothing, simple MSS; `load` gives
    the model in the box.

    >>> Extractor.load().extract("<p>One line.</p>").text
    'One line.'
    """

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """An extractor with the model in the file *path*, or with the one in the box."""
        return cls(shipped() if path is None else completed(read_model(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to the file *path*, in place of what was there."""
        if self.model is None:
            raise ValueError("an extractor without a model has nothing to save")
        write_model(path, self.model)
