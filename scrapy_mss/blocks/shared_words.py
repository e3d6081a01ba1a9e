"""How many words, and pairs of neighbouring words, a page's blocks share with some other text."""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.page import Texts
from scrapy_mss.core.hashing import is_among
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tokens import Counts, TokenIds

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
    return shared_counts(texts, words, _SINGLE)


def shared_pairs(texts: Texts, few: TokenIds) -> Counts:
    """int64[n]: how many `pairs` of each block's words are among a *few*."""
    return shared_counts(texts, few, _FACTOR)


@accelerated()
def shared_counts(texts: Texts, few: TokenIds, factor: int) -> Counts:
    """int64[n]: how many words of each block, or pairs by a *factor*, are among a *few*."""
    words = np.flatnonzero(texts.is_word)
    ids, block = texts.token_id[words], texts.block[words]
    if factor != _SINGLE:
        is_pair = block[1:] == block[:-1]
        ids, block = pairs(ids)[is_pair], block[:-1][is_pair]
    return np.bincount(block[is_among(ids, few)], minlength=len(texts.first))
