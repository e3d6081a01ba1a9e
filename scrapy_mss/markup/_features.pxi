"""What blocks have, where they are, and where the evidence is: of `InputFiller`, which is below.

The Python of each step, in `features` and `hashing`, is its oracle. Whatever a logarithm is taken
of is counted here.
"""

import random

from libc.math cimport INFINITY

cdef uint64_t _MULTIPLIER = random.getrandbits(64) | 1  # nobody can make keys that share a place


cdef Py_ssize_t[::1] _numbered(const uint64_t[::1] keys):
    """A number for each of *keys*, from 0 on in their order: equal ones have the same."""
    cdef Py_ssize_t n = keys.shape[0], i, at, n_numbers = 0
    cdef int bits = (2 * n + 1).bit_length()
    cdef Py_ssize_t[::1] number = numpy.empty(n, "p"), first = numpy.zeros(1 << bits, "p")
    for i in range(n):
        at = keys[i] * _MULTIPLIER >> (64 - bits)
        while first[at] and keys[first[at] - 1] != keys[i]:  # the first with the key, from 1 on
            at = (at + 1) & ((1 << bits) - 1)
        if first[at]:
            number[i] = number[first[at] - 1]
        else:
            first[at], number[i] = i + 1, n_numbers
            n_numbers += 1
    return number


cdef int _check_all(const Py_ssize_t[::1] indices, Py_ssize_t end) except -1:
    cdef Py_ssize_t i
    for i in range(indices.shape[0]):
        _check(indices[i], end)
    return 0


@cython.final
cdef class _Elements:
    """The arrays of `segmentation.Containers`, of which every place was checked."""

    cdef const Py_ssize_t[::1] begin, end, parent
    cdef const uint8_t[::1] tag
    cdef const Py_ssize_t[:, ::1] around
    cdef Py_ssize_t n, m  # blocks, elements

    def __init__(self, containers):
        self.begin, self.end, self.tag = containers.begin, containers.end, containers.tag
        self.around, self.n, self.m = containers.around, containers.n_blocks, self.begin.shape[0]
        self.parent = containers.parent
        _check_sizes(self.m, (self.end.shape[0], self.tag.shape[0], self.parent.shape[0] - 1))
        _check_sizes(self.n, (self.around.shape[1],))
        _check_all(self.begin, self.n + 1)
        _check_all(self.end, self.n + 1)
        _check_all(containers.around.reshape(-1), self.m + 1)
        _check_all(self.parent, self.m + 1)

    cdef uint8_t tag_around(self, Py_ssize_t level, Py_ssize_t block) noexcept:
        cdef Py_ssize_t element = self.around[level, block]
        return self.tag[element] if element < self.m else 0

    cdef mark_inside(self, const uint8_t[::1] chosen, uint8_t[::1] found):
        """Let *found* be the blocks inside any of the *chosen* elements."""
        cdef Py_ssize_t i
        cdef int64_t depth = 0
        cdef int64_t[::1] edge = numpy.zeros(self.n + 1, "i8")
        for i in range(self.m):
            edge[self.begin[i]] += chosen[i] != 0
            edge[self.end[i]] -= chosen[i] != 0
        for i in range(self.n):
            depth += edge[i]
            found[i] = depth > 0

    cdef add_inside(self, const double[::1] values, double[::1] sums):
        """Let *sums* be those of *values*, one a block, inside each element."""
        cdef Py_ssize_t i
        cdef double[::1] before = numpy.zeros(self.n + 1)
        for i in range(self.n):
            before[i + 1] = before[i] + values[i]
        for i in range(self.m):
            sums[i] = before[self.end[i]] - before[self.begin[i]]


@cython.final
cdef class _Blocks:
    """What several steps read of a page's blocks, of as many as there are."""

    cdef _Elements of
    cdef Py_ssize_t n
    cdef const double[::1] words, letters
    cdef const double[:, ::1] counts
    cdef const int64_t[::1] linked, tags, stops
    cdef const uint8_t[::1] first, last
    cdef const uint64_t[::1] hashes

    def __init__(self, page):
        blocks, counts, self.of = page.blocks, page.text_counts, _Elements(page.containers)
        self.words, self.linked, self.tags = page.words, blocks.linked_words, blocks.tags
        self.counts, self.letters, self.stops = counts.counts, counts.letters, counts.stop_words
        self.first, self.last, self.hashes = counts.first, counts.last, counts.hashes
        self.n = self.of.n
        _check_sizes(self.n, (
            self.words.shape[0], self.linked.shape[0], self.tags.shape[0], self.counts.shape[1],
            self.letters.shape[0], self.stops.shape[0], self.first.shape[0], self.last.shape[0],
            self.hashes.shape[0],
        ))
        _check_sizes(N_CLASSES, (self.counts.shape[0],))

    cdef double count(self, int which, Py_ssize_t block) noexcept:
        """How many of a class a block has; or its letters, words or linked words."""
        if which < N_CLASSES:
            return self.counts[which, block]
        if which == N_CLASSES:
            return self.letters[block]
        return self.words[block] if which == N_CLASSES + 1 else self.linked[block]


