"""The network's inputs: what a block is, what is around it, which opinions keep it.

The Python of each step, in `features`, `opinions` and `classifier`, is its oracle. Whatever a
logarithm is taken of is counted here; the logarithms are numpy's, whose last bit depends on the
processor.
"""

import random

from libc.math cimport INFINITY

cdef uint64_t _MULTIPLIER = random.getrandbits(64) | 1  # nobody can make keys that share a place


cdef Py_ssize_t _number(const uint64_t[::1] key, int* number) except -1:
    """Number the keys, equal ones alike, from 0 on in their order; how many there are."""
    cdef Py_ssize_t n = key.shape[0], i, at, n_numbers = 0
    cdef int bits = 1
    while (1 << bits) < 2 * n:
        bits += 1
    cdef array table = clone(_INT32S, 1 << bits, True)
    cdef int* first = table.data.as_ints  # the first with the key, from 1 on
    for i in range(n):
        at = key[i] * _MULTIPLIER >> (64 - bits)
        while first[at] and key[first[at] - 1] != key[i]:
            at = (at + 1) & ((1 << bits) - 1)
        if first[at]:
            number[i] = number[first[at] - 1]
        else:
            first[at] = <int> i + 1
            number[i] = <int> n_numbers
            n_numbers += 1
    return n_numbers


cdef class _Elements:
    """The arrays of `segmentation.Containers`, of which every place was checked."""

    cdef const Py_ssize_t[::1] begin, end, parent
    cdef const uint8_t[::1] tag
    cdef const Py_ssize_t[:, ::1] around
    cdef Py_ssize_t n, m  # blocks, elements

    def __init__(self, containers):
        self.begin, self.end, self.tag = containers.begin, containers.end, containers.tag
        self.around, self.parent, self.n = containers.around, containers.parent, containers.n_blocks
        self.m = self.begin.shape[0]
        _check_sizes(self.m, (self.end.shape[0], self.tag.shape[0], self.parent.shape[0] - 1))
        _check_sizes(self.n, (self.around.shape[1],))
        cdef Py_ssize_t level, i
        for i in range(self.m):
            _check(self.begin[i], self.n + 1)
            _check(self.end[i], self.n + 1)
        for i in range(self.m + 1):
            _check(self.parent[i], self.m + 1)
        for level in range(self.around.shape[0]):
            for i in range(self.n):
                _check(self.around[level, i], self.m + 1)

    cdef uint8_t tag_around(self, Py_ssize_t level, Py_ssize_t block) noexcept:
        cdef Py_ssize_t element = self.around[level, block]
        return self.tag[element] if element < self.m else 0

    cdef inside(self, const uint8_t[::1] chosen, uint8_t[::1] found):
        """Let *found* be the blocks inside any of the *chosen* elements."""
        cdef Py_ssize_t i
        cdef int64_t depth = 0
        cdef int64_t[::1] edge = numpy.zeros(self.n + 1, "i8")
        for i in range(self.m):
            if chosen[i]:
                edge[self.begin[i]] += 1
                edge[self.end[i]] -= 1
        for i in range(self.n):
            depth += edge[i]
            found[i] = depth > 0

    cdef total(self, const double[::1] values, double[::1] sums):
        """Let *sums* be those of *values*, one a block, inside each element."""
        cdef Py_ssize_t i
        cdef double[::1] before = numpy.zeros(self.n + 1)
        for i in range(self.n):
            before[i + 1] = before[i] + values[i]
        for i in range(self.m):
            sums[i] = before[self.end[i]] - before[self.begin[i]]


# --- where the evidence is -----------------------------------------------------------------------

