"""Which page an item was yielded for.

A pair holds its item, so that as long as the pair exists no other object can have the item's id.
It is forgotten when the item leaves the pipelines or when the crawl lets go of the page, whichever
comes first; the page itself is held weakly. An item that holds its own response and is replaced by
another pipeline does neither: that is what the bound is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import ref

from scrapy.http import HtmlResponse


@dataclass(frozen=True, slots=True)
class ItemPage:
    """The page of an item, and whether scrapy-mss made the item or the spider did."""

    response: HtmlResponse
    made: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    item: object
    response: ref[HtmlResponse]
    made: bool


MAX_PAIRS = 2**16  # far above the items that Scrapy has in its pipelines at once


class ItemPages:
    """The pages of the items that are on their way through the pipelines."""

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
        if len(self._pairs) > MAX_PAIRS:
            del self._pairs[next(iter(self._pairs))]

    def page_of(self, item: object) -> ItemPage | None:
        """The page of *item*, if it is the very object that was paired."""
        pair = self._pairs.get(id(item))
        if pair is None or pair.item is not item:
            return None
        response = pair.response()
        return None if response is None else ItemPage(response, pair.made)

    def forget(self, item: object) -> None:
        """Forget *item*, which has left the pipelines."""
        self._pairs.pop(id(item), None)
