"""Equal numbers, numbers among others, and the network: what numpy takes several steps for.

The Python of each step, by the same name or with the class of its tables named beside it, is its
oracle: in `core.hashing`, `core.naive_bayes`, `blocks.shared_words`,
`blocks.class_roles` and `blocks.mlp`.
"""

ctypedef fused real:
    float
    double

# A secret of the process: no page can choose numbers that share a place in a table.
cdef uint64_t SALT = hash("groups") & 0xFFFFFFFFFFFFFFFF


cdef inline uint64_t _scattered(uint64_t key):
    key = (key ^ SALT) * 0xFF51AFD7ED558CCDu
    key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53u
    return key ^ key >> 33


def groups(const uint64_t[::1] key not None):
    """intp[n]: for each of the keys how many others come first: equal ones have one number."""
    cdef Py_ssize_t n = key.shape[0], n_slots = 2, n_groups = 0, i, slot
    numbers = numpy.empty(n, "p")
    cdef Py_ssize_t[::1] number = numbers
    while n_slots < 2 * n:
        n_slots *= 2
    cdef array table = clone(_INT32S, n_slots, True)  # which key is in each slot, counted from 1
    cdef int* first = table.data.as_ints
    for i in range(n):
        slot = _scattered(key[i]) & (n_slots - 1)
        while first[slot] and key[first[slot] - 1] != key[i]:
            slot = (slot + 1) & (n_slots - 1)
        if first[slot]:
            number[i] = number[first[slot] - 1]
        else:
            first[slot] = <int> i + 1
            number[i] = n_groups
            n_groups += 1
    return numbers


cdef uint64_t FACTOR = 0xBB67AE8584CAA73Bu  # the second of `hashing.MULTIPLIERS`


def buckets(const uint64_t[::1] mixed not None, int bits):
    """int32[n] below 2**bits: the high bits of a product."""
    cdef Py_ssize_t i
    result = numpy.empty(mixed.shape[0], "i4")
    cdef int32_t[::1] found = result
    if not 0 < bits < 32:
        raise ValueError(f"{bits} bits of an int32")
    for i in range(mixed.shape[0]):
        found[i] = <int32_t> ((mixed[i] ^ mixed[i] >> 29) * FACTOR >> (64 - bits))
    return result


cdef enum:
    HIGH_BITS = 12  # of a number: by these alone nearly all are told that are not among a few


@cython.final
cdef class _Few:
    """A few numbers in a table of places, by which others are known."""

    cdef const uint64_t[::1] numbers
    cdef array table  # at each place which of the numbers, counted from 1
    cdef uint64_t mask
    cdef uint8_t is_likely[1 << HIGH_BITS]  # whether one of the numbers has these high bits

    def __cinit__(self, const uint64_t[::1] number not None):
        cdef Py_ssize_t n = number.shape[0], n_places = 2, i
        while n_places < 4 * n:
            n_places *= 2
        self.numbers, self.mask = number, n_places - 1
        self.table = clone(_INT32S, n_places, True)
        memset(self.is_likely, 0, sizeof(self.is_likely))
        for i in range(n):
            self.is_likely[number[i] >> (64 - HIGH_BITS)] = True
            self.table.data.as_ints[self.place(number[i])] = <int> i + 1

    cdef Py_ssize_t place(self, uint64_t number):
        """Where the number is, or could be."""
        cdef const int* which = self.table.data.as_ints
        cdef uint64_t place = _scattered(number) & self.mask
        while which[place] and self.numbers[which[place] - 1] != number:
            place = (place + 1) & self.mask
        return place

    cdef bint has(self, uint64_t number):
        return self.table.data.as_ints[self.place(number)] != 0


def shared_counts(texts, few, uint64_t factor):
    """int64[n]: how many words of each block, or pairs by a *factor*, are among a *few*."""
    cdef const uint64_t[::1] token_id = texts.tokens.token_id
    cdef const uint8_t[::1] kind = texts.tokens.kind
    cdef const int32_t[::1] token = texts.token
    cdef const Py_ssize_t[::1] begin = texts.first
    cdef Py_ssize_t n = begin.shape[0], size = token.shape[0], n_tokens = kind.shape[0]
    cdef Py_ssize_t run, i, end
    cdef uint64_t before = 0, each, number
    cdef bint is_word, is_pair
    cdef _Few known = _Few(few)
    result = numpy.zeros(n, "i8")
    cdef int64_t[::1] count = result
    _check(n_tokens, token_id.shape[0] + 1)
    for run in range(n):
        end = begin[run + 1] if run + 1 < n else size
        if not 0 <= begin[run] <= end <= size:
            raise IndexError(f"a run from {begin[run]} to {end} of {size}")
        is_pair = factor == 0
        for i in range(begin[run], end):  # no processor foretells which of them are words
            _check(token[i], n_tokens)
            is_word = kind[token[i]] == WORD
            each = token_id[token[i]]
            number = before * factor + each
            if is_word & is_pair & known.is_likely[number >> (64 - HIGH_BITS)]:
                count[run] += known.has(number)
            before = each if is_word else before
            is_pair |= is_word
    return result


