# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The kept tokens of a page as tags and runs of text between them; see `kept_pieces`, whose steps
in numpy are the oracle.
"""

from libc.stdint cimport uint8_t

cdef enum:
    CLOSE = 1  # the greatest kind of a tag; see `tokens`
    TEXT = 2  # the kind of a run of text
    APART = 1  # what is between a piece and the one before
    GAP = 2


def pieces(tuple columns not None, tuple places not None, bytes blocks not None):
    """A row a piece: kind, what is before it, tag, first token, its partner, place in the text.

    *columns* are kinds, tags and marks of what is kept, a byte a token; *places* where tokens begin
    and end in the text and their partners, an int32 each; *blocks* has a byte for each number of a
    tag. Pieces are apart where white space was between them, or a tag of a block that is not kept:
    1 where tokens were left out, 2 between neighbours, else 0.
    """
    cdef bytes kinds = columns[0], tags = columns[1], kept = columns[2]
    cdef bytes starts = places[0], ends = places[1], partners = places[2]
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* tag = tags
    cdef const uint8_t* is_kept = kept
    cdef const uint8_t* is_block = blocks
    cdef const int* start = <const int*> <const char*> starts
    cdef const int* end = <const int*> <const char*> ends
    cdef const int* partner = <const int*> <const char*> partners
    cdef Py_ssize_t n = len(kinds), i, first = -1, before = -1
    cdef int joint = 0
    cdef list found = []
    if len(tags) != n or len(kept) != n or len(blocks) != 256:
        raise ValueError(f"{len(tags)} tags, {len(kept)} marks and {len(blocks)} names for {n}")
    if len(starts) != 4 * n or len(ends) != 4 * n or len(partners) != 4 * n:
        raise ValueError(f"{len(starts)}, {len(ends)} and {len(partners)} bytes of places for {n}")
    for i in range(n):
        if first >= 0 and not (is_kept[i] and kind[i] > CLOSE):  # the end of a run of text
            found.append((TEXT, joint, 0, first, -1, start[first], end[i - 1]))
            before = i - 1
            first = -1
            joint = 0
        if first >= 0:
            continue
        if start[i] > (end[i - 1] if i else 0) or (
            not is_kept[i] and kind[i] <= CLOSE and is_block[tag[i]]
        ):
            joint = APART
        if not is_kept[i]:
            continue
        joint = 0 if before < 0 else GAP if joint and before == i - 1 else joint
        if kind[i] > CLOSE:
            first = i
            continue
        found.append((kind[i], joint, tag[i], i, partner[i], start[i], end[i]))
        before = i
        joint = 0
    if first >= 0:
        found.append((TEXT, joint, 0, first, -1, start[first], end[n - 1]))
    return found
