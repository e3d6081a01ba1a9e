"""How often an alarm of `scrapy mss report` is false, and what alarms find.

    python -m research.studies.alarms --data FOLDER --out research/results

Made-up sites have a share of each field, a length and a confidence that differ from day to day: by
a beta distribution, as nothing but chance would be too easy. They are evaluated on each of their
days and after each of four crawls a day, and then something breaks. Others publish less at night
and at weekends, on some days much and on others little, and are evaluated after each crawl for a
quarter; then they fall silent. The sites of `sites_ctf` are crawled for four weeks with pages drawn
from those of one era, ten a day, and for three days more with others of the same era, or of the
next one, which is a real redesign. Their rule is the class or id of the container that most often
held the article in the first era.

The memory of a site watches for itself whether the layout has changed. It is given the pages of one
era and then those of the next, and the pages of each site of `sites_daniel` in several orders.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import numpy as np
from lxml import etree, html
from numpy.random import Generator, default_rng

from research import command_line
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from scrapy_mss.article import ModelState, ReadOptions, read_article
from scrapy_mss.models.files import bundled_model, write_atomically
from scrapy_mss.quality.alarms import DAY, SILENT, WINDOW, Activity, alarms, incidents, within_crawl
from scrapy_mss.quality.counts import (
    ARTICLES,
    CONFIDENCE,
    FIELDS,
    LABELLED,
    LAYOUT,
    PAGES,
    PLACE,
    RULE_FIELDS,
    WORDS,
    WRAPPED,
    Counts,
    of_answer,
    of_new,
    of_page,
    of_place,
)
from scrapy_mss.quality.store import Days
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.crawled import WATCHED, LayoutWatch
from scrapy_mss.sites.memory import SiteMemory

PROGRAM: Final = "python -m research.studies.alarms"
SITES: Final = 60
N_PUBLISHING: Final = 40  # made-up sites whose silence is evaluated
CRAWLS: Final = 4  # a day, each evaluated
EVERY: Final = (1, 6, 24)  # hours from one crawl to the next
DAYS_DIFFER: Final = 0.22  # standard deviation of how much is published, by days
LASTING: Final = 91  # days of the stable crawl, all evaluated but the first
# Of two pages of one day: by .03, a share of .8 is .73 to .87 on two days of three.
CORRELATIONS: Final = (0.0, 0.01, 0.03)
N_BROKEN: Final = 20  # sites on which the same breaks
DAYS_AFTER: Final = 7  # in which an alarm counts as one of what broke
A_DAY: Final = 10  # pages of a real site
CONTAINED: Final = 0.9  # of the words of the article, in its container …
LARGEST: Final = 1.5  # … whose own words are at most so many times those
N_ORDERS: Final = 10  # of the pages of a site that does not change …
LEAST_PAGES: Final = 20  # … and has at least so many
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Simulated:
    """A made-up site: what its pages have on the average, and how alike those of a day are."""

    pages: float
    articles: float
    fields: Mapping[str, float]
    words: float
    confidence: float
    rule: float
    correlation: float

    @classmethod
    def of(cls, chance: Generator, correlation: float) -> Simulated:
        """Some site: from one page a day to three hundred, with all of a field, most, or few."""
        shares = chance.choice((1.0, 0.99, 0.95, 0.8, 0.5, 0.1), len(FIELDS))
        return cls(
            float(np.exp(chance.uniform(0, np.log(300)))),
            float(chance.choice((1.0, 0.9, 0.5))),
            dict(zip(FIELDS, map(float, shares), strict=True)),
            float(np.exp(chance.normal(6, 0.5))),
            float(chance.uniform(0.75, 0.97)),
            float(chance.choice((0.0, 1.0, 0.9))),
            correlation,
        )

    def share(self, mean: float, chance: Generator) -> float:
        """The probability on some day of what has this *mean* probability."""
        if not self.correlation or not 0 < mean < 1:
            return mean
        size = 1 / self.correlation - 1
        return float(chance.beta(mean * size, (1 - mean) * size))

    def day(self, number: int, chance: Generator) -> Counts:
        """What a day counts; at weekends half as much is published."""
        weekend = 0.5 if number % 7 > 4 else 1.0  # noqa: PLR2004 - Saturday and Sunday
        pages = int(chance.poisson(self.pages * weekend))
        articles = self._hits(pages, self.articles, chance)
        counts: Counts = Counter({PAGES: pages, ARTICLES: articles})
        counts.update(
            {name: self._hits(articles, mean, chance) for name, mean in self.fields.items()}
        )
        if self.rule:
            labelled = self._hits(articles, self.rule, chance)
            counts.update({WRAPPED: pages, LABELLED: labelled})
            counts.update({f"field/{name}": labelled for name in RULE_FIELDS})
        spread = 2 * np.sqrt(self.correlation)
        words = self.words * np.exp(chance.normal(0, spread / 2) + chance.normal(0, 0.6, articles))
        sure = np.clip(chance.normal(self.confidence, 0.08, articles), 0, 0.999)
        counts.update(f"{WORDS.name}/{WORDS.bucket(each)}" for each in words)
        counts.update(f"{CONFIDENCE.name}/{CONFIDENCE.bucket(each)}" for each in sure)
        counts.update(f"{PLACE}{each:08x}" for each in chance.geometric(0.7, articles))
        return counts

    def _hits(self, n: int, mean: float, chance: Generator) -> int:
        return int(chance.binomial(n, self.share(mean, chance)))


def episodes(days: Days, first: int, last: int) -> int:
    """How many alarms there are from *first* to *last*; one that lasts for days is one."""
    found, before = 0, set[str]()
    for today in range(first, last + 1):
        told = {alarm.measure for alarm in alarms("", days, today)}
        found += len(told - before)
        before = told
    return found


def false_alarms(correlation: float, seed: int = 0) -> tuple[int, int]:
    """The alarms of all sites, on which nothing breaks: by days, and within crawls."""
    by_days = by_crawls = 0
    for number in range(SITES):
        chance = default_rng((seed, number))
        site = Simulated.of(chance, correlation)
        days = {day: site.day(day, chance) for day in range(LASTING)}
        by_days += episodes(days, 1, LASTING - 1)
        by_crawls += crawl_alarms(replace(site, pages=site.pages / CRAWLS), chance)
    return by_days, by_crawls


def crawl_alarms(crawled_site: Simulated, chance: Generator) -> int:
    """The alarms of a site within crawls, each of which differs from the next as days do."""
    days: Days = {}
    found = 0
    for day in range(LASTING):
        days[day] = Counter()
        told = set[str]()
        for _ in range(CRAWLS):
            crawl = crawled_site.day(day, chance)
            days[day].update(crawl)
            told |= {alarm.measure for alarm in within_crawl("", days, {day: crawl}, day)}
        found += len(told)
    return found


@dataclass(frozen=True, slots=True)
class Publishing:
    """A made-up site by when it publishes: articles on a weekday, and parts of that."""

    articles: float
    weekend: float = 0.5
    night: float = 0.3

    @classmethod
    def of(cls, chance: Generator) -> Publishing:
        """Some site, with some nights and weekends."""
        return cls(
            float(np.exp(chance.uniform(0, np.log(300)))),
            float(chance.choice((1.0, 0.5, 0.1))),
            float(chance.choice((1.0, 0.3, 0.05))),
        )

    def hours(self, n_days: int, chance: Generator) -> list[int]:
        """How many articles come in each hour of so many days."""
        nights = np.where(np.arange(DAY) < 7, self.night, 1.0)  # noqa: PLR2004 - o'clock
        clock = nights / nights.sum()
        found: list[int] = []
        for day in range(n_days):
            weekend = self.weekend if day % 7 > 4 else 1.0  # noqa: PLR2004 - Saturday and Sunday
            size = DAYS_DIFFER**-2
            mean = self.articles * weekend * chance.gamma(size, 1 / size)
            found += map(int, chance.poisson(mean * clock))
        return found


def crawls_of(hours: Sequence[int], every: int, first: int) -> Iterator[tuple[int, Days]]:
    """What is stored after each crawl: the hour, and the days of the last weeks."""
    days: Days = {}
    before = -1
    for at in range(first, len(hours), every):
        counts = days.setdefault(at // DAY, Counter())
        counts.update(of_answer(at % DAY))
        new = sum(hours[before + 1 : at + 1])
        if new:
            counts.update(dict.fromkeys((ARTICLES, *of_new(at % DAY)), new))
        days.pop(at // DAY - WINDOW, None)
        before = at
        yield at, days


def is_silent(days: Days, now: int) -> bool:
    """Whether there is an alarm of silence in the hour *now*."""
    return any(each.measure == SILENT for each in incidents("", Activity.of(days), now))


def falsely_silent(every: int, seed: int = 0) -> int:
    """Of the sites, on which nothing breaks, how many are said to be silent in a quarter."""
    found = 0
    for number in range(N_PUBLISHING):
        chance = default_rng((seed, every, number))
        hours = Publishing.of(chance).hours(LASTING, chance)
        stored = crawls_of(hours, every, int(chance.integers(every)))
        found += any(is_silent(days, at) for at, days in stored)
    return found


def silent_after(articles: float, every: int, seed: int) -> float | None:
    """How many days after a site has fallen silent there is an alarm; None if in no four weeks."""
    chance = default_rng((seed, 2))
    hours = Publishing(articles).hours(2 * WINDOW + 7, chance)
    last = WINDOW * DAY + int(chance.integers(7 * DAY))
    hours[last:] = [0] * (len(hours) - last)
    stored = crawls_of(hours, every, int(chance.integers(every)))
    told = (at for at, days in stored if at >= last and is_silent(days, at))
    first = next(told, None)
    return None if first is None else (first - last) / DAY


class Break(NamedTuple):
    """What breaks: the *share* that is left of a counter, and which alarm is to tell."""

    name: str
    counter: str
    share: float
    measure: str


BREAKS: Final = (
    Break("all titles", "title", 0.0, "title"),
    Break("half of the titles", "title", 0.5, "title"),
    Break("a quarter of the titles", "title", 0.75, "title"),
    Break("the rule", LABELLED, 0.0, "rule"),
)
RATES: Final = (3, 10, 30, 100)  # pages a day
A_WEEKDAY: Final = (1, 3, 10, 30, 100)  # articles


def told_after(broken: Break, pages: float, seed: int) -> int | None:
    """On which day an alarm tells of what is *broken*; None if on none of the first."""
    chance = default_rng((seed, 1))
    site = Simulated(pages, 0.95, dict.fromkeys(FIELDS, 0.98), 400.0, 0.9, 0.95, 0.01)
    days = {day: site.day(day, chance) for day in range(WINDOW + DAYS_AFTER)}
    for day in range(WINDOW, WINDOW + DAYS_AFTER):
        days[day][broken.counter] = int(days[day][broken.counter] * broken.share)
    for day in range(WINDOW, WINDOW + DAYS_AFTER):
        if any(alarm.measure == broken.measure for alarm in alarms("", days, day)):
            return day - WINDOW + 1
    return None


def made_up() -> str:
    """Tables: false alarms by correlation and by crawls, and what is told when something breaks."""
    lines = [
        "| two pages of one day correlate by | false alarms, 500 sites a week | within crawls |",
        "| ---: | ---: | ---: |",
    ]
    for correlation in CORRELATIONS:
        found = false_alarms(correlation)
        weekly = (each / (LASTING / 7) * 500 / SITES for each in found)
        lines.append(f"| {correlation:.2f} | {' | '.join(f'{each:.1f}' for each in weekly)} |")
    lines += ["", f"| what is lost | {' | '.join(f'{n} pages a day' for n in RATES)} |"]
    lines.append(f"| --- |{' ---: |' * len(RATES)}")
    for broken in BREAKS:
        lines.append(f"| {broken.name} | {' | '.join(_told(broken, n) for n in RATES)} |")
    return "\n".join([*lines, "", *_silence()])


def _silence() -> Iterator[str]:
    """A table: false alarms of silence, and after how many days it is told."""
    rates = " | ".join(f"{n} a day" for n in A_WEEKDAY)
    yield f"| crawled | falsely silent in a quarter | {rates} |"
    yield f"| --- |{' ---: |' * (1 + len(A_WEEKDAY))}"
    for every in EVERY:
        cells = [f"{falsely_silent(every)} of {N_PUBLISHING}"]
        for articles in A_WEEKDAY:
            found = [silent_after(float(articles), every, seed) for seed in range(N_BROKEN)]
            days = [day for day in found if day is not None]
            cells.append(f"{len(days) / len(found):.0%}, after {np.median(days or [0]):.1f} days")
        yield f"| every {every} h | {' | '.join(cells)} |"


def _told(broken: Break, pages: int) -> str:
    """How many sites are told of within a week, and on which day in the middle."""
    found = [told_after(broken, float(pages), seed) for seed in range(N_BROKEN)]
    days = [day for day in found if day is not None]
    return f"{len(days) / len(found):.0%}, day {np.median(days):.0f}" if days else "0%"


# Real sites


class Read(NamedTuple):
    """A page of a real site.

    What it counts, what the memory of its site learns, and the containers that hold its article, or
    any.
    """

    counts: Counts
    added: SiteMemory
    of_article: frozenset[str]
    all: frozenset[str]


def read(page: LabelledPage, state: ModelState) -> Read:
    """Read *page* as a crawl reads the first of a site."""
    url = page.url or f"http://{page.site}/"
    visit = SiteContext(SiteMemory(), 0, url)
    result = read_article(page.html, url, state, ReadOptions(site=visit))
    counts = of_page(result.article)
    if visit.update.place:
        counts.update(of_place(visit.update.place))
    tree = html.document_fromstring(page.html.encode("utf-8", "replace"))
    of_article = frozenset(_containers(tree, Counter(_WORD.findall(page.golds[0].lower()))))
    containers = frozenset(name for each in tree.iter("*") for name in _names(each))
    return Read(counts, visit.update.added, of_article, containers)


def _containers(tree: html.HtmlElement, article: Counter[str]) -> Iterator[str]:
    for each in tree.iter("*"):
        names = list(_names(each))
        if names:
            words = Counter(_WORD.findall(str(etree.XPath("string()")(each)).lower()))
            holds = (words & article).total() >= CONTAINED * article.total()
            if holds and words.total() <= LARGEST * article.total():
                yield from names


def _names(element: html.HtmlElement) -> Iterator[str]:
    if isinstance(element.tag, str):
        yield from (f"{element.tag}.{name}" for name in element.get("class", "").split())
        if element.get("id"):
            yield f"{element.tag}#{element.get('id')}"


def rule_of(pages: Sequence[Read]) -> str:
    """The container that holds most articles; empty if none holds half of them."""
    held = Counter(name for page in pages for name in page.of_article)
    name, count = max(held.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    return name if count * 2 >= len(pages) else ""


def crawled(old: Sequence[Read], new: Sequence[Read], chance: Random) -> Days:
    """Four weeks of pages from *old*, and three days of pages from *new*."""
    rule, days = rule_of(old), {}
    for day in range(WINDOW + 3):
        counts: Counts = Counter()
        for page in chance.choices(old if day < WINDOW else new, k=A_DAY):
            counts.update(page.counts)
            if rule:
                counts.update({WRAPPED: 1, LABELLED: int(rule in page.all)})
        days[day] = counts
    return days


Eras = Mapping[str, Sequence[Read]]


def pages_of(path: Path, state: ModelState) -> Mapping[str, Eras]:
    """The pages in the set at *path*, by site and era."""
    sites: dict[str, dict[str, list[Read]]] = defaultdict(lambda: defaultdict(list))
    for page in load(f"jsonl:{path}").pages:
        sites[page.site][page.group or ""].append(read(page, state))
    return {site: dict(sorted(eras.items())) for site, eras in sites.items()}


def real(sites: Mapping[str, Eras]) -> str:
    """A table: of how many sites an alarm tells, with a redesign and without."""
    stable, redesigned = [], []
    for number, eras in enumerate(sites.values()):
        groups = list(eras.values())
        stable += [_told_of(old, old, number) for old in groups]
        redesigned += [_told_of(old, new, number) for old, new in pairwise(groups)]
    return _real_table(stable, redesigned)


class Flagged(NamedTuple):
    """What alarms told of a site, and whether it has a rule."""

    measures: frozenset[str]
    has_rule: bool


def _told_of(old: Sequence[Read], new: Sequence[Read], seed: int) -> Flagged:
    days = crawled(old, new, Random(seed))  # noqa: S311 - pages, not keys
    measures = {
        alarm.measure for day in range(WINDOW, WINDOW + 3) for alarm in alarms("", days, day)
    }
    return Flagged(frozenset(measures), bool(rule_of(old)))


def _real_table(stable: Sequence[Flagged], redesigned: Sequence[Flagged]) -> str:
    rows: tuple[tuple[str, Callable[[Flagged], bool], Callable[[Flagged], bool]], ...] = (
        ("any alarm", lambda _: True, lambda told: bool(told.measures)),
        ("the rule", lambda told: told.has_rule, lambda told: "rule" in told.measures),
        ("the layout", lambda _: True, lambda told: LAYOUT in told.measures),
        (
            "anything but rule and layout",
            lambda _: True,
            lambda told: bool(told.measures - {LAYOUT, "rule"}),
        ),
    )
    lines = ["| alarm | the same era | the next era |", "| --- | ---: | ---: |"]
    for name, counts, is_emitted in rows:
        cells = []
        for found in (stable, redesigned):
            of = [told for told in found if counts(told)]
            cells.append(f"{sum(map(is_emitted, of))} of {len(of)}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


# The memory's own watch


def changes(pages: Sequence[SiteMemory]) -> list[int]:
    """After how many *pages* a change of the layout is noticed, each time."""
    watch, known, noticed = LayoutWatch(), SiteMemory(), []
    for number, page in enumerate(pages, 1):
        if watch.has_changed(known, page):
            noticed.append(number)
            known = SiteMemory()
        known = known.plus(page)
    return noticed


def lessons(pages: Sequence[Read]) -> list[SiteMemory]:
    """What the memory learns of *pages*, of those that have an article."""
    return [page.added for page in pages if page.added.pages]


def watched(changing: Mapping[str, Eras], stable: Mapping[str, Eras]) -> str:
    """A table: redesigns that the memory notices, and false ones of sites that have none."""
    after = [each for eras in changing.values() for each in _after_redesigns(list(eras.values()))]
    noticed = [pages for pages in after if pages is not None]
    orders = [changes(each) for eras in stable.values() for each in _orders(lessons(_all(eras)))]
    lines = ["| watched by the memory | noticed | after pages |", "| --- | ---: | ---: |"]
    lines.append(f"| a redesign | {len(noticed)} of {len(after)} | {_range(noticed)} |")
    lines.append(f"| a stable site | {sum(map(bool, orders))} of {len(orders)} | |")
    return "\n".join(lines)


def _after_redesigns(eras: Sequence[Sequence[Read]]) -> Iterator[int | None]:
    """After how many pages of an era it is noticed; None if it is not."""
    for old, new in pairwise(map(lessons, eras)):
        if len(old) >= WATCHED:
            numbers = (number - len(old) for number in changes([*old, *new]))
            yield next((number for number in numbers if number > 0), None)


def _all(eras: Eras) -> list[Read]:
    return [page for pages in eras.values() for page in pages]


def _orders(pages: Sequence[SiteMemory]) -> Iterator[Sequence[SiteMemory]]:
    """Some orders of the *pages* of a site that has many."""
    for seed in range(N_ORDERS if len(pages) >= LEAST_PAGES else 0):
        yield Random(seed).sample(pages, len(pages))  # noqa: S311 - pages, not keys


def _range(numbers: Sequence[int]) -> str:
    return f"{min(numbers)} to {max(numbers)}" if numbers else ""


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its tables."""
    state = ModelState.of(bundled_model())
    changing = pages_of(options.data / "sites_ctf.jsonl.xz", state)
    stable = pages_of(options.data / "sites_daniel.jsonl.xz", state)
    text = f"{made_up()}\n\n{real(changing)}\n"
    print(text)
    write_atomically(options.out / "alarms.md", text.encode())
    text = f"{watched(changing, stable)}\n"
    print(text)
    write_atomically(options.out / "layout_watch.md", text.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run_study(PROGRAM, "False alarms, and what alarms find.", run, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
