"""The memory of one site: additive, bounded, decaying counts of its pages; no page is stored.

Below the bounds the same pages give the same memory in any order, and the memories of two crawls
are merged by addition. Counts are halved at the end of each period. All counts of a memory are
in units of its own period, and adding an older memory scales it by a power of two, without
rounding, so nothing has to be rewritten as time passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from scrapy_mss.pages.addresses import MAX_SHAPE_BYTES
from scrapy_mss.sites.addresses import AddressCounts
from scrapy_mss.sites.counts import KeyedCounts
from scrapy_mss.sites.observation import Observation

MINUTES_A_DAY = 24 * 60
# Chosen, not measured: sites change their layouts once in some years, boxes once in some weeks.
PERIOD_DAYS = 30
# All tables together are below 64 KB.
ROW_SIZE = 28  # bytes
SMALLEST_SIZE = 1000  # bytes of a memory without rows, mostly of objects
LARGEST_SHAPE = MAX_SHAPE_BYTES + 24  # bytes of a shape and its counts
MAX_TEXTS = 1500
MAX_CONTAINERS = 500


@dataclass(frozen=True, slots=True)
class SiteMemory:
    """What is known of a site.

    ``texts``: pages with the text; pages with the text once; of these, the sums of the shares of
    the article before it and after it. ``containers``: pages with the container, the sum of its
    votes; the same of labelled pages alone. ``addresses``: by shape, all pages and articles.
    ``pages`` are those with an article.
    """

    pages: float = 0.0
    labelled_pages: float = 0.0
    period: int = 0
    texts: KeyedCounts = field(default_factory=KeyedCounts.none)
    containers: KeyedCounts = field(default_factory=KeyedCounts.none)
    addresses: AddressCounts = field(default_factory=AddressCounts)

    def __bool__(self) -> bool:
        """Whether it knows anything."""
        return bool(self.pages or self.addresses)

    @property
    def size(self) -> int:
        """About how many bytes it takes, in memory and in a file."""
        rows = len(self.texts) + len(self.containers)
        return SMALLEST_SIZE + rows * ROW_SIZE + len(self.addresses) * LARGEST_SHAPE

    @classmethod
    def of(cls, seen: Observation, minute: int, *, labelled: bool = False) -> SiteMemory:
        """The memory of a single page with an article, downloaded in *minute*."""
        return cls(1.0, float(labelled), period_of(minute), seen.texts, seen.containers)

    @classmethod
    def of_address(cls, url: str, article_probability: float, minute: int) -> SiteMemory:
        """The memory of the address of a single page, which was downloaded in *minute*."""
        addresses = AddressCounts.of(url, article_probability, minute)
        return cls(period=period_of(minute), addresses=addresses)

    def plus(self, other: SiteMemory) -> SiteMemory:
        """Both memories added, within the bounds."""
        period = max(self.period, other.period)
        mine, theirs = self.at(period), other.at(period)
        return SiteMemory(
            mine.pages + theirs.pages,
            mine.labelled_pages + theirs.labelled_pages,
            period,
            mine.texts.plus(theirs.texts).bounded(MAX_TEXTS),
            mine.containers.plus(theirs.containers).bounded(MAX_CONTAINERS),
            mine.addresses.plus(theirs.addresses),
        )

    @classmethod
    def total(cls, memories: Sequence[SiteMemory]) -> SiteMemory:
        """All *memories* added at once, which is faster than one by one."""
        period = max((each.period for each in memories), default=0)
        known = [each.at(period) for each in memories]
        return cls(
            sum(each.pages for each in known),
            sum(each.labelled_pages for each in known),
            period,
            KeyedCounts.total([each.texts for each in known]).bounded(MAX_TEXTS),
            KeyedCounts.total([each.containers for each in known]).bounded(MAX_CONTAINERS),
            reduce(AddressCounts.plus, (each.addresses for each in known), AddressCounts()),
        )

    def at(self, period: int) -> SiteMemory:
        """The memory as it counts in *period*; a past one changes nothing."""
        halvings = max(period - self.period, 0)
        if not halvings:
            return self
        if not self:
            return SiteMemory(period=period)
        share = 0.5**halvings
        return SiteMemory(
            self.pages * share,
            self.labelled_pages * share,
            period,
            self.texts.scaled(halvings),
            self.containers.scaled(halvings),
            self.addresses.scaled(halvings),
        )


def period_of(minute: int) -> int:
    """The number of the period that *minute*, in minutes since 1970, is in."""
    return minute // (PERIOD_DAYS * MINUTES_A_DAY)
