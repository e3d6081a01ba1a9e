"""What is known of a site: tables of counts by key, and what they say of the blocks of a page.

The Python of each step, in `memory` and `evidence` of `scrapy_mss.sites`, is its oracle. Sums over
blocks and logarithms are numpy's.
"""

from libc.math cimport log, rint, sqrt

cdef enum:
    WIDTH = 4  # counts a row
    QUANTUM = 256  # counts are whole multiples of one part of this


def container_keys(const uint64_t[::1] factors, Py_ssize_t levels, page):
    """uint64[n]: the keys of so many elements around each block, mixed by *factors* in turn."""
    cdef _Elements of = _elements_of(page)
    cdef const uint32_t[::1] key_of = page.attributes.key
    cdef Py_ssize_t level, i, at
    keys = numpy.zeros(of.n, "u8")
    cdef uint64_t[::1] mixed = keys
    _check_sizes(of.m, (key_of.shape[0],))
    for level in range(min(levels, of.around.shape[0])):
        for i in range(of.n):
            at = of.around[level, i]
            mixed[i] ^= mixed[i] >> FOLD ^ (key_of[at] if at < of.m else 0)
            mixed[i] *= factors[level % factors.shape[0]]
    return keys


def groups(keys):
    """Each of *keys* once, the first with each, which each is, and how many there are of it."""
    cdef const uint64_t[::1] key_of = keys
    cdef const Py_ssize_t[::1] order = keys.argsort(kind="stable")
    cdef Py_ssize_t n = key_of.shape[0], i, at, m = -1
    unique, places = numpy.empty(n, "u8"), numpy.empty((3, n), "p")
    cdef uint64_t[::1] key = unique
    cdef Py_ssize_t[:, ::1] place = places  # the first with a key; which each is; how many
    for i in range(n):
        at = order[i]
        if m < 0 or key[m] != key_of[at]:
            m += 1
            key[m], place[0, m], place[2, m] = key_of[at], at, 0
        place[1, at] = m
        place[2, m] += 1
    m += 1
    return unique[:m], places[0, :m], places[1], places[2, :m]


def found(const uint64_t[::1] keys, const float[:, ::1] rows, const uint64_t[::1] sought):
    """float64[WIDTH, n]: the *rows* of those *sought* among the ascending *keys*, else 0."""
    cdef Py_ssize_t i, j, at, left, half
    result = numpy.zeros((WIDTH, sought.shape[0]))
    cdef double[:, ::1] counts = result
    _check_sizes(keys.shape[0], (rows.shape[0],))
    _check_sizes(WIDTH, (rows.shape[1],))
    for i in range(sought.shape[0] if keys.shape[0] else 0):
        at, left = 0, keys.shape[0]
        while left > 1:  # without branches that the processor has to guess
            half = left >> 1
            at += half * (keys[at + half] <= sought[i])
            left -= half
        if keys[at] == sought[i]:
            for j in range(WIDTH):
                counts[j, i] = rows[at, j]
    return result


def added(one, other):
    """The keys, rows and minutes of two tables of counts, added."""
    cdef const uint64_t[::1] key_of = one.keys, more_keys = other.keys
    cdef const float[:, ::1] row_of = one.rows, more_rows = other.rows
    cdef const uint32_t[::1] seen_of = one.seen, more_seen = other.seen
    cdef Py_ssize_t n = key_of.shape[0], m = more_keys.shape[0], i = 0, j = 0, at = 0, k
    cdef bint is_one, is_other
    keys, minutes = (numpy.empty(n + m, kind) for kind in ("u8", "u4"))
    rows = numpy.empty((n + m, WIDTH), "f4")
    cdef uint64_t[::1] key = keys
    cdef float[:, ::1] row = rows
    cdef uint32_t[::1] seen = minutes
    _check_sizes(n, (row_of.shape[0], seen_of.shape[0]))
    _check_sizes(m, (more_rows.shape[0], more_seen.shape[0]))
    _check_sizes(WIDTH, (row_of.shape[1], more_rows.shape[1]))
    while i < n or j < m:
        is_one = j == m or (i < n and key_of[i] <= more_keys[j])
        is_other = i == n or (j < m and more_keys[j] <= key_of[i])
        key[at] = key_of[i] if is_one else more_keys[j]
        seen[at] = max(seen_of[i] if is_one else 0, more_seen[j] if is_other else 0)
        for k in range(WIDTH):  # -0.0 is what no number is changed by
            row[at, k] = row_of[i, k] if is_one else -0.0
            row[at, k] += more_rows[j, k] if is_other else -0.0
        i, j, at = i + is_one, j + is_other, at + 1
    return keys[:at], rows[:at], minutes[:at]


def text_rows(const Py_ssize_t[::1] of, const int64_t[::1] sizes, const double[::1] mass, total):
    """`memory._text_rows`."""
    cdef double through = 0.0, whole = total
    cdef Py_ssize_t i
    rows = numpy.zeros((sizes.shape[0], WIDTH), "f4")
    cdef float[:, ::1] row = rows
    _check_sizes(of.shape[0], (mass.shape[0],))
    _check_all(of, sizes.shape[0])
    for i in range(of.shape[0]):
        row[of[i], 0], through = 1.0, through + mass[i]
        if whole and sizes[of[i]] == 1:
            row[of[i], 1] = 1.0
            row[of[i], 2] = rint((through / whole - mass[i] / whole) * QUANTUM) / QUANTUM
            row[of[i], 3] = rint((1 - through / whole) * QUANTUM) / QUANTUM
    return rows


