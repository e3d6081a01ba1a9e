"""The network's inputs: what blocks have, where they are, and where the evidence is.

The Python of each step, in `classifier` and `features`, is its oracle.
"""

import random

from libc.math cimport INFINITY

cdef uint64_t _MULTIPLIER = random.getrandbits(64) | 1  # nobody can make keys that share a place


cdef array _numbered(const uint64_t* keys, Py_ssize_t n):
    """A number for each of *n* keys, from 0 on in their order: equal ones have the same."""
    cdef Py_ssize_t i, at
    cdef int bits = (2 * n + 1).bit_length(), n_numbers = 0
    cdef array numbers = clone(_INT32S, n, False), table = clone(_INT32S, 1 << bits, True)
    cdef int* number = numbers.data.as_ints
    cdef int* first = table.data.as_ints
    for i in range(n):
        at = keys[i] * _MULTIPLIER >> (64 - bits)
        while first[at] and keys[first[at] - 1] != keys[i]:  # the first with the key, from 1 on
            at = (at + 1) & ((1 << bits) - 1)
        if first[at]:
            number[i] = number[first[at] - 1]
        else:
            first[at], number[i] = <int> i + 1, n_numbers
            n_numbers += 1
    return numbers


ctypedef fused index_t:
    const int
    const Py_ssize_t


cdef int _check_all(index_t[::1] indices, Py_ssize_t end) except -1:
    cdef Py_ssize_t beyond = 0, i  # negative if any is, or is too large: a loop without branches
    for i in range(indices.shape[0]):
        beyond |= indices[i] | <Py_ssize_t> (<size_t> (end - 1) - <size_t> indices[i])
    if beyond < 0:
        for i in range(indices.shape[0]):
            _check(indices[i], end)


@cython.final
cdef class _Elements:
    """The arrays of `segmentation.Containers`, of which every place was checked."""

    cdef const Py_ssize_t[::1] begin, end, parent
    cdef const uint8_t[::1] tag
    cdef const Py_ssize_t[:, ::1] around
    cdef Py_ssize_t n, m  # blocks, elements

    def __init__(self, containers):
        cdef Py_ssize_t level
        self.begin, self.end, self.tag = containers.begin, containers.end, containers.tag
        self.around, self.n, self.m = containers.around, containers.n_blocks, self.begin.shape[0]
        self.parent = containers.parent
        _check_sizes(self.m, (self.end.shape[0], self.tag.shape[0], self.parent.shape[0] - 1))
        _check_all(self.begin, self.n + 1)
        _check_all(self.end, self.n + 1)
        for level in range(self.around.shape[0]):
            _check_all(self.around[level], self.m + 1)
        _check_all(self.parent, self.m + 1)

    def __reduce__(self):
        return type(None), ()  # a page that is copied or sent finds its own

    cdef uint8_t tag_around(self, Py_ssize_t level, Py_ssize_t block) noexcept:
        cdef Py_ssize_t element = self.around[level, block]
        return self.tag[element] if element < self.m else 0

    cdef mark_inside(self, const uint8_t[::1] chosen, uint8_t[::1] found):
        """Let *found* be the blocks inside any of the *chosen* elements."""
        cdef Py_ssize_t i
        cdef int depth = 0
        cdef array edges = clone(_INT32S, self.n + 1, True)
        cdef int* edge = edges.data.as_ints
        for i in range(self.m):
            edge[self.begin[i]] += chosen[i] != 0
            edge[self.end[i]] -= chosen[i] != 0
        for i in range(self.n):
            depth += edge[i]
            found[i] = depth > 0

    cdef add_inside(self, const double[::1] values, double[::1] sums):
        """Let *sums* be those of *values*, one a block, inside each element."""
        cdef Py_ssize_t i
        cdef array through = clone(_DOUBLES, self.n + 1, False)
        cdef double* before = through.data.as_doubles
        before[0] = 0.0
        for i in range(self.n):
            before[i + 1] = before[i] + values[i]
        for i in range(self.m):
            sums[i] = before[self.end[i]] - before[self.begin[i]]


cdef _Elements _elements_of(page):
    """Those of a *page*, which are checked when they are first asked for."""
    cdef dict known = page.__dict__
    if known.get("_elements") is None:
        known["_elements"] = _Elements(page.containers)
    return known["_elements"]


cdef enum:  # what is counted of words and symbols, in the order of `texts.COUNTS`: classes first
    IS_CAPITAL, IS_DIGIT, IS_SENTENCE_END, IS_COMMA, IS_QUOTE, IS_CLOSER, IS_COLON, IS_SYMBOL
    TEXT_LETTERS, TEXT_STOPS, TEXT_TITLE, TEXT_PAIRS, N_COUNTS
    N_CLASSES = TEXT_LETTERS

