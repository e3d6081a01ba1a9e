"""The trail from the site's front page to the article, as JSON-LD has it.

    [{"name": "Home", "url": "https://x.example/"}, {"name": "Sport", "url": ""}]

Trails in visible elements are not read: whether a row of links is one, nothing says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scrapy_mss.metadata import jsonld
from scrapy_mss.metadata.jsonld import Node
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.metadata.text import absolute_url, clean

MAX_CRUMBS: Final = 10  # sites are four levels deep
MAX_NAME: Final = 200  # characters; the last one may be the headline
TYPE: Final = "BreadcrumbList"


def breadcrumbs(page: ParsedPage) -> list[dict[str, str]]:
    """The names and addresses of the trail in *page*, the front page first."""
    for trail in _trails(page):
        items = trail.get("itemListElement")
        crumbs = [
            crumb
            for each in sorted(_nodes(items), key=_position)
            if (crumb := _crumb(page, each)) is not None
        ]
        if crumbs:
            return crumbs[:MAX_CRUMBS]
    return []


def _trails(page: ParsedPage) -> Iterator[Node]:
    """The trails of the page: those that its nodes name, then those beside them."""
    for kind in (jsonld.WEB_PAGE, jsonld.ARTICLE):
        node = page.graph.best_node(kind)
        named = node.get("breadcrumb") if node else None
        if isinstance(named, dict):
            yield page.graph.resolved(named)
    for node in page.graph.nodes(jsonld.OTHER):
        types = node.get("@type")
        if TYPE in (types if isinstance(types, list) else [types]):
            yield node


def _nodes(items: object) -> list[Node]:
    given = items if isinstance(items, list) else [items]
    return [each for each in given[: 2 * MAX_CRUMBS] if isinstance(each, dict)]


def _position(item: Node) -> float:
    """Where *item* is; one without a number stays behind those with one."""
    try:
        return float(item.get("position") or "")
    except (TypeError, ValueError, OverflowError):
        return float("inf")


def _crumb(page: ParsedPage, item: Node) -> dict[str, str] | None:
    """A name with an address, if there is one; in an `item` of its own or beside it."""
    target = item.get("item")
    inner: Mapping[str, object] = target if isinstance(target, dict) else {}
    name = _text(item.get("name")) or _text(inner.get("name"))
    address = target if isinstance(target, str) else inner.get("@id") or inner.get("url")
    url = absolute_url(address, page.base) if isinstance(address, str) else None
    return {"name": name, "url": url or ""} if name else None


def _text(value: object) -> str:
    return clean(value)[:MAX_NAME] if isinstance(value, str) else ""
