"""What all eight sites have in common: their stories, their addresses, and the pages to publish.

Strategy: a site is a subclass that sets a few class attributes and turns content into markup with
four methods; `publishing.pages` asks it for each page. Addresses are a table of patterns, so that a
link and the page it leads to cannot disagree. Everything is derived from the site's name.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from demo_web import stories
from demo_web.content import Author, Block, Gallery, Listing, Notice, Story, Tag
from demo_web.markup import escape, link
from demo_web.text import Writer, capital, labels, sections

PICTURES = 10
GALLERIES = 4
# Stories on one page of a list, by kind of list.
PAGE_SIZES = {"home": 32, "section": 16, "tag": 10, "author": 20}
LINKED, EMPHASISED = 0.3, 0.45  # below the first a paragraph has a link, below the second emphasis
STYLES = Path(__file__).parent / "styles"
SERVICES = "https://services.example"


@cache
def style(name: str) -> str:
    """The style sheet of site *name*."""
    return (STYLES / f"{name}.css").read_text(encoding="utf-8").strip()


def stamp(when: datetime) -> str:
    """*when* as markup has it."""
    return when.isoformat(timespec="minutes")


class Site(ABC):
    """A news site; subclasses say how it looks."""

    name: ClassVar[str]
    title: ClassVar[str]
    topics: ClassVar[tuple[str, ...]]
    paths: ClassVar[Mapping[str, str]]
    pager: ClassVar[str]  # what the address of a list's later pages has at its end
    language: ClassVar[str] = "en"
    encoding: ClassVar[str] = "utf-8"
    content_type: ClassVar[str] = "text/html; charset=utf-8"
    compressed: ClassVar[bool] = False  # whether the server sends gzip to those who take it
    wrapped: ClassVar[bool] = False  # whether the example project has a wrapper for it
    # How blocks of each kind look, with {text}; `update` is a post of a live blog, with {time} and
    # {stamp} as well, and `post` a paragraph of it.
    forms: ClassVar[Mapping[str, str]]
    n_stories: ClassVar[int] = 62
    n_live: ClassVar[int] = 2
    crowded: ClassVar[int | None] = None

    # --- what it looks like --------------------------------------------------------------------

    @abstractmethod
    def story_page(self, story: Story) -> str:
        """The page of an article or a live blog."""

    @abstractmethod
    def listing_page(self, listing: Listing) -> str:
        """One page of a list of stories."""

    @abstractmethod
    def gallery_page(self, gallery: Gallery) -> str:
        """The page of a gallery."""

    @abstractmethod
    def notice_page(self, notice: Notice) -> str:
        """The page of a legal text, and of an error."""

    # --- what there is -------------------------------------------------------------------------

    @property
    def host(self) -> str:
        """The host name; `.example` belongs to nobody."""
        return f"www.{self.name}.example"

    @cached_property
    def desk(self) -> stories.Desk:
        """What stories are made from."""
        authors = stories.authors(self.name, self.language, self.topics)
        return stories.Desk(self.name, self.language, self.topics, authors, self.crowded)

    @cached_property
    def stories(self) -> tuple[Story, ...]:
        """All articles, the latest first, no two with the same address."""
        made = [stories.story(self.desk, number) for number in range(self.n_stories)]
        return tuple(sorted(made, key=lambda story: story.published, reverse=True))

    @cached_property
    def live(self) -> tuple[Story, ...]:
        """The live blogs."""
        return tuple(stories.story(self.desk, number, live=True) for number in range(self.n_live))

    @cached_property
    def galleries(self) -> tuple[Gallery, ...]:
        """The galleries."""
        return tuple(stories.gallery(self.desk, number) for number in range(GALLERIES))

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """Legal and other texts of the house."""
        return stories.notices(self.desk)

    @cached_property
    def ui(self) -> Mapping[str, str]:
        """What stands on buttons and above boxes."""
        return labels(self.language)

    def topic(self, topic: str) -> str:
        """The name of a section."""
        return sections(self.language, topic)["label"].entries[0]

    def tags(self, topic: str) -> tuple[Tag, ...]:
        """The tags that stories of *topic* may have."""
        return stories.tags(self.language, topic)

    def writer(self, seed: str) -> Writer:
        """Writes boxes that belong to no story."""
        return Writer(self.language, self.topics[0], f"{self.name}/boxes/{seed}")

    def chance(self, seed: object) -> random.Random:
        """For choices of the template."""
        return random.Random(f"{self.name}/template/{seed}")

    def lists(self) -> Iterator[tuple[str, str, str, Sequence[Story]]]:
        """Kind, key, title and stories of each list."""
        every = sorted((*self.stories, *self.live), key=lambda each: each.published, reverse=True)
        yield "home", "", self.title, every
        for topic in self.topics:
            yield "section", topic, self.topic(topic), [s for s in every if s.topic == topic]
            for tag in self.tags(topic):
                yield "tag", tag.key, tag.label, [s for s in every if tag in s.tags]
        for author in self.desk.authors:
            yield "author", author.key, author.name, [s for s in every if author in s.authors]

    def listings(self) -> Iterator[Listing]:
        """Each page of each list; a list without stories has one page too."""
        for kind, key, title, found in self.lists():
            size = PAGE_SIZES[kind]
            count = max(1, -(-len(found) // size))
            for number in range(1, count + 1):
                shown = tuple(found[(number - 1) * size : number * size])
                yield Listing(kind, key, title, shown, number, count)

    # --- addresses -----------------------------------------------------------------------------

    def url(self, path: str) -> str:
        """The whole address of *path*."""
        return f"http://{self.host}{path}"

    def story_path(self, story: Story) -> str:
        """Where the story is found."""
        return self.paths["live" if story.live else "story"].format(
            slug=story.slug, number=story.number, date=story.published, topic=story.topic
        )

    def gallery_path(self, gallery: Gallery) -> str:
        """Where the gallery is found."""
        return self.paths["gallery"].format(number=gallery.number + 1)

    def list_path(self, kind: str, key: str = "", number: int = 1) -> str:
        """Where page *number* of a list is found."""
        path = self.paths[kind].format(key=key)
        return path if number == 1 else path + self.pager.format(number=number)

    def notice_path(self, notice: Notice) -> str:
        """Where the text is found."""
        return self.paths["notice"].format(key=notice.key)

    def picture_path(self, number: int) -> str:
        """Where a picture is found; there are `PICTURES` of them."""
        return f"/media/{number % PICTURES + 1}.png"

    def odd_path(self, kind: str) -> str:
        """Where one of the pages is found that no reader wants; see `publishing.ODDITIES`."""
        return f"/{kind}/{self.name}"

    # --- the text of a story ------------------------------------------------------------------

    def pieces(self, story: Story) -> list[str]:
        """The story's blocks as markup: a list in one piece, and so is a post of a live blog."""
        chance, made = self.chance(story.number), []
        for kind, group in groupby(story.blocks, key=self._grouping):
            forms = [
                self.forms[block.kind].format(text=self.inline(story, block, chance))
                for block in group
            ]
            made.extend(self._gathered(kind, forms))
        return made

    @staticmethod
    def _grouping(block: Block) -> object:
        """Blocks next to each other with the same value make one piece; None is alone."""
        return block.when or (block.kind if block.kind == "li" else None)

    def _gathered(self, kind: object, forms: list[str]) -> list[str]:
        if kind == "li":
            return [self.forms["list"].format(text="\n".join(forms))]
        if isinstance(kind, datetime):
            text = "\n".join(forms)
            return [self.forms["update"].format(text=text, time=f"{kind:%H:%M}", stamp=stamp(kind))]
        return forms

    # --- what templates need -------------------------------------------------------------------

    def menu(self) -> list[tuple[str, str]]:
        """What stands in the menus, as (text, address): more than forty entries."""
        rows = [(self.ui["home"], self.list_path("home"))]
        for topic in self.topics:
            rows.append((self.topic(topic), self.list_path("section", topic)))
            rows.extend((tag.label, self.list_path("tag", tag.key)) for tag in self.tags(topic))
        services = sections(self.language, self.topics[0])["service"].entries
        rows.extend(
            (name, f"{SERVICES}/{self.name}/{number}") for number, name in enumerate(services)
        )
        return rows

    def section_menu(self) -> list[tuple[str, str]]:
        """The short menu: the sections alone."""
        return [(self.topic(topic), self.list_path("section", topic)) for topic in self.topics]

    def legal_menu(self) -> list[tuple[str, str]]:
        """What stands at the foot."""
        return [(notice.title, self.notice_path(notice)) for notice in self.notices]

    def odd_menu(self) -> list[tuple[str, str]]:
        """Links that lead to errors, redirects and files."""
        kinds = ("moved", "missing", "gone", "private", "feed", "document")
        return [(f"{capital(kind)}", self.odd_path(kind)) for kind in kinds]

    def page_links(self, listing: Listing) -> str:
        """The links between the pages of a list."""
        kind, key, number = listing.kind, listing.key, listing.number
        links = []
        if number > 1:
            links.append(link(self.list_path(kind, key, number - 1), self.ui["previous"]))
        links.extend(
            link(self.list_path(kind, key, other), str(other))
            for other in range(1, listing.count + 1)
        )
        if number < listing.count:
            links.append(link(self.list_path(kind, key, number + 1), self.ui["next"], 'rel="next"'))
        return f'<div class="pagination">{" ".join(links)}</div>'

    def related(self, story: Story, count: int, seed: str) -> list[Story]:
        """Other stories."""
        others = [other for other in self.stories if other is not story]
        return self.chance(f"{story.number}/{seed}").sample(others, count)

    def date(self, when: datetime) -> str:
        """The day as the language writes it."""
        months = sections(self.language, self.topics[0])["calendar"].entries
        dot = "." if self.language == "de" else ""
        return f"{when.day}{dot} {months[when.month - 1]} {when.year}"

    def byline(self, authors: Sequence[Author]) -> str:
        """Names with links, joined as the language does."""
        names = (
            link(self.list_path("author", author.key), author.name, 'rel="author"')
            for author in authors
        )
        return f" {self.ui['and']} ".join(names)

    def inline(self, story: Story, block: Block, chance: random.Random) -> str:
        """A block's text as markup; now and then with a link to a tag, or emphasis."""
        text, dice = escape(block.text), chance.random()
        if dice < LINKED:
            mention = escape(chance.choice(story.mentions))
            address = self.list_path("tag", chance.choice(story.tags).key)
            whole = rf"\b{re.escape(mention)}\b"  # not the stem of an inflected form
            return re.sub(whole, f'<a href="{address}">{mention}</a>', text, count=1)
        words = text.split(" ")
        if dice < EMPHASISED and len(words) > 12:  # noqa: PLR2004 - a sentence or more
            start = chance.randrange(len(words) - 4)
            mark = chance.choice(("em", "strong", "i", "b"))
            words[start] = f"<{mark}>{words[start]}"
            words[start + 2] = f"{words[start + 2]}</{mark}>"
            return " ".join(words)
        return text
