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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import asin, sqrt
from statistics import median
from typing import Final, NamedTuple

from scrapy_mss.quality.counts import (
    ARTICLES,
    PAGES,
    PLACE,
    SCALES,
    SHARES,
    WRAPPED,
    Counts,
    Scale,
)

# Pages in a group: ten tell of what is lost wholly, and soon; forty of what is lost in part. Fewer
# would tell nothing: of ten, a share of 1 must decline to .4 to be more than chance.
SIZES: Final = (10, 40)
WINDOW: Final = 28  # days that are looked at: four of each day of the week
RECENT: Final = 7  # days; what is older is no news, and was told when it was
# Chance beyond four standard deviations is one in thirty thousand; five hundred sites with ten
# shares each have five thousand a day.
DEVIATIONS: Final = 4.0
# How one day differs from the next, on the scale above, before groups tell: .8 is .72 on some days.
DAY_TO_DAY: Final = 0.2
DECLINE: Final = 0.2  # of what it was; a smaller one is no reason to get up
LOWER_QUARTER: Final = 0.25
MAD_TO_DEVIATION: Final = 1.4826  # of a normal distribution
FEWEST_GROUPS: Final = 4  # whose differences say how days differ

USUAL_PLACE: Final = 0.1  # of the articles before: a container with fewer is of some odd pages

LAYOUT: Final = "layout"
SUMMARIES: Final = {
    **{share.name: share.summary for share in SHARES},
    **{scale.name: f"median {scale.summary}" for scale in SCALES},
    LAYOUT: "articles laid out as before",
}


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
        """From what to what."""
        return f"{shown(self.measure, self.before)} to {shown(self.measure, self.now)}"

    def until(self, day: int) -> Figure:
        """The same, where the latest group begins on that *day* at the latest."""
        return replace(self, since=min(self.since, day))

    def __str__(self) -> str:
        """One line for a log."""
        return f"{self.site}: {SUMMARIES[self.measure]}: {self.change} (of {self.pages:,})"


def shown(measure: str, value: float) -> str:
    """The *value* of a measure for people."""
    if measure == "words":
        return f"{value:,.0f}"
    return f"{value:.2f}" if measure == "confidence" else f"{value:.0%}"


class Part(NamedTuple):
    """How many of how many."""

    counted: int
    of: int

    @property
    def share(self) -> float:
        return self.counted / self.of if self.of else 0.0

    @property
    def position(self) -> float:
        """The share on the scale on which chance is the same everywhere (Anscombe 1948)."""
        return 2 * asin(sqrt((self.counted + 3 / 8) / (self.of + 3 / 4)))


@dataclass(frozen=True, slots=True)
class Group:
    """Days that are evaluated together, with the *first* of them."""

    first: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class Comparison:
    """The latest group beside those before it."""

    now: Group
    before: Sequence[Group]
    all_before: Counts  # what was counted before


Parts = Callable[[Group], Part]


def figures(site: str, days: Mapping[int, Counts], today: int) -> list[Figure]:
    """What of *site* can be compared by *today*, given what was counted on each of its *days*."""
    watched = {
        day: counts
        for day, counts in days.items()
        if today - WINDOW < day <= today and (counts[PAGES] or counts[WRAPPED])
    }
    if not watched or today - max(watched) >= RECENT:
        return []
    found: dict[str, Figure] = {}
    for size in SIZES:
        for figure in _figures(site, watched, size):
            known = found.get(figure.measure)
            if known is None or (figure.declined and not known.declined):
                found[figure.measure] = figure
    return list(found.values())


def _figures(site: str, days: Mapping[int, Counts], size: int) -> list[Figure]:
    """What can be compared by groups of that *size*."""
    of_all = {of: comparison(days, of, size) for of in {share.of for share in SHARES}}
    found: list[Figure | None] = []
    for share in SHARES:
        compared = of_all[share.of]
        if compared is not None:
            found.append(_figure(site, share.name, compared, _counted(share.counted, share.of)))
    compared = of_all[ARTICLES]
    if compared is not None:
        found += [_median(site, scale, compared) for scale in SCALES]
        found.append(_figure(site, LAYOUT, compared, _familiar(compared)))
    return [figure for figure in found if figure is not None]


def alarms(site: str, days: Mapping[int, Counts], today: int) -> list[Figure]:
    """What of *site* has declined."""
    return [figure for figure in figures(site, days, today) if figure.declined]


def comparison(days: Mapping[int, Counts], of: str, size: int) -> Comparison | None:
    """The latest days with enough *of* something, beside those before; None if there is no past."""
    groups = _groups(days, of, size)
    if len(groups) <= 1:
        return None
    total = Counter[str]()
    for group in groups[1:]:
        total.update(group.counts)
    return Comparison(groups[0], groups[1:], total)


def _groups(days: Mapping[int, Counts], of: str, size: int) -> list[Group]:
    """The days in groups with at least *size* *of* something each, the latest first."""
    groups, counts = [], Counter[str]()
    for day in sorted(days, reverse=True):
        counts.update(days[day])
        if counts[of] >= size:
            groups.append(Group(day, counts))
            counts = Counter()
    return groups


def has_declined(now: Part, before: Sequence[Part]) -> bool:
    """Whether *now* is less than what was *before* by more than chance, and by enough to matter."""
    if now.share >= (1 - DECLINE) * median(each.share for each in before):
        return False
    positions = [each.position for each in before]
    usual, of_days = median(positions), DAY_TO_DAY**2
    if len(before) >= FEWEST_GROUPS:
        deviation = MAD_TO_DEVIATION * median(abs(each - usual) for each in positions)
        of_days = max(of_days, deviation**2 - median(1 / each.of for each in before))
    chance = 1 / now.of + 1 / sum(each.of for each in before)
    return usual - now.position > DEVIATIONS * sqrt(chance + of_days)


def _figure(site: str, measure: str, compared: Comparison, part: Parts) -> Figure | None:
    now = part(compared.now)
    before = [each for each in map(part, compared.before) if each.of]
    if not now.of or not before:
        return None
    usual = median(each.share for each in before)
    declined = has_declined(now, before)
    return Figure(site, measure, usual, now.share, now.of, compared.now.first, declined)


def _counted(counted: str, of: str) -> Parts:
    return lambda group: Part(group.counts[counted], group.counts[of])


def _median(site: str, scale: Scale, compared: Comparison) -> Figure | None:
    """A median, which has declined if fewer are as much as three quarters were."""
    all_before = compared.all_before
    least = scale.quantile(all_before, LOWER_QUARTER)
    before, now = scale.quantile(all_before, 0.5), scale.quantile(compared.now.counts, 0.5)
    if least is None or before is None or now is None:
        return None
    bucket = scale.bucket(least)

    def part(group: Group) -> Part:
        buckets = scale.buckets(group.counts)
        return Part(sum(n for at, n in buckets.items() if at >= bucket), sum(buckets.values()))

    found = _figure(site, scale.name, compared, part)
    if found is None:
        return None
    declined = found.declined and now < (1 - DECLINE) * before
    return Figure(site, scale.name, before, now, found.pages, found.since, declined)


def _familiar(compared: Comparison) -> Parts:
    """How many articles of a group are in containers that usually held articles before."""
    before = _places(compared.all_before)
    least = USUAL_PLACE * sum(before.values())
    usual = {name for name, count in before.items() if count >= least}

    def part(group: Group) -> Part:
        places = _places(group.counts)
        known = sum(count for name, count in places.items() if name in usual)
        return Part(known, sum(places.values()))

    return part


def _places(counts: Counts) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name.startswith(PLACE)}
