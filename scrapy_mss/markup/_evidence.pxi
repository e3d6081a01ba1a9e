"""The evidence of blocks, and the two ends of the network; `classifier` is the oracle."""

cdef enum:
    FOLD = 29  # bits by which a hash is shifted to itself, as `hashing` has it
    BEYOND_PAGE = 63  # the shape before the first block and after the last, as `families` has it
    MAX_EXPONENT = 500  # of e, as `naive_bayes` has it


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
        cdef _Elements of = _elements_of(page)
        cdef const uint64_t[::1] id_of = page.tokens.token_id
        cdef const int[::1] text = page.blocks.text
        cdef const uint32_t[::1] word = page.attributes.word
        cdef Py_ssize_t n = text.shape[0], m = n + of.n, i
        cdef uint64_t[::1] ids = numpy.empty(m + word.shape[0], "u8")
        odds = numpy.empty(m + word.shape[0])
        cdef double[::1] odds_of = odds
        rows = numpy.empty((N_EVIDENCE, of.n))
        _check_all(text, id_of.shape[0])
        for i in range(n):
            ids[i] = id_of[text[i]]
        self.fill_shapes(page.blocks.words, page.blocks.linked_words, ids[n:m])
        for i in range(word.shape[0]):
            ids[m + i] = word[i]
        families = {family.name: family for family in bayes.families}
        self.fill_ratios(ids[:n], self.factors[0], bayes, families["unigram"], odds_of[:n])
        self.fill_ratios(ids[n:m], 1, bayes, families["shape"], odds_of[n:m])
        self.fill_ratios(ids[m:], self.factors[0], bayes, families["class_words"], odds_of[m:])
        numpy.log(odds, out=odds)
        cdef double prior = bayes.prior
        for i in range(odds_of.shape[0]):
            odds_of[i] = odds_of[i] - prior if odds_of[i] < INFINITY else 0.0
        self.pool(of, page, odds_of[:n], odds_of[n:m], odds_of[m:], rows)
        return rows

    cdef fill_shapes(
        self, const int64_t[::1] words, const int64_t[::1] linked, uint64_t[::1] shapes
    ):
        """Fill in the blocks' shapes with those of their neighbours, mixed."""
        cdef Py_ssize_t n = shapes.shape[0], i
        cdef double size
        cdef uint64_t mixed, before = BEYOND_PAGE, shape
        _check_sizes(n, (words.shape[0], linked.shape[0]))
        for i in range(n):
            size = max(words[i], 1)
            shapes[i] = self.sizes[min(max(words[i], 1), self.sizes.shape[0] - 1)]
            shapes[i] += <uint64_t> (linked[i] / size * self.max_links)
        for i in range(n):
            mixed, shape = before * self.factors[0], shapes[i]
            mixed = (mixed ^ mixed >> FOLD ^ shape) * self.factors[1]
            mixed ^= mixed >> FOLD ^ (shapes[i + 1] if i + 1 < n else BEYOND_PAGE)
            before, shapes[i] = shape, mixed * self.factors[2]

    cdef fill_ratios(
        self, uint64_t[::1] ids, uint64_t factor, bayes, family, double[::1] ratios
    ):
        """Fill in the odds of what has these *ids*, to be mixed by a *factor*; inf if unknown."""
        cdef const uint32_t[:, ::1] counts = bayes.counts[family.name]
        cdef double smoothing = family.smoothing
        cdef int bits = max(counts.shape[0] - 1, 1).bit_length()
        cdef Py_ssize_t i
        cdef uint64_t mixed
        _check_sizes(counts.shape[0], (1 << bits,))
        _check_sizes(2, (counts.shape[1],))
        for i in range(ids.shape[0]):
            mixed = ids[i] * factor
            ids[i] = (mixed ^ mixed >> FOLD) * self.factors[1] >> (64 - bits)
            _prefetch(&counts[ids[i], 0])  # so that many wait for memory at once
        for i in range(ids.shape[0]):
            ratios[i] = (counts[ids[i], 1] + smoothing) / (counts[ids[i], 0] + smoothing)
            if not counts[ids[i], 0] | counts[ids[i], 1]:
                ratios[i] = INFINITY

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


cdef inline float _unit(float sum, float bias, float weight) noexcept:
    """What a rectified unit adds."""
    sum += bias
    return (sum if sum > 0.0 else <float> 0.0) * weight


@cython.cdivision(True)
def weighted_units(float[:, ::1] sums, const float[::1] bias, const float[::1] weights):
    """float32[n]: the weighted *sums* of inputs, as rectified units with *weights*, summed.

    The last weight is added to each.
    """
    cdef Py_ssize_t i, at, rest, half
    cdef float* unit
    _check_sizes(sums.shape[1], (bias.shape[0], weights.shape[0] - 1))
    _check(0, sums.shape[1])
    result = numpy.empty(sums.shape[0], "f4")
    cdef float[::1] into = result
    for i in range(sums.shape[0]):
        unit, rest = &sums[i, 0], sums.shape[1]
        half = rest - rest // 2
        for at in range(rest // 2):
            unit[at] = _unit(unit[at], bias[at], weights[at])
            unit[at] += _unit(unit[half + at], bias[half + at], weights[half + at])
        if rest % 2:
            unit[half - 1] = _unit(unit[half - 1], bias[half - 1], weights[half - 1])
        rest = half
        while rest > 1:
            half = rest - rest // 2
            for at in range(rest // 2):
                unit[at] += unit[half + at]
            rest = half
        into[i] = unit[0] + weights[sums.shape[1]]
    return result


def logistic(const double[:] log_odds):
    cdef Py_ssize_t n = log_odds.shape[0], i
    result = numpy.empty(n)
    cdef double[::1] value = result
    for i in range(n):
        value[i] = -MAX_EXPONENT if log_odds[i] < -MAX_EXPONENT else log_odds[i]
        value[i] = -(MAX_EXPONENT if value[i] > MAX_EXPONENT else value[i])
    numpy.exp(result, out=result)
    for i in range(n):
        value[i] = 1.0 / (1.0 + value[i])
    return result
