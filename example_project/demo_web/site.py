"""A site: its settings from ``sites.yaml``, and all pages that it has.

Lists of stories (sections, tags, authors, search results, galleries, videos) are made from the
stories, so that a link and the page it leads to cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
        newsroom = Newsroom(
            self.name, self.language, self.paths, self.sections, self.tags, self.authors
        )
        made = [
            newsroom.page(kind, number)
            for kind, count in {**COUNTS, **self.counts}.items()
            for number in range(count)
        ]
        return tuple(sorted(made, key=lambda page: page.published, reverse=True))

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
