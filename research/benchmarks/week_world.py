"""What thirty made-up sites publish in a week, hour by hour: the truth about crawls of them.

Everything follows from names and numbers, so the server that sends the pages and the benchmark that
checks the crawls have the same world, each in its own process. The sites are in
``week_sites.yaml``; their markup is that of `research.webs`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, cached_property
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import yaml

from research.webs.documents import Document, Part, document
from research.webs.prose import Prose
from research.webs.rendering import Site, sites

BEGIN: Final = datetime(2026, 3, 2)  # noqa: DTZ001 - a Monday, UTC as all that is here
WEEK: Final = 7 * 24
BEFORE: Final = 48  # hours of articles that the first crawl finds
MINUTE: Final = 55  # of the hour, at which crawls begin
SHOWN: Final = 40  # articles in a list
RHYTHM: Final = (0.3,) * 6 + (1.4,) * 16 + (0.3,) * 2  # of a day

SORTS: Final = ("short news", "news", "news", "more news", "opinion", "interview", "results")
OTHERS: Final = {
    "gallery": "gallery",
    "video, a line": "video",
    "quiz": "other",
    "weather": "other",
}
SHARE_OF_OTHERS: Final = 0.08
FATES: Final = {"edited": 0.12, "deleted": 0.03, "moved": 0.03, "never there": 0.01, "": 0.81}
COPIED: Final = 0.1  # of the articles of a site that copies
LATEST_FATE: Final = 30  # hours after which nothing happens to an article any more


class Planted(NamedTuple):
    """A fault: the alarms of which one has to come within some hours; none if it does no harm."""

    alarms: tuple[str, ...] = ()
    hours: int = 0


_UNREACHABLE: Final = Planted(("unreachable",), 7)
FAULTS: Final = {
    "advertising": Planted(),
    "dates shift": Planted(),
    "tracking": Planted(),
    "huge sitemap": Planted(),
    "slow": Planted(),
    "timeouts": Planted(),
    "maintenance": Planted(),
    "oversize": Planted(),
    "forbidden, with texts in the feed": Planted(),
    "off-site": Planted(),
    "empty feeds": Planted(),
    "lead only": Planted(("words",), 24),
    "redesign": Planted(("layout", "rule"), 24),
    "consent": Planted(("open", "articles"), 24),
    "paywall": Planted(("articles", "words"), 24),
    "challenge": Planted(("open", "articles"), 24),
    "forbidden": Planted(("coverage", "silent"), 30),
    "shell": Planted(("open", "articles"), 24),
    "dead": _UNREACHABLE,
    "stuck": Planted(("silent",), 30),
    "errors": _UNREACHABLE,
    "robots.txt": _UNREACHABLE,
}
# Faults with which the page of an article has none.
WALLS: Final = ("consent", "challenge", "shell", "paywall")
LONG: Final = 150  # words: a shorter text of a feed is taken for the beginning of one
UNANSWERED: Final = ("errors", "maintenance", "timeouts", "dead", "robots.txt", "forbidden")


@dataclass(frozen=True, kw_only=True)
class Story:
    """What a site has published: an article, or a page of another kind."""

    document: Document
    hour: int
    path: str
    edited: float = inf  # hours of the week, or never
    deleted: float = inf
    moved: float = inf
    moved_to: str = ""
    copy_of: str = ""  # where the site that it copies has the text
    is_oversize: bool = False

    @property
    def is_article(self) -> bool:
        return self.document.kind == "article"

    def path_at(self, hour: int) -> str:
        return self.moved_to if hour >= self.moved else self.path

    def modified(self, hour: int) -> datetime:
        """When it was published or, if it was, edited."""
        published = self.document.published
        return published if hour < self.edited else moment(int(self.edited))

    def version(self, hour: int) -> Document:
        """The document as it is in that hour: an edit adds a paragraph to it."""
        if hour < self.edited:
            return self.document
        return replace(self.document, parts=(*self.document.parts, self.addition))

    @cached_property
    def addition(self) -> Part:
        language = self.language
        return Part("p", Prose(language, f"{self.path}/edit").paragraph())

    language: str = "en"


def moment(hour: int, minute: int = 0) -> datetime:
    return BEGIN + timedelta(hours=hour, minutes=minute)


@dataclass
class Paper:
    """A site of the world while it publishes."""

    name: str
    number: int
    template: str
    a_day: float
    lists: list[str]
    world: World
    copies: str = ""
    rule: dict[str, Any] = field(default_factory=dict)
    full: bool = False
    sections: bool = False
    faults: dict[str, Any] = field(default_factory=dict)
    url: str = ""
    is_crawled: bool = True
    stories: list[Story] = field(default_factory=list)
    by_path: dict[str, Story | None] = field(default_factory=dict)
    _next: int = -BEFORE

    @property
    def host(self) -> str:
        """An address of this machine that is its own."""
        return f"127.0.1.{self.number}"

    @property
    def site(self) -> Site:
        return templates()[self.template]

    def has(self, fault: str, hour: int) -> bool:
        """Whether *fault* is there in that hour."""
        first, end = self.hours_of(fault)
        return first <= hour < end

    def hours_of(self, fault: str) -> tuple[int, int]:
        if fault not in self.faults:
            return WEEK, WEEK
        first, _, end = str(self.faults[fault]).partition("-")
        return int(first), int(end or WEEK)

    def until(self, hour: int) -> list[Story]:
        """All that was published by the end of the *hour*, the latest last."""
        for each in range(self._next, hour + 1):
            self.stories.extend(self._published(each))
        self._next = max(self._next, hour + 1)
        return [story for story in self.stories if story.hour <= hour]

    def _published(self, hour: int) -> Iterator[Story]:
        chance = random.Random(f"{self.name}/{hour}")
        mean = self.a_day / 24 * RHYTHM[hour % 24]
        drawn = sum(chance.random() < mean / 6 for _ in range(6))
        minutes = sorted(chance.sample(range(MINUTE), drawn))
        for minute in minutes:
            yield self._story(chance, hour, minute)

    def _story(self, chance: random.Random, hour: int, minute: int) -> Story:
        is_other = chance.random() < SHARE_OF_OTHERS and not self.rule
        sort = chance.choice(tuple(OTHERS) if is_other else SORTS)
        kind = OTHERS[sort] if is_other else "article"
        made = document(self.site.prose(f"{hour}/{minute}"), kind, sort)
        made = replace(made, published=moment(hour, minute))
        original = self._original(chance, hour) if not is_other else None
        if original is not None:
            told = original.document
            made = replace(made, title=told.title, parts=told.parts, sort=told.sort)
        story = Story(
            document=made,
            hour=hour,
            path=self._free_path(made),
            language=self.site.language,
            copy_of=original.path if original else "",
            is_oversize=self.has("oversize", hour) and chance.random() < 0.1,
        )
        story = self._with_fate(chance, story)
        self.by_path[story.path] = story
        if story.moved_to:
            self.by_path[story.moved_to] = story
        return story

    def _free_path(self, made: Document) -> str:
        """Where *made* may be: addresses are headlines, numbers, or both."""
        for number in count(made.number):
            title = made.title if number == made.number else f"{number} {made.title}"
            path = self.site.path(replace(made, title=title, number=number))
            if path not in self.by_path:
                self.by_path[path] = None
                return path
        raise AssertionError

    def _original(self, chance: random.Random, hour: int) -> Story | None:
        """What another site has published within some hours, if this is to be a copy."""
        if not self.copies or chance.random() >= COPIED:
            return None
        others = self.world.papers[self.copies].until(hour)
        recent = [each for each in others if each.is_article and hour - 6 <= each.hour < hour]
        return chance.choice(recent) if recent else None

    def _with_fate(self, chance: random.Random, story: Story) -> Story:
        """The *story* with what happens to it later; one thing at most."""
        later = story.hour + chance.randint(2, LATEST_FATE)
        (fate,) = chance.choices(list(FATES), list(FATES.values()))
        if not story.is_article or story.copy_of:
            return story
        if fate == "edited":
            return replace(story, edited=later)
        if fate == "deleted":
            return replace(story, deleted=later)
        if fate == "never there":
            return replace(story, deleted=story.hour)
        if fate == "moved":
            return replace(story, moved=later, moved_to=self._free_path(story.document))
        return story

    # --- what its lists say ------------------------------------------------------------------

    def listed(self, hour: int) -> list[Story]:
        """What its lists name, the latest first."""
        hour = self.of_lists(hour)
        there = [
            story
            for story in self.until(hour)
            if hour < story.deleted or story.deleted == story.hour >= hour - 2
        ]
        return there[: -SHOWN - 1 : -1]

    def of_lists(self, hour: int) -> int:
        """The hour whose state its lists have."""
        return self.hours_of("stuck")[0] if self.has("stuck", hour) else hour

    def address(self, story: Story, hour: int) -> str:
        """Where *story* is in that hour."""
        return self.url + story.path_at(hour)[1:]

    @property
    def reads_edits(self) -> bool:
        """Whether its lists say that an article was edited."""
        return bool({"atom", "sitemap"} & set(self.lists))

    def gives(self, story: Story, hour: int) -> bool:
        """Whether a crawl of that hour can have the text of *story*, an article."""
        lacks = any(self.has(fault, hour) for fault in (*WALLS, *UNANSWERED))
        if self.has("forbidden, with texts in the feed", hour):
            n_words = sum(len(part.text.split()) for part in story.version(hour).parts)
            lacks |= n_words < LONG
        return not lacks and hour < story.deleted and not story.is_oversize


class World:
    """All sites, by name."""

    def __init__(self) -> None:
        rows = yaml.safe_load(Path(__file__).with_name("week_sites.yaml").read_text("utf-8"))
        self.papers = {
            name: Paper(name=name, number=number, world=self, **row)
            for number, (name, row) in enumerate(rows.items(), 1)
        }

    def at(self, ports: dict[str, int]) -> World:
        """This world, once its sites are served."""
        for name, paper in self.papers.items():
            paper.url = f"http://{paper.host}:{ports[name]}/"
        return self

    def find(self, url: str) -> tuple[Paper, Story | None]:
        """The site at *url*, and what it has published there."""
        parts = urlsplit(url)
        paper = next(each for each in self.papers.values() if each.host == parts.hostname)
        return paper, paper.by_path.get(parts.path)


@cache
def templates() -> dict[str, Site]:
    return {f"{site.name}/{site.language}": site for site in sites()}