cdef class ContainerShares:
    """The rows of `features._fill_shares`, of so many levels of keys, elements, and tags of paths."""

    cdef Py_ssize_t n_keys, n_elements, n_tags
    cdef double per_words

    def __init__(self, n_keys, n_elements, n_tags, per_words):
        self.n_keys, self.n_elements, self.n_tags = n_keys, n_elements, n_tags
        self.per_words = per_words

    def __call__(self, page, const double[:, ::1] masses, double[:, ::1] rows):
        cdef _Elements elements = _Elements(page.containers)
        cdef Py_ssize_t k = masses.shape[0], n = elements.n, m = elements.m
        cdef Py_ssize_t n_shares = 3 + 2 * (self.n_keys + self.n_elements), i, j, row, level
        cdef const double[::1] words = page.words
        cdef double[:, ::1] inside = numpy.empty((k + 1, m + 1))
        cdef double running, share
        _check_sizes(n, (masses.shape[1], rows.shape[1], words.shape[0]))
        _check(max(self.n_keys, self.n_elements, self.n_tags), elements.around.shape[0] + 1)
        _check_sizes(k * n_shares + 3 * self.n_keys, (rows.shape[0],))
        for j in range(k):
            running, row = 0, j * n_shares
            for i in range(n):
                running += masses[j, i]
                rows[row, i] = running - masses[j, i]
                rows[row + 1, i] = 1.0 - running
            elements.total(masses[j], inside[j])
            inside[j, m] = 1.0
        elements.total(words, inside[k])
        inside[k, m] = page.total_words
        for level in range(self.n_keys + 1):
            self.fill_alike(elements, page, masses, words, level, rows)
        for level in range(self.n_elements):
            row = 2 + 2 * (self.n_keys + level)
            for i in range(n):
                at = elements.around[level, i]
                for j in range(k):
                    share = inside[j, at]
                    rows[j * n_shares + row, i] = share
                    share = share / max(inside[k, at], 1.0) * self.per_words
                    rows[j * n_shares + row + 1, i] = share

    cdef fill_alike(
        self, _Elements elements, page, const double[:, ::1] masses, const double[::1] words,
        Py_ssize_t level, double[:, ::1] rows
    ):
        """Fill in what blocks whose ancestors at *level* have one key have together.

        Beyond the levels of keys it is those on one path of tags.
        """
        cdef Py_ssize_t k = masses.shape[0], n = elements.n, i, j, row = 2 + 2 * level, at, inner
        cdef Py_ssize_t n_shares = 3 + 2 * (self.n_keys + self.n_elements)
        cdef const uint32_t[::1] key_of = page.attributes.key
        cdef const int64_t[::1] linked = page.blocks.linked_words
        cdef uint64_t[::1] keys = numpy.zeros(n, "u8")
        cdef array groups = clone(_INT32S, n, False)
        cdef int* group = groups.data.as_ints
        _check_sizes(elements.m, (key_of.shape[0],))
        _check_sizes(n, (linked.shape[0],))
        for i in range(n):
            at = elements.around[level, i]
            if level < self.n_keys and at < elements.m:
                keys[i] = key_of[at]
            for inner in range(self.n_tags if level == self.n_keys else 0):
                keys[i] |= <uint64_t> elements.tag_around(inner, i) << 8 * inner
        cdef double[:, ::1] sums = numpy.zeros((_number(keys, group), k + 3))
        for i in range(n):
            for j in range(k):
                sums[group[i], j] += masses[j, i]
            sums[group[i], k] += words[i]
            sums[group[i], k + 1] += linked[i]
            sums[group[i], k + 2] += 1
        for i in range(n):
            at = group[i]
            if level == self.n_keys:
                for j in range(k):
                    rows[(j + 1) * n_shares - 1, i] = sums[at, j]
                continue
            for j in range(k):
                rows[j * n_shares + row, i] = sums[at, j]
                rows[j * n_shares + row + 1, i] = (
                    sums[at, j] / max(sums[at, k], 1.0) * self.per_words
                )
            rows[k * n_shares + 3 * level, i] = sums[at, k + 2]
            rows[k * n_shares + 3 * level + 1, i] = sums[at, k]
            rows[k * n_shares + 3 * level + 2, i] = sums[at, k + 1] / max(sums[at, k], 1.0)


# --- opinions ------------------------------------------------------------------------------------

cdef enum:  # roles of class words and of tags, as `opinions` has them
    SUBJECT = 0
    BODY = 1
    LIKELY = 2
    BESIDE = 3
    N_ROLES = 4
    IS_NEVER = 1
    IS_BESIDE = 2
    IS_NAMELESS = 4
    IS_ITEM = 8
    IS_PARAGRAPH = 16

cdef enum:  # the numbers that `opinions._NUMBERS` has, in that order
    PARAGRAPH_LETTERS, LONG_LINE, MAX_LINKED, MAIN_SHARE, MIN_LINKED, FEW, STOP_WORD_PRICE
    MIN_STOP_SHARE, TAG_PRICE_IN_ELEMENT, MIN_TEXT, LETTERS_PER_POINT, MAX_LENGTH_POINTS
    NAME_POINTS, MIN_SCORE, SIBLING_SHARE, OUTWARD_GAIN, MAIN_HEADING, SECOND_BODY, HEADLINE_SHARE
    TAG_PRICE_IN_RUN, ARTICLE_TAG, MAIN_TAG, N_CONSTANTS

cdef enum:  # columns that are read, in the order of `opinions._READ`
    LINK_SHARE, ENDS_SENTENCE, BELOW_HEADLINE, HEADING_RANK, LATER_HEADINGS, N_READ

