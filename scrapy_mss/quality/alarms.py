"""Detects declines in a site's quality compared with the site's own past.

The days of a site are grouped, from the latest back, until each group has enough pages, ten and
then forty: a site with two hundred articles a day is evaluated daily, one with three every four
days and every two weeks. The latest group is compared with the earlier ones. A share has declined
if it is lower than theirs

- by more than chance: p, the share of n pages, varies by 1 / sqrt(n) on the scale 2 arcsin sqrt(p),
  for any p; days vary by more than that, and the additional variance is estimated from the groups;
- and by enough to matter.

A median is monitored as a share: of values at least as large as the former lower quartile. So is
the layout: as the share of articles in containers that held a tenth of the articles before.
If a site has no articles there is no share: see `incidents`.

To measure false alarms and detections: ``python -m research.studies.alarms``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import asin, sqrt
from statistics import median
from typing import Final, NamedTuple, TypeAlias

from scrapy_mss.quality.counts import (
    ARTICLES,
    LAYOUT,
    MEASURES,
    PAGES,
    PLACE,
    SCALES,
    SHARES,
    WRAPPED,
    Counts,
    Scale,
)

# Pages in a group: ten show early what is lost wholly, forty what is lost in part. Fewer
# would tell nothing: of ten, a share of 1 must decline to .4 to be more than chance.
SIZES: Final = (10, 40)
WINDOW: Final = 28  # days that are looked at: four of each day of the week
RECENT: Final = 7  # days; what is older is no news, and was reported then
# Chance beyond four standard deviations is one in thirty thousand; five hundred sites with ten
# shares each have five thousand a day.
DEVIATIONS: Final = 4.0
# How one day differs from the next, on the scale above, before groups tell: .8 is .72 on some days.
DAY_TO_DAY: Final = 0.2
DECLINE: Final = 0.2  # of what it was; a smaller one is no reason to get up
LOWER_QUARTER: Final = 0.25
MAD_TO_DEVIATION: Final = 1.4826  # of a normal distribution
MIN_GROUPS: Final = 4  # whose differences say how days differ

USUAL_PLACE: Final = 0.1  # of the articles before: a container with fewer is of some odd pages


@dataclass(frozen=True, slots=True)
class Figure:
    """A share or a median of a site: of the latest group, and before; whether it has *declined*.

    *pages* are those of the latest group, which begins on the day *since*.
    """

    site: str
    measure: str
    before: float
    now: float
    pages: int
    since: int
    declined: bool = False

    @property
    def change(self) -> str:
        shown = MEASURES[self.measure].shown
        return f"{shown(self.before)} to {shown(self.now)}"

    def __str__(self) -> str:
        """One line for a log."""
        return f"{self.site}: {MEASURES[self.measure].summary}: {self.change} (of {self.pages:,})"


class Proportion(NamedTuple):
    """A share as two counts."""

    counted: int
    of: int

    @property
    def share(self) -> float:
        return self.counted / self.of if self.of else 0.0

    @property
    def position(self) -> float:
        """The share on the scale on which chance is the same everywhere (Anscombe 1948)."""
        return 2 * asin(sqrt((self.counted + 3 / 8) / (self.of + 3 / 4)))


class Group(NamedTuple):
    """Days that are evaluated together, with the *first* of them."""

    first: int
    counts: Counts


Groups: TypeAlias = Sequence[Group]  # the latest first, which is compared with all others


def figures(site: str, days: Mapping[int, Counts], today: int) -> dict[str, Figure]:
    """The measures of *site* that can be compared on the day *today*, given its counts by day."""
    watched = {
        day: counts
        for day, counts in days.items()
        if today - WINDOW < day <= today and (counts[PAGES] or counts[WRAPPED])
    }
    if not watched or today - max(watched) >= RECENT:
        return {}
    found: dict[str, Figure] = {}
    for size in SIZES:
        for figure in _figures(site, watched, size):
            known = found.get(figure.measure)
            if known is None or (figure.declined and not known.declined):
                found[figure.measure] = figure
    return found


def _figures(site: str, days: Mapping[int, Counts], size: int) -> Iterator[Figure]:
    by_count = {of: _groups(days, of, size) for of in {share.of for share in SHARES}}
    for share in SHARES:
        groups = by_count[share.of]
        parts = [Proportion(of.counts[share.counted], of.counts[share.of]) for of in groups]
        yield from _figure(site, share.name, groups, parts)
    groups = by_count[ARTICLES]
    if len(groups) > 1:
        before: Counts = sum((group.counts for group in groups[1:]), Counter())
        for scale in SCALES:
            yield from _median(site, scale, groups, before)
        yield from _figure(site, LAYOUT, groups, _familiar(groups, before))


def alarms(site: str, days: Mapping[int, Counts], today: int) -> list[Figure]:
    """The measures of *site* that have declined."""
    return [figure for figure in figures(site, days, today).values() if figure.declined]


def _groups(days: Mapping[int, Counts], of: str, size: int) -> Groups:
    """The days in groups with at least *size* *of* something each."""
    groups, counts = [], Counter[str]()
    for day in sorted(days, reverse=True):
        counts.update(days[day])
        if counts[of] >= size:
            groups.append(Group(day, counts))
            counts = Counter()
    return groups


def has_declined(now: Proportion, before: Sequence[Proportion]) -> bool:
    """Whether *now* is less than what was *before* by more than chance, and by enough to matter."""
    if now.share >= (1 - DECLINE) * median(each.share for each in before):
        return False
    positions = [each.position for each in before]
    usual, of_days = median(positions), DAY_TO_DAY**2
    if len(before) >= MIN_GROUPS:
        deviation = MAD_TO_DEVIATION * median(abs(each - usual) for each in positions)
        of_days = max(of_days, deviation**2 - median(1 / each.of for each in before))
    chance = 1 / now.of + 1 / sum(each.of for each in before)
    return usual - now.position > DEVIATIONS * sqrt(chance + of_days)


def _figure(
    site: str, measure: str, groups: Groups, parts: Sequence[Proportion]
) -> Iterator[Figure]:
    """The share of the latest group, given those of all *groups*, if there is a past."""
    before = [each for each in parts[1:] if each.of]
    if before and parts[0].of:
        now, usual = parts[0], median(each.share for each in before)
        declined = has_declined(now, before)
        yield Figure(site, measure, usual, now.share, now.of, groups[0].first, declined)


def _median(site: str, scale: Scale, groups: Groups, all_before: Counts) -> Iterator[Figure]:
    """A median, which has declined if fewer are as much as three quarters were."""
    least = scale.quantile(all_before, LOWER_QUARTER)
    before, now = scale.quantile(all_before, 0.5), scale.quantile(groups[0].counts, 0.5)
    if least is None or before is None or now is None:
        return
    bucket, parts = scale.bucket(least), []
    for group in groups:
        buckets = scale.buckets(group.counts)
        n_as_much = sum(n for at, n in buckets.items() if at >= bucket)
        parts.append(Proportion(n_as_much, sum(buckets.values())))
    for found in _figure(site, scale.name, groups, parts):
        declined = found.declined and now < (1 - DECLINE) * before
        yield replace(found, before=before, now=now, declined=declined)


def _familiar(groups: Groups, all_before: Counts) -> list[Proportion]:
    """How many articles of each group are in containers that usually held articles before."""
    before = _places(all_before)
    usual = {name for name, n in before.items() if n >= USUAL_PLACE * sum(before.values())}
    of_groups = [_places(group.counts) for group in groups]
    return [
        Proportion(sum(n for name, n in places.items() if name in usual), sum(places.values()))
        for places in of_groups
    ]


def _places(counts: Counts) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name.startswith(PLACE)}
