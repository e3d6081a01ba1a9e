"""Ten made-up news sites in five languages, with all kinds of pages that a crawl meets.

    >>> from research import webs
    >>> [page.kind for page in webs.pages() if page.site == "courier"]

The markup follows what the systems of real sites have: what is called an article there, where
bylines are missing, how long the texts beside a story are. Nothing of a real page is in it. Two of
the sites are held back: no sign was changed for them but those of galleries, on 26 November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import yaml

from research.webs.documents import Document, documents
from research.webs.rendering import HERE, Rendering, Site, sites


class WebPage(NamedTuple):
    """A page: its site, its kind and its sort, and where it is."""

    site: str
    is_held_back: bool
    kind: str
    sort: str
    url: str
    html: str


def pages(*, bare: bool = False) -> Iterator[WebPage]:
    """All pages of all sites; with *bare* addresses, all that they have is a number."""
    for site in sites():
        for document in documents(site.prose):
            url = address(site, document, bare=bare)
            html = Rendering(site, document, url).html()
            yield WebPage(site.name, site.is_held_back, document.kind, document.sort, url, html)
        yield from walls(site, bare=bare)


def address(site: Site, document: Document, *, bare: bool) -> str:
    """Where *document* is found."""
    path = site.path(document)
    if bare and document.sort != "front":
        path = f"/{document.number}" if document.number % 2 else f"/?id={document.number}"
    return f"https://www.{site.host}{path}"


def walls(site: Site, *, bare: bool) -> Iterator[WebPage]:
    """The pages that stand before others, of all vendors."""
    known = yaml.safe_load((HERE / "walls.yaml").read_text(encoding="utf-8"))
    story = next(documents(site.prose))
    around = Rendering(site, story, "")
    prose = around.prose
    for kind, rows in known.items():
        if kind == "challenge" and site.language != site.languages[0]:
            continue  # the site has no part in them
        for number, (name, row) in enumerate(rows.items(), 1):
            values = {
                "site": site.title,
                "host": site.host,
                "n": str(story.number + number),
                "title": prose.write("headline"),
                "summary": prose.write("summary"),
                "menu": around.links(9),
                "headlines": around.links(14, "li", "headline"),
                "story": address(site, story, bare=bare),
                "consent": "</p><p>".join(prose.write("consent") for _ in prose.words["consent"]),
                "buttons": "".join(f"<button>{text}</button>" for text in prose.words["buttons"]),
                "cookie": prose.write("cookie"),
                "needs_scripts": prose.words["needs_scripts"],
            }
            html = row["html"].format(**values)
            url = row.get("at", "{story}").format(**values)
            source = f'<!DOCTYPE html><html><head><meta charset="utf-8">{html}</body></html>'
            yield WebPage(site.name, site.is_held_back, kind, name, url, source)
