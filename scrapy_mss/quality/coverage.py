"""How much of what a site announced came out as articles, and what became of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scrapy_mss.quality.counts import FATE, Counts
from scrapy_mss.quality.fates import ARTICLE, FATES, Fate
from scrapy_mss.quality.losses import Losses


@dataclass(frozen=True, slots=True)
class Coverage:
    """The fates of a site's addresses, and examples of those that are lost."""

    fates: Mapping[Fate, int]
    losses: Losses = field(default_factory=Losses)

    @classmethod
    def of(cls, counts: Counts, losses: Losses) -> Coverage:
        counted = ((fate, counts[f"{FATE}{fate.name}"]) for fate in FATES)
        return cls({fate: number for fate, number in counted if number > 0}, losses)

    @property
    def announced(self) -> int:
        return sum(self.fates.values())

    @property
    def due(self) -> int:
        """Those that a crawl was to bring."""
        return self.articles + sum(number for _, number in self.lost)

    @property
    def requested(self) -> int:
        return sum(number for fate, number in self.fates.items() if fate.is_final)

    @property
    def articles(self) -> int:
        return sum(number for fate, number in self.fates.items() if fate.group == ARTICLE)

    @property
    def lost(self) -> Sequence[tuple[Fate, int]]:
        """The causes of loss, the most frequent first."""
        lost = [(fate, number) for fate, number in self.fates.items() if fate.lost]
        return sorted(lost, key=lambda each: -each[1])

    def examples(self, fate: Fate) -> list[str]:
        """The latest addresses with this *fate*, the latest first."""
        return [*reversed(self.losses.examples.get(fate.name, {}))]

    def as_json(self) -> dict[str, Any]:
        return {
            "announced": self.announced,
            "due": self.due,
            "requested": self.requested,
            "articles": self.articles,
            "fates": {fate.name: number for fate, number in self.fates.items()},
            "losses": [
                {"fate": fate.name, "count": number, "examples": self.examples(fate)}
                for fate, number in self.lost
            ],
        }
