# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Sums and counts over a page's blocks, elements and groups of blocks.

Arrays come as bytes and are returned as `array.array` or `bytearray`. Each function is the inner
loop of one of Python, which is its oracle: those of `blocks.sums`, `blocks.text_counts`,
`blocks.containers` and `blocks.class_roles`. Numbers are added in the order in which numpy adds
them, so that the sums are the same to the last bit.
"""

from cpython.array cimport array, clone
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define _prefetch(place) __builtin_prefetch(place)
    #else
    #define _prefetch(place)
    #endif
    """
    void _prefetch(const void* place)

cdef enum:
    N_CLASSES = 8  # of a text: bits of a byte
    SYMBOL = 3  # as `tokens` has it
    MOST_PACKED = 255  # counts that a byte has room for

ctypedef fused real:
    float
    double

cdef array _FLOATS = array("d")
cdef array _SHORT_FLOATS = array("f")
cdef array _COUNTS = array("q")
cdef array _HASHES = array("Q")


cdef int _check(Py_ssize_t index, Py_ssize_t end) except -1:
    if not 0 <= index < end:
        raise IndexError(f"{index} is not from 0 to {end - 1}")
    return 0


def containers(bytes start not None, bytes close not None, bytes first not None, int n_levels):
    """The begin and end (intp[m]) of elements as blocks, and what is around blocks and elements.

    Element i is from tag start[i] (intp[m], ascending) to tag close[i] (int32[m]), block b begins
    at token first[b] (intp[n], ascending). Around each block are *n_levels* rows of elements,
    intp[n_levels, n], and around each element, intp[m+1], the one that is so of a block; m is none.
    """
    cdef const Py_ssize_t* opens = <const Py_ssize_t*> <const char*> start
    cdef const int32_t* closes = <const int32_t*> <const char*> close
    cdef const Py_ssize_t* token = <const Py_ssize_t*> <const char*> first
    cdef Py_ssize_t m = min(len(start) // sizeof(Py_ssize_t), len(close) // sizeof(int32_t))
    cdef Py_ssize_t n = len(first) // sizeof(Py_ssize_t), n_begun = 0, depth = 0, block, level, i
    cdef array begins = clone(_COUNTS, m, False), ends = clone(_COUNTS, m, False)
    cdef array arounds = clone(_COUNTS, n_levels * n, False), parents = clone(_COUNTS, m + 1, False)
    cdef array stack = clone(_COUNTS, m + 1, False)
    cdef int64_t* begin = <int64_t*> begins.data.as_longlongs
    cdef int64_t* end = <int64_t*> ends.data.as_longlongs
    cdef int64_t* around = <int64_t*> arounds.data.as_longlongs
    cdef int64_t* parent = <int64_t*> parents.data.as_longlongs
    cdef int64_t* is_open = <int64_t*> stack.data.as_longlongs
    for i in range(m):
        begin[i] = end[i] = n
    for i in range(m + 1):
        parent[i] = m
    for block in range(n):
        while n_begun < m and opens[n_begun] < token[block]:
            while depth and closes[is_open[depth - 1]] < opens[n_begun]:
                depth -= 1
                end[is_open[depth]] = block
            begin[n_begun] = block
            is_open[depth] = n_begun
            depth += 1
            n_begun += 1
        while depth and closes[is_open[depth - 1]] < token[block]:
            depth -= 1
            end[is_open[depth]] = block
        for level in range(n_levels):
            around[level * n + block] = is_open[depth - 1 - level] if level < depth else m
        for level in range(min(n_levels, depth) - 1):
            parent[is_open[depth - 1 - level]] = is_open[depth - 2 - level]
    return begins, ends, arounds, parents


def element_sums(bytes values not None, bytes begin not None, bytes end not None, Py_ssize_t k):
    """float64[k, m]: sums of *values* (float64[k, n]) from each *begin* to each *end* (intp[m])."""
    cdef const double* value = <const double*> <const char*> values
    cdef const Py_ssize_t* first = <const Py_ssize_t*> <const char*> begin
    cdef const Py_ssize_t* after = <const Py_ssize_t*> <const char*> end
    cdef Py_ssize_t m = min(len(begin), len(end)) // sizeof(Py_ssize_t), i, row
    cdef Py_ssize_t n = len(values) // sizeof(double) // k
    cdef array sums = clone(_FLOATS, k * m, False), running = clone(_FLOATS, n + 1, False)
    cdef double* before = running.data.as_doubles
    for i in range(m):
        _check(first[i], n + 1)
        _check(after[i], n + 1)
    before[0] = 0.0
    for row in range(k):
        for i in range(n):  # the first as it is, since 0 + -0 is another number than -0
            before[i + 1] = before[i] + value[row * n + i] if i else value[row * n]
        for i in range(m):
            sums.data.as_doubles[row * m + i] = before[after[i]] - before[first[i]]
    return sums


def ancestor_pools(
    bytes elements not None, bytes values not None, const Py_ssize_t[:, ::1] around not None,
    Py_ssize_t m
):
    """float64[3, n]: the sum, the least and the greatest of 0 and the *values* around each block.

    *elements* (intp[...]) has the number, below *m*, of that which each of *values* (float64[...])
    is of, *around* (intp[k, n]) has those around each block, to be added in the order of its rows.
    """
    cdef const Py_ssize_t* element = <const Py_ssize_t*> <const char*> elements
    cdef const double* value = <const double*> <const char*> values
    cdef Py_ssize_t n_values = min(
        len(elements) // sizeof(Py_ssize_t), len(values) // sizeof(double)
    )
    cdef Py_ssize_t n = around.shape[1], level, i, at
    cdef array pools = clone(_FLOATS, 3 * m, True), pooled = clone(_FLOATS, 3 * n, True)
    cdef double* total = pools.data.as_doubles
    cdef double* least = total + m
    cdef double* greatest = total + 2 * m
    cdef double* found = pooled.data.as_doubles
    for i in range(n_values):
        at = element[i]
        _check(at, m)
        total[at] += value[i]
        least[at] = min(least[at], value[i])
        greatest[at] = max(greatest[at], value[i])
    for level in range(around.shape[0]):
        for i in range(n):
            at = around[level, i]
            _check(at, m)
            found[i] = found[i] + total[at] if level else total[at]
            found[n + i] = min(found[n + i], least[at])
            found[2 * n + i] = max(found[2 * n + i], greatest[at])
    return pooled


def sums_upwards(
    const double[::1] values not None, const Py_ssize_t[::1] element not None,
    const Py_ssize_t[::1] parent not None, tuple weights not None
):
    """float64[m]: the *values* (float64[n]) of the blocks whose *element* (intp[n]) each is.

    Times the first of the *weights*, and times the next for the *parent* (intp[m+1]) of that one,
    and so on; m stands for none. What has one weight is added first.
    """
    cdef Py_ssize_t n = values.shape[0], m = parent.shape[0] - 1, i, at
    cdef array sums = clone(_FLOATS, max(m, 0), True), part = clone(_FLOATS, max(m, 0) + 1, True)
    cdef array places = clone(_COUNTS, n, False)
    cdef double* total = sums.data.as_doubles
    cdef double* of_weight = part.data.as_doubles
    cdef int64_t* place = <int64_t*> places.data.as_longlongs
    cdef double weight
    _check(n, element.shape[0] + 1)
    for i in range(n):
        place[i] = element[i]
    for weight in weights:
        memset(of_weight, 0, (m + 1) * sizeof(double))
        for i in range(n):
            at = place[i]
            _check(at, m + 1)
            of_weight[at] += values[i] * weight
            place[i] = parent[at]
        for i in range(m):
            total[i] += of_weight[i]
    return sums


def centre(double[::1] ratios not None, const uint8_t[::1] are_seen not None, double middle):
    """Take *middle* from each of *ratios* (float64[n]); those not *are_seen* (bool[n]) become 0."""
    cdef Py_ssize_t i
    _check(ratios.shape[0], are_seen.shape[0] + 1)
    for i in range(ratios.shape[0]):
        ratios[i] = ratios[i] - middle if are_seen[i] else 0.0


def inside(bytes chosen not None, bytes begin not None, bytes end not None, Py_ssize_t n):
    """bool[n]: the places from the *begin* to the *end* (intp[m]) of any *chosen* (bool[m])."""
    cdef const uint8_t* is_chosen = chosen
    cdef const Py_ssize_t* first = <const Py_ssize_t*> <const char*> begin
    cdef const Py_ssize_t* after = <const Py_ssize_t*> <const char*> end
    cdef Py_ssize_t m = min(len(begin), len(end)) // sizeof(Py_ssize_t), i
    cdef int64_t depth = 0
    cdef array changes = clone(_COUNTS, n + 1, True)
    cdef int64_t* change = <int64_t*> changes.data.as_longlongs
    cdef bytearray found = bytearray(n)
    cdef char* is_inside = PyByteArray_AS_STRING(found)
    for i in range(min(m, len(chosen))):
        if is_chosen[i]:
            _check(first[i], n + 1)
            _check(after[i], n + 1)
            change[first[i]] += 1
            change[after[i]] -= 1
    for i in range(n):
        depth += change[i]
        is_inside[i] = depth > 0
    return found


# For the bits of a byte a number with one of them in each of its bytes, to count all at once.
cdef uint64_t _SPREAD[256]


cdef void _make_spread() noexcept:
    cdef int bits, place
    for bits in range(256):
        _SPREAD[bits] = 0
        for place in range(N_CLASSES):
            _SPREAD[bits] |= <uint64_t> (bits >> place & 1) << 8 * place


_make_spread()


cdef void _unpack(uint64_t packed, double* count, Py_ssize_t step) noexcept:
    """Add what is counted in each byte of *packed* to the counts, each a *step* after the other."""
    cdef int place
    for place in range(N_CLASSES):
        count[place * step] += packed >> 8 * place & 0xFF


def text_counts(str text not None, texts, bytes first not None, bytes classes not None):
    """What the *texts* of each run are: how many of each class; letters; the ends' classes.

    *texts* are four columns: where each begins and ends (int32[...]), its kind (uint8[...], WORD or
    SYMBOL), and which of these rows are meant (int32[n_texts]). A run is from each *first*
    (intp[n]) of those to the next. *classes* (uint8[65536]) are bits by the first character; the
    last of them is for symbols. What comes back is float64[8, n], float64[n], uint8[n] and
    uint8[n].
    """
    cdef bytes starts, ends, kinds, rows
    starts, ends, kinds, rows = texts
    cdef const int32_t* start = <const int32_t*> <const char*> starts
    cdef const int32_t* end = <const int32_t*> <const char*> ends
    cdef const uint8_t* kind_of = kinds
    cdef const int32_t* token = <const int32_t*> <const char*> rows
    cdef const Py_ssize_t* begin = <const Py_ssize_t*> <const char*> first
    cdef const uint8_t* class_of = classes
    cdef Py_ssize_t n = len(first) // sizeof(Py_ssize_t), size = len(rows) // sizeof(int32_t)
    cdef Py_ssize_t n_tokens = min(len(kinds), min(len(starts), len(ends)) // sizeof(int32_t))
    cdef Py_ssize_t n_characters = PyUnicode_GET_LENGTH(text), run, i, at, after
    cdef int width = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef array counts = clone(_FLOATS, N_CLASSES * n, True), letters = clone(_FLOATS, n, True)
    cdef double* count = counts.data.as_doubles
    cdef double* letter = letters.data.as_doubles
    cdef bytearray of_first = bytearray(n), of_last = bytearray(n)
    cdef uint8_t* first_class = <uint8_t*> PyByteArray_AS_STRING(of_first)
    cdef uint8_t* last_class = <uint8_t*> PyByteArray_AS_STRING(of_last)
    cdef uint8_t bits = 0
    cdef int is_symbol, n_packed = 0
    cdef uint64_t packed = 0
    _check(0xFFFF, len(classes))
    for run in range(n):
        after = begin[run + 1] if run + 1 < n else size
        _check(begin[run], after)
        _check(after, size + 1)
        for i in range(begin[run], after):  # no processor foretells what each of them is
            at = token[i]
            _check(at, n_tokens)
            _check(start[at], n_characters)
            is_symbol = kind_of[at] == SYMBOL
            bits = class_of[min(PyUnicode_READ(width, data, start[at]), 0xFFFF)]
            bits |= is_symbol << (N_CLASSES - 1)
            letter[run] += (end[at] - start[at]) * (1 - is_symbol)
            if i == begin[run]:
                first_class[run] = bits
            packed += _SPREAD[bits]
            n_packed += 1
            if n_packed == MOST_PACKED:
                _unpack(packed, count + run, n)
                packed, n_packed = 0, 0
        _unpack(packed, count + run, n)
        packed, n_packed = 0, 0
        last_class[run] = bits
    return counts, letters, of_first, of_last


def run_sums(const double[::1] values not None, const Py_ssize_t[::1] first not None):
    """float64[n]: the sum of *values* (float64[...]) from each *first* (intp[n]) to the next."""
    cdef Py_ssize_t n = first.shape[0], size = values.shape[0], run, i, end
    cdef array sums = clone(_FLOATS, n, True)
    cdef double* total = sums.data.as_doubles
    for run in range(n):
        end = first[run + 1] if run + 1 < n else size
        _check(first[run], end + 1)
        _check(end, size + 1)
        for i in range(first[run], end):
            total[run] += values[i]
    return sums


def run_hashes(bytes ids not None, bytes first not None):
    """uint64[n]: a hash of the *ids* (uint64[...]) of each run, in their order."""
    cdef const uint64_t* each = <const uint64_t*> <const char*> ids
    cdef const Py_ssize_t* begin = <const Py_ssize_t*> <const char*> first
    cdef Py_ssize_t n = len(first) // sizeof(Py_ssize_t), size = len(ids) // sizeof(uint64_t)
    cdef Py_ssize_t run, i, end
    cdef array hashes = clone(_HASHES, n, True)
    cdef uint64_t* hashed = <uint64_t*> hashes.data.as_ulonglongs
    for run in range(n):
        end = begin[run + 1] if run + 1 < n else size
        _check(begin[run], end + 1)
        _check(end, size + 1)
        for i in range(begin[run], end):
            hashed[run] += each[i] * <uint64_t> (2 * (i - begin[run]) + 1)
    return hashes


def ratios(
    const uint32_t[:, ::1] counts not None, const int32_t[::1] bucket not None, columns,
    double smoothing,
):
    """float64[n] and bool[n]: of each bucket the ratio of its two counts, and whether it has one.

    *counts* are uint32[n_buckets, 2], *bucket* int32[n], and *columns* which of the two counts
    is divided by which; *smoothing* is added to both.
    """
    cdef Py_ssize_t n = bucket.shape[0], i, upper = columns[0], lower = columns[1]
    cdef Py_ssize_t n_buckets = counts.shape[0]
    cdef array found = clone(_FLOATS, n, False)
    cdef double* ratio = found.data.as_doubles
    cdef bytearray has_counts = bytearray(n)
    cdef char* is_seen = PyByteArray_AS_STRING(has_counts)
    _check(upper, counts.shape[1])
    _check(lower, counts.shape[1])
    for i in range(n):
        _check(bucket[i], n_buckets)
        _prefetch(&counts[bucket[i], 0])
    for i in range(n):
        ratio[i] = (counts[bucket[i], upper] + smoothing) / (counts[bucket[i], lower] + smoothing)
        is_seen[i] = (counts[bucket[i], upper] | counts[bucket[i], lower]) != 0
    return found, has_counts


def marked_counts(bytes ids not None, bytes chosen not None, bytes first not None, table):
    """int64[n]: how many of the *chosen* (bool[...]) *ids* in each run have a mark.

    A *table* has the marks (bool[...], a power of two) and the bit of an id (uint64) from which on
    they are by.
    """
    cdef const uint64_t* each = <const uint64_t*> <const char*> ids
    cdef const uint8_t* is_chosen = chosen
    cdef bytes marks = table[0]
    cdef const uint8_t* mark = marks
    cdef int shift = table[1]
    cdef const Py_ssize_t* begin = <const Py_ssize_t*> <const char*> first
    cdef Py_ssize_t n = len(first) // sizeof(Py_ssize_t)
    cdef Py_ssize_t size = min(len(ids) // sizeof(uint64_t), len(chosen)), run, i, end
    cdef uint64_t mask = len(marks) - 1
    cdef array counts = clone(_COUNTS, n, True)
    cdef int64_t* count = <int64_t*> counts.data.as_longlongs
    for run in range(n):
        end = begin[run + 1] if run + 1 < n else size
        _check(begin[run], end + 1)
        _check(end, size + 1)
        for i in range(begin[run], end):
            count[run] += is_chosen[i] & mark[each[i] >> shift & mask]
    return counts


def table_counts(bytes words not None, bytes rows not None, table, shape):
    """int64[n_bits, n]: how many *words* (uint32[...]) of each row (intp[...]) have each bit.

    A *table* has by the low bits of a word a word (uint32[...]) and its bits (uint8[...]); the
    *shape* is that of the result.
    """
    cdef int n_classes = shape[0]
    cdef Py_ssize_t n = shape[1]
    cdef const uint32_t* word = <const uint32_t*> <const char*> words
    cdef const Py_ssize_t* row = <const Py_ssize_t*> <const char*> rows
    cdef bytes known = table[0], of_known = table[1]
    cdef const uint32_t* in_table = <const uint32_t*> <const char*> known
    cdef const uint8_t* bits_of = of_known
    cdef Py_ssize_t size = min(len(words) // sizeof(uint32_t), len(rows) // sizeof(Py_ssize_t)), i
    cdef uint32_t mask = <uint32_t> (min(len(known) // sizeof(uint32_t), len(of_known)) - 1), place
    cdef int bit
    cdef array counts = clone(_COUNTS, n_classes * n, True)
    cdef int64_t* count = <int64_t*> counts.data.as_longlongs
    for i in range(size):
        place = word[i] & mask
        if in_table[place] == word[i]:
            _check(row[i], n)
            for bit in range(n_classes):
                count[bit * n + row[i]] += bits_of[place] >> bit & 1
    return counts


def output(
    const float[:, ::1] sums not None, const float[::1] bias not None,
    const float[::1] weights not None,
):
    """float32[n]: of each row of *sums* (float32[n, k]) the weighted sum of the units' activations.

    A unit is active by as much as its sum and its *bias* (float32[k]) are above 0. The *weights*
    are float32[k]. Of the products the second half is added to the first, until one is left.
    """
    cdef Py_ssize_t n = sums.shape[0], k = sums.shape[1], row, i, half, rest
    cdef array found = clone(_SHORT_FLOATS, n, False), products = clone(_SHORT_FLOATS, k, False)
    cdef float* product = products.data.as_floats
    if not bias.shape[0] == weights.shape[0] == k:
        raise ValueError(f"{bias.shape[0]} biases and {weights.shape[0]} weights for {k} sums")
    if k == 0:
        raise ValueError("a network without hidden units")
    cdef const float* of_unit = &bias[0]
    cdef const float* weight = &weights[0]
    cdef const float* unit
    for row in range(n):
        unit = &sums[row, 0]
        for i in range(k):
            product[i] = _active(unit[i] + of_unit[i]) * weight[i]
        rest = k
        while rest > 1:
            half = rest - rest // 2
            for i in range(rest // 2):
                product[i] += product[half + i]
            rest = half
        found.data.as_floats[row] = product[0]
    return found


cdef inline float _active(float each) noexcept nogil:
    cdef float nothing = 0
    return nothing if each < nothing else each


def standardized(
    const real[:, ::1] inputs not None, const float[::1] mean not None,
    const float[::1] scale not None, float most
):
    """float32[k, n]: each row of *inputs* (float32 or 64[k, n]) less its *mean* times its *scale*.

    What is further than *most* from 0 becomes that; what is no number stays that.
    """
    cdef Py_ssize_t k = inputs.shape[0], n = inputs.shape[1], row, i
    cdef array found = clone(_SHORT_FLOATS, k * n, False)
    cdef float* value = found.data.as_floats
    cdef float each
    _check(k - 1, min(mean.shape[0], scale.shape[0]))
    for row in range(k):
        for i in range(n):
            each = (<float> inputs[row, i] - mean[row]) * scale[row]
            each = -most if each < -most else each
            value[row * n + i] = most if each > most else each
    return found
