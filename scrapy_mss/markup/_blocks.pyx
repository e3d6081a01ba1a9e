# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Rows of the inputs of a page's blocks, filled in place: what is around each, and shares.

Each function is the inner loop of one of Python, which is its oracle: those of `blocks.features`
and `blocks.container_features`. Which tags count and what a row means is said by Python. Sums are
taken in numpy's order, so that they are the same to the last bit.
"""

from cpython.array cimport array, clone
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

cdef array _FLOATS = array("d")
cdef array _HASHES = array("Q")


cdef int _check(Py_ssize_t index, Py_ssize_t end) except -1:
    if not 0 <= index < end:
        raise IndexError(f"{index} is not from 0 to {end - 1}")
    return 0


def fill_around(
    bytes tags not None, bytes ancestors not None, parents, double[:, ::1] rows not None
):
    """Fill *rows* with whether each of some tags is around each block, and how many elements are.

    The *tags* (uint8[k, n]) of the *ancestors* (int32[k, n], -1 for none) of each block are there
    innermost first. *parents* are two strings of tag numbers: for each of the first a row says
    whether it is the innermost, for each of the second one whether it is any of them. The last row
    is how many ancestors there are.
    """
    cdef bytes innermost, any_level
    innermost, any_level = parents
    cdef const uint8_t* tag = tags
    cdef const int32_t* ancestor = <const int32_t*> <const char*> ancestors
    cdef const uint8_t* parent = innermost
    cdef const uint8_t* wanted = any_level
    cdef Py_ssize_t n = rows.shape[1], n_parents = len(innermost), n_any = len(any_level)
    cdef Py_ssize_t k = len(tags) // max(n, 1), block, level, row
    cdef int32_t row_of[256]
    for row in range(256):
        row_of[row] = -1
    for row in range(n_any):
        row_of[wanted[row]] = <int32_t> (n_parents + row)
    _check(n_parents + n_any, rows.shape[0])
    if n == 0:
        return
    _check(k * n - 1, min(len(tags), len(ancestors) // <Py_ssize_t> sizeof(int32_t)))
    rows[:] = 0.0
    for row in range(n_parents):
        for block in range(n):
            rows[row, block] = tag[block] == parent[row]
    for level in range(k):
        for block in range(n):
            row = row_of[tag[level * n + block]]
            if row >= 0:
                rows[row, block] = 1.0
            rows[n_parents + n_any, block] += ancestor[level * n + block] >= 0


def path_keys(
    const uint32_t[::1] key not None, const Py_ssize_t[:, ::1] around not None,
    const uint8_t[:, ::1] tags not None, int n_keys
):
    """uint64[n_keys + 1, n]: the keys of the innermost elements around a block, and its path.

    *key* (uint32[m]) is that of an element, *around* (intp[k, n]) are those around each block, m
    for none, whose key is 0. The path are the *tags* (uint8[p, n]) of the innermost, a byte each. A
    row has its number above these bytes, so that no two have a key in common.
    """
    cdef Py_ssize_t n = around.shape[1], m = key.shape[0], n_tags = tags.shape[0], level, i
    cdef array found = clone(_HASHES, (max(n_keys, 0) + 1) * n, True)
    cdef uint64_t* row = <uint64_t*> found.data.as_ulonglongs
    if not 0 <= n_keys <= around.shape[0] or tags.shape[1] != n or not 4 <= n_tags < 8:
        raise IndexError(
            f"{n_keys} keys of {around.shape[0]}, {n_tags} tags of {tags.shape[1]} blocks"
        )
    for level in range(n_keys):
        for i in range(n):
            _check(around[level, i], m + 1)
            row[i] = key[around[level, i]] if around[level, i] < m else 0
            row[i] |= <uint64_t> level << 8 * n_tags
        row += n
    for level in range(n_tags):
        for i in range(n):
            row[i] |= <uint64_t> tags[level, i] << 8 * level
    for i in range(n):
        row[i] |= <uint64_t> n_keys << 8 * n_tags
    return found


def fill_shares(values, groups, elements, double per, double[:, ::1] rows not None):
    """Fill *rows* with what shares of some masses are around each block, and with sizes.

    *values* are float64[k+3, n]: k masses, and then the words, the linked words and 1 of each
    block. *groups* (intp[g+1, n]) are equal numbers for blocks that are alike, with no number in
    two rows. *elements* are the begin and the end of each (intp[m]), and those around each block
    (intp[a, n]), m for none; a mass is 1 there, and the words are the page's.

    For each mass there are 2 + 2g + 2a + 1 rows: what comes before and after; what is in each group
    but the last, and that a word, times *per*; the same of each element around; what is in the last
    group. For each group but the last there follow three: the blocks, the words, the linked share.
    """
    cdef const double[:, ::1] value = values
    cdef const Py_ssize_t[:, ::1] group = groups
    cdef const Py_ssize_t[::1] begin = elements[0], end = elements[1]
    cdef const Py_ssize_t[:, ::1] around = elements[2]
    cdef Py_ssize_t n = value.shape[1], k = value.shape[0] - 3, g = group.shape[0] - 1
    cdef Py_ssize_t m = begin.shape[0], a = around.shape[0], n_groups = (g + 1) * n
    cdef Py_ssize_t mass, i, row = 0
    _check_shapes(value, group, around, rows)
    _check_places(group, n_groups)
    _check_places(around, m + 1)
    cdef array alike = clone(_FLOATS, (k + 3) * n_groups, True)
    cdef array inside = clone(_FLOATS, (k + 1) * (m + 1), False)
    cdef double* of_group = alike.data.as_doubles
    cdef double* of_element = inside.data.as_doubles
    if n == 0:
        return
    _add_in_groups(value, group, of_group)
    _add_in_elements(value[:k + 1], begin, end, of_element)
    for mass in range(k + 1):
        of_element[mass * (m + 1) + m] = elements[3] if mass == k else 1.0
    for mass in range(k):
        _fill_running(value[mass], rows[row:row + 2])
        row += 2
        for i in range(g):
            _fill_share(
                group[i], of_group + mass * n_groups, of_group + k * n_groups, per, rows[row:]
            )
            row += 2
        for i in range(a):
            _fill_share(
                around[i], of_element + mass * (m + 1), of_element + k * (m + 1), per, rows[row:]
            )
            row += 2
        _take(group[g], of_group + mass * n_groups, rows[row])
        row += 1
    for i in range(g):
        _take(group[i], of_group + (k + 2) * n_groups, rows[row])
        _fill_share(
            group[i], of_group + (k + 1) * n_groups, of_group + k * n_groups, 1.0, rows[row + 1:]
        )
        _take(group[i], of_group + k * n_groups, rows[row + 1])  # in the place of the linked words
        row += 3


cdef int _add_in_groups(
    const double[:, ::1] value, const Py_ssize_t[:, ::1] group, double* totals
) except -1:
    """Add to *totals*, zeros of each of the values, those of each group."""
    cdef Py_ssize_t n = value.shape[1], n_groups = group.shape[0] * n, row, level, i
    for row in range(value.shape[0]):
        for level in range(group.shape[0]):
            for i in range(n):
                totals[row * n_groups + group[level, i]] += value[row, i]
    return 0


cdef int _add_in_elements(
    const double[:, ::1] value, const Py_ssize_t[::1] begin, const Py_ssize_t[::1] end,
    double* inside
) except -1:
    """Set *inside* to the sum of each value in each element, as `_sums.element_sums` does."""
    cdef Py_ssize_t n = value.shape[1], m = begin.shape[0], row, i
    cdef array running = clone(_FLOATS, n + 1, True)
    cdef double* before = running.data.as_doubles
    if m != end.shape[0]:
        raise IndexError(f"{m} elements begin, and {end.shape[0]} end")
    for i in range(m):
        _check(begin[i], n + 1)
        _check(end[i], n + 1)
    for row in range(value.shape[0]):
        for i in range(n):  # the first as it is, since 0 + -0 is another number than -0
            before[i + 1] = before[i] + value[row, i] if i else value[row, i]
        for i in range(m):
            inside[row * (m + 1) + i] = before[end[i]] - before[begin[i]]
    return 0


cdef int _fill_running(const double[::1] mass, double[:, ::1] rows) except -1:
    """Fill two *rows* with what of a *mass* comes before each block, and after it."""
    cdef double running = 0.0
    cdef Py_ssize_t i
    for i in range(mass.shape[0]):
        running = running + mass[i] if i else mass[i]
        rows[0, i] = running - mass[i]
        rows[1, i] = 1.0 - running
    return 0


cdef int _fill_share(
    const Py_ssize_t[::1] place, const double* mass, const double* words, double per,
    double[:, ::1] rows
) except -1:
    """Fill two *rows* with the *mass* at each *place*, and with that for so many *words* there."""
    cdef Py_ssize_t i
    cdef double of_words
    for i in range(place.shape[0]):
        of_words = words[place[i]]
        rows[0, i] = mass[place[i]]
        rows[1, i] = mass[place[i]] / (of_words if of_words > 1.0 else 1.0) * per
    return 0


cdef int _take(const Py_ssize_t[::1] place, const double* values, double[::1] row) except -1:
    cdef Py_ssize_t i
    for i in range(place.shape[0]):
        row[i] = values[place[i]]
    return 0


cdef int _check_shapes(
    const double[:, ::1] value, const Py_ssize_t[:, ::1] group, const Py_ssize_t[:, ::1] around,
    const double[:, ::1] rows
) except -1:
    cdef Py_ssize_t n = value.shape[1], k = value.shape[0] - 3, g = group.shape[0] - 1
    cdef Py_ssize_t n_rows = k * (3 + 2 * g + 2 * around.shape[0]) + 3 * g
    if not k >= 0 <= g or not n == group.shape[1] == around.shape[1] == rows.shape[1]:
        raise IndexError(f"{n} blocks, but {group.shape[1]}, {around.shape[1]} and {rows.shape[1]}")
    if rows.shape[0] != n_rows:
        raise IndexError(f"{rows.shape[0]} rows for {n_rows}")
    return 0


cdef int _check_places(const Py_ssize_t[:, ::1] places, Py_ssize_t end) except -1:
    cdef Py_ssize_t i, j
    for i in range(places.shape[0]):
        for j in range(places.shape[1]):
            _check(places[i, j], end)
    return 0
