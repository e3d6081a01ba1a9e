"""Sums and counts: over the blocks in an element or in a group, and over the texts of each block.

Each has its inner loop compiled where there is a compiler. What is below the call of it is the
same by numpy, with every number added in the same order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.elements import Counts, Indices
from scrapy_mss.markup.tokens import Bools, Floats, TokenIds


def element_sums(values: Floats, begin: Indices, end: Indices) -> Floats:
    """float64[k, m]: the sums of *values* (float64[k, n]) from each *begin* to each *end*."""
    k, n = values.shape
    compiled = compiled_part()
    if compiled is not None:
        sums = compiled.sums.element_sums(values.tobytes(), begin.tobytes(), end.tobytes(), k)
        return np.frombuffer(sums).reshape(k, len(begin))
    before = np.zeros((k, n + 1))
    values.cumsum(axis=1, out=before[:, 1:])
    differences: Floats = before.take(end, axis=1) - before.take(begin, axis=1)
    return differences


def ancestor_pools(element: Indices, values: Floats, around: Indices, m: int) -> Floats:
    """float64[3, n]: the sum, the least and the greatest of the *values* around each block, and 0.

    *element* (intp[n_values]) is whose each value is, *around* (intp[k, n]) are the elements around
    each block, innermost first; all are below *m*. Values are added in their order, and then what
    the elements have.
    """
    compiled = compiled_part()
    if compiled is not None:
        found = compiled.sums.ancestor_pools(element.tobytes(), values.tobytes(), around, m)
        return np.frombuffer(found).reshape(3, around.shape[1])
    pooled = np.empty((3, around.shape[1]))
    for row, reduce in zip(pooled, (np.add, np.minimum, np.maximum), strict=True):
        of_elements = np.zeros(m)
        reduce.at(of_elements, element, values)
        reduce.reduce(of_elements[around], out=row)
    return pooled


def sums_upwards(
    values: Floats, element: Indices, parent: Indices, weights: tuple[float, ...]
) -> Floats:
    """float64[m]: the *values* of the blocks in each element, those around it with another weight.

    *element* (intp[n]) is that of each block, *parent* (intp[m+1]) the one around each element; m
    stands for none. The first of the *weights* is that of a block's own element.
    """
    m, compiled = len(parent) - 1, compiled_part()
    if compiled is not None:
        return np.frombuffer(compiled.sums.sums_upwards(values, element, parent, weights))
    sums = np.zeros(m)
    for weight in weights:
        sums += np.bincount(element, values * weight, m + 1)[:m]
        element = parent[element]
    return sums


def inside(chosen: Bools, begin: Indices, end: Indices, n: int) -> Bools:
    """bool[n]: the places from *begin* to *end* (intp[m]) of any that is *chosen* (bool[m])."""
    compiled = compiled_part()
    if compiled is not None:
        found = compiled.sums.inside(chosen.tobytes(), begin.tobytes(), end.tobytes(), n)
        return np.frombuffer(found, np.bool_)
    edges = np.bincount(begin[chosen], minlength=n + 1)
    edges -= np.bincount(end[chosen], minlength=n + 1)
    depth: Counts = edges.cumsum()[:-1]
    return np.greater(depth, 0)


def group_sums(values: Floats, groups: Indices) -> Floats:
    """float64[k, g, n]: for each block the sum of *values* (float64[k, n]) over its group.

    *groups* (intp[g, n]) has a row for each way to group the blocks; the rows have no number in
    common, and all numbers together begin with 0 and leave none out.
    """
    flat, weights = groups.ravel(), np.empty(groups.shape)
    sums = np.empty((len(values), *groups.shape))
    for row, each in zip(sums, values, strict=True):
        weights[:] = each
        row[:] = np.bincount(flat, weights.ravel())[groups]
    return sums


def run_sums(values: Floats, block: NDArray[np.int32], first: Indices) -> Floats:
    """float64[n]: the sum of the *values* (float64[n_texts]) of each block, in their order."""
    compiled = compiled_part()
    if compiled is not None:
        return np.frombuffer(compiled.sums.run_sums(values, first))
    return np.bincount(block, values, len(first)).astype(np.float64, copy=False)


def run_hashes(ids: TokenIds, block: NDArray[np.int32], first: Indices) -> TokenIds:
    """uint64[n]: a hash of the *ids* (uint64[n_texts]) of each block, in their order."""
    compiled = compiled_part()
    if compiled is not None:
        return np.frombuffer(compiled.sums.run_hashes(ids.tobytes(), first.tobytes()), np.uint64)
    weights = np.arange(len(ids))  # 1, 3, 5 ... in each block
    weights -= first[block]
    weights *= 2
    weights += 1
    hashes: TokenIds = np.add.reduceat(ids * weights.view(np.uint64), first)
    return hashes


class Marks:
    """Hashes that are marked, by some of their bits."""

    def __init__(self, marks: Bools, shift: int) -> None:
        self._marks = marks  # bool[2**k], by the bits from *shift* on
        self._shift = np.uint64(shift)
        self._mask = np.uint64(len(marks) - 1)
        self._as_bytes = marks.tobytes()

    def are_on(self, ids: TokenIds) -> Bools:
        """bool[n]: which of the *ids* (uint64[n]) are marked."""
        found: Bools = self._marks[ids >> self._shift & self._mask]
        return found

    def count(self, ids: TokenIds, chosen: Bools, first: Indices) -> Counts:
        """int64[n]: how many *chosen* (bool[n_texts]) ids of each block are marked.

        Those of a block begin at its *first* (intp[n]).
        """
        compiled = compiled_part()
        if compiled is None:
            counts: Counts = np.add.reduceat(chosen & self.are_on(ids), first, dtype=np.int64)
            return counts
        found = compiled.sums.marked_counts(
            ids.tobytes(), chosen.tobytes(), first.tobytes(), (self._as_bytes, int(self._shift))
        )
        return np.frombuffer(found, np.int64)
