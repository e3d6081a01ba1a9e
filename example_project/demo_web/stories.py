"""Stories, galleries and notices from a writer's sentences.

Strategy: a story's seed is its site and number, so that each can be made alone and in any order.
Its length comes from a table: a few are very short or very long, and always the same numbers are,
so that every site has them.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from demo_web.content import Author, Block, Comment, Gallery, Notice, Story, Tag
from demo_web.text import Writer, sections

# (every so many stories, the first of them, fewest words, most words); the first match counts.
LENGTHS = (
    (9, 4, 80, 105),
    (31, 11, 2900, 3100),
    (1, 0, 250, 1200),
)
CLOSING = 18  # words that the last paragraph has, roughly
SHORT = 110  # up to this many words paragraphs have two sentences at most, and no subheads
FIRST_DAY = datetime(2024, 1, 8, tzinfo=timezone.utc)
DAYS = 540
OFFSETS = {"en": 0, "de": 1, "ru": 3}  # hours from UTC
CROWD = 2400  # comments below the story of a site that is to have a very large page
QUOTED = re.compile(r"[“„«]([^“„«”»–]{50,200}?)[,.]?[”“»]")
# What follows a quote or stands between two: sentence kinds by how often they come.
MIXTURE = ("sentence", "sentence", "sentence", "detail", "detail", "detail", "quote", "quote")
LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "’": ""})


@dataclass(frozen=True, slots=True)
class Desk:
    """What the stories of a site have in common."""

    site: str
    language: str
    topics: tuple[str, ...]
    authors: tuple[Author, ...]
    crowded: int | None = None  # the number of the story with very many comments


def slug(text: str) -> str:
    """*text* as it may stand in an address; empty for other alphabets than the Latin one."""
    folded = unicodedata.normalize("NFKD", text.lower().translate(LETTERS))
    plain = folded.encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", plain)[:9])


def authors(site: str, language: str, topics: tuple[str, ...]) -> tuple[Author, ...]:
    """The six people who write for *site*."""
    made = []
    writer = Writer(language, topics[0], f"{site}/authors")
    for number in range(6):
        name = writer.person()
        writer.settled |= {"name": name, "short": name.rpartition(" ")[2]}
        key = slug(name) or f"author-{number + 1}"
        made.append(Author(name, key, writer.write("bio")))
    return tuple(made)


def tags(language: str, topic: str) -> tuple[Tag, ...]:
    """The tags of *topic*."""
    entries = sections(language, topic)["tag"].entries
    return tuple(
        Tag(label, slug(label) or f"{topic}-{number}") for number, label in enumerate(entries, 1)
    )


def story(desk: Desk, number: int, *, live: bool = False) -> Story:
    """Story *number* of a site."""
    topic = desk.topics[number % len(desk.topics)]
    writer = Writer(desk.language, topic, f"{desk.site}/{number}{'/live' if live else ''}")
    chance = writer.chance
    published = moment(desk.language, chance)
    title = writer.write("headline").rstrip(".")
    blocks = tuple(posts(writer, published)) if live else tuple(body(writer, number))
    crowd = CROWD if number == desk.crowded and not live else chance.choice((0, 2, 4, 6, 9, 14))
    writers = chance.sample(desk.authors, chance.choice((1, 1, 1, 2)))
    return Story(
        number=number,
        topic=topic,
        title=title,
        summary=writer.write("summary"),
        blocks=blocks,
        authors=tuple(writers),
        published=published,
        tags=tuple(chance.sample(tags(desk.language, topic), 2)),
        mentions=mentions(writer),
        pull=pull(blocks),
        captions=tuple(writer.write("caption") for _ in range(3)),
        comments=tuple(comments(writer, crowd, published)),
        slug=slug(title),
        live=live,
    )


def moment(language: str, chance: random.Random) -> datetime:
    """When a story is published: by day, so that the date is the same in all time zones."""
    zone = timezone(timedelta(hours=OFFSETS[language]))
    day = FIRST_DAY.replace(tzinfo=zone) + timedelta(days=chance.randrange(DAYS))
    return day.replace(hour=chance.randint(6, 20), minute=chance.randrange(60))


def body(writer: Writer, number: int) -> Iterator[Block]:
    """The main text of story *number*."""
    low, high = next(row[2:] for row in LENGTHS if number % row[0] == row[1])
    target = writer.chance.randint(low, high)
    yield (opening := Block("p", writer.write("lead")))
    written, since_subhead = len(opening.text.split()), 0
    while written < target - CLOSING:
        if target > SHORT and since_subhead > writer.chance.randint(3, 6):
            yield Block("h", writer.write("subhead"))
            since_subhead = 0
        longest = 2 if target <= SHORT else 4
        text = paragraph(writer, writer.chance.randint(1, longest))
        yield Block("p", text)
        written += len(text.split())
        since_subhead += 1
    if target > SHORT and writer.chance.randrange(6) == 0:
        yield from bullets(writer)
    yield Block("p", writer.write("closing"))


def paragraph(writer: Writer, count: int) -> str:
    """*count* sentences; the writer has as many quotes as news has."""
    return " ".join(writer.write(writer.chance.choice(MIXTURE)) for _ in range(count))


def bullets(writer: Writer) -> Iterator[Block]:
    """A subhead and a list below it."""
    yield Block("h", writer.write("bullets_title"))
    for _ in range(4):
        yield Block("li", writer.write("bullet"))


def posts(writer: Writer, start: datetime) -> Iterator[Block]:
    """A live blog, the latest post first."""
    count = writer.chance.randint(8, 16)
    for number in range(count, 0, -1):
        when = start + timedelta(minutes=number * 17 % 600)
        yield Block("h", writer.write("subhead"), when)
        for _ in range(writer.chance.randint(1, 3)):
            yield Block("post", paragraph(writer, writer.chance.randint(1, 3)), when)


def pull(blocks: tuple[Block, ...]) -> str:
    """The first long quote of the text; empty if there is none."""
    for block in blocks[2:]:
        found = QUOTED.search(block.text)
        if found:
            return found[1].rstrip(".,")
    return ""


def mentions(writer: Writer) -> tuple[str, ...]:
    """Names that the story has settled on, in their first form."""
    names = ("a", "b", "place", "neighbour")
    return tuple(writer.settled[name].split("/")[0] for name in names if name in writer.settled)


def comments(writer: Writer, count: int, published: datetime) -> Iterator[Comment]:
    """*count* comments, a third of which answer the one before."""
    when, depth = published, 0
    for number in range(count):
        when += timedelta(minutes=writer.chance.randint(2, 95))
        depth = depth + 1 if number and depth < 2 and writer.chance.randrange(3) == 0 else 0  # noqa: PLR2004 - answers to answers are the last level
        likes = writer.chance.choice((0, 0, 1, 2, 5, 17, 64))
        yield Comment(writer.draw("user"), writer.write("comment"), when, depth, likes)


def gallery(desk: Desk, number: int) -> Gallery:
    """Gallery *number* of a site."""
    topic = desk.topics[number % len(desk.topics)]
    writer = Writer(desk.language, topic, f"{desk.site}/gallery/{number}")
    return Gallery(
        number=number,
        title=writer.write("gallery_title"),
        summary=writer.write("summary"),
        captions=tuple(writer.write("caption") for _ in range(writer.chance.randint(8, 14))),
        published=moment(desk.language, writer.chance),
    )


def notices(desk: Desk) -> tuple[Notice, ...]:
    """The legal and other pages of the house."""
    writer = Writer(desk.language, desk.topics[0], f"{desk.site}/notices")
    titles = sections(desk.language, desk.topics[0])["notice_title"].entries
    return tuple(
        Notice(
            slug(title) or f"page-{number}",
            title,
            tuple(writer.several("notice", 3) for _ in range(5)),
        )
        for number, title in enumerate(titles, 1)
    )
