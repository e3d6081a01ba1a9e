"""Addresses and texts as 64-bit hashes, so that nothing else is stored.

Among ten million addresses, two have the same hash with a probability of 3 in a million; then one
article is mistaken for another and is not emitted.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from w3lib.url import canonicalize_url

# Parameters that tell where a reader came from; the page is the same without them.
TRACKING: Final = re.compile(
    r"utm_\w+|at_\w+|mc_[ce]id|fbclid|gclid|dclid|msclkid|yclid|igshid|srsltid|xtor|ns_\w+|cmpid"
)
_WORDS = re.compile(r"\w+")


def canonical(url: str) -> str:
    """*url* without its scheme, fragment, tracking and order, which do not change the page."""
    try:
        whole = canonicalize_url(url)
        parts = urlsplit(whole)
    except ValueError:  # an unclosed bracket, a port that is no number
        return url
    kept = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if not TRACKING.fullmatch(key.lower())
    ]
    host = parts.netloc.removesuffix(":80").removesuffix(":443")
    path = parts.path.rstrip("/") or "/"
    return f"{host}{path}?{urlencode(kept)}" if kept else f"{host}{path}"


def address_key(url: str) -> int:
    """The key of the page at *url*."""
    return _number(canonical(url))


def text_key(text: str | None) -> int:
    """The key of the wording of *text*: its words, whatever is between them."""
    return _number(" ".join(_WORDS.findall((text or "").lower())))


def title_key(title: str | None) -> int:
    """The key of the wording of a title, of 32 bits: it only tells whether it has changed."""
    return text_key(title) >> 32


def _number(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def packed(key: int) -> bytes:
    """A *key* as the key of a row."""
    return key.to_bytes(8, "little", signed=True)
