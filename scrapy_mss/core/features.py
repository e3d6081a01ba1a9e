"""What a token tells: each feature family maps tokens to bucket numbers of its count table.

A family is one row of ``FAMILIES``: a name, the size of its table, and a function on arrays.
Tables have a fixed size, so that memory is bounded however long a crawl learns; features that
fall into one bucket share its counts. Trigrams get 2**22 buckets, 32 MiB of two 32-bit counts:
of the 4 million distinct trigrams of 800 modern pages about four in ten share a bucket, which
costs less than .001 F1 against 2**24. Tags are few and have a bucket each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.tokens import Ints, Symbols, Tokens

# Odd multipliers with well-spread bits, one for each place in a trigram (from the fractions of
# the square roots of 2, 3 and 5): equal symbols at different places must not cancel out.
_MULTIPLIERS = tuple(
    np.uint64(m) for m in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B)
)


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of feature; ``buckets`` gives int32[n_tokens] below 2**bits."""

    name: str
    bits: int
    buckets: Callable[[Tokens, int], Ints]


def unigram(tokens: Tokens, bits: int) -> Ints:
    """The token itself."""
    return _hashed(tokens.symbol * _MULTIPLIERS[0], bits)


def trigram(tokens: Tokens, bits: int) -> Ints:
    """The token and the two after it; behind the page's end stands nothing."""
    symbols = np.append(tokens.symbol, np.zeros(2, np.uint64))
    mixed = _spread(symbols[:-2] * _MULTIPLIERS[0])
    mixed = _spread((mixed ^ symbols[1:-1]) * _MULTIPLIERS[1])
    return _hashed((mixed ^ symbols[2:]) * _MULTIPLIERS[2], bits)


def unclosed_tag(tokens: Tokens, bits: int) -> Ints:
    """The name of the most recent unclosed tag; the last bucket stands for none."""
    names = np.append(tokens.tag.astype(np.int32), np.int32((1 << bits) - 1))
    return names[tokens.unclosed]


def _spread(mixed: Symbols) -> Symbols:
    return mixed ^ (mixed >> np.uint64(29))


def _hashed(mixed: Symbols, bits: int) -> Ints:
    """The high bits of a product, which depend on all bits of its factors."""
    return (_spread(mixed) * _MULTIPLIERS[1] >> np.uint64(64 - bits)).astype(np.int32)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("trigram", 22, trigram),
        Family("unclosed_tag", 9, unclosed_tag),
        Family("unigram", 20, unigram),
    )
}