cdef enum:  # of sums inside elements; what blocks have beyond
    OF_LETTERS, OF_LINKED, OF_PROSE, OF_DENSITY, OF_STOPS, N_SUMS
    POINTS = 5
    PROSE = 6
    N_VALUES = 7


cdef class OpinionReader:
    """The rows of `opinions._kept`: which blocks each opinion keeps.

    *hashes* (uint32[65536]) has the class words that say something, *roles* their bits, *role_of*
    and *points* (256 each) those of tags; *weights* are those of levels.
    """

    cdef const uint32_t[::1] hashes
    cdef const uint8_t[::1] roles, role_of
    cdef const double[::1] tag_points, weights, constants

    def __init__(self, hashes, roles, role_of, tag_points, weights, constants):
        self.hashes, self.roles, self.role_of = hashes, roles, role_of
        self.tag_points, self.weights, self.constants = tag_points, weights, constants
        _check_sizes(0x10000, (len(hashes), len(roles)))
        _check_sizes(256, (len(role_of), len(tag_points)))
        _check_sizes(N_CONSTANTS, (len(constants),))

    def __call__(self, page, const double[:, ::1] read):
        kept = numpy.zeros((6, read.shape[1]), "?")
        cdef uint8_t[:, ::1] rows = kept.view("u1")
        cdef _Reading reading
        if len(page.containers):
            reading = _Reading(self, page, read)
            reading.vote(rows[0])
            reading.find_body(rows[1])
            reading.follow_headline(rows[2])
            reading.find_run(rows[3])
            reading.keep_greatest(OF_DENSITY, rows[4])
            reading.keep_greatest(OF_STOPS, rows[5])
        return kept