# --- what blocks have ----------------------------------------------------------------------------

cdef enum:  # what a row is, as `features` has it
    COUNT, SHARE, FIRST, LAST


cdef class TextRows:
    """The rows of `features.fill_text`.

    *rows* (int32[k, 3]) are each: which row, what it is, and which of the counts it has or which
    bits the block's end. *all_linked* and *repetitions* are two rows more.
    """

    cdef const int[:, ::1] rows
    cdef Py_ssize_t all_linked, repetitions

    def __init__(self, rows, all_linked, repetitions):
        self.rows, self.all_linked, self.repetitions = rows, all_linked, repetitions

    cdef fill(self, _Blocks blocks, double[:, ::1] rows):
        cdef Py_ssize_t n = blocks.n, i, row, which
        cdef int what, of, bits
        cdef const Py_ssize_t[::1] number = _numbered(blocks.hashes)
        cdef Py_ssize_t[::1] n_alike = numpy.zeros(n, "p")
        _check(max(self.all_linked, self.repetitions), rows.shape[0])
        for which in range(self.rows.shape[0]):
            row, what, of = self.rows[which, 0], self.rows[which, 1], self.rows[which, 2]
            _check(row, rows.shape[0])
            for i in range(n):
                if what == COUNT:
                    rows[row, i] = blocks.count(of, i)
                elif what == SHARE:
                    rows[row, i] = blocks.count(of, i) / blocks.words[i]
                else:
                    bits = blocks.first[i] if what == FIRST else blocks.last[i]
                    rows[row, i] = (bits & of) != 0
        for i in range(n):
            n_alike[number[i]] += 1
        for i in range(n):
            rows[self.all_linked, i] = blocks.linked[i] == blocks.words[i]
            rows[self.repetitions, i] = n_alike[number[i]]


# --- where blocks are ----------------------------------------------------------------------------

cdef enum:  # the numbers that `features._NUMBERS` has, in that order
    MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE, MAX_HEADLINE, FULL_TITLE, H1_BONUS, HEADING_BONUS
    MAX_MAIN_HEADINGS, NO_LEVEL, TITLE_TAG, BY_CHANCE, MIN_DESCRIBING, FAR, N_NUMBERS


