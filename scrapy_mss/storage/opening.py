"""The store that a setting names: a folder, or the address of a Redis server.

An address of another kind is an error: used as a folder, it would silently be shared with nobody.
"""

from __future__ import annotations

import re
from pkgutil import resolve_name
from typing import Final

from scrapy_mss.storage.tables import Store, StoreError

STORE_FOLDER: Final = "mss"  # in the project's data folder
FOLDER_STORE: Final = "scrapy_mss.storage.sqlite_store.SQLiteStore"
SERVER_STORES: Final = dict.fromkeys(
    ("redis", "rediss", "unix", "valkey", "valkeys"), "scrapy_mss.storage.redis_store.RedisStore"
)

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)  # C:// is a drive


def store_at(named: str) -> Store:
    """The store in the folder or at the address *named*."""
    kind = SERVER_STORES[named.partition("://")[0].lower()] if is_server(named) else FOLDER_STORE
    store: Store = resolve_name(kind)(named)
    return store


def is_server(named: str) -> bool:
    """Whether a setting names a server, not a folder; another kind of address is an error."""
    found = _SCHEME.match(named)
    if found is None:
        return False
    if found[1].lower() in SERVER_STORES:
        return True
    ours = ", ".join(f"{each}://" for each in SERVER_STORES)
    raise StoreError(
        f"expected a folder, or the address of a server, which begins with one of {ours}; got "
        f"{found[0]}… Of servers behind Sentinel, name the primary; a cluster cannot be used"
    )
