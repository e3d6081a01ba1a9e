"""A small news site on a loopback port, in a process of its own.

    with running() as site:
        site.url("/wrapped/1")

The first part of a path chooses the row of `ROUTES` that makes the page, the second numbers it:
the same address is always the same page.
"""

from __future__ import annotations

import random
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from research.benchmarks import local_server

HTML = "text/html; charset=utf-8"
WORDS = (
    "council harbour winter engine market river school budget answer bridge garden minister "
    "evening company village teacher railway question doctor letter morning factory election "
    "report summer science history island museum measure neighbour weather travel castle forest "
    "reader window kitchen pocket valley station author language number picture village machine "
    "opened closed changed reached carried promised followed counted offered planned watched the "
    "of and in to with near behind across during without against under over between among since"
).split()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends."""

    body: bytes
    content_type: str = HTML
    status: int = 200
    after: float = 0.0  # seconds


@dataclass(frozen=True, slots=True)
class Story:
    """The article of a page."""

    title: str
    author: str
    published: str
    paragraphs: tuple[str, ...]


def story(kind: str, number: int, paragraphs: int = 6) -> Story:
    """The article that the page *number* of a *kind* tells."""
    chance = random.Random(f"{kind} {number}")
    texts = tuple(_paragraph(chance) for _ in range(paragraphs))
    title = f"{' '.join(chance.choices(WORDS, k=5)).capitalize()} {number}"
    author = f"{chance.choice(('Ada', 'Grace', 'Alan'))} {chance.choice(('Marlow', 'Winter'))}"
    return Story(title, author, f"2026-03-{number % 28 + 1:02}T10:00:00+00:00", texts)


def _paragraph(chance: random.Random) -> str:
    sentences = (" ".join(chance.choices(WORDS, k=11)).capitalize() + "." for _ in range(3))
    return " ".join(sentences)


def _teasers(chance: random.Random, count: int) -> str:
    return "".join(
        f'<li class="teaser"><a href="/plain/{n}">{" ".join(chance.choices(WORDS, k=4))}</a></li>'
        for n in range(count)
    )


def _head(article: Story) -> str:
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{article.title}</title>'
        f'<meta property="og:title" content="{article.title}">'
        f'<meta property="article:published_time" content="{article.published}">'
        f'<meta name="author" content="{article.author}"></head>'
    )


def _frame(article: Story, main: str, chance: random.Random) -> str:
    return (
        f'{_head(article)}<body><nav><ul><li><a href="/">Home</a><li><a href="/sport">Sport</a>'
        f"<li><a href='/culture'>Culture</a></ul></nav>{main}"
        f"<aside><h3>More of today</h3><ul>{_teasers(chance, 8)}</ul></aside>"
        "<footer><a href='/terms'>Terms</a> | <a href='/privacy'>Privacy</a></footer>"
        "</body></html>"
    )


def wrapped(number: int, *, paragraphs: int = 6) -> str:
    """A page of the kind that `RULES` label."""
    article = story("wrapped", number, paragraphs)
    body = "".join(f"<p>{text}</p>\n" for text in article.paragraphs)
    main = (
        f'<main><h1>{article.title}</h1><span class="by">{article.author}</span>'
        f'<article class="story">{body}<div class="box">Subscribe to our letter.</div></article>'
        "</main>"
    )
    return _frame(article, main, random.Random(number))


def plain(number: int, *, paragraphs: int = 6) -> str:
    """A page with an article that no rule knows."""
    return _plain(number, story("plain", number, paragraphs).paragraphs)


def german(number: int) -> str:
    """A page in German that says it is in English."""
    sentence = "Die Fähre fährt wieder, nachdem der Sturm sie im Hafen gehalten hatte."
    return _plain(number, [f"{sentence} {n} Schiffe warteten. {sentence}" for n in range(2, 9)])


def _plain(number: int, paragraphs: Sequence[str]) -> str:
    article, body = story("plain", number), "".join(f"<p>{text}</p>\n" for text in paragraphs)
    main = f'<div id="content"><h2>{article.title}</h2><div class="text">{body}</div></div>'
    return _frame(article, main, random.Random(number))


def index(number: int) -> str:
    """A page of links."""
    chance = random.Random(f"index {number}")
    article = Story("Front page", "", "", ())
    return _frame(article, f"<ul>{_teasers(chance, 40)}</ul>", chance)


def small(number: int) -> str:
    """A page of about 2 kB, for many of them; the first hundred fill what remembers words."""
    article = story("small", number, 3)
    names = " ".join(f"x{number:x}y{n}z" for n in range(2_000 if number < 100 else 5))
    body = "".join(f"<p>{text}</p>\n" for text in (*article.paragraphs, f"Names: {names}."))
    return (
        f"<html><head><title>{article.title}</title></head><body><ul><li><a href='/'>Home</a></ul>"
        f'<article class="story">{body}</article><ul>{_teasers(random.Random(number), 4)}</ul>'
        "</body></html>"
    )


def _html(make: Callable[[int], str]) -> Callable[[int], Answer]:
    return lambda number: Answer(make(number).encode())


def _hostile(number: int) -> Answer:
    noise = random.Random(number).randbytes(200_000)
    sound = plain(number)
    return (
        Answer(noise, "text/html"),
        Answer(b"<div>" * 200_000, "text/html"),
        Answer(sound.encode("utf-16-le")[1:], "text/html; charset=utf-8"),
        Answer(sound.replace("the", "\xe4\xf6").encode("latin-1"), "text/html; charset=utf-8"),
        Answer(sound.encode(), "text/html; charset=no-such-encoding"),
        Answer(b"", HTML),
        Answer(b"\x00" * 10_000, HTML),
        Answer(b"<" * 100_000, HTML),
        Answer(b"<p " + b"a=b " * 50_000, HTML),
        Answer(b"<!-- " * 50_000, HTML),
    )[number]


ENCODED = (  # the encoding of a page in German, and the one that header and page declare
    ("utf-8", "utf-8"),
    ("utf-8", "idna"),
    ("utf-8", "undefined"),
    ("utf-8", "base64"),
    ("utf-8", "iso-8859-1"),
    ("utf-8", "utf-16"),
    ("windows-1252", "utf-8"),
    ("windows-1252", "windows-1252"),
)


def _encoded(number: int) -> Answer:
    real, said = ENCODED[number]
    link = f'<link rel="next" href="/encoded/{number + 1}">' if number + 1 < len(ENCODED) else ""
    source = german(1).replace('charset="utf-8">', f'charset="{said}">{link}', 1)
    return Answer(source.encode(real), f"text/html; charset={said}")


def _picture(number: int) -> Answer:
    """A PNG of 120 by 90 pixels in one of 256 greys."""
    rows = (b"\0" + bytes([number % 256]) * 120) * 90
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 120, 90, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return Answer(b"\x89PNG\r\n\x1a\n" + b"".join(parts), "image/png")


N_HOSTILE = 10
HANDLER = "<p onclick=run()>"
ROUTES: dict[str, Callable[[int], Answer]] = {
    "wrapped": _html(wrapped),
    "plain": _html(plain),
    "german": _html(german),
    "index": _html(index),
    "small": _html(small),
    "clickable": _html(lambda number: wrapped(number).replace("<p>", HANDLER)),
    "slow": lambda number: Answer(wrapped(number).encode(), after=0.1),
    "gone": _html(plain),
    "hostile": _hostile,
    "encoded": _encoded,
    "api": lambda _: Answer(b"{}", "application/json"),
    "picture": _picture,
    "sound": lambda number: Answer(b"ID3" + bytes([number % 256]) * 1_000, "audio/mpeg"),
    # As some sites have it: a page of HTML in the place of robots.txt.
    "robots.txt": lambda _: Answer(wrapped(1).encode()),
}


def answer(path: str) -> Answer:
    """What the site has at *path*."""
    kind, _, number = unquote(urlsplit(path).path).strip("/").partition("/")
    make = ROUTES.get(kind)
    if make is None or not (number or "0").isdigit():
        return Answer(b"<p>Not found.</p>", status=404)
    return make(int(number or "0"))


class _Handler(local_server.Handler):
    def do_GET(self) -> None:  # noqa: N802 - its name there
        sent = answer(self.path)
        time.sleep(sent.after)
        self.send(sent.status, {"Content-Type": sent.content_type}, sent.body)


@dataclass(frozen=True, slots=True)
class Site:
    """The site while it is served."""

    port: int

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of *path*; `localhost` is another site with the same pages."""
        return f"http://{host}:{self.port}{path}"

    def urls(self, kind: str, numbers: range, host: str = "127.0.0.1") -> list[str]:
        return [self.url(f"/{kind}/{number}", host) for number in numbers]


# What a crawl of the site has for MSS_WRAPPERS; `localhost` has a rule that matches nothing.
RULES: list[dict[str, Any]] = [
    {
        "site": "127.0.0.1",
        "wrappers": [
            {
                "name": "stories",
                "url": ["/wrapped/*", "/small/*", "/slow/*", "/clickable/*", "/robots.txt"],
                "body": "article.story",
                "exclude": "div.box",
                "title": "h1",
                "authors": "span.by",
            }
        ],
    },
    {"site": "localhost", "body": "div.no-longer-there"},
]


def rules_with(**keys: object) -> list[dict[str, Any]]:
    """`RULES` with these keys in each wrapper."""
    first, second = RULES
    wrappers = [{**each, **keys} for each in first["wrappers"]]
    return [{**first, "wrappers": wrappers}, {**second, **keys}]


@contextmanager
def running() -> Iterator[Site]:
    """The site, served as long as the context lasts."""
    with local_server.serving("tests.plugin.site") as port:
        yield Site(port)


if __name__ == "__main__":
    with local_server.Server(("127.0.0.1", 0), _Handler) as server:
        local_server.serve([server], server.server_port)
