"""Strings as pages hold them, to strings that can be shown and stored.

Strategy: everything that comes out of a page passes `clean` once: one line, no control
characters, no half of a surrogate pair (JSON can spell one, and no encoder can write it), and no
markup or character references where a template escaped its text twice.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final
from urllib.parse import urljoin, urlsplit

from lxml import etree

MAX_TEXT: Final = 10_000  # what is longer than that is no title, name or description
MAX_URL: Final = 4_096  # data: URLs go to megabytes; servers refuse the rest

# Control characters but white space, surrogates, and the invisible: zero-width, direction, BOM.
_DROPPED: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\ufffe"
    "\uffff\ud800-\udfff]"
)
_REFERENCE: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MARKUP: Final = re.compile(r"</?[a-zA-Z][^<>]{0,500}>|<!--.{0,500}?-->", re.DOTALL)
_NOT_LETTERS: Final = re.compile(r"[\W_]+")

_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})

# Their text is not shown; the others are shown, each on a line of its own.
HIDDEN: Final = frozenset({"script", "style", "noscript", "template", "svg"})
BREAKS: Final = frozenset("address br dd div dt h1 h2 h3 h4 li p section td th tr".split())


def clean(value: str) -> str:
    """The text of *value* on one line."""
    value = value[:MAX_TEXT]
    for _ in range(2):  # `&amp;#039;` is an apostrophe that was escaped twice
        if not _REFERENCE.search(value):
            break
        value = html.unescape(value)
    if "<" in value:
        value = _MARKUP.sub(" ", value)
    return " ".join(_DROPPED.sub("", value).split())


def folded(value: str) -> str:
    """Letters and digits alone, without case and accents: what two spellings have in common."""
    decomposed = unicodedata.normalize("NFKD", value.casefold())
    kept = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _NOT_LETTERS.sub(" ", kept).strip()


def squeezed(value: str) -> str:
    """As `folded`, without spaces: `The Daily News` as a domain has it."""
    return folded(value).replace(" ", "")


def spellings(value: str) -> frozenset[str]:
    """`squeezed`, and as German domains have it: `boersenzeitung` for Börsen-Zeitung."""
    return frozenset({squeezed(value), squeezed(value.casefold().translate(_UMLAUTS))})


def text_of(element: etree._Element) -> str:
    """The text that *element* shows, on one line."""
    parts: list[str] = []
    size = hidden = 0
    for event, node in etree.iterwalk(element, events=("start", "end")):
        tag = node.tag
        if event == "start":
            hidden += tag in HIDDEN
            parts.append(" " if tag in BREAKS else "")
            piece = node.text
        else:
            hidden -= tag in HIDDEN
            piece = node.tail if node is not element else None
        if piece and not hidden:
            parts.append(piece)
            size += len(piece)
        if size > MAX_TEXT:
            break
    return clean("".join(parts))


def absolute(value: str, base: str | None) -> str | None:
    """The http or https address that *value* is, seen from *base*."""
    value = value.strip()
    if not value or len(value) > MAX_URL:
        return None
    try:
        address = urljoin(base or "", clean(value).replace(" ", "%20"))
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:  # brackets that are no IPv6 address
        return None
    return address if parts.scheme in ("http", "https") and host else None


def domain_labels(url: str | None) -> tuple[str, ...]:
    """The labels of the host of *url*, without `www` and the last: `bbc`, `co` for bbc.co.uk."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:
        return ()
    return tuple(label for label in host.split(".")[:-1] if label != "www")
