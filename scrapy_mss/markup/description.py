"""The sentence or two in which a page describes itself to those who find it or share it.

They are often the lead of the article, or its first paragraph, word for word.
"""

from __future__ import annotations

import re

import numpy as np

from scrapy_mss.markup.attributes import LONGEST_TAG
from scrapy_mss.markup.elements import named
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import OPEN, Symbols, Tokens

META = frozenset({"meta"})
FEWEST_WORDS = 4  # a site's name is no description of a page

_SAID = re.compile(
    r"""\s(?:name|property|itemprop)\s*=\s*["']?(?:og:|twitter:)?description["'\s/>]""",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"""\scontent\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


def description(tokens: Tokens) -> str:
    """The longest of the page's descriptions; empty if there is none."""
    found = [""]
    metas = np.flatnonzero(named(tokens, META) & (tokens.kind == OPEN))
    ends = np.minimum(tokens.clean_end[metas], tokens.clean_start[metas] + LONGEST_TAG)
    for start, end in zip(tokens.clean_start[metas].tolist(), ends.tolist(), strict=True):
        tag = tokens.clean[start:end]
        if _SAID.search(tag) and (content := _CONTENT.search(tag)):
            found.append(content[1] or content[2] or "")
    return max(found, key=len)


def pairs(symbols: Symbols) -> Symbols:
    """uint64[n-1]: a hash of each of *symbols* (uint64[n]) with the next."""
    return symbols[:-1] * np.uint64(3) + symbols[1:]


def described_pairs(tokens: Tokens) -> Symbols:
    """The pairs of neighbouring words of the page's description, each once."""
    said = tokenize(description(tokens))
    words = said.symbol[said.is_word]
    return np.unique(pairs(words if len(words) >= FEWEST_WORDS else words[:0]))
