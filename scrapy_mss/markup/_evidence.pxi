"""The evidence of blocks, and the two ends of the network; `classifier` is the oracle."""

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
        cdef double prior = bayes.prior
        families = {family.name: family for family in bayes.families}
        ids, words = page.tokens.token_id.take(page.blocks.text), page.attributes.word.astype("u8")
        shapes = self.shapes(page.blocks.words, page.blocks.linked_words)
        rows = numpy.empty((N_EVIDENCE, of.n))
        self.pool(
            of, page, self.odds(ids, self.factors[0], bayes, families["unigram"], prior),
            self.odds(shapes, 1, bayes, families["shape"], prior),
            self.odds(words, self.factors[0], bayes, families["class_words"], prior), rows,
        )
        return rows

    cdef shapes(self, const int64_t[::1] words, const int64_t[::1] linked):
        """The blocks' shapes with those of their neighbours, mixed."""
        cdef Py_ssize_t n = words.shape[0], i
        cdef double size
        cdef uint64_t mixed
        cdef uint64_t[::1] alone = numpy.full(n + 2, BEYOND_PAGE, "u8")
        hashes = numpy.empty(n, "u8")
        cdef uint64_t[::1] hash_of = hashes
        _check_sizes(n, (linked.shape[0],))
        for i in range(n):
            size = max(words[i], 1)
            alone[i + 1] = self.sizes[min(max(words[i], 1), self.sizes.shape[0] - 1)]
            alone[i + 1] += <uint64_t> (linked[i] / size * self.max_links)
        for i in range(n):
            mixed = alone[i] * self.factors[0]
            mixed = (mixed ^ mixed >> FOLD ^ alone[i + 1]) * self.factors[1]
            hash_of[i] = (mixed ^ mixed >> FOLD ^ alone[i + 2]) * self.factors[2]
        return hashes

    cdef const double[::1] odds(
        self, const uint64_t[::1] ids, uint64_t factor, bayes, family, double prior
    ):
        """The log-odds of what has these *ids*, to be mixed by a *factor*."""
        cdef const uint32_t[:, ::1] counts = bayes.counts[family.name]
        cdef double smoothing = family.smoothing
        cdef int bits = max(counts.shape[0] - 1, 1).bit_length()
        cdef Py_ssize_t n = ids.shape[0], i
        cdef uint64_t mixed
        cdef uint32_t[:, ::1] found = numpy.empty((n, 2), "u4")
        _check_sizes(counts.shape[0], (1 << bits,))
        _check_sizes(2, (counts.shape[1],))
        ratios = numpy.empty(n)
        cdef double[::1] odds = ratios
        for i in range(n):  # nothing else, so that many wait for memory at once
            mixed = ids[i] * factor
            mixed = (mixed ^ mixed >> FOLD) * self.factors[1] >> (64 - bits)
            found[i, 0], found[i, 1] = counts[mixed, 0], counts[mixed, 1]
        for i in range(n):
            odds[i] = (found[i, 1] + smoothing) / (found[i, 0] + smoothing)
        numpy.log(ratios, out=ratios)
        for i in range(n):
            odds[i] = odds[i] - prior if found[i, 0] | found[i, 1] else 0.0
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
    const double[:, ::1] rows, const float[::1] mean, const float[::1] scale, float most
):
    """float32 of *rows*, less the *mean* of each, times the *scale*, and clipped."""
    cdef Py_ssize_t row, i
    cdef float each
    _check_sizes(rows.shape[0], (mean.shape[0], scale.shape[0]))
    result = numpy.empty((rows.shape[0], rows.shape[1]), "f4")
    cdef float[:, ::1] values = result
    for row in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            each = (<float> rows[row, i] - mean[row]) * scale[row]
            each = most if each > most else each
            values[row, i] = -most if each < -most else each
    return result


@cython.cdivision(True)
def weighted_units(float[:, ::1] sums, const float[::1] bias, const float[::1] weights):
    """float32[n]: the weighted *sums* of inputs, as rectified units with *weights*, summed."""
    cdef Py_ssize_t i, at, rest, half
    cdef float* unit
    _check_sizes(sums.shape[1], (bias.shape[0], weights.shape[0]))
    result = numpy.zeros(sums.shape[0], "f4")
    cdef float[::1] into = result
    for i in range(sums.shape[0] if sums.shape[1] else 0):
        unit, rest = &sums[i, 0], sums.shape[1]
        for at in range(rest):
            unit[at] += bias[at]
            unit[at] = (unit[at] if unit[at] > 0.0 else <float> 0.0) * weights[at]
        while rest > 1:
            half = rest - rest // 2
            for at in range(rest // 2):
                unit[at] += unit[half + at]
            rest = half
        into[i] = unit[0]
    return result