cdef class _Reading:
    """A page as `opinions.Reading` has it."""

    cdef OpinionReader by
    cdef _Elements of
    cdef const double[:, ::1] read
    cdef const double[::1] words
    cdef const int64_t[::1] tags
    cdef uint8_t[:, ::1] count  # the words of each role in each element
    cdef uint8_t[::1] beside, inside_beside, is_text
    cdef double[:, ::1] value, inside  # of blocks, and summed inside elements

    def __init__(self, OpinionReader by not None, page, const double[:, ::1] read):
        self.by, self.of, self.read = by, _Elements(page.containers), read
        self.words, self.tags = page.words, page.blocks.tags
        counts = page.text_counts
        cdef Py_ssize_t n = self.of.n, m = self.of.m
        _check_sizes(n, (read.shape[1], self.words.shape[0], self.tags.shape[0]))
        _check_sizes(N_READ, (read.shape[0],))
        _check(1, self.of.around.shape[0])
        self.count = numpy.zeros((m, N_ROLES), "u1")
        self.beside, self.inside_beside = numpy.zeros(m, "u1"), numpy.zeros(n, "u1")
        self.is_text = numpy.zeros(n, "u1")
        self.value, self.inside = numpy.zeros((N_VALUES, n)), numpy.zeros((N_SUMS, m))
        self.count_roles(page.attributes.word, page.attributes.element)
        self.measure(counts.letters, counts.of("comma"), page.attributes.hidden.view("u1"))
        self.sum_up(counts.stop_words)

    cdef count_roles(self, const uint32_t[::1] word, const Py_ssize_t[::1] element):
        cdef Py_ssize_t i, at
        cdef int role
        _check_sizes(word.shape[0], (element.shape[0],))
        for i in range(word.shape[0]):
            at = word[i] & 0xFFFF
            if self.by.hashes[at] == word[i]:
                _check(element[i], self.of.m)
                for role in range(N_ROLES):
                    self.count[element[i], role] += self.by.roles[at] >> role & 1

    cdef measure(
        self, const double[::1] letters, const double[::1] commas, const uint8_t[::1] hidden
    ):
        """Find the paragraphs, what is beside the text, and which blocks are text."""
        cdef const double[::1] c = self.by.constants
        cdef Py_ssize_t n = self.of.n, m = self.of.m, i, way
        cdef double total = 0, left, share, length
        cdef bint is_long, is_line, by_tag, by_name
        cdef uint8_t role
        cdef uint8_t[::1] never = numpy.zeros(m, "u1")
        cdef double[:, ::1] value = self.value
        _check_sizes(n, (letters.shape[0], commas.shape[0]))
        _check_sizes(m, (hidden.shape[0],))
        for i in range(m):
            never[i] = self.by.role_of[self.of.tag[i]] & IS_NEVER
        self.of.inside(never, self.inside_beside)
        for i in range(n):
            is_long, share = letters[i] >= c[PARAGRAPH_LETTERS], self.read[LINK_SHARE, i]
            if is_long and share < c[MAX_LINKED] and not self.inside_beside[i]:
                value[PROSE, i] = letters[i]
                total += letters[i]
            value[OF_LETTERS, i], value[OF_LINKED, i] = letters[i], letters[i] * share
            length = min(letters[i] / c[LETTERS_PER_POINT], c[MAX_LENGTH_POINTS])
            value[POINTS, i] = (1.0 + commas[i] + length) if is_long else 0.0
        self.of.total(value[PROSE], self.inside[OF_PROSE])
        for way in range(2):  # by tags and names; by tags alone, if that leaves next to nothing
            for i in range(m):
                role = self.by.role_of[self.of.tag[i]]
                by_tag, by_name = role & IS_BESIDE, self.count[i, BESIDE] and not role & IS_NAMELESS
                by_name = (by_name or hidden[i]) and way == 0
                self.beside[i] = never[i] or (
                    (by_tag or by_name) and self.inside[OF_PROSE, i] < c[MAIN_SHARE] * total
                )
            self.of.inside(self.beside, self.inside_beside)
            left = 0
            for i in range(n):
                left += 0.0 if self.inside_beside[i] else value[PROSE, i]
            if left >= c[FEW] * total:
                break
        for i in range(n):
            role = self.by.role_of[self.of.tag_around(0, i)]
            is_long = letters[i] >= c[PARAGRAPH_LETTERS]
            is_line = role & IS_ITEM or (is_long and self.read[ENDS_SENTENCE, i] > 0)
            is_line = is_line or letters[i] >= c[LONG_LINE]
            self.is_text[i] = is_line and not self.inside_beside[i] and (
                self.read[LINK_SHARE, i] < c[MIN_LINKED]
            )

    cdef sum_up(self, const int64_t[::1] stops):
        """Sum what blocks have inside each element."""
        cdef const double[::1] c = self.by.constants
        cdef Py_ssize_t n = self.of.n, i, row
        cdef double n_stops = 0, n_words = 0, share, unlinked
        cdef double[:, ::1] value = self.value
        _check_sizes(n, (stops.shape[0],))
        for i in range(n):
            if value[PROSE, i] > 0:
                n_stops += stops[i]
                n_words += self.words[i]
        share = max(n_stops / max(n_words, 1.0), c[MIN_STOP_SHARE])
        for i in range(n):
            unlinked = 1.0 - 2.0 * self.read[LINK_SHARE, i]
            value[OF_DENSITY, i] = (
                self.words[i] * unlinked - c[TAG_PRICE_IN_ELEMENT] * self.tags[i]
            )
            value[OF_STOPS, i] = (
                stops[i] / share * unlinked - c[STOP_WORD_PRICE] * self.words[i]
            )
            value[OF_PROSE, i] = value[PROSE, i]
            if self.inside_beside[i]:
                value[OF_PROSE, i] = 0.0
                value[OF_DENSITY, i] = min(value[OF_DENSITY, i], 0.0)
                value[OF_STOPS, i] = min(value[OF_STOPS, i], 0.0)
        for row in range(N_SUMS):
            self.of.total(value[row], self.inside[row])

    cdef keep(self, Py_ssize_t element, uint8_t[::1] kept):
        """Keep the text of an *element*."""
        cdef Py_ssize_t i
        for i in range(self.of.begin[element], self.of.end[element]):
            kept[i] = self.is_text[i]

    cdef keep_greatest(self, Py_ssize_t row, uint8_t[::1] kept):
        """Keep the text of the element with the greatest sum."""
        cdef Py_ssize_t i, best = 0
        for i in range(self.of.m):
            best = i if self.inside[row, i] > self.inside[row, best] else best
        self.keep(best, kept)

    cdef vote(self, uint8_t[::1] kept):
        cdef const double[::1] c = self.by.constants
        cdef Py_ssize_t n = self.of.n, m = self.of.m, i, at, level, best, parent
        cdef double[::1] score = numpy.zeros(m), of_level = numpy.empty(m + 1)
        cdef const double[::1] density = self.inside[OF_DENSITY]
        cdef uint8_t[::1] chosen = numpy.zeros(m, "u1")
        cdef double points, enough
        cdef bint is_unlinked
        cdef int choice = 2, found  # points of what is unlinked and not beside; unlinked; all
        for i in range(n):
            is_unlinked = self.read[LINK_SHARE, i] < c[MIN_LINKED]
            if self.value[POINTS, i] != 0 and is_unlinked:
                choice = min(choice, 1 if self.inside_beside[i] else 0)
        for level in range(self.by.weights.shape[0]):
            of_level[:] = 0.0
            for i in range(n):
                is_unlinked = self.read[LINK_SHARE, i] < c[MIN_LINKED]
                if choice < 2 and not is_unlinked or choice == 0 and self.inside_beside[i]:
                    continue
                at = self.by.role_of[self.of.tag_around(0, i)] & IS_PARAGRAPH != 0
                at = self.of.around[at, i]
                for found in range(level):
                    at = self.of.parent[at]
                of_level[at] += self.value[POINTS, i] * self.by.weights[level]
            for i in range(m):
                score[i] += of_level[i]
        best = 0
        for i in range(m):
            if score[i] > 0:
                points = self.by.tag_points[self.of.tag[i]]
                points += c[NAME_POINTS] if self.count[i, LIKELY] else 0.0
                points -= c[NAME_POINTS] if self.count[i, BESIDE] else 0.0
                points = score[i] + points
                score[i] = points * (
                    1.0 - self.inside[OF_LINKED, i] / max(self.inside[OF_LETTERS, i], 1.0)
                )
            else:
                score[i] = -INFINITY
            best = i if score[i] > score[best] else best
        parent = self.of.parent[best]
        while parent < m and density[parent] > c[OUTWARD_GAIN] * density[best]:
            best, parent = parent, self.of.parent[parent]
        enough = max(c[MIN_SCORE], c[SIBLING_SHARE] * score[best])
        for i in range(m):
            chosen[i] = i == best or (
                self.of.parent[i] == self.of.parent[best] and score[i] >= enough
                and not self.beside[i]
            )
        self.of.inside(chosen, kept)
        for i in range(n):
            kept[i] &= self.is_text[i]

    cdef find_body(self, uint8_t[::1] kept):
        cdef const double[::1] c = self.by.constants
        cdef const double[::1] prose = self.inside[OF_PROSE]
        cdef Py_ssize_t i, way
        cdef int subject, body
        cdef double most
        cdef uint8_t[::1] chosen = numpy.zeros(self.of.m, "u1")
        for way in range(3):  # what is named a body; an <article>; the <main>
            most = -1
            for i in range(self.of.m):
                subject, body = self.count[i, SUBJECT], self.count[i, BODY]
                chosen[i] = not self.beside[i] and prose[i] >= c[MIN_TEXT] and (
                    (subject and body and subject + body > 1) if way == 0
                    else self.of.tag[i] == c[ARTICLE_TAG if way == 1 else MAIN_TAG]
                )
                most = max(most, prose[i]) if chosen[i] else most
            for i in range(self.of.m):
                if chosen[i] and prose[i] >= c[SECOND_BODY] * most:
                    return self.keep(i, kept)

    cdef follow_headline(self, uint8_t[::1] kept):
        cdef const double[::1] c = self.by.constants
        cdef Py_ssize_t n = self.of.n, i, level, element, headline = -1, begin = 0, end = n
        cdef double[::1] prose = numpy.zeros(n), total = numpy.zeros(self.of.m)
        cdef double enough = 0
        cdef bint is_main
        for i in range(n - 1, -1, -1):
            if self.read[BELOW_HEADLINE, i] > 0:
                headline = i - 1
                prose[i] = 0.0 if self.inside_beside[i] else self.value[PROSE, i]
                enough += prose[i]
        if headline < 0:
            return
        enough = max(c[MIN_TEXT], c[HEADLINE_SHARE] * enough)
        self.of.total(prose, total)
        for level in range(self.of.around.shape[0]):
            element = self.of.around[level, headline]
            if element < self.of.m and total[element] >= enough:
                begin, end = self.of.begin[element], self.of.end[element]
                break
        is_main = self.read[HEADING_RANK, headline] == c[MAIN_HEADING]
        for i in range(begin, end):
            kept[i] = self.is_text[i] and self.read[BELOW_HEADLINE, i] > 0 and not (
                is_main and self.read[LATER_HEADINGS, i] != 0
            )

    cdef find_run(self, uint8_t[::1] kept):
        cdef const double[::1] c = self.by.constants
        cdef Py_ssize_t i, start, end
        cdef double[::1] value = numpy.empty(self.of.n)
        cdef double unlinked
        for i in range(self.of.n):
            unlinked = 1.0 - 2.0 * self.read[LINK_SHARE, i]
            value[i] = self.words[i] * unlinked - c[TAG_PRICE_IN_RUN] * self.tags[i]
        start, end, _ = best_run(value)
        for i in range(start, end):
            kept[i] = self.read[LINK_SHARE, i] < c[MIN_LINKED]


