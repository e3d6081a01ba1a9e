"""Token ids -> bucket numbers of a table of fixed size, by multiplication.

Tables have a fixed size so that memory is bounded however long a crawl learns; features that fall
into the same bucket share its counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tokens import Ints, TokenIds

# Odd multipliers with well-spread bits, one for each position in a sequence (from the fractional
# parts of the square roots of 2, 3 and 5): equal ids at different positions must not cancel out.
MULTIPLIERS = tuple(
    np.uint64(m) for m in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B)
)

_FOLD = 29  # bits by which a hash is shifted to itself


def mix(columns: Sequence[TokenIds]) -> TokenIds:
    """uint64[n]: a hash of each row of *columns* (uint64[n] each), in their order."""
    mixed = columns[0] * MULTIPLIERS[0]
    for position, column in enumerate(columns[1:], 1):
        mixed = _folded(mixed)
        mixed ^= column
        mixed *= MULTIPLIERS[position % len(MULTIPLIERS)]
    return mixed


def buckets(mixed: TokenIds, bits: int) -> Ints:
    """int32[n] below 2**bits: the high bits of a product depend on all bits of its factors."""
    found = _folded(mixed)
    found *= MULTIPLIERS[1]
    found >>= np.uint64(64 - bits)
    return found.astype(np.int32)


def buckets_of_ids(ids: TokenIds | NDArray[np.uint32], bits: int) -> Ints:
    """int32[n] below 2**bits: those of *ids*, which are not mixed yet."""
    return buckets(ids.astype(np.uint64) * MULTIPLIERS[0], bits)


def _folded(mixed: TokenIds) -> TokenIds:
    """Another array, to be changed in place: a page of symbols has as many rows as bytes."""
    folded: TokenIds = mixed >> np.uint64(_FOLD)
    folded ^= mixed
    return folded
