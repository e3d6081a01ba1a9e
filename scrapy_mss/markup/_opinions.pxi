"""What opinions about a page are formed from; the Python of `blocks.readings` is the oracle."""


cdef enum:
    N_SUMS = 5

cdef enum:  # roles of a tag, as `readings` has them
    NEVER = 1
    BESIDE = 2
    NAMELESS = 4
    ITEM = 8
    IS_PARAGRAPH = 16


@cython.final
cdef class _Elements:
    """The elements of a page of *n* blocks."""

    cdef const Py_ssize_t[::1] begin, end
    cdef Py_ssize_t m, n

    def __cinit__(self, containers, Py_ssize_t n):
        cdef Py_ssize_t i
        self.begin, self.end, self.n = containers.begin, containers.end, n
        self.m = self.begin.shape[0]
        _check_sizes(self.m, (self.end.shape[0],))
        for i in range(self.m):
            if not 0 <= self.begin[i] <= self.end[i] <= n:
                raise IndexError(f"an element from {self.begin[i]} to {self.end[i]} of {n}")

    cdef int mark(self, const uint8_t[::1] chosen, uint8_t[::1] into) except -1:
        """Mark the blocks in the *chosen* elements."""
        cdef array changes = clone(_INT64S, self.n + 1, True)
        cdef int64_t* change = <int64_t*> changes.data.as_longlongs
        cdef int64_t depth = 0
        cdef Py_ssize_t i
        for i in range(self.m):
            if chosen[i]:
                change[self.begin[i]] += 1
                change[self.end[i]] -= 1
        for i in range(self.n):
            depth += change[i]
            into[i] = depth > 0
        return 0

    cdef int total(self, const double* before, double[::1] into) except -1:
        """Put there the sum of what comes *before* each block, less that before its element."""
        cdef Py_ssize_t i
        for i in range(self.m):
            into[i] = before[self.end[i]] - before[self.begin[i]]
        return 0


