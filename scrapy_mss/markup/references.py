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
_LONGEST = 40  # of those that mean a character; the longest name has 33


def decode(reference: str) -> str:
    """The text that a character reference stands for; the reference itself if for none."""
    if len(reference) > _LONGEST:
        return "\ufffd" if reference.startswith("&#") else reference
    return _decode(reference)


@lru_cache(2**12)  # pages repeat few references
def _decode(reference: str) -> str:
    """What `html.unescape` gives, which for a name that is none tries all of its beginnings."""
    if reference[1] == "#":
        return unescape(reference)
    name = reference[1:]
    if name in html5:
        return html5[name]
    bare = _BARE_NAME.match(name)
    return html5[bare[0]] + name[bare.end() :] if bare else reference


def decode_all(text: str) -> str:
    """*text* with its character references decoded; no length of a number can make it fail."""
    if "&" not in text:
        return text
    return ANY_REFERENCE.sub(lambda found: decode(found[0]), text)
