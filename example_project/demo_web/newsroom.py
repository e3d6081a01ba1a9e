"""Writes the pages of a site that are not lists: articles, live blogs, galleries, videos, about.

Each is made from a seed of its own, so that a site may grow without its other pages changing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from demo_web.content import ARTICLES, START, Author, Block, Comment, Link, Page
from demo_web.text import Writer, vocabulary

# Kinds of sentences by how often news has them.
MIXTURE = ("sentence", "sentence", "sentence", "sentence", "detail", "quote", "quote")
# How many paragraphs a story has; most are of the last kind.
BRIEF, LONG, USUAL = (1, 2), (24, 32), (6, 18)
LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "’": ""})


def slug(text: str) -> str:
    """*text* as it may appear in an address; empty for other alphabets than the Latin one."""
    folded = unicodedata.normalize("NFKD", text.lower().translate(LETTERS))
    plain = folded.encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", plain)[:8])


@dataclass(frozen=True)
class Newsroom:
    """What the pages of a site have in common."""

    site: str
    language: str
    paths: dict[str, str]
    sections: dict[str, Link]
    tags: dict[str, tuple[Link, ...]]
    authors: tuple[Author, ...]

    def page(self, kind: str, number: int) -> Page:
        """Page *number* of its kind."""
        topic = list(self.sections)[number % len(self.sections)]
        writer = Writer(vocabulary(self.language, topic), f"{self.site}/{kind}/{number}")
        title = writer.write(f"{kind}_title" if kind in ("gallery", "video") else "headline")
        published = START + timedelta(days=number * 2, minutes=writer.random.randint(360, 1200))
        address = {"slug": slug(title), "number": number + 1, "date": published}
        comments = writer.random.choice((0, 2, 4, 9)) if kind in ARTICLES else 0
        return Page(
            kind=kind,
            title=title,
            path=self.paths[kind].format(**address),
            summary=writer.write("description" if kind == "video" else "summary"),
            blocks=tuple(blocks(writer, kind, number)),
            captions=writer.several("caption", 9 if kind == "gallery" else 2),
            comments=tuple(
                Comment(writer.draw("user"), writer.write("comment")) for _ in range(comments)
            ),
            section=self.sections[topic],
            author=writer.random.choice(self.authors),
            tags=tuple(writer.random.sample(self.tags[topic], 2)),
            published=published,
        )


def blocks(writer: Writer, kind: str, number: int) -> Iterator[Block]:
    """The main text; a gallery and a video have none."""
    if kind == "article":
        yield from article(writer, number)
    elif kind == "live":
        yield from posts(writer)


def article(writer: Writer, number: int) -> Iterator[Block]:
    """A lead, an introduction of the people, and as many paragraphs as the number says."""
    length = BRIEF if number % 8 == 4 else LONG if number % 20 == 11 else USUAL  # noqa: PLR2004
    yield Block("p", writer.write("lead"))
    yield Block("p", writer.write("intro"))
    for count in range(writer.random.randint(*length)):
        if count % 5 == 4:  # noqa: PLR2004 - a subhead each five paragraphs
            yield Block("h", writer.write("subhead"))
        yield Block("p", paragraph(writer))
    yield Block("p", writer.write("closing"))


def posts(writer: Writer) -> Iterator[Block]:
    """A live blog, the latest post first."""
    for hour in range(writer.random.randint(15, 20), 7, -1):
        time = f"{hour}:{writer.random.randint(10, 59)}"
        yield Block("h", writer.write("subhead"), time)
        for _ in range(writer.random.randint(1, 2)):
            yield Block("p", paragraph(writer), time)


def paragraph(writer: Writer) -> str:
    """One to four sentences."""
    count = writer.random.randint(1, 4)
    return " ".join(writer.write(writer.random.choice(MIXTURE)) for _ in range(count))
