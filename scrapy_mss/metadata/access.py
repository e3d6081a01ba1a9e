"""Whether an article can be read without paying, as the page's own markup says.

`isAccessibleForFree` is what search engines ask publishers for: of the article, or of the parts of
it that are behind a paywall. Phrases such as "subscribe to read on" are no evidence, since pages
that are free have them, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scrapy_mss.metadata import jsonld
from scrapy_mss.metadata.jsonld import Node
from scrapy_mss.metadata.parsed_page import ParsedPage

MAX_PARTS: Final = 50  # of an article; pages with a paywall have one or two
FLAGS: Final = (bool, int, str)
FREE: Final = {
    "true": True,
    "1": True,
    "yes": True,
    "free": True,
    "false": False,
    "0": False,
    "no": False,
    "locked": False,
}
_VOCABULARY: Final = ("https://schema.org/", "http://schema.org/")


def is_free(text: str) -> bool | None:
    """What a value of `isAccessibleForFree` or of `article:content_tier` says, if it says it.

    `metered` says neither: it depends on what else a reader has read.
    """
    name = text.strip().lower()
    for prefix in _VOCABULARY:
        name = name.removeprefix(prefix)
    return FREE.get(name)


def article_flag(page: ParsedPage, keys: tuple[str, ...]) -> list[str]:
    """JSON-LD of the article."""
    return _flags(page.graph.best_node(jsonld.ARTICLE), keys)


def page_flag(page: ParsedPage, keys: tuple[str, ...]) -> list[str]:
    """JSON-LD of the page."""
    return _flags(page.graph.best_node(jsonld.WEB_PAGE), keys)


def part_flag(page: ParsedPage, keys: tuple[str, ...]) -> Iterator[str]:
    """JSON-LD of the parts of the article, if one of them is not free."""
    node = page.graph.best_node(jsonld.ARTICLE)
    parts = node.get("hasPart") if node else None
    for part in (parts if isinstance(parts, list) else [parts])[:MAX_PARTS]:
        if isinstance(part, dict):
            yield from (flag for flag in _flags(part, keys) if is_free(flag) is False)


def _flags(node: Node | None, keys: tuple[str, ...]) -> list[str]:
    """The values of *keys*, which may be booleans, as texts."""
    values = map(node.get, keys) if node else ()
    return [str(value) for value in values if isinstance(value, FLAGS)]