cdef enum:  # the numbers that `evidence._NUMBERS` has, in that order
    REPETITION, STEEPNESS, NOVELTY, OFTEN, MANY_PAGES, NEIGHBOURS, ANCHORS, MIN_ONCE, PLENTY
    ADDED_SHARE, UNSETTLED, SETTLED, MAX_UNSETTLED, MIN_LEAD, ABOVE_LEAD, EVEN, N_COUNTED


def counted(const double[::1] c, recalled, const double[::1] probability, double usual):
    """`evidence._counted`, by the numbers *c*."""
    cdef const int64_t[::1] words = recalled.keys.words
    cdef const Py_ssize_t[::1] of = recalled.keys.by_container.of_block
    cdef const uint8_t[::1] once = recalled.keys.once.view("u1")
    cdef const double[:, ::1] texts = recalled.texts, counts = recalled.containers
    cdef Py_ssize_t n = probability.shape[0], i
    cdef double pages = recalled.pages, through = 0.0, least = 1.0, p, others, hints, share
    terms, evidence = numpy.empty((4, n)), numpy.empty(n)
    cdef double[:, ::1] term = terms, sums = numpy.zeros((n, 2))
    cdef double[::1] repeated = numpy.empty(n), result = evidence
    _check_sizes(n, (words.shape[0], of.shape[0], once.shape[0], texts.shape[1], counts.shape[1]))
    _check_sizes(WIDTH, (texts.shape[0], counts.shape[0]))
    _check_sizes(N_COUNTED, (c.shape[0],))
    _check_all(of, n)
    for i in range(n):
        p = probability[i]
        repeated[i] = max(texts[0, i] / pages - usual, 0.0)
        sums[of[i], 0] += words[i]
        sums[of[i], 1] += words[i] * repeated[i]
        through += words[i] * p
        term[0, i] = words[i] * p
        term[1, i] = words[i] * p * (counts[0, i] > c[OFTEN] * pages)
        term[2, i] = words[i] * (p * p) * (counts[0, i] > 0)
        term[3, i] = term[2, i] * ((counts[1, i] + c[EVEN]) / (counts[0, i] + 1))
    cdef double[::1] total = numpy.add.reduce(terms, axis=1)
    cdef double trust = max(2 * (total[1] / max(total[0], 1.0)) - 1, 0.0)
    trust = trust * pages / (pages + c[MANY_PAGES])
    cdef double like = c[SETTLED] * min(total[3] / total[2], 1.0) if total[2] else c[EVEN]
    cdef double odds = log(like / (1 - like)), before_lead = c[ABOVE_LEAD] * through
    for i in range(n - 1, -1, -1):
        term[3, i] = least
        if once[i] and texts[1, i] >= c[MIN_ONCE]:
            least = min(least, (texts[2, i] + 0.5) / (texts[1, i] + 1))
    least = 1.0
    for i in range(n):
        p = probability[i]
        others = sums[of[i], 0] - words[i]
        share = max(sums[of[i], 1] - words[i] * repeated[i], 0.0) / max(others, 1.0)
        term[0, i] = repeated[i] * sqrt(4 * p * (1 - p)) if p > c[EVEN] else repeated[i]
        term[0, i] *= c[STEEPNESS]
        term[1, i] = c[STEEPNESS] * (share * (others > 0))
        term[2, i] = counts[1, i] + c[EVEN]
        term[2, i] /= max(counts[0, i] - counts[1, i], 0.0) + c[EVEN]
        term[3, i] = min(min(least, term[3, i]), c[PLENTY]) + c[ADDED_SHARE]
        term[3, i] /= c[PLENTY] + c[ADDED_SHARE]
        if once[i] and texts[1, i] >= c[MIN_ONCE]:
            least = min(least, (texts[3, i] + 0.5) / (texts[1, i] + 1))
    numpy.log1p(terms[:2], out=terms[:2])
    numpy.log(terms[2:], out=terms[2:])
    through = 0.0
    for i in range(n):
        p = probability[i]
        through += words[i] * p
        hints = -c[NEIGHBOURS] * term[1, i] + c[ANCHORS] * term[3, i]
        if total[2]:
            share = max(c[UNSETTLED] * min(term[2, i] - odds, 0.0), -c[MAX_UNSETTLED])
            hints += share * counts[0, i] / ((counts[0, i] + 2) * (counts[2, i] + 1))
        if texts[0, i] == 0 and words[i] >= c[MIN_LEAD] and through - words[i] * p < before_lead:
            hints = 0.0
        result[i] = -c[REPETITION] * term[0, i]
        result[i] += -c[NOVELTY] * trust if counts[0, i] == 0 else 0.0
        result[i] += hints * (4 * p * (1 - p))
    return evidence
