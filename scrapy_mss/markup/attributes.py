"""The names that a page's author gave to elements: words of class, id and a few attributes more.

``<div class="article-body__text" id="story3">`` is a div named article, body, text, story. Names
tell more of a modern page than its tags do, and they are alike on many sites. Digits and signs
part words, so that numbered elements share their names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.elements import Places, elements
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokens import Bools, Tokens

MOST_NAMES = 12  # of one element that count
TEMPLATE = "template"  # what a script may copy into the page
LONGEST_TAG = 2048  # characters of a tag that are looked at

_ATTRIBUTE = re.compile(
    r"\s(?:class|id|itemprop|role|data-testid|data-component)\s*=\s*"
    r"""("[^"]*"|'[^']*'|[^\s>"']+)""",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_HIDDEN = re.compile(
    r"\shidden[\s=/>]|"
    r"""\sstyle\s*=\s*["'][^"'>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden)""",
    re.IGNORECASE,
)


class Names(NamedTuple):
    """A page's block elements and what they are called.

    ``element`` has the opening token of each element, ``key`` a hash of its tag and names
    together; ``word`` has a hash of each single name and ``of`` the number of its element.
    ``hidden`` is true for elements that are not shown until a script shows them.
    """

    element: Places
    key: NDArray[np.uint32]
    word: NDArray[np.uint32]
    of: NDArray[np.intp]
    hidden: Bools


def words_of_tag(tag: str) -> list[str]:
    """The names in the source of an opening *tag*, each once, in their order."""
    found = _WORD.findall(" ".join(_ATTRIBUTE.findall(tag)))
    return list(dict.fromkeys(map(str.lower, found)))[:MOST_NAMES]


@lru_cache(2**13)  # the tags of a site's templates come again on each of its pages
def _known(name: str, tag: str) -> tuple[int, list[int], bool]:
    """The key of an element, its names' hashes, and whether it is hidden."""
    words = words_of_tag(tag)
    key = crc32(" ".join((name, *words)).encode())
    hidden = name == TEMPLATE or _HIDDEN.search(tag) is not None
    return key, [crc32(word.encode()) for word in words], hidden


def names_of(tokens: Tokens) -> Names:
    """What the block elements of a page are called."""
    opens = np.flatnonzero(elements(tokens, BLOCK_TAGS))
    starts = tokens.clean_start[opens]
    ends = np.minimum(tokens.clean_end[opens], starts + LONGEST_TAG)
    clean = tokens.clean
    known = [
        _known(TAG_NAMES[tag], clean[start:end])
        for tag, start, end in zip(
            tokens.tag[opens].tolist(), starts.tolist(), ends.tolist(), strict=True
        )
    ]
    keys = np.fromiter((key for key, _, _ in known), np.uint32, len(known))
    counts = np.fromiter((len(words) for _, words, _ in known), np.intp, len(known))
    words = np.array(list(chain.from_iterable(words for _, words, _ in known)), np.uint32)
    hidden = np.fromiter((hidden for _, _, hidden in known), np.bool_, len(known))
    return Names(opens, keys, words, np.repeat(np.arange(len(known)), counts), hidden)
