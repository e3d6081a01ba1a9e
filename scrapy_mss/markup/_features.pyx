# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Rows of a page's blocks by their text, place, headline and headings.

Each function is the inner loop of one of `blocks.features` or `blocks.layout_families`, which is
its oracle: the same numbers to the last bit. Logarithms are left to numpy, whose own differ from
those of C in the last bit.
"""

from cpython.array cimport array, clone
from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef array _FLOATS = array("d")
cdef array _COUNTS = array("q")


cdef int _check(Py_ssize_t index, Py_ssize_t end) except -1:
    if not 0 <= index < end:
        raise IndexError(f"{index} is not from 0 to {end - 1}")
    return 0


cdef int _check_size(Py_ssize_t size, Py_ssize_t n) except -1:
    if size != n:
        raise ValueError(f"expected {n} values, one for each block, got {size}")
    return 0


cdef int _check_rows(double[:, ::1] rows, Py_ssize_t n_rows, Py_ssize_t n) except -1:
    if rows.shape[0] != n_rows or rows.shape[1] != n:
        raise ValueError(f"expected {n_rows} rows of {n}, got {rows.shape[0]} of {rows.shape[1]}")
    return 0


def fill_text(columns, dict ends not None, places, double[:, ::1] rows not None):
    """Fill *rows* with counts of each block's text, with some for each word, and with its ends.

    *columns* are counts by class (float64[k, n]), the letters (float64[n]), the words and the
    linked words (int64[n]), and equal numbers for equal texts (intp[n]); *ends* by name are bits of
    the first text of each block, and of the last (uint8[n]). *places* are pairs of a row and what
    is counted there, of the k classes, letters, words, linked words; such pairs for what is counted
    for each word; the row that tells whether all words are linked; rows with which end and which
    bits they tell; and the row of how many blocks have the same text.
    """
    cdef const double[:, ::1] counts = columns[0]
    cdef const double[::1] letters = columns[1]
    cdef const int64_t[::1] words = columns[2], linked = columns[3]
    cdef const Py_ssize_t[::1] group = columns[4]
    cdef Py_ssize_t n = words.shape[0], row, counted, i
    cdef const uint8_t[::1] bits
    cdef int wanted
    for i in (counts.shape[1], letters.shape[0], linked.shape[0], group.shape[0], rows.shape[1]):
        _check_size(i, n)
    counted_rows, share_rows, all_linked, end_rows, repetitions = places
    for row, counted in counted_rows:
        _check(row, rows.shape[0])
        _fill_counted(counts, letters, words, linked, counted, rows[row])
    for row, counted in share_rows:
        _check(row, rows.shape[0])
        _fill_counted(counts, letters, words, linked, counted, rows[row])
        for i in range(n):
            rows[row, i] /= <double> (words[i] if words[i] > 1 else 1)
    _check(all_linked, rows.shape[0])
    row = all_linked
    for i in range(n):
        rows[row, i] = linked[i] == (words[i] if words[i] > 1 else 1)
    for row, end, wanted in end_rows:
        _check(row, rows.shape[0])
        bits = ends[end]
        _check_size(bits.shape[0], n)
        for i in range(n):
            rows[row, i] = (bits[i] & wanted) != 0
    _check(repetitions, rows.shape[0])
    _fill_group_sizes(group, rows[repetitions])


cdef int _fill_counted(
    const double[:, ::1] counts, const double[::1] letters, const int64_t[::1] words,
    const int64_t[::1] linked, Py_ssize_t counted, double[::1] row
) except -1:
    cdef Py_ssize_t k = counts.shape[0], i
    _check(counted, k + 3)
    for i in range(row.shape[0]):
        if counted < k:
            row[i] = counts[counted, i]
        elif counted == k:
            row[i] = letters[i]
        elif counted == k + 1:
            row[i] = words[i] if words[i] > 1 else 1
        else:
            row[i] = linked[i]
    return 0


cdef int _fill_group_sizes(const Py_ssize_t[::1] group, double[::1] row) except -1:
    cdef Py_ssize_t n = group.shape[0], i
    cdef array sizes = clone(_COUNTS, n, True)
    for i in range(n):
        _check(group[i], n)
        sizes.data.as_longlongs[group[i]] += 1
    for i in range(n):
        row[i] = sizes.data.as_longlongs[group[i]]
    return 0


def fill_position(const double[::1] words not None, double total, double[:, ::1] rows not None):
    """Fill *rows*: the shares of *words* and blocks before each; words before and after."""
    cdef Py_ssize_t n = words.shape[0], i
    cdef double before = 0.0, all_words = total if total > 1.0 else 1.0
    _check_rows(rows, 5, n)
    for i in range(n):
        rows[0, i] = before / all_words
        rows[1, i] = i / <double> n
        rows[2, i] = before
        rows[3, i] = total - before - words[i]
        before += words[i]
    rows[4] = total


def headline(columns, Py_ssize_t n_title, limits):
    """How much of the title is in each short block, and which one is the headline, -1 for none.

    *columns* are the words of the title in each block (int64[n]), all of its words (float64[n]),
    its level as a heading (int64[n]), and whether it is a title (a byte each). *limits* are the
    words of a headline, and those of the title that it has at least to be all of it; the least
    overlap of a lower heading and of a line; what a main heading and a lower one get.
    """
    cdef bytes hits = columns[0], titles = columns[3]
    cdef const double[::1] words = columns[1]
    cdef const int64_t[::1] level = columns[2]
    cdef const int64_t* hit = <const int64_t*> <const char*> hits
    cdef const uint8_t* in_title = titles
    cdef Py_ssize_t n = words.shape[0], i, best = -1
    cdef double most, full, heading, line, of_main, of_lower, share, rank, best_rank = -1.0
    most, full, heading, line, of_main, of_lower = limits
    cdef array overlaps = clone(_FLOATS, n, False)
    full = max(1.0, min(<double> n_title, full))
    for i in (len(hits) // sizeof(int64_t), level.shape[0], len(titles)):
        _check_size(i, n)
    for i in range(n):
        share = 0.0
        if 1 < words[i] <= most and not in_title[i]:
            share = hit[i] / full
            share = hit[i] / words[i] * (share if share < 1.0 else 1.0)
        overlaps.data.as_doubles[i] = share
        if not in_title[i] and (
            level[i] == 1 or share > line or (level[i] > 1 and share > heading)
        ):
            rank = share + of_main * (level[i] == 1) + of_lower * (level[i] > 1)
            if rank > best_rank:
                best, best_rank = i, rank
    return overlaps, best


def fill_below(
    const double[::1] before not None, const int64_t[::1] level not None, Py_ssize_t headline,
    double[:, ::1] rows not None
):
    """Fill *rows*: words from the *headline*, what is below it, headings of its level since.

    *before* are the words before each block.
    """
    cdef Py_ssize_t n = before.shape[0], i
    cdef int64_t later = 0
    _check_rows(rows, 3, n)
    _check_size(level.shape[0], n)
    _check(headline, n)
    for i in range(n):
        rows[0, i] = before[i] - before[headline]
        rows[1, i] = i > headline
        later += i > headline and level[i] == level[headline] != 0
        rows[2, i] = later


def heading_above(const int64_t[::1] level not None):
    """int64[n]: the nearest block before each whose *level* as a heading is not 0; -1 for none."""
    cdef Py_ssize_t n = level.shape[0], i
    cdef int64_t above = -1
    cdef array headings = clone(_COUNTS, n, False)
    for i in range(n):
        headings.data.as_longlongs[i] = above
        above = i if level[i] > 0 else above
    return headings


def fill_headings(
    columns, const double[::1] ranks not None, double most, double[:, ::1] rows not None
):
    """Fill *rows*: ranks, words since the heading above, its rank, main headings so far.

    *columns* are the words before each block (float64[n]), its level as a heading, by which the
    *ranks* are, and the heading above it (int64[n] each). Of main headings at *most* so many count.
    """
    cdef const double[::1] before = columns[0]
    cdef const int64_t[::1] level = columns[1], above = columns[2]
    cdef Py_ssize_t n = before.shape[0], i
    cdef int64_t mains = 0
    cdef double distance
    _check_rows(rows, 4, n)
    _check_size(level.shape[0], n)
    _check_size(above.shape[0], n)
    for i in range(n):
        _check(level[i], ranks.shape[0])
        _check(above[i] + 1, n + 1)
    for i in range(n):
        distance = before[i] - before[above[i]] if above[i] >= 0 else 0.0
        mains += level[i] == 1
        rows[0, i] = ranks[level[i]]
        rows[1, i] = distance if distance > 0.0 else 0.0
        rows[2, i] = ranks[level[above[i]]] if above[i] >= 0 else 0.0
        rows[3, i] = mains if mains < most else most


def fill_described(columns, limits, double[:, ::1] rows not None):
    """Fill *rows* with what each block shares with the description, and on which side it is.

    *columns* are the pairs of words of the description in each block (int64[n]), all of its words
    (float64[n]), and whether it is a title (a byte each). *limits* are the pairs of the
    description, the words of a block that it may share by chance, and the share of the description
    in a block that is described.
    """
    cdef bytes hits = columns[0], titles = columns[2]
    cdef const double[::1] words = columns[1]
    cdef const int64_t* hit = <const int64_t*> <const char*> hits
    cdef const uint8_t* in_title = titles
    cdef Py_ssize_t n = words.shape[0], i, described = -1
    cdef double n_pairs, by_chance, least, share
    n_pairs, by_chance, least = limits
    _check_rows(rows, 4, n)
    _check_size(len(hits) // sizeof(int64_t), n)
    _check_size(len(titles), n)
    if not n_pairs > 0:
        raise ValueError(f"a description of {n_pairs} pairs")
    for i in range(n):
        share = hit[i] / n_pairs
        rows[0, i] = (share if share < 1.0 else 1.0) * (not in_title[i])
        share = hit[i] / (words[i] - 1 if words[i] > 2.0 else 1.0)
        rows[1, i] = share * (words[i] > by_chance and not in_title[i])
        if described < 0 and rows[0, i] > least:
            described = i
    for i in range(n):
        rows[2, i] = 0.0 if described < 0 else 1.0 if i >= described else -1.0
    rows[3] = 1.0


def fill_shapes(
    const int64_t[::1] words not None, const int64_t[::1] linked not None,
    const uint64_t[::1] sizes not None, double most_links, uint64_t[::1] shapes not None
):
    """Fill *shapes* (uint64[n]): the one of *sizes* by each block's words, and a class of links.

    *words* and the *linked* ones of them are int64[n]. More words than there are *sizes* have the
    last. Links are classes from 0 to *most_links*, rounded down.
    """
    cdef Py_ssize_t n = words.shape[0], most = sizes.shape[0] - 1, i
    cdef int64_t size
    _check_size(linked.shape[0], n)
    _check_size(shapes.shape[0], n)
    _check(0, sizes.shape[0])
    for i in range(n):
        if linked[i] < 0:
            raise ValueError(f"block {i} has {linked[i]} linked words")
        size = words[i] if words[i] > 1 else 1
        shapes[i] = sizes[min(size, most)] + <uint64_t> (linked[i] / <double> size * most_links)
