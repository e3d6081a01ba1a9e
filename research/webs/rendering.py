"""Documents as HTML, in the markup of their site.

``sites.yaml`` has the markup: for each role of a part the elements around its text, and a frame
around all parts, which is a Jinja2 template.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import jinja2
import yaml

from research.webs.documents import NOT_FREE, Document, Part
from research.webs.prose import Prose, slug

HERE: Final = Path(__file__).parent
ENVIRONMENT: Final = jinja2.Environment(undefined=jinja2.StrictUndefined)  # noqa: S701 - texts are escaped
# The addresses of kinds that have none of their own.
PLACES: Final = {"live_blog": "live", "teaser": "article", "error": "article"}
# What a sort has where its site says nothing of it.
ROLES: Final = {
    "p": "p",
    "table": "table.info",
    "comment": "div.comment>p",
    "related": "div.related",
}
WORDS: Final = ("news", "sport", "kultur", "economia", "lokal", "world")
PARTS_UNTIL_RELATED: Final = 4
LONG: Final = 14
_STEP: Final = re.compile(r"([\w-]+)((?:\.[\w-]+)*)(?:#([\w-]+))?(?:\[([\w:-]+)=([^\]]*)\])?")


def wrapped(path: str, inner: str) -> str:
    """*inner* in the elements of *path*, such as `figure.photo>figcaption`."""
    for step in reversed(path.split(">")):
        found = _STEP.fullmatch(step)
        if found is None:
            raise ValueError(f"expected an element such as p.lead, got {step!r}")
        tag, classes, name, key, value = found.groups()
        attributes = f' class="{classes[1:].replace(".", " ")}"' if classes else ""
        attributes += f' id="{name}"' if name else ""
        attributes += f' {key}="{value}"' if key else ""
        inner = f"<{tag}{attributes}>{inner}</{tag}>"
    return inner


@dataclass(frozen=True, kw_only=True)
class Site:
    """A made-up site, as ``sites.yaml`` has it."""

    name: str
    language: str
    title: str
    paths: Mapping[str, str]
    types: Mapping[str, str]
    graph: Mapping[str, str]
    signed: tuple[str, ...]
    head: str
    body: Mapping[str, str]
    roles: Mapping[str, str]
    video: str
    audio: str
    frame: str
    languages: tuple[str, ...] = ()
    is_held_back: bool = False
    is_without_canonical: bool = False
    html: str = field(default="")

    @property
    def host(self) -> str:
        """The host name; `.example` belongs to nobody."""
        return f"{self.name}-{self.language}.example"

    def prose(self, seed: str) -> Prose:
        """What writes a page of it."""
        return Prose(self.language, f"{self.name}/{seed}")

    def path(self, document: Document) -> str:
        """Where *document* is."""
        if document.sort == "front":
            return "/"
        is_service = document.kind == "other"
        places = (
            document.sort,
            PLACES.get(document.kind, document.kind),
            "page" if is_service else "article",
        )
        day = document.published
        return next(self.paths[name] for name in places if name in self.paths).format(
            slug=slug(document.title) or f"{document.number:x}",
            word=document.sort.split()[0].strip(",")
            if is_service
            else WORDS[document.number % len(WORDS)],
            number=document.number,
            year=day.year,
            month=f"{day.month:02}",
            day=f"{day.day:02}",
            mon=day.strftime("%b").lower(),
        )

    def of(self, table: Mapping[str, str], document: Document) -> str:
        """The entry of *table* for the sort of *document*, or for its kind."""
        keys = (document.sort, document.kind, "else")
        return next((table[key] for key in keys if key in table), "")


@cache
def compiled(frame: str) -> jinja2.Template:
    """The template of a site."""
    return ENVIRONMENT.from_string(frame)


def sites() -> tuple[Site, ...]:
    """All sites, each in each of its languages."""
    known = yaml.safe_load((HERE / "sites.yaml").read_text(encoding="utf-8"))
    return tuple(
        Site(name=name, language=language, **values)
        for name, values in known.items()
        for language in values["languages"]
    )


@dataclass(frozen=True)
class Rendering:
    """A document of a site, with all that stands around it."""

    site: Site
    document: Document
    url: str

    @cached_property
    def prose(self) -> Prose:
        """What writes the boxes around it."""
        return self.site.prose(f"{self.document.number}/around")

    @cached_property
    def is_signed(self) -> bool:
        """Whether it has a byline and a date; agencies' news have none on some sites."""
        return self.document.kind in self.site.signed

    def html(self) -> str:
        """The page."""
        frame = compiled(self.site.frame)
        document, labels = self.document, self.prose.labels
        body = frame.render(
            site=self.site.title,
            kind=document.kind,
            title=html.escape(document.title),
            summary=html.escape(document.summary),
            number=document.number,
            labels=labels,
            signed=self.is_signed,
            byline=self.element("byline", document.author),
            date=self.element("date", self.day),
            content=self.content(),
            data=json.dumps([part.text for part in document.parts], ensure_ascii=False),
            comments=self.comments(),
            links=self.links,
            teasers=self.teasers,
            say=lambda name: html.escape(self.prose.write(name)),
        )
        classes = self.site.of(self.site.body, document)
        mark = " amp" if self.site.html else ""
        return (
            f'<!DOCTYPE html><html{mark} lang="{self.site.language}"><head>{self.head()}</head>'
            f'<body class="{classes}">{body}</body></html>'
        )

    @cached_property
    def day(self) -> str:
        return self.document.published.strftime(self.prose.labels["date"])

    def element(self, role: str, inner: str) -> str:
        """*inner* in the markup of *role*."""
        return wrapped(self.site.roles.get(role) or ROLES.get(role, "p"), inner)

    def text(self, role: str, text: str) -> str:
        """The *text* in the markup of *role*."""
        return self.element(role, html.escape(text))

    def head(self) -> str:
        """Title, declarations and scripts."""
        document, site = self.document, self.site
        title = html.escape(document.title)
        tags = [
            '<meta charset="utf-8">',
            f"<title>{title} | {site.title}</title>",
            f'<meta name="description" content="{html.escape(document.summary)}">',
            f'<meta property="og:title" content="{title}">',
            f'<meta property="og:site_name" content="{site.title}">',
        ]
        graph = site.of(site.graph, document)
        if graph:
            tags.append(f'<meta property="og:type" content="{graph}">')
        if not site.is_without_canonical and document.kind != "error":
            tags.append(f'<link rel="canonical" href="{self.url}">')
        if self.is_signed and graph == "article":
            stamp = document.published.isoformat()
            tags.append(f'<meta property="article:published_time" content="{stamp}">')
        kind = site.of(site.types, document)
        if kind:
            tags.append(f'<script type="application/ld+json">{self.declared(kind)}</script>')
        tags.append(site.head.replace("{n}", str(document.number)))
        return "".join(tags)

    def declared(self, kind: str) -> str:
        """The page in JSON-LD, as one of that *kind*."""
        document, site = self.document, self.site
        node: dict[str, Any] = {
            "@context": "https://schema.org",
            "@type": kind,
            "headline" if "Article" in kind else "name": document.title,
            "url": self.url,
            "publisher": {"@type": "Organization", "name": site.title},
        }
        if self.is_signed:
            node |= {
                "datePublished": document.published.isoformat(),
                "author": [{"@type": "Person", "name": document.author}],
            }
        if document.sort in NOT_FREE:
            part = {"@type": "WebPageElement", "isAccessibleForFree": False, "cssSelector": ".plus"}
            node |= {"isAccessibleForFree": False, "hasPart": part}
        if document.kind == "list":
            pages = ("a", "b", "c")
            node["itemListElement"] = [{"@type": "ListItem", "url": f"/{page}"} for page in pages]
        crumbs = {"@context": "https://schema.org", "@type": "BreadcrumbList"}
        return json.dumps([node, crumbs], ensure_ascii=False)

    def content(self) -> str:
        """All parts, with a box among them as articles have it."""
        made = []
        groups = itertools.groupby(self.document.parts, lambda part: part.role == "li")
        for is_list, parts in groups:
            if is_list:
                items = "".join(f"<li>{html.escape(part.text)}</li>" for part in parts)
                made.append(wrapped(self.site.roles.get("ul", "ul"), items))
            else:
                made.extend(self.part(part) for part in parts)
        if self.document.kind == "article" and len(made) > PARTS_UNTIL_RELATED:
            link = (
                f'{self.prose.labels["related"]}: <a href="/x">{self.prose.write("headline")}</a>'
            )
            made.insert(PARTS_UNTIL_RELATED, self.element("related", link))
        return "\n".join(made)

    def part(self, part: Part) -> str:
        """One of the parts."""
        special: Mapping[str, Callable[[Part], str]] = {
            "caption": self.figure,
            "card": self.card,
            "entry": self.entry,
            "table": self.row,
            "video": lambda _: self.site.video.replace("{n}", str(self.document.number)),
            "audio": lambda _: self.site.audio.replace("{n}", str(self.document.number)),
            "form": lambda part: f"<form><input name=email><button>{part.text}</button></form>",
        }
        write = special.get(part.role)
        return write(part) if write else self.text(part.role, part.text)

    def figure(self, part: Part) -> str:
        image = f'<img src="/img/{self.prose.random.randint(1, 9999)}.jpg" alt="">'
        return self.element("figure", f"{image}{self.text('caption', part.text)}")

    def card(self, part: Part) -> str:
        name = slug(part.title) or str(len(part.title) * 1009)
        title = self.element("card_title", f'<a href="/x/{name}">{html.escape(part.title)}</a>')
        image = f'<a href="/x/{name}"><img src="/t/{name[:9]}.jpg" alt=""></a>'
        text = self.text("card_text", part.text) if part.text else ""
        return self.element("card", f"{image}{title}{text}<time>{self.day}</time>")

    def entry(self, part: Part) -> str:
        time, _, head = part.title.partition(" ")
        lines = "".join(self.text("p", line) for line in part.text.split("\n"))
        return self.element("entry", f"<time>{time}</time><h3>{head}</h3>{lines}")

    def row(self, part: Part) -> str:
        cells = "".join(f"<td>{cell}</td>" for cell in part.text.split(" ")[:LONG])
        return self.element("table", f"<tr><th>{part.title}</th>{cells}</tr>")

    def links(self, count: int, path: str = "", words: str = "menu") -> str:
        """*count* links, each in the elements of *path*."""
        prose = self.prose
        if words == "menu":
            facts = prose.words["facts"].values()
            names = itertools.chain(prose.words["menu"], prose.words["district"], *facts)
            texts = tuple(itertools.islice(names, count))
        else:
            texts = prose.several(words, count)
        made = [f'<a href="/{n}/{slug(text)}">{text}</a>' for n, text in enumerate(texts)]
        return " ".join(wrapped(path, each) if path else each for each in made)

    def teasers(self, count: int, n_sentences: int) -> str:
        """Other stories, as they stand beside and below."""
        prose = self.prose
        texts = (prose.join(prose.several("summary", n_sentences)) for _ in range(count))
        return "".join(self.card(Part("card", text, prose.write("headline"))) for text in texts)

    def comments(self) -> str:
        """What readers say."""
        count = self.prose.random.choice((0, 0, 3, 8)) if self.document.kind == "article" else 0
        return "".join(self.text("comment", self.prose.write("comment")) for _ in range(count))