# --- what blocks are, and where ------------------------------------------------------------------

cdef enum:  # the numbers that `features._NUMBERS` has, in that order
    MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE, MAX_HEADLINE, FULL_TITLE, H1_BONUS, HEADING_BONUS
    MAX_SHARED_BY_CHANCE, MIN_DESCRIBING, MAX_MAIN_HEADINGS, NO_LEVEL, TITLE_TAG, N_NUMBERS


cdef class BlockFeatures:
    """The rows of `features._fill_counts`.

    *of_counts* (int32[k, 3]) has the row, what is counted, and whether it is a share of the words;
    *of_ends* (int32[k, 3]) the row, the end and the class. *parents* (uint8[256]) are the rows of
    tags that are right around a block, *ancestors* (uint32[256]) the bits of those anywhere around
    it, *levels* (uint8[256]) those of headings.
    """

    cdef const int32_t[:, ::1] of_counts, of_ends
    cdef const uint8_t[::1] parents, levels
    cdef const uint32_t[::1] ancestors
    cdef const double[::1] numbers
    cdef int n_text, all_linked, repetitions, n_parents, n_ancestors

    def __init__(self, of_counts, of_ends, parents, ancestors, levels, numbers, places):
        self.of_counts, self.of_ends, self.numbers = of_counts, of_ends, numbers
        self.parents, self.ancestors, self.levels = parents, ancestors, levels
        self.n_text, self.all_linked, self.repetitions = places[:3]
        self.n_parents, self.n_ancestors = places[3:]
        _check_sizes(256, (len(parents), len(ancestors), len(levels)))
        _check_sizes(N_NUMBERS, (len(numbers),))

    def __call__(self, page, title, description, double[:, ::1] rows):
        """Fill in the *rows*; the headline's block, and the heading above each block."""
        cdef const int64_t[::1] hits = title.hits, pairs = description.hits
        cdef _Elements of = _Elements(page.containers)
        cdef Py_ssize_t n = of.n, at = self.n_text
        cdef const double[::1] words = page.words
        _check_sizes(n, (rows.shape[1], words.shape[0], hits.shape[0], pairs.shape[0]))
        _check_sizes(at + self.n_parents + self.n_ancestors + 2 + 5 + 5 + 4 + 4, (rows.shape[0],))
        hidden = numpy.empty(n, "u1")
        of.inside(page.attributes.hidden.view("u1"), hidden)
        self.fill_text(page.text_counts, words, page.blocks.linked_words, rows)
        self.fill_around(of, hidden, rows[at:])
        at += self.n_parents + self.n_ancestors + 2
        found = self.fill_places(of, words, hits, title.size, rows[at:])
        self.fill_description(of, words, pairs, description.size, rows[at + 14:])
        return found

    cdef fill_text(
        self, counts, const double[::1] words, const int64_t[::1] linked, double[:, ::1] rows
    ):
        cdef const double[:, ::1] count = counts.counts
        cdef const double[::1] letters = counts.letters
        cdef const uint8_t[::1] first = counts.first, last = counts.last
        cdef Py_ssize_t n = rows.shape[1], i, k, row, place
        cdef double value
        cdef array groups = clone(_INT32S, n, False), sizes = clone(_INT32S, n, True)
        cdef int* group = groups.data.as_ints
        cdef int* size = sizes.data.as_ints
        _check_sizes(n, (count.shape[1], letters.shape[0], linked.shape[0], first.shape[0]))
        _check_sizes(N_CLASSES, (count.shape[0],))
        for k in range(self.of_counts.shape[0]):
            row, place = self.of_counts[k, 0], self.of_counts[k, 1]
            for i in range(n):
                if place < N_CLASSES:
                    value = count[place, i]
                elif place == N_CLASSES:
                    value = letters[i]
                else:
                    value = words[i] if place == N_CLASSES + 1 else linked[i]
                rows[row, i] = value / words[i] if self.of_counts[k, 2] else value
        for k in range(self.of_ends.shape[0]):
            row, place = self.of_ends[k, 0], self.of_ends[k, 2]
            for i in range(n):
                rows[row, i] = ((last[i] if self.of_ends[k, 1] else first[i]) & place) != 0
        _number(counts.hashes, group)
        for i in range(n):
            size[group[i]] += 1
            rows[self.all_linked, i] = linked[i] == words[i]
        for i in range(n):
            rows[self.repetitions, i] = size[group[i]]

    cdef fill_around(self, _Elements of, const uint8_t[::1] hidden, double[:, ::1] rows):
        cdef Py_ssize_t i, level, n_levels = of.around.shape[0], depth
        cdef int parent, each
        cdef uint32_t around
        for i in range(of.n):
            depth = around = 0
            for level in range(n_levels):
                depth += of.around[level, i] < of.m
                around |= self.ancestors[of.tag_around(level, i)]
            parent = self.parents[of.tag_around(0, i)]
            for each in range(self.n_parents):
                rows[each, i] = each == parent
            for each in range(self.n_ancestors):
                rows[self.n_parents + each, i] = around >> each & 1
            rows[self.n_parents + self.n_ancestors, i] = depth / 10.0
            rows[self.n_parents + self.n_ancestors + 1, i] = hidden[i]

    cdef tuple fill_places(
        self, _Elements of, const double[::1] words, const int64_t[::1] hits, double n_title,
        double[:, ::1] rows
    ):
        """Fill in the place by words, by the headline, and by headings, five rows and five and four."""
        cdef const double[::1] c = self.numbers
        cdef Py_ssize_t n = of.n, i, headline = -1, heading = -1
        cdef int level, of_headline, n_main = 0
        cdef double before = 0, total = 0, overlap, rank, greatest = -1, n_later = 0
        cdef bint is_short
        headings = numpy.empty(n, "p")
        cdef Py_ssize_t[::1] above = headings
        for i in range(n):
            total += words[i]
        for i in range(n):
            rows[0, i] = before / max(total, 1.0)
            rows[1, i] = <double> i / n
            rows[2, i] = before
            rows[3, i] = total - before - words[i]
            rows[4, i] = total
            level = self.levels[of.tag_around(0, i)]
            is_short = 1 < words[i] <= c[MAX_HEADLINE] and of.tag_around(0, i) != c[TITLE_TAG]
            overlap = min(1.0, hits[i] / max(1.0, min(n_title, c[FULL_TITLE])))
            overlap = hits[i] / words[i] * overlap if is_short else 0.0
            rows[5, i] = overlap
            if of.tag_around(0, i) != c[TITLE_TAG] and (
                level == 1 or (level > 1 and overlap > c[MIN_OVERLAP_HEADING])
                or overlap > c[MIN_OVERLAP_LINE]
            ):
                rank = overlap + (c[H1_BONUS] if level == 1 else 0.0)
                rank += c[HEADING_BONUS] if level > 1 else 0.0
                if rank > greatest:
                    greatest, headline = rank, i
            above[i] = heading
            rows[10, i] = c[NO_LEVEL] - level if level else 0.0
            rows[11, i] = before - rows[2, heading] if heading >= 0 else 0.0
            rows[12, i] = rows[10, heading] if heading >= 0 else 0.0
            n_main += level == 1
            rows[13, i] = min(<double> n_main, c[MAX_MAIN_HEADINGS])
            heading = i if level else heading
            before += words[i]
        of_headline = self.levels[of.tag_around(0, headline)] if headline >= 0 else 0
        for i in range(n):
            rows[6, i] = rows[5, headline] if headline >= 0 else 0.0
            rows[7, i] = abs(rows[2, i] - rows[2, headline]) if headline >= 0 else 0.0
            rows[8, i] = 0 <= headline < i
            level = self.levels[of.tag_around(0, i)]
            n_later += i > headline >= 0 and of_headline and level == of_headline
            rows[9, i] = n_later
        return headline, headings

    cdef fill_description(
        self, _Elements of, const double[::1] words, const int64_t[::1] hits, double n_pairs,
        double[:, ::1] rows
    ):
        cdef Py_ssize_t n = of.n, i, first = n
        cdef bint is_shown
        for i in range(n if n_pairs else 0):
            is_shown = of.tag_around(0, i) != self.numbers[TITLE_TAG]
            rows[0, i] = min(1.0, hits[i] / n_pairs) * is_shown
            is_shown = is_shown and words[i] > self.numbers[MAX_SHARED_BY_CHANCE]
            rows[1, i] = hits[i] / max(words[i] - 1.0, 1.0) * is_shown
            if first == n and rows[0, i] > self.numbers[MIN_DESCRIBING]:
                first = i
        for i in range(n):
            rows[2, i] = 0.0 if first == n else 1.0 if i >= first else -1.0
            rows[3, i] = n_pairs > 0
            if not n_pairs:
                rows[0, i] = rows[1, i] = 0.0


