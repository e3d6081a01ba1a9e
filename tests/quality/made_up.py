"""Days of a made-up site, all alike, for what is evaluated by days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from scrapy_mss.quality.counts import (
    ARTICLES,
    CONFIDENCE,
    FIELD,
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
LENGTHS = (0.5, 0.75, 1.0, 1.5, 2.5)  # of articles, as parts of what is usual


@dataclass(frozen=True, slots=True)
class MadeUpSite:
    """How a site is: its pages a day, and the share of them that has each thing."""

    pages: int = 60
    articles: float = 0.9
    fields: float = 0.9
    words: float = 500.0
    confidence: float = 0.9
    walls: float = 0.0  # the share of pages in whose place a challenge comes
    rule: float = 0.0  # the share of articles that it labels; 0 without a rule
    places: tuple[int, ...] = (1, 2)

    def day(self) -> Counts:
        """What one day counts."""
        n_open = round(self.pages * (1 - self.walls))
        n_articles = round(n_open * self.articles)
        labelled = round(n_articles * self.rule)
        counts: Counts = Counter({PAGES: self.pages, KNOWN: self.pages, OPEN: n_open})
        counts.update({f"{KIND}challenge": self.pages - n_open, ARTICLES: n_articles})
        counts.update(dict.fromkeys(FIELDS, round(n_articles * self.fields)))
        counts.update({WRAPPED: n_open if self.rule else 0, LABELLED: labelled})
        counts.update({f"{FIELD}{name}": labelled for name in RULE_FIELDS})
        for number in range(n_articles):
            spread = LENGTHS[number % len(LENGTHS)]
            counts[f"{WORDS.name}/{WORDS.bucket(self.words * spread)}"] += 1
            counts[f"{CONFIDENCE.name}/{CONFIDENCE.bucket(self.confidence)}"] += 1
            counts[f"{PLACE}{self.places[number % len(self.places)]:08x}"] += 1
        return +counts


def days(site: MadeUpSite, numbers: Iterable[int]) -> Days:
    """What is counted of *site* on the days of these *numbers*."""
    return {number: site.day() for number in numbers}


def broken(site: MadeUpSite, since: int, **changes: object) -> Days:
    """Four weeks of *site*, which is another one in some things *since* a day."""
    other = replace(site, **changes)  # type: ignore[arg-type]
    return days(site, range(TODAY - 27, since)) | days(other, range(since, TODAY + 1))


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
