"""Sites that try what a list can try, one to a loopback address, beside two that are sound.

    with serving(folder) as web:
        web.sites, web.inside.asked

A row of `HOSTILE` is a site: its answers by path, and how many articles a crawl should get of it.
What has the path of a story is an article on every site, unless the row has something else there.
`inside` stands for what only the crawler's machine can reach: a server whose address no list of
sites names, and files in *folder*. Nothing of it may ever be asked for.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.message import Message
from email.utils import format_datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from tests.helpers import local_server
from tests.plugin.site import story

NOW = datetime.now(timezone.utc).replace(microsecond=0)
HTML, XML, RSS, TEXT = "text/html", "application/xml", "application/rss+xml", "text/plain"
JSON = "application/feed+json"
VAULT = "What the vault of the crawler's own machine holds"
LIMIT = 20  # articles of a site that the crawl may take
SOUND = 20  # articles of each of the sound sites
FEED_LINK = "<link rel=alternate type=application/rss+xml href='{}'>"
SPACE = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"


class Answer(NamedTuple):
    """What a site sends."""

    text: str | bytes
    kind: str = HTML
    status: int = 200
    headers: Mapping[str, str] = {}

    @property
    def body(self) -> bytes:
        return (
            self.text.encode("utf-8", "surrogatepass") if isinstance(self.text, str) else self.text
        )


class Place(NamedTuple):
    """Where a site is, and what it should not reach."""

    url: str
    inside: str  # host and port
    folder: Path

    @property
    def forbidden(self) -> list[str]:
        """Addresses of what no crawl may ask for, by the name of a story."""
        path, port = story_path(999), self.inside.rpartition(":")[2]
        names = ("127.0.0.1", "localhost", "127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]")
        own = self.url.partition("//")[2].rstrip("/")
        return [
            f"file://{self.folder}{path}",
            f"FILE://{self.folder}{path}",
            f"file://{own.partition(':')[0]}{self.folder}{path}",
            f"data:text/html,<p>{VAULT}{path}",
            f"ftp://{self.inside}{path}",
            f"s3://bucket{path}",
            *(f"http://{name}:{port}{path}" for name in names),
            f"http://{own}@{self.inside}{path}",
            f"//{self.inside}{path}",
        ]


def story_path(number: int) -> str:
    return f"/{NOW:%Y/%m/%d}/the-river-ferry-returns-to-town-{number}.html"


STORIES = [story_path(number) for number in range(5)]
ODD: tuple[object, ...] = (5, None, [], {})
MALFORMED = [
    *(f"{start}{story_path(998)}" for start in ("http://[", "http://a:99999999", "http://a:0")),
    *(f"{start}{story_path(998)}" for start in ("javascript:", "http://exa mple", "mailto:a@")),
    f"http://{'a' * 70}.example{story_path(998)}",
    f"http://\0.example{story_path(998)}",
    f"http://a.example/{'long-' * 100_000}",
    "http://[",
    "\ud800",
]


def front(links: list[str], head: str = "") -> str:
    anchors = "".join(f"<p><a href='{link}'>A headline of some words</a></p>" for link in links)
    return f"<html><head><title>Site</title>{head}</head><body>{anchors}</body></html>"


def feed(links: list[str]) -> Answer:
    date = format_datetime(NOW)
    items = "".join(
        f"<item><link>{escape(link)}</link><pubDate>{date}</pubDate></item>" for link in links
    )
    return Answer(f"<rss version='2.0'><channel>{items}</channel></rss>", RSS)


def json_feed(items: list[object]) -> Answer:
    return Answer(json.dumps({"items": items}), JSON)


def sitemap(links: list[str], kind: str = "url", root: str = "urlset") -> Answer:
    date = NOW.isoformat()
    each = "".join(
        f"<{kind}><loc>{escape(link)}</loc><lastmod>{date}</lastmod></{kind}>" for link in links
    )
    return Answer(f"<{root} {SPACE}>{each}</{root}>", XML)


def robots(*sitemaps: str) -> Answer:
    lines = "".join(f"Sitemap: {each}\n" for each in sitemaps)
    return Answer(f"User-agent: *\nAllow: /\n{lines}", TEXT)


def moved(url: str) -> Answer:
    return Answer("", status=302, headers={"Location": url})


def article(host: str, path: str) -> str:
    written = story(host, zlib.crc32(path.encode()))
    text = "".join(f"<p>{each}</p>" for each in written.paragraphs)
    return (
        f"<html><head><title>{written.title}</title></head><body><a href=/>Home</a><article>"
        f"<h1>{written.title}</h1>{text}</article></body></html>"
    )


@cache
def bomb(start: bytes) -> bytes:
    """A gigabyte after *start*, packed; each megabyte like the one before, and without an end."""
    packer = zlib.compressobj(9, wbits=31)
    begun = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    return begun + 1024 * (packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH))


LAUGHS = "<!ENTITY a 'laughs'>" + "".join(
    f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(10)
)


def entities(place: Place) -> dict[str, Answer]:
    """Entities that grow, that are files, and that are elsewhere."""
    files = f"<!ENTITY a SYSTEM 'file://{place.folder}/secret.xml'>"
    remote = f"<!ENTITY % b SYSTEM 'http://{place.inside}/dtd'> %b;"
    square = f"<!ENTITY a '{'x' * 60_000}'>"
    rows = {
        "laughs": (LAUGHS, "&k;"),
        "file": (files + remote, "&a;"),
        "square": (square, "&a;" * 20_000),
    }
    made = {
        f"/{name}.xml": Answer(
            f"<!DOCTYPE l [{declared}]><urlset {SPACE}><url><loc>{place.url}{used}</loc>"
            f"<lastmod>{NOW:%Y-%m-%d}</lastmod></url></urlset>",
            XML,
        )
        for name, (declared, used) in rows.items()
    }
    made |= {
        f"/{name}.rss": Answer(
            f"<!DOCTYPE l [{declared}]><rss><item><link>{used}</link></item></rss>",
            RSS,
        )
        for name, (declared, used) in rows.items()
    }
    links = "".join(FEED_LINK.format(f"/{name}.rss") for name in rows)
    return {**made, "/robots.txt": robots(*made), "/": Answer(front(STORIES[:1], links))}


Pages = Mapping[str, Answer]


def with_feed(answer: Answer, *links: str) -> Pages:
    return {"/": Answer(front(list(links), FEED_LINK.format("/feed"))), "/feed": answer}


def with_sitemap(answer: Answer, *links: str) -> Pages:
    return {"/": Answer(front(list(links))), "/robots.txt": robots("/map"), "/map": answer}


def own(place: Place, count: int) -> list[str]:
    return [place.url.rstrip("/") + story_path(number) for number in range(count)]


def next_pages(_: Place) -> Pages:
    """An article that goes on without end."""
    path = f"/{NOW:%Y/%m/%d}/a-story-on-many-pages"
    pages = {
        f"{path}/{n}" if n > 1 else path: Answer(
            article("next", f"{n}").replace(
                "</head>", f"<link rel=next href='{path}/{n + 1 if n < 60 else 2}'></head>"
            )
        )
        for n in range(1, 61)
    }
    return {"/": Answer(front([path])), **pages}


def liar(_: Place) -> Pages:
    """Validators that are none."""
    etag = {"ETag": '"' + "x" * 9_000 + '"', "Last-Modified": "z" * 5_000}
    return {
        "/": Answer(front(STORIES[:2], FEED_LINK.format("/feed")), headers=etag),
        "/feed": Answer("", status=304, headers={"ETag": "\xff"}),
    }


def malformed(_: Place) -> Pages:
    """Addresses that are none, in each kind of list."""
    feeds = ("/feed", "/feed.json", *MALFORMED)
    entries = [
        *({"url": each, "date_published": "9" * 99_999} for each in MALFORMED),
        *({"url": each} for each in (*ODD, STORIES[2])),
    ]
    return {
        "/": Answer(front([*MALFORMED, STORIES[0]], "".join(map(FEED_LINK.format, feeds)))),
        "/feed": feed([*MALFORMED, STORIES[1]]),
        "/feed.json": json_feed(entries),
        "/robots.txt": robots(*MALFORMED, "/map"),
        "/map": sitemap([*MALFORMED, *STORIES[3:]]),
    }


# Each: what a site answers, and how many articles it has for a crawl.
HOSTILE: dict[str, tuple[Callable[[Place], Pages], int]] = {
    "forbidden in a front": (lambda p: {"/": Answer(front([*p.forbidden, *STORIES]))}, 5),
    "forbidden in a feed": (lambda p: with_feed(feed([*p.forbidden, *STORIES])), 5),
    "forbidden in JSON": (
        lambda p: with_feed(json_feed([{"url": each} for each in [*p.forbidden, *STORIES]])),
        5,
    ),
    "forbidden in a sitemap": (lambda p: with_sitemap(sitemap([*p.forbidden, *STORIES])), 5),
    "forbidden in robots.txt": (
        lambda p: {"/robots.txt": robots(*p.forbidden[:9], "/map"), "/map": sitemap(STORIES)},
        5,
    ),
    "forbidden in an index": (
        lambda p: {
            **with_sitemap(sitemap([*p.forbidden, "/more"], "sitemap", "sitemapindex")),
            "/more": sitemap(STORIES),
        },
        5,
    ),
    "forbidden feeds": (
        lambda p: {"/": Answer(front(STORIES, "".join(map(FEED_LINK.format, p.forbidden))))},
        5,
    ),
    "a base elsewhere": (
        lambda p: {"/": Answer(front(["a/b/c.html"], f"<base href='{p.forbidden[0]}'>"))},
        0,
    ),
    "malformed everywhere": (malformed, 5),
    "deep JSON": (lambda _: with_feed(Answer('{"items":' + "[" * 500_000, JSON), *STORIES), 5),
    "an endless index": (
        lambda p: {
            "/robots.txt": robots("/map"),
            **{
                f"/map{'x' * n}": sitemap([f"{p.url}map{'x' * (n + 1)}"], "sitemap", "sitemapindex")
                for n in range(300)
            },
        },
        0,
    ),
    "a packed sitemap of a gigabyte": (
        lambda _: with_sitemap(Answer(bomb(b"<urlset><url>"), "application/gzip"), *STORIES),
        5,
    ),
    "a packed feed of a gigabyte": (
        lambda _: with_feed(
            Answer(bomb(b"<rss><channel>"), RSS, headers={"Content-Encoding": "gzip"}), *STORIES
        ),
        5,
    ),
    "entities": (entities, 1),
    "deep elements": (
        lambda _: with_sitemap(Answer("<urlset>" + "<url>" * 1_000_000), *STORIES),
        5,
    ),
    "nested entries": (
        lambda _: with_feed(Answer("<rss><channel>" + "<item><link>" * 1_000_000, RSS), *STORIES),
        5,
    ),
    "a large sitemap": (lambda p: with_sitemap(sitemap(own(p, 50_000))), LIMIT),
    "a sitemap that is too large": (
        lambda p: with_sitemap(sitemap(own(p, 150_000)), *STORIES),
        5,
    ),
    "a large robots.txt": (
        lambda _: {
            "/": Answer(front(STORIES)),
            "/robots.txt": robots(*(f"/s{n}.xml" for n in range(300_000)), " \t" * 10**6),
        },
        5,
    ),
    "a redirected front": (lambda p: {"/": moved(f"http://{p.inside}/")}, 0),
    "a refreshed front": (
        lambda p: {
            "/": Answer(
                f"<meta http-equiv=refresh content='0;url=http://localhost:{p.inside[-5:]}/'>"
            )
        },
        0,
    ),
    "a redirected robots.txt": (
        lambda p: {"/robots.txt": moved(f"http://{p.inside}/"), "/": Answer(front(STORIES))},
        5,
    ),
    "a redirected feed": (lambda p: with_feed(moved(f"http://{p.inside}/"), *STORIES), 5),
    "redirected articles": (
        lambda p: {
            "/": Answer(front(STORIES)),
            STORIES[0]: moved(f"http://{p.inside}{STORIES[0]}"),
            STORIES[1]: moved(f"file://{p.folder}{story_path(999)}"),
            STORIES[2]: moved(STORIES[2]),
        },
        2,
    ),
    "a next page elsewhere": (
        lambda p: {
            "/": Answer(front(STORIES[:1])),
            STORIES[0]: Answer(
                article("elsewhere", "0").replace(
                    "</head>", f"<link rel=next href='{STORIES[0].replace('.html', '-2.html')}'>"
                )
            ),
            STORIES[0].replace(".html", "-2.html"): moved(f"http://{p.inside}{STORIES[0]}"),
        },
        1,
    ),
    "next pages without end": (next_pages, 1),
    "validators that lie": (liar, 2),
    "no encodings of text": (
        lambda _: {
            "/": Answer(front(STORIES[:2], FEED_LINK.format("/feed"))),
            "/feed": feed(STORIES[2:4])._replace(kind=f"{RSS}; charset=zip"),
            "/robots.txt": robots("/map")._replace(kind=f"{TEXT}; charset=undefined"),
            "/map": sitemap(STORIES[4:])._replace(kind=f"{XML}; charset=base64"),
        },
        5,
    ),
    "nothing": (lambda _: {"/": Answer(""), "/robots.txt": Answer(b"\0\xff", "x")}, 0),
}


def sound(_: Place) -> Pages:
    paths = [story_path(number) for number in range(SOUND)]
    return {
        "/": Answer(front(paths[:10], FEED_LINK.format("/feed"))),
        "/feed": feed(paths[5:15]),
        "/robots.txt": robots("/map"),
        "/map": sitemap(paths[12:]),
    }


@dataclass(slots=True)
class Site:
    """A site while it is served."""

    host: str
    url: str = ""
    pages: Pages = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)

    def answer(self, path: str) -> Answer:
        self.asked[path] += 1
        if path not in self.pages and path.startswith(f"/{NOW:%Y/%m/%d}/"):
            return Answer(article(self.host, path))
        return self.pages.get(path) or Answer("", status=404)


@dataclass(slots=True)
class Web:
    """All sites while they are served."""

    inside: Site
    sites: dict[str, Site] = field(default_factory=dict)  # by the names of the rows


@contextmanager
def serving(folder: Path) -> Iterator[Web]:
    """Serve all sites, and have files in *folder* that are nobody's."""
    page = (
        f"<html><h1>Secret</h1><article>{f'<p>{VAULT}. It holds more.</p>' * 30}</article></html>"
    )
    hidden = folder / story_path(999)[1:]
    hidden.parent.mkdir(parents=True)
    hidden.write_text(page)
    (folder / "secret.xml").write_text(f"<urlset>{VAULT}</urlset>")
    rows = {"sound 1": sound, "sound 2": sound} | {name: row[0] for name, row in HOSTILE.items()}
    with ExitStack() as stack:
        inside = stack.enter_context(
            _served("127.0.0.1", lambda _: {"/": Answer(page)}, "", folder)
        )
        at = inside.url.partition("//")[2].rstrip("/")
        web = Web(inside)
        for number, (name, make) in enumerate(rows.items(), 2):
            web.sites[name] = stack.enter_context(_served(f"127.0.0.{number}", make, at, folder))
        yield web


@contextmanager
def _served(host: str, make: Callable[[Place], Pages], inside: str, folder: Path) -> Iterator[Site]:
    site = Site(host)

    def answer(path: str, _: Message) -> local_server.Answer:
        found = site.answer(path.partition("?")[0])
        return found.status, {"Content-Type": found.kind, **found.headers}, found.body

    with local_server.answering(answer, host) as address:
        site.url = f"{address}/"
        site.pages = make(Place(site.url, inside or address.partition("//")[2], folder))
        yield site
