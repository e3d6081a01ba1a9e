"""Steps over the blocks of a page: where they are, what they share, which are text.

The Python of each step, by the same name or with the class of its tables named beside it, is its
oracle: the same numbers to the last bit. Which tags count and what a row means is said there. Sums
are taken in numpy's order. Branch prediction fails on which tokens are tags, so walks over all of
them do without a branch for each.
"""

# --- where blocks are ---------------------------------------------------------------------------

cdef enum:  # roles of tags, as `segmentation` has them
    ENDS_RUN = 1
    BREAKS_LINE = 2
    IS_LINK = 4


cdef struct Run:
    int first, last  # tokens
    int inner  # the element around it

cdef struct Element:
    int start  # its opening tag
    int begin, end  # the runs in it
    int outer  # the element around it


@cython.final
cdef class Segmenter:
    """The columns of `segmentation.Blocks` and of its `Containers`.

    *roles* has a byte for each number of a tag; around each block are *n_levels* elements. Of more
    than *min_blocks* blocks, more than one to *densest* characters are too many.
    """

    cdef bytes kept  # what the roles are of
    cdef const uint8_t* role_of
    cdef Py_ssize_t n_levels, min_blocks, densest

    def __init__(self, bytes roles not None, n_levels, min_blocks, densest):
        _check_sizes(256, (len(roles),))
        _check(-roles[0], 1)  # texts, which have the number of the unknown tag, have no role
        self.kept = self.role_of = roles
        self.n_levels, self.min_blocks, self.densest = n_levels, min_blocks, densest

    def __call__(self, tokens):
        cdef const uint8_t[::1] kind = tokens.kind, tag = tokens.tag
        cdef const int[::1] start = tokens.start, partner = tokens.partner
        # There is a tag behind each run but the last, and one that closes each element.
        cdef Py_ssize_t n = kind.shape[0], room = n // 2 + 1, n_runs, m = 0, i
        cdef array found = clone(_INT32S, (3 + 4) * room, False)
        cdef Run* run = <Run*> found.data.as_ints
        cdef Element* element = <Element*> (run + room)
        _check_sizes(n, (tag.shape[0], start.shape[0], partner.shape[0]))
        n_runs = self.find(kind, tag, start, partner, 1, run, element, &m)
        if n_runs > max(self.min_blocks, len(tokens.source) // self.densest):
            n_runs = self.find(kind, tag, start, partner, self.densest, run, element, &m)
        elements = numpy.empty((3, m), "p")
        cdef Py_ssize_t[:, ::1] column = elements
        for i in range(m):
            column[0, i], column[1, i] = element[i].start, element[i].begin
            column[2, i] = element[i].end
        return (
            self.blocks(kind, tag, partner, run, n_runs),
            (*elements, tokens.tag[elements[0]], *self.around(run, n_runs, element, m)),
        )

    cdef Py_ssize_t find(
        self, const uint8_t[::1] kind, const uint8_t[::1] tag, const int[::1] start,
        const int[::1] partner, Py_ssize_t cell, Run* runs, Element* elements, Py_ssize_t* m
    ) noexcept:
        """Find the runs of text that have a word, and the closed elements that end runs.

        Runs that begin in one *cell* of so many characters are joined. How many runs there are; the
        elements are *m*. The element around all of them is -1.
        """
        cdef Py_ssize_t n = kind.shape[0], room = n // 2 + 1, n_runs = 0, begun = -1
        cdef int i, row = 0, inner = -1
        cdef Run run = Run(-1, -1, -1)
        cdef bint has_word = False, after_break = False
        cdef uint8_t role
        for i in range(<int> n + 1):
            role = self.role_of[tag[i]] & (ENDS_RUN | BREAKS_LINE) if i < n else ENDS_RUN
            if i < n and kind[i] >= WORD:
                if run.first < 0:
                    run.first, run.inner = i, inner
                run.last = i
                has_word |= kind[i] == WORD
                after_break = False
            if not role:
                continue
            if role & ENDS_RUN or after_break:
                if has_word and start[run.first] // cell == begun:
                    runs[n_runs - 1].last = run.last
                elif has_word and n_runs < room:
                    runs[n_runs] = run
                    begun = start[run.first] // cell
                    n_runs += 1
                run.first = -1
                has_word = False
            after_break = role & BREAKS_LINE
            if i == n or after_break or partner[i] < 0:
                continue
            if kind[i] == OPEN and row < room:
                elements[row] = Element(i, <int> n_runs, <int> n_runs, inner)
                inner, row = row, row + 1
            elif inner >= 0 and elements[inner].start == partner[i]:
                elements[inner].end = <int> n_runs
                inner = elements[inner].outer
        m[0] = row
        return n_runs

    cdef tuple around(
        self, const Run* run, Py_ssize_t n_runs, const Element* element, Py_ssize_t m
    ):
        """The *m* elements around each run, innermost first, and the one around each of these."""
        cdef Py_ssize_t i, level, row, outer
        rows, parents = numpy.empty((self.n_levels, n_runs), "p"), numpy.empty(m + 1, "p")
        cdef Py_ssize_t[:, ::1] of_run = rows
        cdef Py_ssize_t[::1] parent_of = parents
        for i in range(m + 1):
            parent_of[i] = m
        for i in range(n_runs):
            row = run[i].inner if run[i].inner >= 0 else m
            of_run[0, i] = row
            for level in range(1, self.n_levels):
                if row < m:
                    outer = element[row].outer
                    parent_of[row] = row = outer if outer >= 0 else m
                of_run[level, i] = row
        return rows, parents

    cdef tuple blocks(
        self, const uint8_t[::1] kind, const uint8_t[::1] tag, const int[::1] partner,
        const Run* runs, Py_ssize_t n_runs
    ):
        """The columns of `segmentation.Blocks` but for the containers."""
        cdef Py_ssize_t n = kind.shape[0], number, i = 0, n_texts = 0
        cdef Py_ssize_t end_of_link = -1, n_words, n_linked, n_tags, is_word
        cdef bint is_inside, is_link
        cdef Run run
        of_tokens, texts = numpy.empty(n, "i4"), numpy.empty(n, "i4")
        columns = numpy.empty((7, n_runs), "p")
        cdef int[::1] of_token = of_tokens, text = texts
        cdef Py_ssize_t[:, ::1] column = columns
        for number in range(n_runs):
            run = runs[number]
            n_words = n_linked = n_tags = 0
            column[0, number], column[1, number], column[5, number] = run.first, run.last, n_texts
            while i <= run.last:
                is_inside = i >= run.first
                of_token[i] = <int> number if is_inside else -1
                text[n_texts] = <int> i
                n_texts += is_inside & (kind[i] >= WORD)
                is_word = is_inside & (kind[i] == WORD)
                n_words += is_word
                n_linked += is_word & (i <= end_of_link)
                n_tags += kind[i] < WORD
                is_link = (kind[i] == OPEN) & ((self.role_of[tag[i]] & IS_LINK) != 0)
                end_of_link = max(end_of_link, partner[i] if is_link else -1)
                i += 1
            column[2, number], column[3, number], column[4, number] = n_words, n_linked, n_tags
            column[6, number] = n_texts - column[5, number]
        while i < n:
            of_token[i] = -1
            i += 1
        first, last, words, linked, tags, first_text, sizes = columns
        texts = texts[:n_texts].copy()  # no array keeps what has room for more
        return first, last, of_tokens, words, linked, tags, texts, first_text, sizes


# --- the characters of texts --------------------------------------------------------------------

cdef enum:
    PAIR_FACTOR = 3  # as `texts` has it
    HIGH_BITS = 12  # of a number: by these alone nearly all that are not among a few are rejected


cdef class TextCounter:
    """The columns of `texts.TextCounts`.

    *classes* (uint8[65536]) has those of characters, *stops* (a bit for each of 2**k places) the
    commonest words by the low bits of their hashes.
    """

    cdef const uint8_t[::1] classes, stops
    cdef const uint32_t[:, ::1] is_in  # the bits of each byte, so that all are added at once

    def __init__(self, classes, stops):
        self.classes, self.stops = classes, stops
        self.is_in = numpy.arange(256, dtype="u4")[:, None] >> numpy.arange(8, dtype="u4") & 1
        _check_sizes(0x10000, (len(classes),))
        if self.stops.shape[0] & (self.stops.shape[0] - 1):
            raise ValueError(f"{self.stops.shape[0]} bytes of stop words are no power of two")

    def __call__(self, tokens, blocks, set title not None, set pairs not None):
        cdef str clean = tokens.clean
        cdef const int[::1] start = tokens.clean_start, end = tokens.clean_end
        cdef const uint8_t[::1] kind_of = tokens.kind
        cdef const uint64_t[::1] id_of = tokens.token_id
        cdef const int[::1] token = blocks.text
        cdef const Py_ssize_t[::1] begin = blocks.first_text
        cdef Py_ssize_t n = begin.shape[0], n_tokens = kind_of.shape[0], run, i, at, after
        cdef Py_ssize_t n_characters = PyUnicode_GET_LENGTH(clean)
        cdef int width = PyUnicode_KIND(clean), is_word, place
        cdef const void* data = PyUnicode_DATA(clean)
        cdef uint8_t bits = 0, is_likely[2][1 << HIGH_BITS]  # one of the few has these high bits
        cdef uint64_t mask = 8 * self.stops.shape[0] - 1, weight, mixed, each, pair, word
        cdef uint32_t n_of[N_COUNTS]
        counts, hashes = numpy.empty((N_COUNTS, n)), numpy.empty(n, "u8")
        ends = numpy.empty((2, n), "u1")
        cdef double[:, ::1] count = counts
        cdef uint64_t[::1] hash_of = hashes
        cdef uint8_t[:, ::1] end_class = ends
        memset(is_likely, 0, sizeof(is_likely))
        for each in title:
            is_likely[0][each >> (64 - HIGH_BITS)] = True
        for each in pairs:
            is_likely[1][each >> (64 - HIGH_BITS)] = True
        _check_sizes(n_tokens, (start.shape[0], end.shape[0], id_of.shape[0]))
        for run in range(n):
            memset(n_of, 0, sizeof(n_of))
            weight, mixed, word = 1, 0, 0
            after = begin[run + 1] if run + 1 < n else token.shape[0]
            _check(begin[run], after)
            _check(after, token.shape[0] + 1)
            for i in range(begin[run], after):  # branch prediction fails on what each is
                at = token[i]
                _check(at, n_tokens)
                _check(start[at], n_characters)
                is_word, each = kind_of[at] != SYMBOL, id_of[at]
                bits = self.classes[min(PyUnicode_READ(width, data, start[at]), 0xFFFF)]
                bits |= (1 - is_word) << IS_SYMBOL
                for place in range(N_CLASSES):
                    n_of[place] += self.is_in[bits, place]
                n_of[TEXT_LETTERS] += (end[at] - start[at]) * is_word
                place = each >> HASH_SHIFT & mask
                n_of[TEXT_STOPS] += self.stops[place >> 3] >> (place & 7) & is_word
                pair = word * PAIR_FACTOR + each
                if is_word & is_likely[0][each >> (64 - HIGH_BITS)]:
                    n_of[TEXT_TITLE] += each in title
                if is_word & (word > 0) & is_likely[1][pair >> (64 - HIGH_BITS)]:
                    n_of[TEXT_PAIRS] += pair in pairs
                word = each if is_word else word
                mixed += each * weight
                weight += 2
                if i == begin[run]:
                    end_class[0, run] = bits
            for place in range(N_COUNTS):
                count[place, run] = n_of[place]
            hash_of[run], end_class[1, run] = mixed, bits
        return counts, hashes, *ends


# --- what of the blocks is the article ----------------------------------------------------------

cpdef tuple best_run(const double[::1] scores):
    """Where the run with the greatest sum of *scores* begins and ends, and its sum."""
    cdef Py_ssize_t i, lowest_at = 0, start = 0, end = 0
    cdef double before = 0, lowest = 0, best = 0
    for i in range(scores.shape[0]):
        if before < lowest:
            lowest, lowest_at = before, i
        before += scores[i]
        if before - lowest > best:
            best, start, end = before - lowest, lowest_at, i + 1
    return start, end, best


def scored(page, const double[::1] probability, others, double bias):
    """The threshold, the scores of blocks, those above it, and those of them in the span."""
    cdef const uint8_t[::1] is_other = others.view("u1")
    cdef _Elements of = _elements_of(page)
    cdef const double[::1] words = page.words
    cdef const Py_ssize_t[::1] size = page.blocks.n_texts
    cdef Py_ssize_t n = probability.shape[0], i, start, end
    cdef double expected = 0, hits = 0, n_words = 0, zero = 0
    values, flags = numpy.empty((2, n)), numpy.zeros((2, n), "?")
    cdef double[::1] value = values[0], of_text = values[1]
    cdef uint8_t[:, ::1] flag = flags.view("u1")
    _check_sizes(n, (len(others), of.n, len(words), len(size)))
    for i in range(n):
        value[i] = 0.0 if is_other[i] else probability[i]
    cdef const Py_ssize_t[::1] best_first = (-values[0]).argsort(kind="stable")
    for i in range(n):
        expected += value[best_first[i]] * words[best_first[i]]
    for i in range(n if expected > 0 else 0):
        hits += value[best_first[i]] * words[best_first[i]]
        n_words += words[best_first[i]]
        zero = max(zero, hits / (n_words + expected))
    for i in range(n):
        value[i] = 0.0 if is_other[i] else probability[i] - (zero - bias)
        flag[0, i] = value[i] > 0 and of.tag_around(0, i) != _TITLE
        of_text[i] = value[i] * size[i]
    start, end, _ = best_run(of_text)
    for i in range(start, end):
        flag[1, i] = flag[0, i]
    return zero, values[0], *flags


def kept_tokens(page, kept):
    """bool[n_tokens]: the blocks *kept*, with the tags around and between them."""
    cdef const int[::1] partner = page.tokens.partner, number = page.blocks.of_token
    cdef const uint8_t[::1] is_chosen = kept.view("u1")
    cdef Py_ssize_t n = partner.shape[0], n_runs = is_chosen.shape[0], i, next_kept = n
    cdef Py_ssize_t first = n, last = -1, next_removed = n, emptied = -1
    cdef bint stays
    result = numpy.zeros(n, "?")
    cdef uint8_t[::1] found = result.view("u1")
    _check_sizes(n, (number.shape[0],))
    for i in range(n):
        if number[i] >= n_runs:
            raise IndexError(f"token {i} is in run {number[i]} of {n_runs}")
        if number[i] >= 0 and is_chosen[number[i]]:
            first, last = min(first, i), i
    for i in range(last, first - 1, -1):  # 2: it begins an element with removed text alone
        stays = number[i] >= 0 and is_chosen[number[i]] != 0
        if stays:
            next_kept = i
        elif number[i] >= 0:
            next_removed = i
        found[i] = (stays or number[i] < 0) + 2 * (next_removed < partner[i] <= next_kept)
    for i in range(first, last + 1):
        if found[i] & 2:
            emptied = max(emptied, partner[i])
        found[i] = found[i] & 1 and i > emptied
    return result


def cues(
    const uint8_t[::1] is_control, const int64_t[::1] levels, const uint32_t[::1] names,
    uint64_t number, int min_long, int min_title, double min_linked, page, text,
):
    """The columns of `beside.Cues`.

    By the number of a tag, which *is_control*, and the *levels* of headings. *names* has hashes of
    class words at their low bits, *number* is the id of every number.
    """
    cdef _Elements of = _elements_of(page)
    cdef const uint8_t[::1] is_text = text.view("u1")
    cdef const uint8_t[::1] is_hidden = page.attributes.hidden.view("u1")
    cdef const uint32_t[::1] word = page.attributes.word
    cdef const Py_ssize_t[::1] element = page.attributes.element, first = page.blocks.first
    cdef const int64_t[::1] n_words = page.blocks.words, n_linked = page.blocks.linked_words
    cdef const uint64_t[::1] id_of = page.tokens.token_id
    cdef Py_ssize_t i, level
    cdef uint32_t mask = len(names) - 1
    cdef array through = clone(_INT32S, of.n + 1, True)
    cdef int* before = through.data.as_ints
    cdef list controls = [], named = [], hidden = []
    cdef list texts = [], main = [], linked = [], numbers = []
    _check_sizes(of.n, (len(is_text), len(first), len(n_words), len(n_linked)))
    _check_sizes(of.m, (len(is_hidden),))
    _check_sizes(len(word), (len(element),))
    _check_sizes(256, (len(is_control), len(levels)))
    _check_sizes(0, (mask & len(names),))
    _check_all(element, of.m)
    _check_all(first, id_of.shape[0])
    for i in range(of.n):
        before[i + 1] = before[i] + is_text[i]
        level = levels[of.tag_around(0, i)]
        if is_text[i] and n_words[i] >= min_long:
            texts.append(i)
        if level == 1:
            main.append(i)
        if level and n_words[i] >= min_title and n_linked[i] >= min_linked * n_words[i]:
            linked.append(i)
        if id_of[first[i]] == number:
            numbers.append(i)
    for i in range(of.m):
        if before[of.end[i]] > before[of.begin[i]]:
            if is_control[of.tag[i]]:
                controls.append(i)
            if is_hidden[i]:
                hidden.append(i)
    for i in range(word.shape[0]):
        if names[word[i] & mask] == word[i] and (
            before[of.end[element[i]]] > before[of.begin[element[i]]]
        ):
            named.append(element[i])
    return controls, named, hidden, texts, main, linked, numbers
