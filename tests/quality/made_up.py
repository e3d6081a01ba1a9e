"""Days of a made-up site, page by page, for what is evaluated by days."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from scrapy_mss.quality.counts import (
    ARTICLES,
    CONFIDENCE,
    FIELDS,
    KIND,
    KNOWN,
    LABELLED,
    OPEN,
    PAGES,
    PLACE,
    RULE_FIELDS,
    WORDS,
    WRAPPED,
    Counts,
    of_answer,
    of_new,
)
from scrapy_mss.quality.store import Days

TODAY = 20_000


@dataclass(frozen=True, slots=True)
class MadeUpSite:
    """How a site is: its pages a day, and the probability of what they have."""

    pages: int = 60
    articles: float = 0.9
    fields: float = 0.9
    words: float = 500.0
    confidence: float = 0.9
    walls: float = 0.0  # the share of pages in whose place a challenge comes
    rule: float = 0.0  # the share of articles that it labels; 0 without a rule
    places: tuple[int, ...] = (1, 2)

    def day(self, chance: random.Random) -> Counts:
        """What one day counts."""
        counts: Counts = Counter({PAGES: self.pages, KNOWN: self.pages})
        for _ in range(self.pages):
            if self.walls and chance.random() < self.walls:
                counts[f"{KIND}challenge"] += 1
                continue
            counts[OPEN] += 1
            if self.rule:
                counts[WRAPPED] += 1
            if chance.random() < self.articles:
                self._article(counts, chance)
        return counts

    def _article(self, counts: Counts, chance: random.Random) -> None:
        counts[ARTICLES] += 1
        for name in FIELDS:
            counts[name] += chance.random() < self.fields
        counts[f"words/{WORDS.bucket(chance.lognormvariate(0, 0.5) * self.words)}"] += 1
        confidence = min(0.999, max(0.0, chance.gauss(self.confidence, 0.05)))
        counts[f"confidence/{CONFIDENCE.bucket(confidence)}"] += 1
        counts[f"{PLACE}{chance.choice(self.places):08x}"] += 1
        if chance.random() < self.rule:
            counts[LABELLED] += 1
            counts.update(f"field/{name}" for name in RULE_FIELDS)


def days(site: MadeUpSite, numbers: Iterable[int], seed: int = 0) -> Days:
    """What is counted of *site* on the days of these *numbers*."""
    return {number: site.day(random.Random(f"{seed} {number}")) for number in numbers}


def broken(site: MadeUpSite, since: int, seed: int = 0, **changes: object) -> Days:
    """Four weeks of *site*, which is another one in some things *since* a day."""
    other = replace(site, **changes)  # type: ignore[arg-type]
    before = days(site, range(TODAY - 27, since), seed)
    return before | days(other, range(since, TODAY + 1), seed)


def attempts(site: MadeUpSite, last_new: int) -> Days:
    """Four weeks of crawls every hour of *site*, whose last new articles come on a day."""
    made = days(site, range(TODAY - 27, last_new + 1))
    for day in range(TODAY - 27, TODAY + 1):
        counts = made.setdefault(day, Counter())
        for hour in range(24):
            counts.update(of_answer(hour))
            if day <= last_new and hour % 3 == 0:
                counts.update(of_new(hour))
    return made