cdef class BlockPlaces:
    """The rows of `features.fill_places` and of `features.fill_description`.

    *parents* (uint8[256]) are the rows of tags right around a block, *ancestors* (uint32[256]) the
    bits of those anywhere around it, *levels* (uint8[256]) those of headings.
    """

    cdef const uint8_t[::1] parents, levels
    cdef const uint32_t[::1] ancestors
    cdef const double[::1] numbers
    cdef int n_parents, n_ancestors

    def __init__(self, parents, n_parents, ancestors, n_ancestors, levels, numbers):
        self.parents, self.ancestors, self.levels = parents, ancestors, levels
        self.n_parents, self.n_ancestors, self.numbers = n_parents, n_ancestors, numbers
        _check_sizes(256, (len(parents), len(ancestors), len(levels)))
        _check_sizes(N_NUMBERS, (len(numbers),))

    cdef fill(self, _Blocks blocks, page, double[:, ::1] rows, Py_ssize_t[::1] above):
        """Fill in the *rows*, and the heading *above* each block; the headline's block."""
        cdef Py_ssize_t n_around = self.n_parents + self.n_ancestors + 2
        _check_sizes(n_around + 14 + 4, (rows.shape[0],))
        self.fill_around(blocks.of, page.attributes.hidden.view("u1"), rows)
        self.fill_description(blocks, page.description_pairs, rows[n_around + 14:])
        return self.fill_places(blocks, page.title_words, rows[n_around:], above)

    cdef adjust(self, double[:, ::1] rows, Py_ssize_t headline, const Py_ssize_t[::1] above):
        """Let logarithms be negative before the *headline*, and far where no heading is *above*."""
        cdef Py_ssize_t n_around = self.n_parents + self.n_ancestors + 2, i
        for i in range(above.shape[0]):
            rows[n_around + 7, i] *= -1.0 if i < headline else 1.0
            if above[i] < 0:
                rows[n_around + 11, i] = self.numbers[FAR]

    cdef fill_around(self, _Elements of, const uint8_t[::1] hidden, double[:, ::1] rows):
        cdef Py_ssize_t i, level, depth
        cdef int parent, each
        cdef uint32_t around
        cdef uint8_t[::1] is_hidden = numpy.zeros(of.n, "u1")
        _check_sizes(of.m, (hidden.shape[0],))
        of.mark_inside(hidden, is_hidden)
        for i in range(of.n):
            depth = around = 0
            for level in range(of.around.shape[0]):
                if of.around[level, i] == of.m:
                    break  # nor is there one further out
                depth += 1
                around |= self.ancestors[of.tag_around(level, i)]
            parent = self.parents[of.tag_around(0, i)]
            for each in range(self.n_parents):
                rows[each, i] = each == parent
            for each in range(self.n_ancestors):
                rows[self.n_parents + each, i] = around >> each & 1
            rows[self.n_parents + self.n_ancestors, i] = depth / 10.0
            rows[self.n_parents + self.n_ancestors + 1, i] = is_hidden[i]

    cdef fill_places(
        self, _Blocks blocks, title, double[:, ::1] rows, Py_ssize_t[::1] heading_above
    ):
        """Fill in the place by words (five rows), by the headline (five) and by headings (four).

        What comes back is the headline's block.
        """
        cdef const double[::1] c = self.numbers, words = blocks.words
        cdef const int64_t[::1] hits = title.hits
        cdef _Elements of = blocks.of
        cdef Py_ssize_t n = blocks.n, i, headline = -1, heading = -1
        cdef int level, of_headline = 0, n_main = 0, n_later = 0
        cdef double before = 0, total = 0, overlap, rank, greatest = -1
        cdef double full = max(1.0, min(<double> title.size, c[FULL_TITLE]))
        cdef bint is_title, is_near
        _check_sizes(n, (hits.shape[0],))
        for i in range(n):
            total += words[i]
        for i in range(n):
            level, is_title = self.levels[of.tag_around(0, i)], of.tag_around(0, i) == c[TITLE_TAG]
            rows[0, i], rows[1, i] = before / max(total, 1.0), <double> i / n
            rows[2, i], rows[3, i], rows[4, i] = before, total - before - words[i], total
            is_near = not is_title and 1 < words[i] <= c[MAX_HEADLINE]
            overlap = hits[i] / words[i] * min(1.0, hits[i] / full) if is_near else 0.0
            rows[5, i] = overlap
            rank = overlap + (c[H1_BONUS] if level == 1 else 0.0)
            rank += c[HEADING_BONUS] if level > 1 else 0.0
            if rank > greatest and not is_title and (
                level == 1 or overlap > c[MIN_OVERLAP_HEADING if level else MIN_OVERLAP_LINE]
            ):
                greatest, headline, of_headline = rank, i, level
            n_main += level == 1
            heading_above[i] = heading
            rows[10, i] = c[NO_LEVEL] - level if level else 0.0
            rows[11, i] = before - rows[2, heading] if heading >= 0 else 0.0
            rows[12, i] = rows[10, heading] if heading >= 0 else 0.0
            rows[13, i] = min(<double> n_main, c[MAX_MAIN_HEADINGS])
            heading = i if level else heading
            before += words[i]
        for i in range(n):
            level = self.levels[of.tag_around(0, i)]
            n_later += 0 <= headline < i and of_headline and level == of_headline
            rows[6, i] = rows[5, headline] if headline >= 0 else 0.0
            rows[7, i] = abs(rows[2, i] - rows[2, headline]) if headline >= 0 else 0.0
            rows[8, i], rows[9, i] = 0 <= headline < i, n_later
        return headline

    cdef fill_description(self, _Blocks blocks, description, double[:, ::1] rows):
        """Fill in the page's description of itself, by the pairs of words that each block has."""
        cdef const double[::1] c = self.numbers
        cdef const int64_t[::1] hits = description.hits
        cdef double n_pairs = description.size, side = -1
        cdef Py_ssize_t n = blocks.n, i
        cdef bint is_shown
        _check_sizes(n, (hits.shape[0],))
        rows[:] = 0.0
        if not n_pairs:
            return
        for i in range(n):
            is_shown = blocks.of.tag_around(0, i) != c[TITLE_TAG]
            rows[0, i] = min(1.0, hits[i] / n_pairs) if is_shown else 0.0
            if is_shown and blocks.words[i] > c[BY_CHANCE]:
                rows[1, i] = hits[i] / (blocks.words[i] - 1)
            side = 1 if rows[0, i] > c[MIN_DESCRIBING] else side
            rows[2, i], rows[3, i] = side, 1.0
        if side < 0:
            rows[2, :] = 0.0


