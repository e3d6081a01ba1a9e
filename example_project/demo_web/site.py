"""A site: its settings from ``sites.yaml``, and all pages that it has, at first and an hour later.

Lists of stories (sections, tags, authors, search results, galleries, videos) are made from the
stories, so that a link and the page it leads to cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from demo_web.content import ARTICLES, Author, Block, Link, Page
from demo_web.newsroom import Newsroom, slug
from demo_web.text import Writer, vocabulary

AUTHORS = 4
COUNTS = {"article": 40, "live": 2, "gallery": 4, "video": 5}
NEWEST = 16  # stories on the home page


@dataclass(frozen=True)
class Hour:
    """What an hour brings: *new* articles, some of which are *copies* of another site's story.

    Articles are named by their numbers. *look* is the folder with the templates of a redesign.
    """

    new: int = 0
    changed: tuple[int, ...] = ()
    copies: Mapping[int, str] = field(default_factory=dict)  # site/number
    look: str = ""


@dataclass(frozen=True)
class Site:
    """A made-up news site."""

    name: str
    title: str
    language: str
    topics: list[str]
    paths: dict[str, str]
    encoding: str = "utf-8"
    content_type: str = "text/html; charset=utf-8"
    counts: dict[str, int] = field(default_factory=dict)
    feed: str = ""  # its kind, one of those in `feeds`
    later: Mapping[str, Any] = field(default_factory=dict)
    is_later: bool = False

    @cached_property
    def hour(self) -> Hour:
        """What the last hour has brought."""
        return Hour(**self.later) if self.is_later else Hour()

    @property
    def host(self) -> str:
        """The host name; `.example` belongs to nobody."""
        return f"www.{self.name}.example"

    @cached_property
    def labels(self) -> Mapping[str, Any]:
        """What is printed on buttons and above boxes."""
        labels: Mapping[str, Any] = vocabulary(self.language)["labels"]
        return labels

    @cached_property
    def sections(self) -> dict[str, Link]:
        """The section of each topic."""
        return {
            topic: self._link("section", vocabulary(self.language, topic)["label"], topic)
            for topic in self.topics
        }

    @cached_property
    def hubs(self) -> dict[str, Link]:
        """Where all galleries, videos and live blogs are listed, by their kind."""
        return {
            kind: self._link("section", self.labels[kind], kind)
            for kind in ("gallery", "video", "live")
        }

    @cached_property
    def tags(self) -> dict[str, tuple[Link, ...]]:
        """The tags of each topic."""
        return {
            topic: tuple(
                self._link("tag", label, slug(label) or f"{topic}-{number}")
                for number, label in enumerate(vocabulary(self.language, topic)["tags"])
            )
            for topic in self.topics
        }

    @cached_property
    def searches(self) -> dict[str, Link]:
        """What readers search for: the label of each topic."""
        return {
            topic: self._link("search", self.sections[topic].title, topic) for topic in self.topics
        }

    @cached_property
    def authors(self) -> tuple[Author, ...]:
        """Those who write."""
        words = vocabulary(self.language, self.topics[0])
        names = Writer(words, f"{self.name}/authors").several("people", AUTHORS)
        made = []
        for number, name in enumerate(names):
            facts = {"name": name, "short": name.split()[-1]}
            bio = Writer(words, f"{self.name}/authors/{number}", **facts).write("bio")
            link = self._link("author", name, slug(name) or str(number + 1))
            made.append(Author(*link, bio))
        return tuple(made)

    @cached_property
    def about(self) -> tuple[Page, ...]:
        """The pages about the paper itself: prose, and no article."""
        return tuple(
            Page(
                kind="about",
                blocks=tuple(Block("p", line) for line in lines),
                **self._link("about", title, slug(title) or str(number))._asdict(),
            )
            for number, (title, lines) in enumerate(vocabulary(self.language)["about"].items())
        )

    @cached_property
    def content(self) -> tuple[Page, ...]:
        """Articles, live blogs, galleries and videos, the latest first."""
        counts = {**COUNTS, **self.counts}
        counts["article"] += self.hour.new
        made = [
            self.page(kind, number) for kind, count in counts.items() for number in range(count)
        ]
        return tuple(sorted(made, key=lambda page: page.published, reverse=True))

    @cached_property
    def latest(self) -> frozenset[str]:
        """The addresses of the articles that are new or have changed in the last hour."""
        first = {**COUNTS, **self.counts}["article"]
        numbers = (*range(first, first + self.hour.new), *self.hour.changed)
        return frozenset(self.page("article", number).path for number in numbers)

    def page(self, kind: str, number: int) -> Page:
        """Page *number* of its kind, as the last hour has left it."""
        newsroom = Newsroom(
            self.name, self.language, self.paths, self.sections, self.tags, self.authors
        )
        page = newsroom.page(kind, number)
        if kind != "article":
            return page
        if number in self.hour.changed:
            writer = Writer(
                vocabulary(self.language, self.topics[0]), f"{self.name}/{number}/later"
            )
            return replace(page, blocks=(*page.blocks, Block("p", writer.write("closing"))))
        if number in self.hour.copies:
            name, _, original = self.hour.copies[number].partition("/")
            story = LATER[name].page(kind, int(original))
            return replace(page, title=story.title, summary=story.summary, blocks=story.blocks)
        return page

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """All pages."""
        return (*self.content, *self.about, *self._lists())

    def _lists(self) -> Iterator[Page]:
        stories = [page for page in self.content if page.kind in ARTICLES]
        newest = tuple(stories[:NEWEST])
        yield Page(kind="home", title=self.title, path="/", listed=newest)
        for section in self.sections.values():
            yield _list("section", section, [s for s in stories if s.section == section])
        for kind, hub in self.hubs.items():
            yield _list("section", hub, [page for page in self.content if page.kind == kind])
        for tag in (tag for tags in self.tags.values() for tag in tags):
            yield _list("tag", tag, [story for story in stories if tag in story.tags])
        for author in self.authors:
            yield _list("author", author, [s for s in stories if s.author == author], author.bio)
        for topic, search in self.searches.items():
            found = [p for p in self.content if p.section == self.sections[topic]]
            yield _list("search", search, found)

    def _link(self, kind: str, title: str, key: str) -> Link:
        return Link(title, self.paths[kind].format(slug=key))


def _list(kind: str, link: Link | Author, pages: list[Page], summary: str = "") -> Page:
    return Page(kind=kind, title=link.title, path=link.path, summary=summary, listed=tuple(pages))


def _read() -> dict[str, Site]:
    settings = yaml.safe_load((Path(__file__).parent / "sites.yaml").read_text(encoding="utf-8"))
    return {name: Site(name, **values) for name, values in settings.items()}


SITES: Mapping[str, Site] = _read()
LATER: Mapping[str, Site] = {name: replace(site, is_later=True) for name, site in SITES.items()}
