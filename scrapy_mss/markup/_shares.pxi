"""What is summed around each block of a page, and shares of it."""

cdef enum:  # as `container_features` has them
    ELEMENT_LEVELS = 5
    PER_WORDS = 100


def fill_shares(
    page, const double[:, ::1] value not None, const Py_ssize_t[:, ::1] group not None,
    double[:, ::1] rows not None
):
    """Fill *rows* with what shares of some masses are around each block, and with sizes.

    The first rows of *value* (float64[k+3, n]) are k masses, then the words, the linked words and 1
    of each block. *group* (intp[g+1, n]) has equal numbers for blocks that are alike, with no
    number in two rows.
    """
    cdef const Py_ssize_t[::1] begin = page.containers.begin, end = page.containers.end
    cdef const Py_ssize_t[:, ::1] around = page.containers.around[:ELEMENT_LEVELS]
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
        of_element[mass * (m + 1) + m] = page.total_words if mass == k else 1.0
    for mass in range(k):
        _fill_running(value[mass], rows[row:row + 2])
        row += 2
        for i in range(g):
            _fill_share(
                group[i], of_group + mass * n_groups, of_group + k * n_groups, PER_WORDS,
                rows[row:]
            )
            row += 2
        for i in range(a):
            _fill_share(
                around[i], of_element + mass * (m + 1), of_element + k * (m + 1), PER_WORDS,
                rows[row:]
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
    """Set *inside* to the sum of each value in each element: a difference of running sums."""
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
