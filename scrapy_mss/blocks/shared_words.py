"""How many words, and pairs of neighbouring words, a page's blocks share with some other text."""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.page import Texts
from scrapy_mss.core.hashing import SALT, is_among
from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.elements import Counts
from scrapy_mss.markup.tokens import WORD, TokenIds

_FACTOR = 3  # any odd factor tells the pair (a, b) from (b, a)
_SINGLE = 0  # the factor of what is no pair


def each_once(ids: TokenIds) -> TokenIds:
    """The *ids* without repetitions, in any order."""
    return np.array(list(set(ids.tolist())), np.uint64)


def pairs(ids: TokenIds) -> TokenIds:
    """uint64[n-1]: a hash of each of *ids* (uint64[n]) with the next."""
    return ids[:-1] * np.uint64(_FACTOR) + ids[1:]


def shared_words(texts: Texts, words: TokenIds) -> Counts:
    """int64[n]: how many words of each block are among a few *words*."""
    compiled = _compiled_counts(texts, words, _SINGLE)
    if compiled is not None:
        return compiled
    return texts.count(texts.is_word & is_among(texts.token_id, words))


def shared_pairs(texts: Texts, few: TokenIds) -> Counts:
    """int64[n]: how many `pairs` of each block's words are among a *few*."""
    compiled = _compiled_counts(texts, few, _FACTOR)
    if compiled is not None:
        return compiled
    words = np.flatnonzero(texts.is_word)
    block = texts.block[words]
    is_shared = is_among(pairs(texts.token_id[words]), few) & (block[1:] == block[:-1])
    return np.bincount(block[:-1][is_shared], minlength=len(texts.first))


def _compiled_counts(texts: Texts, few: TokenIds, factor: int) -> Counts | None:
    compiled = compiled_part()
    if compiled is None:
        return None
    ids, first = texts.token_id.tobytes(), texts.first.tobytes()
    counts = compiled.arrays.shared_counts(ids, first, few.tobytes(), (WORD, factor, SALT))
    return np.frombuffer(counts, np.int64)
