"""The article in an item, for comparison with seen articles: addresses, title and text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy_mss.crawl.item_fields import fields_of
from scrapy_mss.crawl.pages import LISTED, PARTIAL
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.seen.articles import Addresses, SeenArticle
from scrapy_mss.seen.keys import address_key

if TYPE_CHECKING:
    from scrapy.http import Response

MAX_PAGES: Final = 100  # that are compared; items of a spider's own may name any number


@dataclass(frozen=True, slots=True)
class ItemArticle:
    """What is compared of an article, its addresses, and the date in the list that named it."""

    addresses: Addresses
    title: str
    text: str
    listed: int
    pages: tuple[str, ...] = ()  # its further ones
    is_partial: bool = False  # some of these were not to be had this time

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
        """The keys of all addresses."""
        canonical = (self.addresses.canonical,) if self.addresses.canonical else ()
        return {address_key(url) for url in (*self.addresses.own, *canonical)}


@dataclass(frozen=True, slots=True)
class NewArticle:
    """An article whose item is in the pipelines, and what counts as seen once it has left them."""

    article: ItemArticle
    seen: SeenArticle
    keys: frozenset[int]


def article_of(
    item: object, response: Response | None, name_of: Callable[[str], str]
) -> ItemArticle | None:
    """The article in *item*; None if there is no text, or nobody knows where it is from."""
    fields = fields_of(item)
    if fields is None:
        return None
    names = ("url", "canonical_url", "title", "text")
    url, canonical, title, text = (str(fields.get(name_of(name)) or "") for name in names)
    of_page = addresses_of(response) if response is not None else ()
    # One response may have several items, each with an address of its own.
    is_of_page = not url or address_key(url) in map(address_key, of_page)
    own = tuple(dict.fromkeys((*filter(None, (url,)), *(of_page if is_of_page else ()))))
    if not own or not text:
        return None
    believed = canonical if _is_address_of_an_article(canonical, own[0]) else ""
    listed = response.meta.get(LISTED, 0) if response is not None and is_of_page else 0
    named = fields.get(name_of("pages"))
    pages = named[:MAX_PAGES] if isinstance(named, list | tuple) else ()
    return ItemArticle(
        Addresses(own, believed),
        title,
        text,
        listed,
        tuple(each for each in pages if isinstance(each, str)),
        is_partial=is_of_page and is_partial(response),
    )


def is_partial(response: Response | None) -> bool:
    """Whether the article of *response* lacks pages that may be had another time."""
    return response is not None and response.meta.get(PARTIAL) == response.url


def addresses_of(response: Response) -> tuple[str, ...]:
    """Where *response* is from, and whence it was redirected."""
    request = response.request
    return (response.url, *(request.meta.get("redirect_urls", ()) if request else ()))


def _is_address_of_an_article(canonical: str, url: str) -> bool:
    """Whether a page's own address can be believed: some sites give that of the front page."""
    return (
        bool(canonical)
        and site_of(canonical) == site_of(url)
        and bool(urlsplit(canonical).path.strip("/"))
    )
