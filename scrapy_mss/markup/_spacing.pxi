"""What is between runs of text, and their text as it is shown."""

# A character that is written.
ctypedef fused written_t:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    PARAGRAPH = 2  # that no break is more than


cdef class Breaks:
    """How much the tags between each run and the next break, and whether white space is there.

    *breaks* has a number for each number of a tag.
    """

    cdef const uint8_t[::1] breaks

    def __init__(self, const uint8_t[::1] breaks not None):
        if breaks.shape[0] != 256:
            raise ValueError(f"{breaks.shape[0]} breaks of 256 tags")
        self.breaks = breaks

    def __call__(
        self, tokens, const Py_ssize_t[:] first not None, const Py_ssize_t[:] after not None
    ):
        """Of each gap between the runs that begin *first* and end before *after*: two bytes."""
        cdef const uint8_t[::1] kind = tokens.kind, tag = tokens.tag
        cdef const int[::1] start = tokens.clean_start, end = tokens.clean_end
        cdef Py_ssize_t n = kind.shape[0], n_runs = first.shape[0], run, i
        cdef int level
        cdef bint blank
        levels, blanks = numpy.empty(max(n_runs - 1, 0), "u1"), numpy.empty(max(n_runs - 1, 0), "?")
        cdef uint8_t[::1] level_of = levels, is_blank = blanks.view("u1")
        if not n == tag.shape[0] == start.shape[0] == end.shape[0]:
            raise ValueError(f"the columns are not those of {n} tokens")
        if after.shape[0] != n_runs:
            raise ValueError(f"{n_runs} runs begin, {after.shape[0]} end")
        for run in range(n_runs - 1):
            if not 0 < after[run] <= first[run + 1] < n:
                raise IndexError(f"a run ends at {after[run]}, the next begins at {first[run + 1]}")
            level = blank = 0
            for i in range(after[run], first[run + 1]):
                blank |= start[i] > end[i - 1]
                level = min(level + self.breaks[tag[i]] * (kind[i] <= CLOSE), PARAGRAPH)
            level_of[run] = level
            is_blank[run] = blank | (start[first[run + 1]] > end[first[run + 1] - 1])
        return levels, blanks


cdef class Spacing:
    """Slices of a text with one space for all white space in a row, and none at either end.

    One with a "<" or a "&" is what *decode* makes of it.
    """

    cdef object decode

    def __init__(self, decode):
        self.decode = decode

    def __call__(
        self, str text not None, const int[::1] start not None, const int[::1] end not None
    ):
        """The slices from each *start* to each *end*, and whether all of them are printable."""
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), row
        cdef bytearray room = bytearray()
        cdef list found = []
        cdef bint are_printable = True
        cdef str part
        if start.shape[0] != end.shape[0]:
            raise ValueError(f"{start.shape[0]} slices begin, {end.shape[0]} end")
        for row in range(start.shape[0]):
            if not 0 <= start[row] <= end[row] <= n:
                raise IndexError(f"a slice from {start[row]} to {end[row]} of {n}")
            part = _spaced(text, start[row], end[row], room)
            if part is None:
                part = " ".join(
                    self.decode(PyUnicode_Substring(text, start[row], end[row])).split()
                )
                are_printable = are_printable and part.isprintable()
            found.append(part)
        return found, are_printable


cdef str _spaced(str text, Py_ssize_t start, Py_ssize_t end, bytearray room):
    """A slice of *text*, or None where it is not for here; *room* grows to hold it."""
    cdef int kind = PyUnicode_KIND(text)
    cdef Py_ssize_t size
    if len(room) < kind * (end - start):
        PyByteArray_Resize(room, 2 * kind * (end - start))
    cdef void* data = PyUnicode_DATA(text)
    cdef void* into = <char*> room
    if kind == 1:
        size = _space(<const uint8_t*> data, start, end, <uint8_t*> into)
    elif kind == 2:
        size = _space(<const uint16_t*> data, start, end, <uint16_t*> into)
    else:
        size = _space(<const uint32_t*> data, start, end, <uint32_t*> into)
    return PyUnicode_FromKindAndData(kind, into, size) if size >= 0 else None


cdef Py_ssize_t _space(
    const written_t* text, Py_ssize_t start, Py_ssize_t end, written_t* into
) noexcept:
    """Copy a slice of *text*, spaced; how long it is then, or -1 if it is not for here."""
    cdef Py_ssize_t i, n = 0
    cdef uint32_t letter
    for i in range(start, end):
        letter = text[i]
        if letter > 0x20 and (
            letter < 0x7F and letter != 0x26 and letter != 0x3C  # "&" and "<"
            or letter > 0x7F and Py_UNICODE_ISPRINTABLE(letter)
        ):
            into[n] = <written_t> letter
            n += 1
        elif not Py_UNICODE_ISSPACE(letter):
            return -1
        elif n and into[n - 1] != 0x20:
            into[n] = 0x20
            n += 1
    return n - 1 if n and into[n - 1] == 0x20 else n


def has_controls(str text not None):
    """Whether *text* has a control, but for tabs and line feeds, or half of a surrogate pair."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef void* data = PyUnicode_DATA(text)
    if PyUnicode_KIND(text) == 1:
        return _has_controls(<const uint8_t*> data, n)
    if PyUnicode_KIND(text) == 2:
        return _has_controls(<const uint16_t*> data, n)
    return _has_controls(<const uint32_t*> data, n)


cdef bint _has_controls(const written_t* text, Py_ssize_t n) noexcept:
    """Without a branch for each character, so that several are looked at together."""
    cdef Py_ssize_t i
    cdef written_t found = 0, letter
    for i in range(n):
        letter = text[i]
        found |= ((letter < 0x20) & (letter != 0x09) & (letter != 0x0A)) | (
            (letter >= 0x7F) & (letter <= 0x9F)
        )
        if sizeof(letter) > 1:
            found |= (letter >= <written_t> 0xD800) & (letter <= <written_t> 0xDFFF)
    return found