cdef class Reader:
    """What a page looks like without its counts, by the *roles* of tags and by *limits*."""

    cdef const uint8_t[::1] role_of
    cdef double paragraph, line, most_linked, linked, most, few, tag_price, least_stops, word_price

    def __init__(self, const uint8_t[::1] roles not None, limits):
        _check_sizes(256, (roles.shape[0],))
        self.role_of = roles
        self.paragraph, self.line, self.most_linked, self.linked, self.most, self.few = limits[:6]
        self.tag_price, self.least_stops, self.word_price = limits[6:]

    def __call__(self, reading):
        """The columns of `readings.Found`."""
        cdef const double[::1] letters = reading.letters, link_share = reading.link_share
        cdef const uint8_t[::1] tag = reading.containers.tag
        cdef const uint8_t[::1] own_tag = reading.page.ancestor_tags[0]
        cdef const Py_ssize_t[:, ::1] around = reading.containers.around
        cdef Py_ssize_t n = letters.shape[0], i
        cdef _Elements of = _Elements(reading.containers, n)
        proses, owns, texts = numpy.empty(n), numpy.empty(n, "p"), numpy.empty(n, "?")
        besides, insides = numpy.empty(of.m, "?"), numpy.empty(n, "?")
        sums = numpy.empty((N_SUMS, of.m))
        cdef double[::1] prose = proses
        cdef Py_ssize_t[::1] own = owns
        cdef uint8_t[::1] beside = besides.view("u1"), inside = insides.view("u1")
        _check_sizes(n, (link_share.shape[0], own_tag.shape[0], around.shape[1]))
        _check_sizes(of.m, (tag.shape[0],))
        _check(1, around.shape[0])
        for i in range(of.m):
            beside[i] = self.role_of[tag[i]] & NEVER
        of.mark(beside, inside)
        for i in range(n):
            own[i] = around[(self.role_of[own_tag[i]] & IS_PARAGRAPH) != 0, i]
            prose[i] = (
                letters[i] if letters[i] >= self.paragraph and link_share[i] < self.most_linked
                and not inside[i] else 0.0
            )
        self.mark_beside(reading, proses, of, beside, inside)
        self.mark_text(reading, own_tag, inside, texts.view("u1"))
        self.sum_inside(reading, prose, inside, of, sums)
        return proses, besides, insides, owns, texts, sums

    cdef int mark_beside(
        self, reading, proses, _Elements of, uint8_t[::1] beside, uint8_t[::1] inside
    ) except -1:
        """By tags alone where class words would leave next to nothing of the page's prose."""
        cdef const double[::1] prose = proses
        cdef const uint8_t[::1] tag = reading.containers.tag
        cdef const uint8_t[::1] is_hidden = reading.page.attributes.hidden.view("u1")
        cdef const int64_t[::1] words = reading.names_beside
        cdef double total = numpy.add.reduce(proses), least = self.most * total
        cdef array running = clone(_FLOATS, of.n + 1, True)
        cdef double* before = running.data.as_doubles
        cdef uint8_t role
        cdef bint is_beside, by_name
        cdef Py_ssize_t i, n_left
        lefts, sums = numpy.empty(of.n), numpy.empty(of.m)
        cdef double[::1] left = lefts, inside_each = sums
        _check_sizes(of.m, (is_hidden.shape[0], words.shape[0]))
        for i in range(of.n):
            before[i + 1] = before[i] + prose[i]
        of.total(before, inside_each)
        for by_name in (True, False):
            for i in range(of.m):
                role = self.role_of[tag[i]]
                is_beside = role & BESIDE
                if by_name:
                    is_beside |= is_hidden[i] or (words[i] > 0 and not role & NAMELESS)
                beside[i] = (role & NEVER) != 0 or (is_beside and inside_each[i] < least)
            of.mark(beside, inside)
            n_left = 0
            for i in range(of.n):
                left[n_left] = prose[i]
                n_left += not inside[i]
            if numpy.add.reduce(lefts[:n_left]) >= self.few * total:
                return 0
        return 0

    cdef int mark_text(
        self, reading, const uint8_t[::1] own_tag, const uint8_t[::1] inside, uint8_t[::1] is_text
    ) except -1:
        """Mark the lines of a text, that are not beside it and not linked."""
        cdef const double[::1] letters = reading.letters, link_share = reading.link_share
        cdef const double[::1] ends = reading.columns["ends_sentence"]
        cdef bint is_line
        cdef Py_ssize_t i
        _check_sizes(is_text.shape[0], (ends.shape[0],))
        for i in range(is_text.shape[0]):
            is_line = self.role_of[own_tag[i]] & ITEM or letters[i] >= self.line or (
                letters[i] >= self.paragraph and ends[i] > 0
            )
            is_text[i] = is_line and not inside[i] and link_share[i] < self.linked
        return 0

    cdef int sum_inside(
        self, reading, const double[::1] prose, const uint8_t[::1] inside, _Elements of,
        double[:, ::1] sums
    ) except -1:
        cdef const double[::1] letters = reading.letters, links = reading.link_share
        cdef const double[::1] words = reading.words
        cdef const int64_t[::1] tags = reading.page.blocks.tags, stops = reading.stop_words
        cdef double unlinked, share = 0.0, of_prose = 0.0
        cdef double value[N_SUMS]
        cdef array running = clone(_FLOATS, N_SUMS * (of.n + 1), True)
        cdef double* before = running.data.as_doubles
        cdef Py_ssize_t i, row
        _check_sizes(of.n, (words.shape[0], tags.shape[0], stops.shape[0]))
        for i in range(of.n):
            share += stops[i] if prose[i] > 0 else 0
            of_prose += words[i] if prose[i] > 0 else 0
        share /= of_prose if of_prose > 1.0 else 1.0
        share = share if share > self.least_stops else self.least_stops
        for i in range(of.n):
            unlinked = 1 - 2 * links[i]
            value[0] = letters[i]
            value[1] = letters[i] * links[i]
            value[2] = 0.0 if inside[i] else prose[i]
            value[3] = words[i] * unlinked - self.tag_price * tags[i]
            value[4] = stops[i] / share * unlinked - self.word_price * words[i]
            for row in range(3, N_SUMS):
                value[row] = 0.0 if inside[i] and value[row] > 0 else value[row]
            for row in range(N_SUMS):
                before[row * (of.n + 1) + i + 1] = before[row * (of.n + 1) + i] + value[row]
        for row in range(N_SUMS):
            of.total(before + row * (of.n + 1), sums[row])
        return 0