# --- evidence, and the network -------------------------------------------------------------------

def ratios(const uint64_t[::1] ids, const uint32_t[:, ::1] counts, double smoothing, factors):
    """float64[n]: how often what has these *ids* was inside for each time outside; inf for never."""
    cdef Py_ssize_t n = ids.shape[0], i, size = counts.shape[0], at
    cdef int bits = 0
    cdef uint64_t first = factors[0], second = factors[1], mixed
    _check_sizes(2, (counts.shape[1],))
    while (1 << bits) < size:
        bits += 1
    _check_sizes(size, (1 << bits,))
    _check(bits - 1, 63)
    result = numpy.empty(n)
    cdef double[::1] ratio = result
    with nogil:
        for i in range(n):
            mixed = ids[i] * first
            mixed = (mixed ^ mixed >> 29) * second
            at = mixed >> (64 - bits)
            if counts[at, 0] | counts[at, 1]:
                ratio[i] = (counts[at, 1] + smoothing) / (counts[at, 0] + smoothing)
            else:
                ratio[i] = INFINITY
    return result


def pool(page, const double[::1] of_texts, const double[::1] of_words, double[:, ::1] rows):
    """Fill in the mean of each block's texts; sum, least and greatest of its ancestors' words."""
    cdef _Elements of = _Elements(page.containers)
    cdef const Py_ssize_t[::1] first = page.blocks.first_text, size = page.blocks.n_texts
    cdef const Py_ssize_t[::1] element = page.attributes.element
    cdef double[:, ::1] pooled = numpy.zeros((3, of.m + 1))
    cdef Py_ssize_t i, at, level
    cdef double total, least, greatest
    _check_sizes(of.n, (first.shape[0], size.shape[0], rows.shape[1]))
    _check_sizes(of_words.shape[0], (element.shape[0],))
    _check_sizes(5, (rows.shape[0],))
    for i in range(of_words.shape[0]):
        at = element[i]
        _check(at, of.m)
        pooled[0, at] += of_words[i]
        pooled[1, at] = min(pooled[1, at], of_words[i])
        pooled[2, at] = max(pooled[2, at], of_words[i])
    for i in range(of.n):
        if not 0 <= first[i] <= first[i] + size[i] <= of_texts.shape[0]:
            raise IndexError(f"texts from {first[i]} to {first[i] + size[i]}")
        total = least = greatest = 0
        for at in range(first[i], first[i] + size[i]):
            total += of_texts[at]
        rows[0, i] = total / size[i]
        total = 0
        for level in range(of.around.shape[0]):
            at = of.around[level, i]
            total += pooled[0, at]
            least = min(least, pooled[1, at])
            greatest = max(greatest, pooled[2, at])
        rows[2, i], rows[3, i], rows[4, i] = total, least, greatest


