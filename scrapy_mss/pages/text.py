"""Strings from pages, normalized so that they can be displayed, compared and stored.

Strategy: everything that comes out of a page passes `clean` once. The result is a single line
without control characters, without lone surrogates (JSON can spell one, and no encoder can write
it), and without the markup and character references that a template escaped twice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar
from unicodedata import combining

from scrapy_mss.markup.references import unescaped

MAX_TEXT: Final = 10_000  # characters; titles, names and descriptions are shorter
MAX_REMEMBERED: Final = 500  # characters: titles and names

# Control characters except white space, surrogates, and invisible ones: zero-width, direction, BOM.
_DROPPED: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\ufffe"
    "\uffff\ud800-\udfff]"
)
_REFERENCE: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MARKUP: Final = re.compile(r"</?[a-zA-Z][^<>]{0,500}>|<!--.{0,500}?-->", re.DOTALL)
_NOT_LETTERS: Final = re.compile(r"[\W_]+")
# By the byte of ASCII, its letter in lower case, its digit, or a space.
_FOLDED: Final = bytes(ord(chr(n).lower()) if chr(n).isalnum() else 32 for n in range(128)) * 2
_NO_LETTERS: Final = bytes(n for n in range(128) if not chr(n).isalnum())

# The punctuation that titles are set with; all of it is none of their letters.
_PUNCTUATION: Final = str.maketrans(dict.fromkeys("‘’“”–—…«»•·\xa0", " "))  # noqa: RUF001

_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


T = TypeVar("T")


def remembered(
    most: int, longest: int = MAX_REMEMBERED
) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keep the last results of a function of a text, but for long texts, which fill the memory."""

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        known = lru_cache(most)(function)

        @wraps(function)
        def result(text: str) -> T:
            return known(text) if len(text) <= longest else function(text)

        return result

    return decorated


def clean(value: str) -> str:
    """The text of *value* on one line."""
    value = value[:MAX_TEXT]
    if "&" in value and _REFERENCE.search(value):
        value = unescaped(value)
        if _REFERENCE.search(value):  # `&amp;#039;` is an apostrophe that was escaped twice
            value = unescaped(value)
    if "<" in value:
        value = _MARKUP.sub(" ", value)
    if "  " not in value and value.isprintable():  # single spaces alone, known twice as fast
        return value.strip(" ")
    line = " ".join(value.split())
    return line if line.isprintable() else " ".join(_DROPPED.sub("", line).split())


def folded(value: str) -> str:
    """Letters and digits only, without case and accents, for comparing two spellings."""
    value = value if value.isascii() else value.translate(_PUNCTUATION)
    if value.isascii():  # as most names and titles are, in half of the time or less
        return b" ".join(value.encode().translate(_FOLDED).split()).decode()
    return _without_accents(value)


@remembered(2**8)  # a page's titles are compared with one another
def _without_accents(value: str) -> str:
    decomposed = unicodedata.normalize("NFKD", value.casefold())
    return _NOT_LETTERS.sub(" ", "".join(c for c in decomposed if not combining(c))).strip()


def spellings(value: str) -> frozenset[str]:
    """The ways to write a name in a domain (`borsenzeitung`, `boersenzeitung`); may be empty."""
    if value.isascii():
        letters = value.encode().translate(_FOLDED, _NO_LETTERS).decode()
        return frozenset((letters,)) if letters else frozenset()
    form = folded(value).replace(" ", "")
    with_umlauts = folded(value.casefold().translate(_UMLAUTS)).replace(" ", "")
    return frozenset(filter(None, (form, with_umlauts)))