cdef enum:  # how many rows or levels there are of each
    N_PARENTS = 9
    N_ANCESTORS = 18
    N_EVIDENCE = 5
    N_OPINIONS = 6
    N_PAIRS = 15  # of opinions
    KEY_LEVELS = 3
    ELEMENT_LEVELS = 5
    PATH_LENGTH = 5

cdef enum:  # rows, in the order of `classifier.INPUTS`
    WORDS, LETTERS, WORD_LENGTH, LINK_SHARE, ALL_LINKED, CAPITAL_SHARE, DIGIT_SHARE, SENTENCE_ENDS
    SENTENCE_END_SHARE, COMMAS, QUOTES, SYMBOL_SHARE, ENDS_SENTENCE, ENDS_WITH_COLON
    STARTS_WITH_CAPITAL, REPETITIONS, AROUND
    DEPTH = AROUND + N_PARENTS + N_ANCESTORS
    IS_HIDDEN, POSITION, RANK, WORDS_BEFORE, WORDS_AFTER, PAGE_WORDS, TITLE_OVERLAP
    HEADLINE_OVERLAP, FROM_HEADLINE, BELOW_HEADLINE, LATER_HEADINGS, HEADING_RANK, BELOW_HEADING
    RANK_ABOVE, MAIN_HEADINGS, RECALL, PRECISION, BELOW_DESCRIPTION, HAS_DESCRIPTION, EVIDENCE
    SCORE = EVIDENCE + N_EVIDENCE
    SCORE_ABOVE, PAGE_EVIDENCE, OPINION
    COMMON = OPINION + N_OPINIONS
    MASS = COMMON + 1 + N_OPINIONS + N_PAIRS
    SIZE = MASS + 3 + 2 * (KEY_LEVELS + ELEMENT_LEVELS)
    NEIGHBOUR = SIZE + 3 * KEY_LEVELS
    N_INPUTS = NEIGHBOUR + 20

cdef enum:  # the numbers that `features._NUMBERS` has, in that order
    MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE, MAX_HEADLINE, FULL_TITLE, H1_BONUS, HEADING_BONUS
    MAX_MAIN_HEADINGS, NO_LEVEL, TITLE_TAG, BY_CHANCE, MIN_DESCRIBING, FAR, PER_WORDS, EPSILON
    N_NUMBERS


cdef class InputFiller:
    """`classifier.fill_inputs`.

    By the number of a tag are the rows of *parents* (right around a block) and *ancestors*, the
    *levels* of headings, and the *roles* and *points* that opinions give; *hashes* has the class
    words that say something, *word_roles* what; *weights* are those of levels. *logarithms* has
    those of small counts. Of *neighbours*, which are rows, there are others by *offsets*.
    """

    cdef const uint8_t[::1] parents, ancestors, levels, roles, word_roles
    cdef const uint32_t[::1] hashes
    cdef const double[::1] points, weights, numbers, constants, logarithms
    cdef list neighbours, offsets, counted  # of which logarithms are taken

    def __init__(
        self, parents, ancestors, levels, numbers, hashes, word_roles, roles, points, weights,
        constants, logarithms, neighbours, offsets, parts
    ):
        self.parents, self.ancestors, self.levels = parents, ancestors, levels
        self.hashes, self.word_roles, self.roles, self.points = hashes, word_roles, roles, points
        self.numbers, self.constants, self.weights = numbers, constants, weights
        self.logarithms, self.neighbours, self.offsets = logarithms, neighbours, offsets
        self.counted = [
            WORDS, LETTERS, SENTENCE_ENDS, COMMAS, QUOTES, WORDS_BEFORE, WORDS_AFTER, PAGE_WORDS,
            FROM_HEADLINE, LATER_HEADINGS, BELOW_HEADING,
            *(SIZE + 3 * level + row for level in range(KEY_LEVELS) for row in range(2)),
        ]
        _check_sizes(256, (len(parents), len(ancestors), len(levels), len(roles), len(points)))
        _check_sizes(0x10000, (len(hashes), len(word_roles)))
        _check_sizes(N_NUMBERS, (len(numbers),))
        _check_sizes(N_CONSTANTS, (len(constants),))
        if parts != [EVIDENCE, SCORE, OPINION, MASS, NEIGHBOUR, N_INPUTS]:
            raise ValueError(f"the parts of the inputs end at {parts}: this was built for others")
        _check_sizes(N_INPUTS - NEIGHBOUR, (len(neighbours) * len(offsets),))
        _check(max(neighbours), NEIGHBOUR)
        _check(max(*parents, *ancestors), DEPTH - AROUND + 1)

    def __call__(self, page, evidence, score, rows):
        cdef _Blocks blocks = _Blocks(self, page, score, rows)
        cdef const uint8_t[::1] hidden = page.attributes.hidden.view("u1")
        rows[EVIDENCE:SCORE] = evidence
        blocks.fill_texts()
        blocks.fill_around(hidden)
        blocks.fill_places(page.total_words, len(page.title_ids), len(page.description_pairs))
        _Opinions(blocks).fill(page.attributes, hidden)
        blocks.fill_shares(page.attributes.key)
        for row in self.counted:
            self.take_logarithms(blocks.rows[row])
        numpy.log(rows[REPETITIONS], out=rows[REPETITIONS])
        blocks.adjust()
        blocks.fill_neighbours()

    cdef take_logarithms(self, double[::1] counts):
        """Let *counts* be their logarithms; of large ones by numpy, whose last bit is its own."""
        cdef Py_ssize_t i
        for i in range(counts.shape[0]):
            if counts[i] >= self.logarithms.shape[0]:
                numpy.log1p(counts[i:], out=numpy.asarray(counts[i:]))
                break
            counts[i] = self.logarithms[<Py_ssize_t> counts[i]]


