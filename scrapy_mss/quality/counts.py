"""The counts of a site's pages in a day: additive numbers by name.

Everything is a count, so that concurrent crawls, hours and days are merged by addition. Shares are
computed from two counts, medians from counts of buckets: of words, each bucket a sixth wider than
the previous one, and of confidences, each a twentieth. A page can name neither buckets nor fields,
and the number of containers and of failures per day, which it can name, is limited: everything is
bounded.

What happened when is counted by hour of the day (UTC): `answered/07`, `failed/07 HTTP 503`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Final, TypeAlias

import numpy as np

from scrapy_mss.files.untrusted import printable
from scrapy_mss.items import Article
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.pages.kinds import ARTICLE_KINDS, WALLS

Counts: TypeAlias = Counter[str]

PAGES, ARTICLES = "pages", "articles"
KIND, KNOWN, OPEN = "kind/", "known", "open"  # pages of a kind, of any, and of one that is no wall
WRAPPED, LABELLED = "wrapped", "labelled"
FIELD, PLACE = "field/", "place/"  # what a name begins with
FIELDS: Final = ("title", "authors", "published", "main_image")  # of an article, that are counted
# Of a rule, with what it is to find; a page may have nothing to exclude.
RULE_FIELDS: Final = {"title": "a title", "authors": "authors", "published": "a date"}
# Of each hour: responses of the site, requests that failed, and articles that are new.
ANSWERED, FAILED, NEW = "answered/", "failed/", "new/"
TRIED, LISTS = "tried", "lists"  # lists of a site that were requested, and those that it sent
# Addresses that lists announced, each with its `fates.Fate`; those requested, each loss once, and
# those that came out as articles.
ANNOUNCED, FATE, ASKED, OUT = "announced", "fate/", "asked", "out"
COVERAGE: Final = "coverage"
ALARM: Final = "alarm/"  # crawls that found a measure to be lower than before the crawl
LONGEST_REASON: Final = 100  # characters of a failure; a redirect names a host
MAX_NAMES: Final = 16  # places, and failures, stored of a site in a day; it has one to five
MAX_COUNTED: Final = 64  # while it is crawled: one that is new is to have time to be frequent

PLANE: Final = 2**16  # characters of the basic plane

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Share:
    """A share that is monitored: *counted* / *of*."""

    name: str
    title: str  # as a table has it
    counted: str
    of: str
    summary: str  # as a sentence has it

    def value(self, counts: Counts) -> float | None:
        return counts[self.counted] / counts[self.of] if counts[self.of] else None

    def shown(self, value: float) -> str:
        return f"{value:.0%}"


SHARES: Final = (
    Share(COVERAGE, "Coverage", OUT, ASKED, "announced articles that came out"),
    Share("articles", "Of pages", ARTICLES, PAGES, "pages that are articles"),
    Share("open", "Open", OPEN, KNOWN, "pages that are not consent walls, challenges or shells"),
    Share("title", "Title", "title", ARTICLES, "articles with a title"),
    Share("authors", "Author", "authors", ARTICLES, "articles with an author"),
    Share("published", "Date", "published", ARTICLES, "articles with a date"),
    Share("main_image", "Image", "main_image", ARTICLES, "articles with an image"),
    Share("rule", "Rule", LABELLED, WRAPPED, "pages that the site's rule matches"),
    *(
        Share(
            f"rule_{name}",
            f"Rule: {name}",
            f"{FIELD}{name}",
            LABELLED,
            f"pages on which the rule finds {what}",
        )
        for name, what in RULE_FIELDS.items()
    ),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """A median that is monitored, by buckets of a number: bucket n begins at ``start(n)``."""

    name: str
    title: str
    summary: str
    factor: float = 0.0  # of one start to the next; 0 where buckets have a width
    width: float = 0.0

    def value(self, counts: Counts) -> float | None:
        return self.quantile(counts, 0.5)

    def shown(self, value: float) -> str:
        return f"{value:.2f}" if self.width else f"{value:,.0f}"

    def bucket(self, number: float) -> int:
        if self.width:
            return int(number / self.width + 1e-9)
        return int(log(max(number, 1.0)) / log(self.factor) + 1e-9)

    def start(self, bucket: int) -> float:
        return bucket * self.width if self.width else self.factor**bucket

    def quantile(self, counts: Mapping[str, int], share: float) -> float | None:
        """The number that this *share* of those counted are below; None if none is counted.

        Those in a bucket are taken to be spread over it evenly.
        """
        buckets = self.buckets(counts)
        left = share * sum(buckets.values())
        for bucket, count in sorted(buckets.items()):
            if left <= count:
                start, end = self.start(bucket), self.start(bucket + 1)
                return start + (end - start) * left / count
            left -= count
        return None

    def buckets(self, counts: Mapping[str, int]) -> dict[int, int]:
        named = re.compile(rf"{self.name}/([0-9]{{1,3}})")
        return {
            int(match[1]): count
            for name, count in counts.items()
            if count > 0 and (match := named.fullmatch(name))
        }


# A sixth is less than any difference between two days that somebody would look into.
WORDS: Final = Scale("words", "Words", "median words of an article", factor=7 / 6)
CONFIDENCE: Final = Scale("confidence", "Confidence", "median confidence in a text", width=0.05)
SCALES: Final = (WORDS, CONFIDENCE)
LAYOUT: Final = "layout"  # a share that no day has by itself: it compares places with those before
_MEASURES: Final[tuple[Share | Scale, ...]] = (
    *SHARES,
    *SCALES,
    Share(LAYOUT, "Layout", "", "", "articles with the known layout"),
)
MEASURES: Final = {each.name: each for each in _MEASURES}


@cache
def _in_words() -> Bools:
    """bool[PLANE]: the characters of the basic plane that words are made of."""
    found = np.array([*map(str.isalnum, map(chr, range(PLANE)))])
    found[ord("_")] = True
    return found


def n_words(text: str) -> int:
    """How many words *text* has, as `_WORD` finds them, in a twentieth of the time."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    if characters.max(initial=0) >= PLANE:  # an emoji, or a rare letter
        return len(_WORD.findall(text))
    is_word = np.append(False, _in_words().take(characters))
    return int(np.count_nonzero(is_word[1:] > is_word[:-1]))


