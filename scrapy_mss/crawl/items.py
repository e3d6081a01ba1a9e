"""The items of a crawl: their fields, their pages, what pipelines note of them, their articles.

An item is identified by its id. That of an object which is gone may become another's, so a table
holds its items, or drops its entry when the item is gone. All tables are bounded: an item that
another component replaces may never leave the pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit
from weakref import ref

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Response
from scrapy.signalmanager import SignalManager

from scrapy_mss.crawl.pages import LISTED, PARTIAL, is_fed
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.pages.kinds import ARTICLE
from scrapy_mss.seen.articles import Addresses, SeenArticle
from scrapy_mss.seen.keys import address_key

Note = TypeVar("Note")

# Scrapy's scraper takes 5 MB of responses at once, and each for at least 1 KiB.
MAX_ITEMS: Final = 2**13
MAX_PAGES: Final = 100  # that are compared; items of a spider's own may name any number

# Signals of a crawl, by the methods of what listens to them.
HANDLERS: Final = {
    "scraped": signals.item_scraped,
    "dropped": signals.item_dropped,
    "item_failed": signals.item_error,
    "spider_failed": signals.spider_error,
    "request_dropped": signals.request_dropped,
}


def listen(part: object, to: SignalManager) -> None:
    """Have *part* told what becomes of items and requests, if it has methods for that."""
    for name, signal in HANDLERS.items():
        if hasattr(part, name):
            to.connect(getattr(part, name), signal)


def adapted(item: object) -> ItemAdapter | None:
    """The fields of *item* by name; None if it is not an item that Scrapy knows."""
    return ItemAdapter(item) if ItemAdapter.is_item(item) else None


def possible(fields: ItemAdapter, names: Iterable[str]) -> frozenset[str]:
    """Those of the *names* of which an item can have a field; a dict can have any."""
    names = frozenset(names)
    return names if isinstance(fields.item, dict) else names.intersection(fields.field_names())


def put_known(item: object, values: Mapping[str, object]) -> None:
    """Set those fields that *item* has room for and no value of, if its class takes the value.

    A field without a name is left out.
    """
    fields = adapted(item)
    if fields is None:
        return
    names = possible(fields, values)
    for name, value in values.items():
        if name and name in names and not fields.get(name):
            with suppress(AttributeError, KeyError, TypeError, ValueError):
                fields[name] = value


@dataclass(frozen=True, slots=True)
class ItemPage:
    """The page of an item, and whether the item was made by us or by the spider."""

    response: HtmlResponse
    made: bool


class RejectedItemError(DropItem):
    """Drops an item whose fate is noted."""

    def __init__(self, message: str) -> None:
        super().__init__(message, log_level="DEBUG")


class _Noted(NamedTuple):
    key: int  # the id of the item
    item: Callable[[], object]  # None when it is gone
    page: Callable[[], Response | None]  # None when it is gone
    note: Any


class ItemNotes(Generic[Note]):
    """What is noted of items on their way through a crawl.

    Later pipelines may edit, move or replace what an item has, and the item itself. A note is found
    by the object that was noted or, where another object has left in its place, by the response of
    both. Every item that passes is noted, so that none is taken for another one of its page. A note
    is dropped when its item leaves the pipelines, or with its page.
    """

    def __init__(self) -> None:
        self._notes: dict[int, _Noted] = {}  # by the id of the item, oldest first

    def put(self, item: object, response: Response | None, note: Note | None) -> None:
        """Take a *note* of *item*, of the page of *response*; None says that there is none."""
        key = id(item)

        def forget(gone: object) -> None:
            noted = self._notes.get(key)
            if noted is not None and (gone is noted.page or gone is noted.item):
                self._notes.pop(key, None)

        page = _no_page if response is None else ref(response, forget)
        self._notes.pop(key, None)  # so that the new one is the youngest
        self._notes[key] = _Noted(key, self._held(item, forget), page, note)
        if len(self._notes) > MAX_ITEMS:
            self._notes.pop(self._all()[0].key, None)

    def _held(self, item: object, _forget: Callable[[object], None]) -> Callable[[], object]:
        """What gives *item* back, which is kept: a note counts when the item is gone, too."""
        return lambda: item

    def get(self, item: object) -> Note | None:
        noted = self._notes.get(id(item))
        return None if noted is None else noted.note

    def pop(self, item: object, response: Response | None) -> Note | None:
        noted = self._notes.pop(id(item), None)
        if noted is None and response is not None:
            same = (each.key for each in self._all() if each.page() is response)
            noted = self._notes.pop(next(same, 0), None)  # 0 is the id of none
        return None if noted is None else noted.note

    def __iter__(self) -> Iterator[Note]:
        return (noted.note for noted in self._all() if noted.note is not None)

    def _all(self) -> list[_Noted]:
        """A copy, made in one step: a note goes whenever its page is collected."""
        return [*self._notes.values()]


def _no_page() -> None:
    """Stands for a reference to the page of an item without one."""


class ItemPages(ItemNotes[bool]):
    """The pages of items, each with whether the item was made by us or by the spider.

    Items are held weakly where their class allows that: one may have its own page, and another
    object may have taken its place.
    """

    def _held(self, item: object, forget: Callable[[object], None]) -> Callable[[], object]:
        try:
            return ref(item, forget)
        except TypeError:
            return super()._held(item, forget)

    def page_of(self, item: object) -> ItemPage | None:
        """The page of *item*, if it is the object that was noted."""
        noted = self._notes.get(id(item))
        response = None if noted is None else noted.page()
        if noted is None or noted.item() is not item or not isinstance(response, HtmlResponse):
            return None
        return ItemPage(response, noted.note)

    def forget(self, item: object) -> None:
        self._notes.pop(id(item), None)


@dataclass(frozen=True, slots=True)
class ItemArticle:
    """The article in an item, as it is compared with seen articles.

    *listed* is the date in the list that named it. An article is partial if some of its further
    *pages* could not be downloaded this time; if it *is_fed*, none of them.
    """

    addresses: Addresses
    title: str
    text: str
    listed: int
    pages: tuple[str, ...] = ()
    is_partial: bool = False
    is_fed: bool = False
    kind: str = ARTICLE
    has_new_entries: bool = False

    @property
    def own_keys(self) -> tuple[int, ...]:
        """The keys of the addresses where it is, the item's first."""
        return tuple(dict.fromkeys(map(address_key, self.addresses.own)))

    @property
    def page_keys(self) -> tuple[int, ...]:
        """The keys of the addresses where it and its further pages are, the item's first."""
        return tuple(dict.fromkeys((*self.own_keys, *map(address_key, self.pages))))

    @property
    def keys(self) -> set[int]:
        canonical = (self.addresses.canonical,) if self.addresses.canonical else ()
        return {address_key(url) for url in (*self.addresses.own, *canonical)}


