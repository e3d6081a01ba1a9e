"""Stop words of fourteen languages, and how many of them the words of a block are.

The lists are those of Stopwords ISO, as the package `stopwordsiso` brings them. The paper
(Ziegler and Skubacz, 2007) does not name its fourteen languages; these are the fourteen that the
collections of its day had, its own five among them. Entries that our tokenizer would cut, with an
apostrophe or a hyphen in them, match nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from research.systems.blocks import Blocks
from scrapy_mss.markup.tokens import Floats, Tokens

LANGUAGES: Final = tuple("da de en es fi fr hu it nl no pt ru sv tr".split())


@cache
def languages_of_words() -> Mapping[str, int]:
    """For each stop word a number with the bits of the languages that have it."""
    try:
        from stopwordsiso import stopwords
    except ImportError as error:
        message = "stop words need stopwordsiso: make research"
        raise ImportError(message, name="stopwordsiso") from error
    found: dict[str, int] = {}
    for bit, language in enumerate(LANGUAGES):
        for word in stopwords(language):
            found[word.lower()] = found.get(word.lower(), 0) | 1 << bit
    return found


def stop_words(tokens: Tokens, blocks: Blocks) -> Floats:
    """float64[n_blocks]: the number of stop words, in the language in which there are most."""
    known = languages_of_words()
    words = tokens.words()
    masks = np.zeros(len(tokens), np.int32)
    masks[tokens.is_word] = np.fromiter(
        (known.get(word.lower(), 0) for word in words), np.int32, len(words)
    )
    most = np.zeros(len(blocks))
    for bit in range(len(LANGUAGES)):
        np.maximum(most, blocks.sums((masks >> bit & 1).astype(np.bool_)), out=most)
    return most
