"""Which page an item was yielded for.

A pair holds its item, so that as long as there is the pair no other object can have the item's id.
It is forgotten when the item leaves the pipelines or when the crawl lets go of the page, whichever
comes first; the page itself is held weakly.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import ref

from scrapy.http import HtmlResponse


@dataclass(frozen=True, slots=True)
class ItemPage:
    """The page of an item, and whether the item was made by us or by the spider."""

    response: HtmlResponse
    made: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    item: object
    response: ref[HtmlResponse]
    made: bool


class ItemPages:
    """The pages of the items that are on their way through a crawl."""

    def __init__(self) -> None:
        self._pairs: dict[int, _Pair] = {}

    def pair(self, item: object, response: HtmlResponse, *, made: bool) -> None:
        """Remember that *item* is of *response*."""
        key = id(item)

        def forget(gone: ref[HtmlResponse]) -> None:
            pair = self._pairs.get(key)
            if pair is not None and pair.response is gone:
                del self._pairs[key]

        self._pairs[key] = _Pair(item, ref(response, forget), made)

    def page_of(self, item: object) -> ItemPage | None:
        """The page of *item*, if it is the very object that was paired."""
        pair = self._pairs.get(id(item))
        response = pair.response() if pair else None
        return ItemPage(response, pair.made) if pair and response is not None else None

    def forget(self, item: object) -> None:
        """Forget *item*, which has left the pipelines."""
        self._pairs.pop(id(item), None)