def standardized(
    const double[:, :] columns, const float[::1] mean, const float[::1] scale, float bound
):
    """float32[n, k]: the *columns* (float64[k, n]) with mean 0 and deviation 1, within a *bound*."""
    cdef Py_ssize_t k = columns.shape[0], n = columns.shape[1], i, row
    cdef float value
    _check_sizes(k, (mean.shape[0], scale.shape[0]))
    result = numpy.empty((k, n), "f4")
    cdef float[:, ::1] into = result
    with nogil:
        for row in range(k):
            for i in range(n):
                value = (<float> columns[row, i] - mean[row]) * scale[row]
                value = bound if value > bound else value
                into[row, i] = -bound if value < -bound else value
    return result.T


cdef enum:
    LANES = 16  # numbers that are computed at once: loops of so many steps become vectors


cdef inline void _rectify(
    float* sums, const float* bias, const float* weights, int n
) noexcept nogil:
    """Let *sums* be those of rectified linear units, with *weights*."""
    cdef float values[LANES]
    cdef int i
    for i in range(n):
        values[i] = sums[i] + bias[i]
    for i in range(n):
        values[i] = values[i] if values[i] > 0 else <float> 0
    for i in range(n):
        values[i] *= weights[i]
    memcpy(sums, values, n * sizeof(float))


