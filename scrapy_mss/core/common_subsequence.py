"""The longest common subsequence of two sequences, bit-parallel (Hyyrö 2004).

A row of the table of lengths is one integer, with a bit for each place of the first sequence: 0
where the length grows. So a row takes three operations, and Python's integers are as long as it
takes. The table has a bit for each pair of places, which callers are to bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[int]:
    """The places in *first*, ascending, of a longest subsequence that *second* has, too."""
    shorter = min(len(first), len(second))
    head = next((at for at in range(shorter) if first[at] != second[at]), shorter)
    rest = range(shorter - head)
    tail = next((at for at in rest if first[-1 - at] != second[-1 - at]), len(rest))
    end = len(first) - tail
    middle = _common(first[head:end], second[head : len(second) - tail])
    return [*range(head), *(head + at for at in middle), *range(end, len(first))]


def _common(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[int]:
    """The same; of several such subsequences the one that ends first."""
    places: dict[Hashable, int] = {}
    for at, each in enumerate(first):
        places[each] = places.get(each, 0) | 1 << at
    row = all_bits = (1 << len(first)) - 1
    rows, n_bytes = list[bytes](), len(first) // 8 + 1
    for each in second:
        met = row & places.get(each, 0)
        row = (row + met | row - met) & all_bits
        rows.append(row.to_bytes(n_bytes, "little"))
    found, at, below = list[int](), len(first) - 1, len(rows) - 1
    while at >= 0 and below >= 0:
        if _has_bit(rows[below], at):
            at -= 1
            continue
        if not below or _has_bit(rows[below - 1], at):
            found.append(at)
            at -= 1
        below -= 1
    return found[::-1]


def _has_bit(row: bytes, at: int) -> int:
    return row[at >> 3] >> (at & 7) & 1
