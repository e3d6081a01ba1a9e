"""Which of some numbers are equal, and which are among a few: of hashes, with tables of places."""

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