def of_page(article: Article | None, kind: str = "") -> Counts:
    """The counts of a page of a *kind* whose *article* was read, or which has none.

    What is read of another kind, as `MSS_EMIT` may ask for, is no article.
    """
    counts: Counts = Counter({PAGES: 1})
    if kind:
        counts.update([f"{KIND}{kind}", KNOWN, *([] if kind in WALLS else [OPEN])])
    if article is None or (kind and kind not in ARTICLE_KINDS):
        return counts
    counts[ARTICLES] = 1
    for name in FIELDS:
        if getattr(article, name):
            counts[name] = 1
    counts[f"{WORDS.name}/{WORDS.bucket(n_words(article.text or ''))}"] = 1
    if article.confidence is not None:
        counts[f"{CONFIDENCE.name}/{CONFIDENCE.bucket(article.confidence)}"] = 1
    return counts


def of_labels(hits: Mapping[str, bool] | None) -> Counts:
    """The counts of a page that a rule has labelled, with its fields that *hit*, or has not."""
    found = () if hits is None else (LABELLED, *(f"{FIELD}{n}" for n, hit in hits.items() if hit))
    return Counter([WRAPPED, *found])


def of_place(place: int) -> Counts:
    """The counts of an article in the container with the key *place*."""
    return Counter({f"{PLACE}{place & 0xFFFF_FFFF:08x}": 1})


def of_answer(hour: int) -> Counts:
    """The counts of a response in that *hour* of the day."""
    return Counter({f"{ANSWERED}{hour:02}": 1})


def of_failure(hour: int, reason: str) -> Counts:
    """The counts of a request that has failed in that *hour* of the day, for a *reason*."""
    return Counter({f"{FAILED}{hour:02} {printable(reason)[:LONGEST_REASON]}": 1})


def of_new(hour: int) -> Counts:
    """The counts of an article that no crawl has seen before."""
    return Counter({f"{NEW}{hour:02}": 1})


def bounded(counts: Counts, most: int = MAX_NAMES) -> Counts:
    """The *counts* of a day, of places only *most*, the frequent ones, of failures the latest."""
    places = [name for name in counts if name.startswith(PLACE)]
    failures = [name for name in counts if name.startswith(FAILED)]
    places.sort(key=lambda name: (-counts[name], name))
    failures.sort(reverse=True)
    dropped = {*places[most:], *failures[most:]}
    return Counter({name: count for name, count in counts.items() if name not in dropped})


def added(one: Counts, other: Counts) -> Counts:
    """The sum of both, which is bounded; what *other* takes back may have been stored before."""
    total = Counter(one)
    total.update(other)
    return bounded(total, MAX_COUNTED)
