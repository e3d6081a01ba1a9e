"""How near choices of blocks come to the gold text: cosine of word counts, times ratio of lengths.

The measure of Ziegler and Skubacz (2007): both texts are bags of terms, their cosine is multiplied
by the shorter length over the longer. A term is a word of two characters or more, in lower case;
single ideographs are terms as well, being words. The paper counts lengths in word tokens: here in
terms. Two empty texts are one and the same (1), an empty one is like no other (0).

A swarm asks about thousands of choices among the same blocks. Product with the gold and length are
sums over the chosen blocks. The squared norm is one only for terms that stand in a single block.
Of the others there is an entry for each block of each term, in the order of pages and terms: their
counts are sums over runs of entries. A choice costs one pass over blocks and entries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.tokens import CJK, Bools, Floats, Indices

BATCH: Final = 2**18  # numbers at once, 2 MB: what is written is still near when it is read

_TERM: Final = re.compile(rf"..|[{CJK}]", re.DOTALL)


def is_term(word: str) -> bool:
    """Whether *word* counts when texts are compared."""
    return _TERM.match(word) is not None


class PageTerms(NamedTuple):
    """The terms of a page, the block that each stands in, and the terms of its gold."""

    terms: Sequence[str]
    block: Sequence[int]
    n_blocks: int
    gold: Sequence[str]


class _Counts(NamedTuple):
    """One page as arrays: a row of the first three a (term, block), of the others a block."""

    first: Bools  # whether the row begins a term; of terms that stand in several blocks
    block: Indices
    times: Floats
    length: Floats
    product: Floats
    square: Floats  # of terms that stand in no other block


def _counts(page: PageTerms) -> _Counts:
    n = page.n_blocks
    numbers: dict[str, int] = {}
    term = np.array([numbers.setdefault(t.lower(), len(numbers)) for t in page.terms], np.intp)
    wanted = Counter(t.lower() for t in page.gold)
    gold = np.array([wanted[t] for t in numbers], np.float64)
    rows, counts = np.unique(term * n + np.array(page.block, np.intp), return_counts=True)
    times = counts.astype(np.float64)
    term, block = np.divmod(rows, n) if n else (rows, rows)
    shared = (np.bincount(term) > 1)[term]
    return _Counts(
        first=np.diff(term[shared], prepend=-1) > 0,
        block=block[shared],
        times=times[shared],
        length=_by_block(block, times, n),
        product=_by_block(block, times * gold[term], n),
        square=_by_block(block, np.square(times) * ~shared, n),
    )


def _by_block(block: Indices, values: Floats, n: int) -> Floats:
    return np.bincount(block, values, n).astype(np.float64)  # integers where there is no value


@dataclass(frozen=True, slots=True, eq=False)
class Similarity:
    """The similarity of any choice of blocks to the golds of some pages."""

    block: Indices  # of each entry
    times: Floats
    terms: Indices  # where the entries of each term of each page begin
    page_terms: Indices  # where the terms of each page begin, and the end
    page_blocks: Indices  # where the blocks of each page begin, and the end
    length: Floats  # of each block
    product: Floats
    square: Floats
    gold_length: Floats  # of each page
    gold_square: Floats

    @classmethod
    def of(cls, pages: Sequence[PageTerms]) -> Similarity:
        """Take in *pages*, one at least."""
        rows = [_counts(page) for page in pages]
        golds = [Counter(term.lower() for term in page.gold) for page in pages]
        page_blocks = np.cumsum([0, *(len(row.length) for row in rows)])
        starts = page_blocks[:-1].tolist()
        return cls(
            block=np.concatenate([r.block + at for r, at in zip(rows, starts, strict=True)]),
            times=np.concatenate([row.times for row in rows]),
            terms=np.flatnonzero(np.concatenate([row.first for row in rows])),
            page_terms=np.cumsum([0, *(np.count_nonzero(row.first) for row in rows)]),
            page_blocks=page_blocks,
            length=np.concatenate([row.length for row in rows]),
            product=np.concatenate([row.product for row in rows]),
            square=np.concatenate([row.square for row in rows]),
            gold_length=np.array([gold.total() for gold in golds], np.float64),
            gold_square=np.array([sum(n * n for n in gold.values()) for gold in golds], np.float64),
        )

    def batches(self, n: int) -> Iterator[slice]:
        """*n* choices in parts that are worked through at once."""
        size = max(1, BATCH // max(1, len(self.block), len(self.length)))
        return (slice(start, start + size) for start in range(0, n, size))

    def scores(self, chosen: Bools) -> Floats:
        """float64[n, n_pages]: how near each choice (bool[n, n_blocks]) comes to the golds."""
        length = _sums(chosen * self.length, self.page_blocks)
        product = _sums(chosen * self.product, self.page_blocks)
        counts = np.add.reduceat(chosen[:, self.block] * self.times, self.terms, axis=1)
        square = _sums(np.square(counts), self.page_terms)
        square += _sums(chosen * self.square, self.page_blocks)
        return cosine(product, square, self.gold_square) * ratio(length, self.gold_length)


def _sums(values: Floats, bounds: Indices) -> Floats:
    """float64[n, m-1]: the sums of the columns of *values* from each of m *bounds* to the next."""
    before = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=before[:, 1:])
    return np.diff(before[:, bounds], axis=1)


def cosine(product: Floats, square: Floats, other_square: Floats) -> Floats:
    """The cosine of vectors with this *product* and these squared norms; 1 for two that are 0."""
    norms = np.sqrt(square * other_square)
    cosines: Floats = ((square == 0) & (other_square == 0)).astype(np.float64)
    np.divide(product, norms, out=cosines, where=norms > 0)
    return cosines


def ratio(length: Floats, other: Floats) -> Floats:
    """The shorter over the longer, the paper's factor that tells a text from itself twice."""
    longer = np.maximum(length, other)
    return np.divide(np.minimum(length, other), longer, out=np.ones_like(longer), where=longer > 0)
