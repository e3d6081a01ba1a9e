"""What a crawl has learned since a checkpoint: the counts of the buckets that its pages filled.

A model's tables have room for every bucket, 9.5 MB, most of which stay empty in the five hundred
pages of a checkpoint. The counts of pages are therefore kept as they come and merged when they are
as large as what was merged before: each row is merged a few times, and takes 12 bytes from then on.
"""

from __future__ import annotations

from contextlib import suppress

from scrapy_mss.core.naive_bayes import Observation, united
from scrapy_mss.models.examples import Example
from scrapy_mss.models.learned_pages import LearnedPages
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import Profile

FEWEST_ROWS = 2**15  # that are worth adding up: 400 KB, which takes a few milliseconds


class Unsaved:
    """The pages that were learned since a checkpoint, and what they add to a model."""

    def __init__(self) -> None:
        self._summed: list[Observation] = []  # one, or none
        self._recent: list[Observation] = []
        self._n_recent_rows = 0
        self._learned_pages = LearnedPages()

    @property
    def _parts(self) -> list[Observation]:
        return [*self._summed, *self._recent]

    @property
    def pages(self) -> int:
        """How many pages were learned."""
        return sum(part.pages for part in self._parts)

    def add(self, example: Example, generation: int) -> None:
        """Take in a page that is learned in *generation*."""
        self._recent.append(example.observation)
        self._n_recent_rows += _rows(example.observation)
        self._learned_pages.add(example.key, generation)
        if self._n_recent_rows > max(FEWEST_ROWS, *map(_rows, self._summed), 0):
            with suppress(MemoryError):  # it only takes less room: the next page tries again
                self._summed, self._recent, self._n_recent_rows = [united(self._parts)], [], 0

    def follow(self, later: Unsaved) -> None:
        """Take in what was learned *later*; where this raises, nothing was taken in."""
        recent = [*self._recent, *later._parts]
        self._learned_pages.merge(later._learned_pages)
        self._recent = recent
        self._n_recent_rows = sum(map(_rows, recent))

    def add_to(self, model: Model) -> None:
        """Add all to *model*; where this raises, only a part was added."""
        for part in self._parts:
            model.bayes.add(part)
        model.learned_pages.merge(self._learned_pages)

    def as_model(self, profile: Profile) -> Model:
        """All of it as a model for *profile*."""
        model = Model(profile)
        self.add_to(model)
        return model


def _rows(observation: Observation) -> int:
    return sum(len(bucket) for bucket, _ in observation.counts.values())
