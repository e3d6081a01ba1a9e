"""Character references: how they are written, and the text that they stand for."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from html.entities import html5
from itertools import groupby
from operator import itemgetter

# References that stand without a semicolon: the standard's closed list, in groups of one first
# letter, so that a "&" before something else costs one look and not one for each name.
BARE_NAMES = tuple(sorted(name for name in html5 if not name.endswith(";")))
_BARE = "|".join(
    f"{letter}(?:{'|'.join(sorted((name[1:] for name in names), key=len, reverse=True))})"
    for letter, names in groupby(BARE_NAMES, itemgetter(0))
)
REFERENCE = (
    r"&(?:#(?:[0-9]+|[xX][0-9a-fA-F]+);?"
    rf"|(?=[a-zA-Z])(?:[a-zA-Z][a-zA-Z0-9]*;|{_BARE}))"
)
ANY_REFERENCE = re.compile(REFERENCE)
_BARE_NAME = re.compile(_BARE)
# Numbers that are their character's: no control, half of a surrogate pair, or noncharacter.
_PLAIN, _PLAIN_1, _PLAIN_2 = range(0xA0, 0xD800), range(0x10000, 0x1FFFE), range(0x20000, 0x2FFFE)
# What data in attributes is full of, thousands to a value. "&" comes last, and so begins no other.
_FREQUENT = {"&quot;": '"', "&#34;": '"', "&#39;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}
_LONG_NUMBER, _BEYOND = re.compile(r"&#[0-9]{40,}"), "&#x110000"  # one of no character
_LONGEST = 40  # of those that mean a character; the longest name has 33


def decode(reference: str) -> str:
    """The text that a character reference stands for; the reference itself if for none."""
    if len(reference) > _LONGEST:
        return "\ufffd" if reference[1] == "#" else reference
    return _decoded(reference)


@lru_cache(2**12)
def _decoded(reference: str) -> str:
    if reference[1:2] == "#":
        return _number(reference)
    text = html5.get(reference[1:])
    if text is not None:
        return text
    bare = _BARE_NAME.match(reference, 1)
    return html5[bare[0]] + reference[bare.end() :] if bare else reference


def _number(reference: str) -> str:
    """What `html.unescape` gives, in half its time for those that stand for their character."""
    digits = reference[2:].rstrip(";").lower()
    try:
        number = int(digits.lstrip("x"), 16 if "x" in digits else 10)
    except ValueError:  # a run of "&" and "#"
        return unescape(reference)
    is_plain = number in _PLAIN or number in _PLAIN_1 or number in _PLAIN_2
    return chr(number) if is_plain else unescape(reference)


def unescaped(text: str) -> str:
    """`html.unescape`, which fails on numbers of more digits than Python reads (4,300)."""
    try:
        return unescape(text)
    except ValueError:
        return unescape(_LONG_NUMBER.sub(_BEYOND, text))


def decode_value(value: str) -> str:
    """The *value* of an attribute decoded: the "&copy=1" of an address is no copyright sign."""
    n_references = value.count("&")
    if n_references == value.count("&amp;"):  # as in most addresses
        return value.replace("&amp;", "&") if n_references else value
    if n_references == sum(map(value.count, _FREQUENT)):
        for reference, text in _FREQUENT.items():
            value = value.replace(reference, text)
        return value
    return ANY_REFERENCE.sub(_decoded_in_value, value)


def _decoded_in_value(found: re.Match[str]) -> str:
    reference, text = found[0], found.string
    if reference[1] == "#" or (reference[1:] in html5 and reference.endswith(";")):
        return decode(reference)
    follows = text[found.end() : found.end() + 1]
    if reference.endswith(";") or follows == "=" or follows.isalnum():
        return reference
    return decode(reference)
