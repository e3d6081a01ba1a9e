"""Maps each item to the page for which it was yielded.

A pair identifies its item by object identity: through a weak reference or, for items such as dicts
that do not support one, by holding the item, so that no other object can get its id while the pair
exists. Pages are held weakly. A pair is removed with its item, with its page, or when the item
leaves the pipelines. None of this happens for a dict that holds its own response and is replaced
by another pipeline; the bound is for those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import ref

from scrapy.http import HtmlResponse

MAX_PAIRS = 2**13  # Scrapy's scraper takes 5 MB of responses at once, and each for at least 1 KiB


@dataclass(frozen=True, slots=True)
class ItemPage:
    """The page of an item, and whether the item was made by us or by the spider."""

    response: HtmlResponse
    made: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    item: Callable[[], object]  # None when it is gone
    response: Callable[[], HtmlResponse | None]
    made: bool


class ItemPages:
    """The pages of the items that are on their way through a crawl."""

    def __init__(self) -> None:
        self._pairs: dict[int, _Pair] = {}  # by the id of the item, oldest first

    def pair(self, item: object, response: HtmlResponse, *, made: bool) -> None:
        """Remember that *item* is of *response*."""
        key = id(item)

        def forget(_gone: object) -> None:
            if self._pairs.get(key) is pair:
                del self._pairs[key]

        pair = _Pair(_reference(item, forget), ref(response, forget), made)
        self._pairs.pop(key, None)  # so that the new one is the youngest
        self._pairs[key] = pair
        if len(self._pairs) > MAX_PAIRS:
            del self._pairs[next(iter(self._pairs))]

    def page_of(self, item: object) -> ItemPage | None:
        """The page of *item*, if it is the very object that was paired."""
        pair = self._pairs.get(id(item))
        if pair is None or pair.item() is not item:
            return None
        response = pair.response()
        return None if response is None else ItemPage(response, pair.made)

    def forget(self, item: object) -> None:
        """Forget *item*, which has left the pipelines."""
        if self.page_of(item) is not None:
            del self._pairs[id(item)]


def _reference(item: object, forget: Callable[[object], None]) -> Callable[[], object]:
    """What gives *item* back, weakly where its class allows that."""
    try:
        return ref(item, forget)
    except TypeError:
        return lambda: item
