"""The store that a setting names: a folder, or the address of a Redis server.

An address of another kind is an error: used as a folder, it would silently be shared with nobody.
"""

from __future__ import annotations

import re
from typing import Final

from scrapy_mss.storage.redis_store import RedisStore
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import Store, StoreError

STORE_FOLDER: Final = "mss"  # in the project's data folder
SERVERS: Final = ("redis", "rediss", "unix", "valkey", "valkeys")  # schemes of their addresses

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)  # C:// is a drive


def store_at(named: str) -> Store:
    """The store in the folder or at the address *named*."""
    return RedisStore(named) if is_server(named) else SQLiteStore(named)


def is_server(named: str) -> bool:
    """Whether a setting names a server, not a folder; another kind of address is an error."""
    found = _SCHEME.match(named)
    if found is None:
        return False
    if found[1].lower() in SERVERS:
        return True
    ours = ", ".join(f"{each}://" for each in SERVERS)
    raise StoreError(
        f"expected a folder, or the address of a server, which begins with one of {ours}; got "
        f"{found[0]}… Of servers behind Sentinel, name the primary; a cluster cannot be used"
    )
