"""The fields of an item by name, for any class of item.

`itemadapter` supports all kinds of items. It imports every library whose items it supports, such as
pydantic, if installed: 7 MB and 10,000 objects for the garbage collector, needed only for
such items. Our own `Article` is a plain object, and most crawls have no other items.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from scrapy_mss.items import ARTICLE_FIELDS, Article


class ItemFields(Protocol):
    """What an item has in its fields."""

    def has(self, name: str) -> bool:
        """Whether the item can have a field of that *name*."""

    def get(self, name: str) -> object:
        """The value of the field *name*; None if there is no such field or no value."""

    def put(self, name: str, value: object) -> None:
        """Set a field; an item that rejects the value raises what its class raises for that."""


class _ArticleFields:
    """Those of an `Article`."""

    def __init__(self, item: Article) -> None:
        self._item = item

    def has(self, name: str) -> bool:
        return name in ARTICLE_FIELDS

    def get(self, name: str) -> object:
        return getattr(self._item, name) if name in ARTICLE_FIELDS else None

    def put(self, name: str, value: object) -> None:
        setattr(self._item, name, value)


class _AdaptedFields:
    """Those of an item that `itemadapter` knows; a dict has room for any."""

    def __init__(self, item: object) -> None:
        from itemadapter import ItemAdapter

        self._adapter = ItemAdapter(item)
        self._names = None if isinstance(item, dict) else frozenset(self._adapter.field_names())

    def has(self, name: str) -> bool:
        return self._names is None or name in self._names

    def get(self, name: str) -> object:
        return self._adapter.get(name)

    def put(self, name: str, value: object) -> None:
        self._adapter[name] = value


def fields_of(item: object) -> ItemFields | None:
    """The fields of *item*; None if it is none that Scrapy knows."""
    if type(item) is Article:  # a class of a user may refuse what it is given
        return _ArticleFields(item)
    from itemadapter import ItemAdapter

    return _AdaptedFields(item) if ItemAdapter.is_item(item) else None


def put_known(item: object, values: Mapping[str, object]) -> None:
    """Set those fields that *item* has room for and no value of, if its class takes the value.

    A field without a name is left out.
    """
    fields = fields_of(item)
    for name, value in values.items():
        if fields is not None and name and fields.has(name) and not fields.get(name):
            with suppress(AttributeError, KeyError, TypeError, ValueError):
                fields.put(name, value)
