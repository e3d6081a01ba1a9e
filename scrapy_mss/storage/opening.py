"""The store that a setting names: a kind of store for each beginning of an address."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from scrapy_mss.storage.server_address import SCHEMES, is_server
from scrapy_mss.storage.tables import Store

STORE_FOLDER: Final = "mss"  # in the project's data folder
FOLDER: Final = ""  # what is no address
STORES: Final = {
    FOLDER: "scrapy_mss.storage.sqlite_store.SQLiteStore",
    **dict.fromkeys(SCHEMES, "scrapy_mss.storage.redis_store.RedisStore"),
}


def store_at(named: str) -> Store:
    """The store in the folder or at the address *named*."""
    scheme = named.partition("://")[0].lower() if is_server(named) else FOLDER
    module, _, kind = STORES[scheme].rpartition(".")
    store: Store = getattr(import_module(module), kind)(named)
    return store
