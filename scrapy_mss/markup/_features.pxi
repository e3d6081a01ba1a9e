"""The network's inputs: where blocks are, and where the evidence is; and the network's ends.

The Python of each step, in `features`, `hashing`, `naive_bayes` and `classifier`, is its oracle.
Whatever a logarithm is taken of is counted here; the logarithms are numpy's, whose last bit depends
on the processor.
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


# --- where the evidence is -----------------------------------------------------------------------

cdef class ContainerShares:
    """The rows of `features._fill_shares`, of so many levels of keys, elements, tags of paths."""

    cdef Py_ssize_t n_keys, n_elements, n_tags
    cdef double per_words

    def __init__(self, n_keys, n_elements, n_tags, per_words):
        self.n_keys, self.n_elements, self.n_tags = n_keys, n_elements, n_tags
        self.per_words = per_words

    def __call__(self, page, const double[:, ::1] values, double[:, ::1] rows):
        cdef _Elements of = _Elements(page.containers)
        cdef Py_ssize_t k = values.shape[0] - 3, n = of.n, i, j, at, row, level
        cdef Py_ssize_t n_shares = 3 + 2 * (self.n_keys + self.n_elements)
        cdef double[:, ::1] before = numpy.zeros((k + 1, n + 1))
        cdef double total = page.total_words, words, share
        _check_sizes(n, (values.shape[1], rows.shape[1]))
        _check_sizes(k * n_shares + 3 * self.n_keys, (rows.shape[0],))
        _check(max(self.n_keys, self.n_elements, self.n_tags), of.around.shape[0] + 1)
        for j in range(k + 1):
            for i in range(n):
                before[j, i + 1] = before[j, i] + values[j, i]
                if j < k:
                    rows[j * n_shares, i] = before[j, i + 1] - values[j, i]
                    rows[j * n_shares + 1, i] = 1.0 - before[j, i + 1]
        for level in range(self.n_elements):
            row = 2 + 2 * (self.n_keys + level)
            for i in range(n):
                at = of.around[level, i]
                words = before[k, of.end[at]] - before[k, of.begin[at]] if at < of.m else total
                for j in range(k):
                    share = before[j, of.end[at]] - before[j, of.begin[at]] if at < of.m else 1.0
                    rows[j * n_shares + row, i] = share
                    rows[j * n_shares + row + 1, i] = share / max(words, 1.0) * self.per_words
        for level in range(self.n_keys + 1):
            self.fill_alike(of, page.attributes.key, values, level, rows)

    cdef fill_alike(
        self, _Elements of, const uint32_t[::1] key_of, const double[:, ::1] values,
        Py_ssize_t level, double[:, ::1] rows
    ):
        """Fill in the sums over blocks whose ancestors at a *level* have one key.

        Beyond the levels of keys it is blocks on one path of tags.
        """
        cdef Py_ssize_t k = values.shape[0] - 3, n = of.n, i, j, at, inner, row = 2 + 2 * level
        cdef Py_ssize_t n_shares = 3 + 2 * (self.n_keys + self.n_elements)
        cdef uint64_t[::1] keys = numpy.empty(n, "u8")
        cdef double[:, ::1] sums = numpy.zeros((n, k + 3))
        cdef double words
        _check_sizes(of.m, (key_of.shape[0],))
        for i in range(n):
            at = of.around[level, i] if level < self.n_keys else of.m
            keys[i] = key_of[at] if at < of.m else 0
            for inner in range(self.n_tags if level == self.n_keys else 0):
                keys[i] |= <uint64_t> of.tag_around(inner, i) << 8 * inner
        cdef const Py_ssize_t[::1] group = _numbered(keys)
        for i in range(n):
            for j in range(k + 3):
                sums[group[i], j] += values[j, i]
        for i in range(n):
            at = group[i]
            words = max(sums[at, k], 1.0)
            for j in range(k):
                if level == self.n_keys:
                    rows[(j + 1) * n_shares - 1, i] = sums[at, j]
                else:
                    rows[j * n_shares + row, i] = sums[at, j]
                    rows[j * n_shares + row + 1, i] = sums[at, j] / words * self.per_words
            if level < self.n_keys:
                rows[k * n_shares + 3 * level, i] = sums[at, k + 2]
                rows[k * n_shares + 3 * level + 1, i] = sums[at, k]
                rows[k * n_shares + 3 * level + 2, i] = sums[at, k + 1] / words


# --- what blocks have ----------------------------------------------------------------------------

cdef enum:  # what a row is, as `features` has it
    COUNT, SHARE, FIRST, LAST


cdef class TextRows:
    """The rows of `features._fill_text`.

    *rows* (int32[k, 3]) are each: which row, what it is, and which of the counts it has or which
    bits the block's end. *all_linked* and *repetitions* are two rows more.
    """

    cdef const int[:, ::1] rows
    cdef Py_ssize_t all_linked, repetitions

    def __init__(self, rows, all_linked, repetitions):
        self.rows, self.all_linked, self.repetitions = rows, all_linked, repetitions

    def __call__(self, page, double[:, ::1] rows):
        counts, n_of = page.text_counts, N_CLASSES
        cdef Py_ssize_t n = rows.shape[1], i, row, which
        cdef int what, of
        values = numpy.empty((N_CLASSES + 3, n))
        values[:n_of], values[n_of] = counts.counts, counts.letters
        numpy.maximum(page.words, 1.0, out=values[n_of + 1])
        values[n_of + 2] = page.blocks.linked_words
        cdef const double[:, ::1] value = values
        cdef const double[::1] words = values[n_of + 1], linked = values[n_of + 2]
        cdef const uint8_t[::1] first = counts.first, last = counts.last
        cdef const Py_ssize_t[::1] number = _numbered(counts.hashes)
        cdef Py_ssize_t[::1] n_alike = numpy.zeros(n, "p")
        _check_sizes(n, (first.shape[0], last.shape[0], number.shape[0]))
        _check(max(self.all_linked, self.repetitions), rows.shape[0])
        for which in range(self.rows.shape[0]):
            row, what, of = self.rows[which, 0], self.rows[which, 1], self.rows[which, 2]
            _check(row, rows.shape[0])
            _check(of if what <= SHARE else 0, value.shape[0])
            for i in range(n):
                if what <= SHARE:
                    rows[row, i] = value[of, i] / (words[i] if what == SHARE else 1.0)
                else:
                    rows[row, i] = ((first[i] if what == FIRST else last[i]) & of) != 0
        for i in range(n):
            n_alike[number[i]] += 1
        for i in range(n):
            rows[self.all_linked, i] = linked[i] == words[i]
            rows[self.repetitions, i] = n_alike[number[i]]


# --- where blocks are ----------------------------------------------------------------------------

cdef enum:  # the numbers that `features._NUMBERS` has, in that order
    MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE, MAX_HEADLINE, FULL_TITLE, H1_BONUS, HEADING_BONUS
    MAX_MAIN_HEADINGS, NO_LEVEL, TITLE_TAG, N_NUMBERS


cdef class BlockPlaces:
    """The rows of `features._fill_places`.

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

    def __call__(self, page, title, double[:, ::1] rows):
        """Fill in the *rows*; the headline's block, and the heading above each block."""
        cdef _Elements of = _Elements(page.containers)
        cdef const double[::1] words = page.words
        cdef Py_ssize_t n_around = self.n_parents + self.n_ancestors + 2
        _check_sizes(of.n, (rows.shape[1], words.shape[0], len(title.hits), len(page.hidden)))
        _check_sizes(n_around + 14, (rows.shape[0],))
        self.fill_around(of, page.hidden.view("u1"), rows)
        return self.fill_places(of, words, title.hits, title.size, rows[n_around:])

    cdef fill_around(self, _Elements of, const uint8_t[::1] hidden, double[:, ::1] rows):
        cdef Py_ssize_t i, level, depth
        cdef int parent, each
        cdef uint32_t around
        for i in range(of.n):
            depth = around = 0
            for level in range(of.around.shape[0]):
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
        """Fill in the place by words (five rows), by the headline (five) and by headings (four)."""
        cdef const double[::1] c = self.numbers
        cdef Py_ssize_t n = of.n, i, headline = -1, heading = -1
        cdef int level, of_headline = 0, n_main = 0, n_later = 0
        cdef double before = 0, total = 0, overlap, rank, greatest = -1
        cdef bint is_title, is_near
        above = numpy.empty(n, "p")
        cdef Py_ssize_t[::1] heading_above = above
        for i in range(n):
            total += words[i]
        for i in range(n):
            level, is_title = self.levels[of.tag_around(0, i)], of.tag_around(0, i) == c[TITLE_TAG]
            rows[0, i], rows[1, i] = before / max(total, 1.0), <double> i / n
            rows[2, i], rows[3, i], rows[4, i] = before, total - before - words[i], total
            overlap = min(1.0, hits[i] / max(1.0, min(n_title, c[FULL_TITLE])))
            is_near = not is_title and 1 < words[i] <= c[MAX_HEADLINE]
            overlap *= hits[i] / words[i] if is_near else 0.0
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
        return headline, above


