"""`urljoin` and the path that `urlsplit` finds, sooner for the addresses that pages mostly have.

The library takes both addresses apart and puts the result together, in eight microseconds, to give
back what it was given where an address is absolute, or to put the site in front of it where it
begins with a slash. So it does with all that two expressions match, and is asked for the others.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

# Left out is what it rewrites: dot segments, and the marks of empty parameters, queries, fragments.
_LETTERS: Final = r"A-Za-z0-9_!$&'()*+,=:@~%.\-"
_QUERY: Final = rf"(?:\?[{_LETTERS}/?]+)?"
_SITE: Final = r"https?://[A-Za-z0-9.-]+(?::\d+)?"
_ABSOLUTE: Final = re.compile(rf"{_SITE}((?:/[{_LETTERS}/]*)?){_QUERY}")
_ON_SITE: Final = re.compile(rf"(?!//)(?:/(?!\.)[{_LETTERS}]*)+{_QUERY}")
_BASE: Final = re.compile(rf"({_SITE})(?:[/?#]|\Z)")


def plainly_joined(base: str, address: str) -> str | None:
    """`urljoin(base, address)` where that has a host and needs no parser; else None."""
    if _ABSOLUTE.fullmatch(address):
        return address
    site = _BASE.match(base) if _ON_SITE.fullmatch(address) else None
    return None if site is None else site[1] + address


def path_of(address: str) -> str:
    """The path of *address*; empty where it has none or cannot be read."""
    plain = _ABSOLUTE.fullmatch(address)
    if plain is not None:
        return plain[1]
    try:
        return urlsplit(address).path
    except ValueError:  # an unclosed bracket
        return ""
