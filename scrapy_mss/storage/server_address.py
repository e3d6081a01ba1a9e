"""The address of a Redis server, given in a setting instead of a folder.

The format is that of redis-py plus a prefix for all keys, `redis://host:6379/0?prefix=news`. Any
other address is an error: used as a folder, it would silently be shared with nobody.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from scrapy_mss.storage.tables import StoreError

# Ours, and what redis-py calls them.
SCHEMES: Final = {
    "redis": "redis",
    "rediss": "rediss",
    "unix": "unix",
    "valkey": "redis",
    "valkeys": "rediss",
}
DEFAULT_PREFIX: Final = "scrapy-mss"

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)  # C:// is a drive


class Address(NamedTuple):
    """Where a server is, and what the names of our keys begin with."""

    url: str  # without the prefix, for redis-py
    prefix: str
    shown: str  # without passwords, for messages and logs

    @classmethod
    def of(cls, named: str) -> Address:
        """The address in a setting."""
        given, _, rest = named.partition("://")
        scheme, where = given.lower(), _shown(rest)
        try:
            parts = urlsplit(named)
            asked = parse_qsl(parts.query, keep_blank_values=True)
        except ValueError:
            raise wrong_address(f"{scheme}://{where}") from None
        prefix = dict(asked).get("prefix") or DEFAULT_PREFIX
        others = urlencode([(key, value) for key, value in asked if key != "prefix"])
        url = urlunsplit(parts._replace(scheme=SCHEMES[scheme], query=others))
        return cls(url, prefix, f"{scheme}://{where}?prefix={prefix}")


def is_server(named: str) -> bool:
    """Whether a setting names a server, not a folder; another kind of address is an error."""
    found = _SCHEME.match(named)
    if found is None:
        return False
    if found[1].lower() in SCHEMES:
        return True
    ours = ", ".join(f"{each}://" for each in SCHEMES)
    raise StoreError(
        f"expected a folder, or the address of a server, which begins with one of {ours}; got "
        f"{found[0]}… Of servers behind Sentinel, name the primary; a cluster cannot be used"
    )


def wrong_address(shown: str) -> StoreError:
    """An error that does not repeat what was given: a password may be in it."""
    return StoreError(
        f"{shown}: expected an address such as redis://user:password@host:6379/0?prefix=news. "
        "Escape what is special in a password, as in %40 for @"
    )


def _shown(rest: str) -> str:
    """What of an address can be told, also if a password in it is not escaped."""
    before, _, asked = rest.partition("?")
    if "@" in asked:  # of a password that is before the host, or of one that is asked for
        return "…"
    return before.rpartition("@")[2]