# --- where the evidence is -----------------------------------------------------------------------

cdef class ContainerShares:
    """The rows of `features.fill_containers`, of so many levels of keys, elements, tags of paths."""

    cdef Py_ssize_t n_keys, n_elements, n_tags, n_shares
    cdef double per_words

    def __init__(self, n_keys, n_elements, n_tags, per_words):
        self.n_keys, self.n_elements, self.n_tags = n_keys, n_elements, n_tags
        self.n_shares, self.per_words = 3 + 2 * (n_keys + n_elements), per_words

    cdef fill(
        self, _Blocks blocks, const uint32_t[::1] key_of, const double[:, ::1] masses,
        double[:, ::1] rows
    ):
        """Fill in the shares of two *masses*."""
        cdef _Elements of = blocks.of
        cdef Py_ssize_t n = blocks.n, i, j, at, row, level
        cdef double[:, ::1] before = numpy.zeros((3, n + 1))
        cdef double words, share
        _check_sizes(2 * self.n_shares + 3 * self.n_keys, (rows.shape[0],))
        _check_sizes(of.m, (key_of.shape[0],))
        _check(max(self.n_keys, self.n_elements, self.n_tags), of.around.shape[0] + 1)
        for i in range(n):
            before[2, i + 1] = before[2, i] + blocks.words[i]
            for j in range(2):
                before[j, i + 1] = before[j, i] + masses[j, i]
                rows[j * self.n_shares, i] = before[j, i + 1] - masses[j, i]
                rows[j * self.n_shares + 1, i] = 1.0 - before[j, i + 1]
        for level in range(self.n_elements):
            for i in range(n):
                at = of.around[level, i]
                words = before[2, n]
                if at < of.m:
                    words = before[2, of.end[at]] - before[2, of.begin[at]]
                for j in range(2):
                    row = j * self.n_shares + 2 + 2 * (self.n_keys + level)
                    share = before[j, of.end[at]] - before[j, of.begin[at]] if at < of.m else 1.0
                    rows[row, i] = share
                    rows[row + 1, i] = share / max(words, 1.0) * self.per_words
        for level in range(self.n_keys + 1):
            self.fill_alike(blocks, key_of, masses, level, rows)

    cdef fill_alike(
        self, _Blocks blocks, const uint32_t[::1] key_of, const double[:, ::1] masses,
        Py_ssize_t level, double[:, ::1] rows
    ):
        """Fill in the sums over blocks whose ancestors at a *level* have one key.

        Beyond the levels of keys it is blocks on one path of tags.
        """
        cdef _Elements of = blocks.of
        cdef Py_ssize_t n = blocks.n, i, j, at, inner, row
        cdef uint64_t[::1] keys = numpy.empty(n, "u8")
        cdef double[:, ::1] sums = numpy.zeros((n, 5))
        cdef double words
        for i in range(n):
            at = of.around[level, i] if level < self.n_keys else of.m
            keys[i] = key_of[at] if at < of.m else 0
            for inner in range(self.n_tags if level == self.n_keys else 0):
                keys[i] |= <uint64_t> of.tag_around(inner, i) << 8 * inner
        cdef const Py_ssize_t[::1] group = _numbered(keys)
        for i in range(n):
            at = group[i]
            for j in range(2):
                sums[at, j] += masses[j, i]
            sums[at, 2] += blocks.words[i]
            sums[at, 3] += blocks.linked[i]
            sums[at, 4] += 1.0
        for i in range(n):
            at = group[i]
            words = max(sums[at, 2], 1.0)
            for j in range(2):
                row = (j + 1) * self.n_shares - 1 if level == self.n_keys else (
                    j * self.n_shares + 2 + 2 * level
                )
                rows[row, i] = sums[at, j]
                if level < self.n_keys:
                    rows[row + 1, i] = sums[at, j] / words * self.per_words
            if level < self.n_keys:
                row = 2 * self.n_shares + 3 * level
                rows[row, i], rows[row + 1, i] = sums[at, 4], sums[at, 2]
                rows[row + 2, i] = sums[at, 3] / words


