# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What opinions about a page are formed from, and how far they agree.

Each function is the inner loop of one of `blocks.readings` and `blocks.opinions`, which is its
oracle: the same numbers to the last bit. Elements come as their tags (a byte each), and the first
block of each and the block after its last (intp[m] each); tags have roles, bits of a byte by their
number.
"""

cimport cython
from cpython.array cimport array, clone
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t

cdef array _FLOATS = array("d")
cdef array _COUNTS = array("q")

cdef enum:
    MOST_OPINIONS = 16
    N_SUMS = 5

cdef enum:  # roles of a tag, as `readings` has them
    NEVER = 1
    BESIDE = 2
    NAMELESS = 4
    ITEM = 8
    PARAGRAPH = 16


cdef int _check_sizes(Py_ssize_t n, tuple sizes) except -1:
    cdef Py_ssize_t size
    for size in sizes:
        if size != n:
            raise ValueError(f"expected {n} values, got {size}")
    return 0


@cython.final
cdef class _Elements:
    """The elements of a page of *n* blocks."""

    cdef bytes tags
    cdef const uint8_t* tag
    cdef const Py_ssize_t[::1] begin, end
    cdef Py_ssize_t m, n

    def __cinit__(self, tuple columns not None, Py_ssize_t n):
        cdef Py_ssize_t i
        self.tags, self.begin, self.end = columns
        self.tag, self.m, self.n = self.tags, len(self.tags), n
        _check_sizes(self.m, (self.begin.shape[0], self.end.shape[0]))
        for i in range(self.m):
            if not 0 <= self.begin[i] <= self.end[i] <= n:
                raise IndexError(f"an element from {self.begin[i]} to {self.end[i]} of {n}")

    cdef bytes inside(self, const uint8_t* chosen):
        """A byte for each block: whether it is in one of the *chosen* elements."""
        cdef array changes = clone(_COUNTS, self.n + 1, True)
        cdef int64_t* change = <int64_t*> changes.data.as_longlongs
        cdef bytes found = PyBytes_FromStringAndSize(NULL, self.n)
        cdef uint8_t* is_inside = <uint8_t*> PyBytes_AS_STRING(found)
        cdef int64_t depth = 0
        cdef Py_ssize_t i
        for i in range(self.m):
            if chosen[i]:
                change[self.begin[i]] += 1
                change[self.end[i]] -= 1
        for i in range(self.n):
            depth += change[i]
            is_inside[i] = depth > 0
        return found

    cdef array before(self):
        """Room for a running sum over the blocks: float64[n+1], of which the first is 0."""
        return clone(_FLOATS, self.n + 1, True)

    cdef int total(self, double* before, double* into) except -1:
        """Put there the sum of what comes *before* each block, less that before its element."""
        cdef Py_ssize_t i
        for i in range(self.m):
            into[i] = before[self.end[i]] - before[self.begin[i]]
        return 0


def prose(
    const double[::1] letters not None, const double[::1] link_share not None,
    tuple elements not None, bytes roles not None, limits,
):
    """The letters of each block that looks like a paragraph and is in no element that is none.

    *limits* are the letters of a paragraph and the share of links from which on it is none.
    """
    cdef Py_ssize_t n = letters.shape[0], i
    cdef _Elements of = _Elements(elements, n)
    cdef const uint8_t* role = roles
    cdef double least, most
    least, most = limits
    cdef array found = clone(_FLOATS, n, False)
    cdef bytes never = bytes(of.m)
    cdef uint8_t* is_never = <uint8_t*> PyBytes_AS_STRING(never)
    _check_sizes(n, (link_share.shape[0],))
    _check_sizes(256, (len(roles),))
    for i in range(of.m):
        is_never[i] = role[of.tag[i]] & NEVER
    cdef bytes inside = of.inside(is_never)
    cdef const uint8_t* is_inside = inside
    for i in range(n):
        found.data.as_doubles[i] = (
            letters[i] if letters[i] >= least and link_share[i] < most and not is_inside[i] else 0.0
        )
    return found


def own_elements(
    const Py_ssize_t[:, ::1] around not None, bytes tags not None, bytes roles not None
):
    """intp[n]: the element around each block, or around its paragraph, if it is in one.

    *around* are the innermost element around each block, and the next (intp[..., n]); *tags* are
    those of the first.
    """
    cdef const uint8_t* tag = tags
    cdef const uint8_t* role = roles
    cdef Py_ssize_t n = around.shape[1], i
    cdef bytes found = PyBytes_FromStringAndSize(NULL, n * <Py_ssize_t> sizeof(Py_ssize_t))
    cdef Py_ssize_t* element = <Py_ssize_t*> PyBytes_AS_STRING(found)
    _check_sizes(n, (len(tags),))
    _check_sizes(256, (len(roles),))
    if around.shape[0] < 2:
        raise ValueError(f"expected 2 levels around a block, got {around.shape[0]}")
    for i in range(n):
        element[i] = around[(role[tag[i]] & PARAGRAPH) != 0, i]
    return found


def beside(
    const double[::1] prose not None, tuple elements not None, bytes roles not None, names,
    double least,
):
    """The elements that are beside the text, and the blocks inside them: a byte each.

    *names* are how many class words of each element say so (int64[m]), and whether it is not shown
    (a byte each); with None, tags alone say it. An element with *least* of the *prose* is not
    beside.
    """
    cdef Py_ssize_t n = prose.shape[0], i
    cdef _Elements of = _Elements(elements, n)
    cdef const uint8_t* role_of = roles
    cdef const int64_t[::1] words = None
    cdef bytes hidden = b""
    cdef const uint8_t* is_hidden
    cdef uint8_t role
    cdef bint is_beside, by_name = names is not None
    cdef array running = of.before(), sums = clone(_FLOATS, of.m, False)
    cdef double* before = running.data.as_doubles
    cdef bytes found = PyBytes_FromStringAndSize(NULL, of.m)
    cdef uint8_t* chosen = <uint8_t*> PyBytes_AS_STRING(found)
    if by_name:
        words, hidden = names
        _check_sizes(of.m, (words.shape[0], len(hidden)))
    is_hidden = hidden
    _check_sizes(256, (len(roles),))
    for i in range(n):
        before[i + 1] = before[i] + prose[i]
    of.total(before, sums.data.as_doubles)
    for i in range(of.m):
        role = role_of[of.tag[i]]
        is_beside = role & BESIDE
        if by_name:
            is_beside |= is_hidden[i] or (words[i] > 0 and not role & NAMELESS)
        chosen[i] = (role & NEVER) != 0 or (is_beside and sums.data.as_doubles[i] < least)
    return found, of.inside(chosen)


def lines(columns, bytes tags not None, bytes roles not None, limits):
    """Whether each block is a line of a text, that is not beside it and not linked: a byte each.

    *columns* are its letters, the share of links and whether it ends a sentence (float64[n] each),
    and whether it is beside the text (a byte each); *tags* are those of its element. *limits* are
    the letters of a paragraph, of a line that is long, and the share of links of what is linked.
    """
    cdef const double[::1] letters = columns[0], link_share = columns[1], ends = columns[2]
    cdef bytes beside = columns[3]
    cdef const uint8_t* is_beside = beside
    cdef const uint8_t* tag = tags
    cdef const uint8_t* role = roles
    cdef Py_ssize_t n = letters.shape[0], i
    cdef double paragraph, line, linked
    cdef bint is_line
    paragraph, line, linked = limits
    cdef bytes found = PyBytes_FromStringAndSize(NULL, n)
    cdef uint8_t* is_text = <uint8_t*> PyBytes_AS_STRING(found)
    _check_sizes(n, (link_share.shape[0], ends.shape[0], len(beside), len(tags)))
    _check_sizes(256, (len(roles),))
    for i in range(n):
        is_line = (
            role[tag[i]] & ITEM or letters[i] >= line or (letters[i] >= paragraph and ends[i] > 0)
        )
        is_text[i] = is_line and not is_beside[i] and link_share[i] < linked
    return found


def sums_inside(columns, counts, tuple elements not None, limits):
    """float64[5, m]: what is summed inside each element, as `readings` has it.

    *columns* are the letters of each block, its share of links, its prose and its words (float64[n]
    each), and whether it is beside the text (a byte each); *counts* its tags and its stop words
    (int64[n] each). *limits* are the price of a tag in words, the least share of stop words in
    prose, and the price of a word.
    """
    cdef const double[::1] letters = columns[0], links = columns[1], prose = columns[2]
    cdef const double[::1] words = columns[3]
    cdef bytes beside = columns[4]
    cdef const int64_t[::1] tags = counts[0], stops = counts[1]
    cdef Py_ssize_t n = letters.shape[0], i, row
    cdef _Elements of = _Elements(elements, n)
    cdef double tag_price, least, word_price, unlinked, share = 0.0, of_prose = 0.0
    cdef double value[N_SUMS]
    cdef array running = clone(_FLOATS, N_SUMS * (n + 1), True)
    cdef array sums = clone(_FLOATS, N_SUMS * of.m, False)
    cdef double* before = running.data.as_doubles
    cdef const uint8_t* is_beside = beside
    tag_price, least, word_price = limits
    _check_sizes(n, (links.shape[0], prose.shape[0], words.shape[0], len(beside)))
    _check_sizes(n, (tags.shape[0], stops.shape[0]))
    for i in range(n):
        share += stops[i] if prose[i] > 0 else 0
        of_prose += words[i] if prose[i] > 0 else 0
    share /= of_prose if of_prose > 1.0 else 1.0
    share = share if share > least else least
    for i in range(n):
        unlinked = 1 - 2 * links[i]
        value[0] = letters[i]
        value[1] = letters[i] * links[i]
        value[2] = 0.0 if is_beside[i] else prose[i]
        value[3] = words[i] * unlinked - tag_price * tags[i]
        value[4] = stops[i] / share * unlinked - word_price * words[i]
        for row in range(3, N_SUMS):
            value[row] = 0.0 if is_beside[i] and value[row] > 0 else value[row]
        for row in range(N_SUMS):
            before[row * (n + 1) + i + 1] = before[row * (n + 1) + i] + value[row]
    for row in range(N_SUMS):
        of.total(before + row * (n + 1), sums.data.as_doubles + row * of.m)
    return sums


def paragraph_points(
    const double[:, ::1] counts not None, const double[::1] link_share not None,
    bytes beside not None, limits,
):
    """What each paragraph gives, by its letters and commas, as `opinions._points` has it.

    *counts* are the letters and the commas of each block, *beside* (a byte each) whether it is in
    an element beside the text. *limits* are the letters of a paragraph, those that give a point,
    the most points that they give, and the share of links from which a block is none of the text.
    """
    cdef double least, per_point, most, linked, points
    least, per_point, most, linked = limits
    cdef Py_ssize_t n = link_share.shape[0], i
    cdef const uint8_t* is_beside = beside
    cdef array every = clone(_FLOATS, n, False), text = clone(_FLOATS, n, False)
    cdef array outside = clone(_FLOATS, n, False)
    cdef bint has_text = False, has_outside = False
    if counts.shape[0] != 2 or counts.shape[1] != n or len(beside) != n:
        raise ValueError(f"counts of {counts.shape[1]} and bytes of {len(beside)} of {n} blocks")
    for i in range(n):
        points = counts[0, i] / per_point
        points = 1 + counts[1, i] + (points if points < most else most)
        points *= counts[0, i] >= least
        every.data.as_doubles[i] = points
        points *= link_share[i] < linked
        text.data.as_doubles[i] = points
        has_text |= points != 0
        points *= not is_beside[i]
        outside.data.as_doubles[i] = points
        has_outside |= points != 0
    return outside if has_outside else text if has_text else every


def paragraph_scores(
    const double[::1] points not None, bytes tags not None, names, letters,
    const double[::1] of_tag not None, double of_name,
):
    """The points of each element with those of its tag and names, as `opinions` has them.

    *points* are those by its paragraphs; *names* how many class words speak for text and how many
    against it (int64[m] each), *letters* those in it and the linked ones of them (float64[2, m]).
    *of_tag* are the points of each tag number. An element without points has less than any other.
    """
    cdef const int64_t[::1] likely = names[0], unlikely = names[1]
    cdef const double[:, ::1] inside = letters
    cdef const uint8_t* tag = tags
    cdef Py_ssize_t m = points.shape[0], i
    cdef array found = clone(_FLOATS, m, False)
    cdef double more, all_letters
    if not m == len(tags) == likely.shape[0] == unlikely.shape[0] == inside.shape[1]:
        raise ValueError(f"not all columns are of {m} elements")
    if inside.shape[0] != 2 or of_tag.shape[0] != 256:
        raise ValueError(f"{inside.shape[0]} rows of letters, points of {of_tag.shape[0]} tags")
    for i in range(m):
        more = of_tag[tag[i]] + of_name * ((likely[i] > 0) - (unlikely[i] > 0))
        all_letters = inside[0, i] if inside[0, i] > 1.0 else 1.0
        found.data.as_doubles[i] = (
            (points[i] + more) * (1 - inside[1, i] / all_letters) if points[i] > 0 else -INFINITY
        )
    return found


def fill_agreement(
    double[:, ::1] rows not None, int k, const double[::1] words not None, double total
):
    """Fill what follows the first *k* of *rows*, each 1 for the blocks that an opinion keeps.

    That is their mean; how many of the *total* words each keeps; the F1 of each two of them. False
    where one of them keeps none of the *words*: then nothing is filled.
    """
    cdef Py_ssize_t n = words.shape[0], block
    cdef double common[MOST_OPINIONS][MOST_OPINIONS]
    cdef double size
    cdef int one, other, row
    if not 0 < k <= MOST_OPINIONS or rows.shape[0] != 2 * k + 1 + k * (k - 1) // 2:
        raise ValueError(f"{rows.shape[0]} rows of {k} opinions")
    if rows.shape[1] != n:
        raise ValueError(f"rows of {rows.shape[1]} blocks, words of {n}")
    for one in range(k):
        for other in range(one, k):
            common[one][other] = _common_words(rows[one], rows[other], words)
        if not common[one][one] > 0:
            return False
    rows[k] = 0.0
    for one in range(k):
        for block in range(n):
            rows[k, block] += rows[one, block]
    for block in range(n):
        rows[k, block] /= k
    row = 2 * k + 1
    for one in range(k):
        rows[k + 1 + one] = common[one][one] / (total if total > 1.0 else 1.0)
        for other in range(one + 1, k):
            size = common[one][one] + common[other][other]
            rows[row] = 2 * common[one][other] / (size if size > 1.0 else 1.0)
            row += 1
    return True


cdef double _common_words(
    const double[::1] one, const double[::1] other, const double[::1] words
) noexcept:
    """The words of the blocks that both keep: whole numbers, whose order does not matter."""
    cdef double common = 0.0
    cdef Py_ssize_t block
    for block in range(words.shape[0]):
        common += one[block] * other[block] * words[block]
    return common