def ratios(
    const uint32_t[:, ::1] counts not None, const int32_t[::1] bucket not None, double smoothing
):
    """The smoothed ratio of the second of two counts of each bucket to the first; any counts."""
    cdef Py_ssize_t n = bucket.shape[0], n_buckets = counts.shape[0], i
    found, seen = numpy.empty(n), numpy.empty(n, "?")
    cdef double[::1] ratio = found
    cdef uint8_t[::1] is_seen = seen.view("u1")
    _check(1, counts.shape[1])
    for i in range(n):
        _check(bucket[i], n_buckets)
        _prefetch(&counts[bucket[i], 0])
    for i in range(n):
        ratio[i] = (counts[bucket[i], 1] + smoothing) / (counts[bucket[i], 0] + smoothing)
        is_seen[i] = (counts[bucket[i], 1] | counts[bucket[i], 0]) != 0
    return found, seen


cdef class RoleCounter:
    """How many words have each of some roles, by a table of *words* and their *roles*, as bits.

    A word is at the place that its low bits are the number of.
    """

    cdef const uint32_t[::1] words
    cdef const uint8_t[::1] roles
    cdef int n_roles

    def __init__(
        self, const uint32_t[::1] words not None, const uint8_t[::1] roles not None, int n_roles
    ):
        if words.shape[0] != roles.shape[0] or words.shape[0] & (words.shape[0] - 1):
            raise ValueError(f"{words.shape[0]} words and {roles.shape[0]} roles")
        self.words, self.roles, self.n_roles = words, roles, n_roles

    def __call__(
        self, const uint32_t[::1] word not None, const Py_ssize_t[::1] row not None, Py_ssize_t n
    ):
        """int64[n_roles, n]: how many words of each row have each role."""
        cdef uint32_t mask = <uint32_t> (self.words.shape[0] - 1), place
        cdef Py_ssize_t i
        cdef int role
        counts = numpy.zeros((self.n_roles, n), "i8")
        cdef int64_t[:, ::1] count = counts
        _check(word.shape[0], row.shape[0] + 1)
        for i in range(word.shape[0]):
            place = word[i] & mask
            if self.words[place] == word[i]:
                _check(row[i], n)
                for role in range(self.n_roles):
                    count[role, row[i]] += self.roles[place] >> role & 1
        return counts


# --- the network --------------------------------------------------------------------------------

cdef enum:
    CLIP = 4  # as `mlp` has it


def standardized(
    const real[:, ::1] rows not None, const float[::1] mean not None,
    const float[::1] scale not None
):
    """float32[k, n]: each of the rows less its mean times its scale, clipped."""
    cdef Py_ssize_t k = rows.shape[0], n = rows.shape[1], row, i
    cdef float each
    result = numpy.empty((k, n), "f4")
    cdef float[:, ::1] value = result
    _check(k - 1, min(mean.shape[0], scale.shape[0]))
    for row in range(k):
        for i in range(n):
            each = (<float> rows[row, i] - mean[row]) * scale[row]
            each = -CLIP if each < -CLIP else each  # what is no number stays that
            value[row, i] = CLIP if each > CLIP else each
    return result


def weighted_units(
    const float[:, ::1] sums not None, const float[::1] bias not None,
    const float[::1] weights not None
):
    """float32[n]: of each row of sums the weighted sum of the units' activations."""
    cdef Py_ssize_t n = sums.shape[0], k = sums.shape[1], row, i, half, rest
    cdef float unit, nothing = 0
    result, products = numpy.empty(n, "f4"), numpy.empty(k, "f4")
    cdef float[::1] found = result, product = products
    if not bias.shape[0] == weights.shape[0] == k > 0:
        raise ValueError(f"{bias.shape[0]} biases and {weights.shape[0]} weights for {k} sums")
    for row in range(n):
        for i in range(k):
            unit = sums[row, i] + bias[i]
            product[i] = (nothing if unit < nothing else unit) * weights[i]
        rest = k
        while rest > 1:
            half = rest - rest // 2
            for i in range(rest // 2):
                product[i] += product[half + i]
            rest = half
        found[row] = product[0]
    return result