@dataclass(frozen=True, slots=True)
class NewArticle:
    """An article whose item is in the pipelines, and what counts as seen once it has left them."""

    article: ItemArticle
    seen: SeenArticle
    keys: frozenset[int]
    # The same article at other addresses, which was dropped meanwhile and counts as seen with it.
    again: list[tuple[ItemArticle, SeenArticle]] = field(default_factory=list)


def article_of(
    item: object, response: Response | None, name_of: Callable[[str], str]
) -> ItemArticle | None:
    """The article in *item*; None if it has no text, or no address is known of it."""
    fields = adapted(item)
    if fields is None:
        return None
    names = ("url", "canonical_url", "title", "text")
    url, canonical, title, text = (str(fields.get(name_of(name)) or "") for name in names)
    of_feed = is_fed(response)  # where the page is, may be that of a wall
    of_page = addresses_of(response) if response is not None and not of_feed else ()
    # One response may have several items, each with an address of its own.
    is_of_page = not url or address_key(url) in map(address_key, of_page)
    own = tuple(dict.fromkeys((*filter(None, (url,)), *(of_page if is_of_page else ()))))
    if not own or not text:
        return None
    believed = canonical if _is_article_address(canonical, own[0]) else ""
    listed = response.meta.get(LISTED, 0) if response is not None and is_of_page else 0
    named = fields.get(name_of("pages"))
    pages = named[:MAX_PAGES] if isinstance(named, list | tuple) else ()
    return ItemArticle(
        Addresses(own, believed),
        title,
        text,
        listed,  # none of a feed's text: so the page is due again without a later date
        tuple(each for each in pages if isinstance(each, str)),
        is_partial=is_of_page and is_partial(response),
        is_fed=of_feed,
        kind=str(fields.get(name_of("kind")) or ARTICLE),
        has_new_entries=bool(fields.get(name_of("new_entries"))),
    )


def is_partial(response: Response | None) -> bool:
    """Whether the article of *response* lacks pages that another crawl may be able to download."""
    return response is not None and response.meta.get(PARTIAL) == response.url


def addresses_of(response: Response) -> tuple[str, ...]:
    """The address of *response*, and those that it was redirected from."""
    request = response.request
    return (response.url, *(request.meta.get("redirect_urls", ()) if request else ()))


def _is_article_address(canonical: str, url: str) -> bool:
    """Whether the address that a page declares can be believed: some declare the front page's."""
    return (
        bool(canonical)
        and site_of(canonical) == site_of(url)
        and bool(urlsplit(canonical).path.strip("/"))
    )