@cython.final
cdef class _Blocks:
    """The blocks of a page, and the rows to be filled in of them."""

    cdef InputFiller by
    cdef _Elements of
    cdef Py_ssize_t n, headline, heading  # blocks; the headline or -1; the first heading or n
    cdef const double[::1] c, words, letters, score
    cdef const double[:, ::1] count
    cdef const int64_t[::1] linked, tags
    cdef const uint8_t[::1] first, last
    cdef const uint64_t[::1] hashes
    cdef double[:, ::1] rows

    def __init__(self, InputFiller by not None, page, score, rows):
        blocks, counts, self.of = page.blocks, page.text_counts, _elements_of(page)
        self.by, self.c, self.n, self.score, self.rows = by, by.numbers, self.of.n, score, rows
        self.words, self.linked, self.tags = page.words, blocks.linked_words, blocks.tags
        self.count, self.hashes, self.first, self.last = counts
        self.letters = self.count[TEXT_LETTERS]
        columns = blocks.words, blocks.linked_words, blocks.tags, *counts[1:], score
        _check_sizes(self.n, (self.rows.shape[1], self.count.shape[1], *map(len, columns)))
        _check_sizes(N_COUNTS, (self.count.shape[0],))
        _check_sizes(N_INPUTS, (self.rows.shape[0],))
        _check(max(KEY_LEVELS, ELEMENT_LEVELS, PATH_LENGTH), self.of.around.shape[0] + 1)

    cdef fill_texts(self):
        cdef Py_ssize_t i
        cdef double words
        cdef double[:, ::1] rows = self.rows
        cdef const double[:, ::1] count = self.count
        cdef array numbers = _numbered(&self.hashes[0] if self.n else NULL, self.n)
        cdef array counts = clone(_INT32S, self.n, True)
        cdef int* number = numbers.data.as_ints
        cdef int* n_alike = counts.data.as_ints
        for i in range(self.n):
            n_alike[number[i]] += 1
        for i in range(self.n):
            words = self.words[i]
            rows[WORDS, i], rows[LETTERS, i] = words, self.letters[i]
            rows[SENTENCE_ENDS, i], rows[COMMAS, i] = count[IS_SENTENCE_END, i], count[IS_COMMA, i]
            rows[QUOTES, i], rows[REPETITIONS, i] = count[IS_QUOTE, i], n_alike[number[i]]
            rows[WORD_LENGTH, i] = self.letters[i] / words
            rows[LINK_SHARE, i] = self.linked[i] / words
            rows[ALL_LINKED, i] = self.linked[i] == words
            rows[CAPITAL_SHARE, i] = count[IS_CAPITAL, i] / words
            rows[DIGIT_SHARE, i] = count[IS_DIGIT, i] / words
            rows[SYMBOL_SHARE, i] = count[IS_SYMBOL, i] / words
            rows[SENTENCE_END_SHARE, i] = count[IS_SENTENCE_END, i] / words
            rows[ENDS_SENTENCE, i] = self.last[i] >> IS_CLOSER & 1
            rows[ENDS_WITH_COLON, i] = self.last[i] >> IS_COLON & 1
            rows[STARTS_WITH_CAPITAL, i] = self.first[i] >> IS_CAPITAL & 1

    cdef fill_around(self, const uint8_t[::1] hidden):
        """Fill in which elements are around, how many, and whether one hides the block."""
        cdef _Elements of = self.of
        cdef Py_ssize_t i, level
        cdef double[:, ::1] rows = self.rows
        cdef uint8_t[::1] is_hidden = numpy.empty(self.n, "u1")
        _check_sizes(of.m, (hidden.shape[0],))
        of.mark_inside(hidden, is_hidden)
        rows[AROUND:DEPTH] = 0.0
        for i in range(self.n):
            level = 0
            rows[AROUND + self.by.parents[of.tag_around(0, i)], i] = 1.0
            while level < of.around.shape[0] and of.around[level, i] < of.m:
                rows[AROUND + self.by.ancestors[of.tag_around(level, i)], i] = 1.0
                level += 1
            rows[DEPTH, i], rows[IS_HIDDEN, i] = level / 10.0, is_hidden[i]

    cdef fill_places(self, double total, double n_title, double n_pairs):
        """Fill in the place by words, headline and headings, and what the description is of.

        The headline has words of the title, and what is described pairs of the description's.
        """
        cdef const double[::1] c = self.c, words = self.words
        cdef const double[:, ::1] count = self.count
        cdef Py_ssize_t n = self.n, i, headline = -1, heading = -1, described = self.n
        cdef int level, of_headline = 0, n_main = 0, n_later = 0
        cdef double before = 0, overlap, rank, greatest = -1
        cdef double full = max(1.0, min(n_title, c[FULL_TITLE]))
        cdef double[:, ::1] rows = self.rows
        cdef bint is_title
        self.heading = n
        for i in range(n):
            level, is_title = self.level(i), self.of.tag_around(0, i) == c[TITLE_TAG]
            rows[POSITION, i], rows[RANK, i] = before / max(total, 1.0), <double> i / n
            rows[WORDS_BEFORE, i], rows[WORDS_AFTER, i] = before, total - before - words[i]
            rows[PAGE_WORDS, i], rows[HAS_DESCRIPTION, i] = total, n_pairs > 0
            overlap = rows[RECALL, i] = rows[PRECISION, i] = 0.0
            if not is_title and 1 < words[i] <= c[MAX_HEADLINE]:
                overlap = count[TEXT_TITLE, i] / words[i] * min(1.0, count[TEXT_TITLE, i] / full)
            if not is_title and n_pairs:
                rows[RECALL, i] = min(1.0, count[TEXT_PAIRS, i] / n_pairs)
                if words[i] > c[BY_CHANCE]:
                    rows[PRECISION, i] = count[TEXT_PAIRS, i] / (words[i] - 1)
                if rows[RECALL, i] > c[MIN_DESCRIBING]:
                    described = min(described, i)
            rank = overlap + (c[H1_BONUS] if level == 1 else 0.0)
            rank += c[HEADING_BONUS] if level > 1 else 0.0
            if rank > greatest and not is_title and (
                level == 1 or overlap > c[MIN_OVERLAP_HEADING if level else MIN_OVERLAP_LINE]
            ):
                greatest, headline, of_headline = rank, i, level
            n_main += level == 1
            rows[TITLE_OVERLAP, i] = overlap
            rows[HEADING_RANK, i] = c[NO_LEVEL] - level if level else 0.0
            rows[BELOW_HEADING, i] = before - rows[WORDS_BEFORE, heading] if heading >= 0 else 0.0
            rows[RANK_ABOVE, i] = rows[HEADING_RANK, heading] if heading >= 0 else 0.0
            rows[MAIN_HEADINGS, i] = min(<double> n_main, c[MAX_MAIN_HEADINGS])
            rows[SCORE, i] = self.score[i]
            rows[SCORE_ABOVE, i] = self.score[heading] if heading >= 0 else 0.0
            if level:
                heading, self.heading = i, min(self.heading, i)
            before += words[i]
        for i in range(n):
            n_later += 0 <= headline < i and of_headline > 0 and self.level(i) == of_headline
            rows[LATER_HEADINGS, i], rows[BELOW_HEADLINE, i] = n_later, 0 <= headline < i
            rows[HEADLINE_OVERLAP, i] = rows[TITLE_OVERLAP, headline] if headline >= 0 else 0.0
            before = rows[WORDS_BEFORE, headline] if headline >= 0 else rows[WORDS_BEFORE, i]
            rows[FROM_HEADLINE, i] = abs(rows[WORDS_BEFORE, i] - before)
            rows[BELOW_DESCRIPTION, i] = 0 if described == n else 1 if i >= described else -1
        self.headline = headline

    cdef int level(self, Py_ssize_t block) noexcept:
        return self.by.levels[self.of.tag_around(0, block)]

    cdef fill_shares(self, const uint32_t[::1] key_of):
        """Fill in where the evidence is, by elements' keys, too."""
        cdef _Elements of = self.of
        cdef Py_ssize_t n = self.n, i, at, last, row, level
        masses = numpy.empty(n)
        cdef double[:, ::1] before = numpy.zeros((2, n + 1)), rows = self.rows
        cdef double[::1] mass = masses
        cdef double words, share, density
        _check_sizes(of.m, (key_of.shape[0],))
        for i in range(n):
            mass[i] = max(rows[SCORE, i], 0.0) * self.words[i]
        cdef double total = numpy.add.reduce(masses) + self.c[EPSILON]
        rows[PAGE_EVIDENCE] = numpy.log1p(total)
        for i in range(n):
            mass[i] /= total
            before[0, i + 1] = before[0, i] + mass[i]
            before[1, i + 1] = before[1, i] + self.words[i]
            rows[MASS, i], rows[MASS + 1, i] = before[0, i + 1] - mass[i], 1.0 - before[0, i + 1]
        for level in range(ELEMENT_LEVELS):
            row, last = MASS + 2 * (1 + KEY_LEVELS + level), -1
            for i in range(n):
                at = of.around[level, i]
                if at != last:  # blocks beside one another are mostly in one element
                    last, share, words = at, 1.0, before[1, n]
                    if at < of.m:
                        share = before[0, of.end[at]] - before[0, of.begin[at]]
                        words = before[1, of.end[at]] - before[1, of.begin[at]]
                    density = share / max(words, 1.0) * self.c[PER_WORDS]
                rows[row, i], rows[row + 1, i] = share, density
        self.fill_alike(key_of, mass)

    cdef fill_alike(self, const uint32_t[::1] key_of, const double[::1] mass):
        """Fill in the sums over blocks whose ancestors have one key, and over those on one path."""
        cdef Py_ssize_t n = self.n, i, at, level, row
        cdef array all_keys = clone(_UINT64S, (KEY_LEVELS + 1) * n, False)
        cdef uint64_t* keys = <uint64_t*> all_keys.data.as_voidptr
        cdef uint64_t path
        cdef double[:, ::1] sums = numpy.zeros(((KEY_LEVELS + 1) * n, 4)), rows = self.rows
        cdef double words
        for i in range(n):
            path = <uint64_t> KEY_LEVELS << 8 * PATH_LENGTH
            for level in range(PATH_LENGTH):
                at = self.of.around[level, i]
                if level < KEY_LEVELS:
                    keys[level * n + i] = key_of[at] if at < self.of.m else 0
                    keys[level * n + i] |= <uint64_t> level << 8 * PATH_LENGTH
                path |= <uint64_t> self.of.tag_around(level, i) << 8 * level
            keys[KEY_LEVELS * n + i] = path
        cdef array groups = _numbered(keys, (KEY_LEVELS + 1) * n)
        cdef int* group = groups.data.as_ints
        for level in range(KEY_LEVELS + 1):
            for i in range(n):
                at = group[level * n + i]
                sums[at, 0] += mass[i]
                sums[at, 1] += self.words[i]
                sums[at, 2] += self.linked[i]
                sums[at, 3] += 1.0
        for level in range(KEY_LEVELS):
            for i in range(n):
                at, row = group[level * n + i], SIZE + 3 * level
                words = max(sums[at, 1], 1.0)
                rows[row, i], rows[row + 1, i] = sums[at, 3], sums[at, 1]
                rows[row + 2, i] = sums[at, 2] / words
                row = MASS + 2 * (1 + level)
                rows[row, i] = sums[at, 0]
                rows[row + 1, i] = sums[at, 0] / words * self.c[PER_WORDS]
        for i in range(n):
            rows[SIZE - 1, i] = sums[group[KEY_LEVELS * n + i], 0]

    cdef adjust(self):
        """Make logarithms negative before the headline, and far where no heading is above."""
        cdef Py_ssize_t i
        for i in range(self.n):
            self.rows[FROM_HEADLINE, i] *= -1.0 if i < self.headline else 1.0
            if i <= self.heading:
                self.rows[BELOW_HEADING, i] = self.c[FAR]

    cdef fill_neighbours(self):
        """Fill in what the blocks some further on or back have; beyond the page's ends it is 0."""
        cdef Py_ssize_t row = NEIGHBOUR, of, by, i
        for of in self.by.neighbours:
            for by in self.by.offsets:
                for i in range(self.n):
                    self.rows[row, i] = self.rows[of, i + by] if 0 <= i + by < self.n else 0.0
                row += 1