# --- evidence, and the network -------------------------------------------------------------------

cdef enum:
    FOLD = 29  # bits by which a hash is shifted to itself, as `hashing` has it
    BEYOND_PAGE = 63  # the shape before the first block and after the last, as `families` has it


cdef class BlockEvidence:
    """`classifier.block_evidence`.

    *sizes* are shapes by words, *max_links* is for all that is linked, as `families` has them; ids
    are mixed by three *factors*; and *most* is the evidence of a row at most.
    """

    cdef const uint64_t[::1] sizes, factors
    cdef double max_links, most

    def __init__(self, sizes, max_links, factors, most):
        self.sizes, self.max_links, self.factors, self.most = sizes, max_links, factors, most
        _check_sizes(3, (len(factors),))

    def __call__(self, page, bayes):
        cdef _Elements of = _Elements(page.containers)
        cdef const uint64_t[::1] id_of = page.tokens.token_id
        cdef const int[::1] token = page.blocks.text
        cdef const uint32_t[::1] word_of = page.attributes.word
        cdef uint64_t[::1] text = numpy.empty(token.shape[0], "u8")
        cdef uint64_t[::1] word = numpy.empty(word_of.shape[0], "u8")
        cdef const uint64_t[::1] shape
        cdef Py_ssize_t i
        for i in range(text.shape[0]):
            _check(token[i], id_of.shape[0])
            text[i] = id_of[token[i]] * self.factors[0]
        for i in range(word.shape[0]):
            word[i] = word_of[i] * self.factors[0]
        shape = self.shapes(page.blocks.words, page.blocks.linked_words)
        families = {family.name: family for family in bayes.families}
        rows = numpy.empty((5, of.n))
        self.pool(
            of, page, self.odds(text, bayes, families["unigram"]),
            self.odds(shape, bayes, families["shape"]),
            self.odds(word, bayes, families["class_words"]), rows,
        )
        return rows

    cdef const uint64_t[::1] shapes(self, const int64_t[::1] words, const int64_t[::1] linked):
        """The blocks' shapes with those of their neighbours, mixed."""
        cdef Py_ssize_t n = words.shape[0], i
        cdef double size
        cdef uint64_t mixed
        cdef uint64_t[::1] alone = numpy.full(n + 2, BEYOND_PAGE, "u8")
        cdef uint64_t[::1] hash_of = numpy.empty(n, "u8")
        _check_sizes(n, (linked.shape[0],))
        for i in range(n):
            size = max(words[i], 1)
            alone[i + 1] = self.sizes[min(max(words[i], 1), self.sizes.shape[0] - 1)]
            alone[i + 1] += <uint64_t> (linked[i] / size * self.max_links)
        for i in range(n):
            mixed = alone[i] * self.factors[0]
            mixed = (mixed ^ mixed >> FOLD ^ alone[i + 1]) * self.factors[1]
            hash_of[i] = (mixed ^ mixed >> FOLD ^ alone[i + 2]) * self.factors[2]
        return hash_of

    cdef const double[::1] odds(self, const uint64_t[::1] keys, bayes, family):
        """The log-odds of what has these *keys*; each is looked up once."""
        cdef const uint32_t[:, ::1] counts = bayes.counts[family.name]
        cdef double smoothing = family.smoothing, prior = bayes.prior
        cdef int bits = max(counts.shape[0] - 1, 1).bit_length()
        cdef const Py_ssize_t[::1] number = _numbered(keys)
        cdef Py_ssize_t n = keys.shape[0], n_different = 0, i
        cdef uint64_t[::1] place = numpy.empty(n, "u8")
        cdef uint32_t[:, ::1] found = numpy.empty((n, 2), "u4")
        _check_sizes(counts.shape[0], (1 << bits,))
        _check_sizes(2, (counts.shape[1],))
        of_different, of_keys = numpy.empty(n), numpy.empty(n)
        cdef double[::1] ratio = of_different, odds = of_keys
        for i in range(n):
            place[number[i]] = (keys[i] ^ keys[i] >> FOLD) * self.factors[1] >> (64 - bits)
            n_different = max(n_different, number[i] + 1)
        for i in range(n_different):  # nothing else, so that many wait for memory at once
            found[i, 0], found[i, 1] = counts[place[i], 0], counts[place[i], 1]
        for i in range(n_different):
            ratio[i] = (found[i, 1] + smoothing) / (found[i, 0] + smoothing)
            ratio[i] = ratio[i] if found[i, 0] | found[i, 1] else INFINITY
        numpy.log(of_different[:n_different], out=of_different[:n_different])
        for i in range(n):
            odds[i] = ratio[number[i]] - prior if ratio[number[i]] < INFINITY else 0.0
        return odds

    cdef pool(
        self, _Elements of, page, const double[::1] of_texts, const double[::1] of_shapes,
        const double[::1] of_words, double[:, ::1] rows
    ):
        """Fill in the mean of texts; the shape; sum, least and greatest of ancestors' words."""
        cdef const Py_ssize_t[::1] first = page.blocks.first_text, size = page.blocks.n_texts
        cdef const Py_ssize_t[::1] element = page.attributes.element
        cdef double[:, ::1] pooled = numpy.zeros((of.m + 1, 3))
        cdef Py_ssize_t i, at, level, row
        cdef double total, least, greatest
        _check_sizes(of.n, (first.shape[0], size.shape[0], of_shapes.shape[0]))
        _check_sizes(of_words.shape[0], (element.shape[0],))
        _check_all(element, of.m)
        for i in range(of_words.shape[0]):
            at = element[i]
            pooled[at, 0] += of_words[i]
            pooled[at, 1] = min(pooled[at, 1], of_words[i])
            pooled[at, 2] = max(pooled[at, 2], of_words[i])
        for i in range(of.n):
            _check(first[i], of_texts.shape[0] + 1)
            _check(size[i] - 1, of_texts.shape[0] - first[i])
            total = least = greatest = 0
            for at in range(first[i], first[i] + size[i]):
                total += of_texts[at]
            rows[0, i], rows[1, i] = total / size[i], of_shapes[i]
            total = 0
            for level in range(of.around.shape[0]):
                at = of.around[level, i]
                total += pooled[at, 0]
                least = min(least, pooled[at, 1])
                greatest = max(greatest, pooled[at, 2])
            rows[2, i], rows[3, i], rows[4, i] = total, least, greatest
            for row in range(5):
                rows[row, i] = min(max(rows[row, i], -self.most), self.most)


