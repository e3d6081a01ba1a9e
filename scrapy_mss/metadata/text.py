"""Strings as pages hold them, to strings that can be shown and stored.

Strategy: everything that comes out of a page passes `clean` once: one line, no control
characters, no half of a surrogate pair (JSON can spell one, and no encoder can write it), and no
markup or character references where a template escaped its text twice.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Final
from unicodedata import combining
from urllib.parse import urljoin, urlsplit

from lxml import etree

from scrapy_mss.metadata.sites import site_of

Element = etree._Element  # noqa: SLF001 - lxml's class of elements has no other name

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
        if "&" not in value or not _REFERENCE.search(value):
            break
        value = html.unescape(value)
    if "<" in value:
        value = _MARKUP.sub(" ", value)
    if not value.isprintable():
        value = _DROPPED.sub("", value)
    return " ".join(value.split())


def folded(value: str) -> str:
    """Letters and digits alone, without case and accents: what two spellings have in common."""
    value = value.casefold()
    if not value.isascii():
        value = "".join(c for c in unicodedata.normalize("NFKD", value) if not combining(c))
    return _NOT_LETTERS.sub(" ", value).strip()


def spellings(value: str) -> frozenset[str]:
    """Two ways to write a name in a domain: `borsenzeitung`, `boersenzeitung`; none of nothing."""
    expanded = value if value.isascii() else value.casefold().translate(_UMLAUTS)
    return frozenset(folded(each).replace(" ", "") for each in {value, expanded}) - {""}


def text_of(element: Element) -> str:
    """The text that *element* shows, on one line."""
    parts: list[str] = []
    size = 0
    for piece, _ in shown(element):
        parts.append(piece)
        size += len(piece)
        if size > MAX_TEXT:
            break
    return clean("".join(parts))


def shown(element: Element) -> Iterator[tuple[str, Element]]:
    """The pieces of text in *element*, each with the element that it stands in.

    A piece of nothing but a space stands where a line begins or ends.
    """
    hidden = 0
    for event, node in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        starts, ends = event == "start", event == "end"
        if starts or ends:
            hidden += (starts - ends) * (node.tag in HIDDEN)
            if node.tag in BREAKS:
                yield " ", node
        if node is element and not starts:
            return
        piece = node.text if starts else node.tail
        home = node if starts else node.getparent()
        if piece and not hidden and home is not None:
            yield piece, home


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


def is_web_address(url: str) -> bool:
    """Whether *url* is an absolute http or https address."""
    return len(url) <= MAX_URL and absolute(url, None) is not None


def names_in_host(url: str | None) -> list[str]:
    """What the host of *url* may call the site: itself and its labels but the public suffix."""
    try:
        host = (urlsplit(url or "").hostname or "").removeprefix("www.").rstrip(".")
    except ValueError:
        return []
    if not host:
        return []
    labels = host.split(".")
    n_suffix = site_of(host).count(".")
    labels = labels[: len(labels) - n_suffix]
    return [host, *labels, "".join(labels)]