cdef inline void _add(float* sums, const float* more, int n) noexcept nogil:
    cdef float values[LANES]
    cdef int i
    for i in range(n):
        values[i] = sums[i] + more[i]
    memcpy(sums, values, n * sizeof(float))


@cython.cdivision(True)
def weighted_units(float[:, ::1] sums, const float[::1] bias, const float[::1] weights):
    """float32[n]: rectified *sums* with *weights*, the second half added to the first, and so on."""
    cdef Py_ssize_t n = sums.shape[0], k = sums.shape[1], i, at, rest, half
    _check_sizes(k, (bias.shape[0], weights.shape[0]))
    _check(0, k)
    result = numpy.empty(n, "f4")
    cdef float[::1] into = result
    with nogil:
        for i in range(n):
            at = 0
            while at + LANES <= k:
                _rectify(&sums[i, at], &bias[at], &weights[at], LANES)
                at += LANES
            if at < k:
                _rectify(&sums[i, at], &bias[at], &weights[at], <int> (k - at))
            rest = k
            while rest > 1:
                half, at = rest - rest // 2, 0
                while at + LANES <= rest // 2:
                    _add(&sums[i, at], &sums[i, half + at], LANES)
                    at += LANES
                _add(&sums[i, at], &sums[i, half + at], <int> (rest // 2 - at))
                rest = half
            into[i] = sums[i, 0]
    return result