def standardize(
    float[:, ::1] rows, const float[::1] mean, const float[::1] scale, float most
):
    """Subtract the *mean* of each of the *rows*, multiply by the *scale*, and clip, in place."""
    cdef Py_ssize_t row, i
    cdef float each, middle, factor
    _check_sizes(rows.shape[0], (mean.shape[0], scale.shape[0]))
    for row in range(rows.shape[0]):
        middle, factor = mean[row], scale[row]
        for i in range(rows.shape[1]):
            each = (rows[row, i] - middle) * factor
            each = most if each > most else each
            rows[row, i] = -most if each < -most else each


cdef enum:
    LANES = 16  # numbers that are added at once: a loop of so many steps becomes vectors


cdef inline void _add(float* sums, const float* more, int n) noexcept nogil:
    cdef float values[LANES]
    cdef int i
    for i in range(n):
        values[i] = sums[i] + more[i]
    memcpy(sums, values, n * sizeof(float))


cdef inline void _rectify(
    float* sums, const float* bias, const float* weights, int n
) noexcept nogil:
    cdef float values[LANES]
    cdef int i
    for i in range(n):
        values[i] = sums[i] + bias[i]
    for i in range(n):
        values[i] = (values[i] if values[i] > 0.0 else <float> 0.0) * weights[i]
    memcpy(sums, values, n * sizeof(float))


@cython.cdivision(True)
def weighted_units(float[:, ::1] sums, const float[::1] bias, const float[::1] weights):
    """float32[n]: the weighted *sums* of inputs, as rectified units with *weights*, summed."""
    cdef Py_ssize_t i, at, n_more, rest
    _check_sizes(sums.shape[1], (bias.shape[0], weights.shape[0]))
    result = numpy.zeros(sums.shape[0], "f4")
    cdef float[::1] into = result
    with nogil:
        for i in range(sums.shape[0] if sums.shape[1] else 0):
            rest, at = sums.shape[1], 0
            while at + LANES <= rest:
                _rectify(&sums[i, at], &bias[at], &weights[at], LANES)
                at += LANES
            if at < rest:
                _rectify(&sums[i, at], &bias[at], &weights[at], <int> (rest - at))
            while rest > 1:
                n_more, at = rest // 2, 0
                rest -= n_more
                while at + LANES <= n_more:
                    _add(&sums[i, at], &sums[i, rest + at], LANES)
                    at += LANES
                if at < n_more:  # otherwise the second half ends here
                    _add(&sums[i, at], &sums[i, rest + at], <int> (n_more - at))
            into[i] = sums[i, 0]
    return result
