"""What is taken out of a source; the Python of `tokenizer` is the oracle.

Every walk moves on with each step and looks back at no more than it looked at.
"""

cdef enum:
    MAX_HIDDEN = 8


cdef class _Names:
    """The names, in lower case, of elements whose content is taken out."""

    cdef tuple names
    cdef const uint8_t* letters[MAX_HIDDEN]
    cdef Py_ssize_t sizes[MAX_HIDDEN]
    cdef int n

    def __cinit__(self, tuple names not None):
        cdef bytes name
        if len(names) > MAX_HIDDEN:
            raise ValueError(f"{len(names)} names, at most {MAX_HIDDEN}")
        self.names = names
        for name in names:
            self.letters[self.n] = name
            self.sizes[self.n] = len(name)
            self.n += 1


cdef bint _is_name(
    char_t* text, Py_ssize_t at, Py_ssize_t n, const uint8_t* letters, Py_ssize_t size
):
    """Whether the tag with its name at *at* has that of *letters*, in any case, and more of it."""
    cdef Py_ssize_t i
    cdef uint32_t after
    if at + size >= n:
        return False
    for i in range(size):
        if text[at + i] | 0x20 != letters[i]:
            return False
    after = text[at + size]
    return after == c"/" or after == c">" or _class(after) & SPACE


cdef int _hiding(char_t* text, Py_ssize_t at, Py_ssize_t n, _Names names):
    """Which of the *names* the tag with its name at *at* has, -1 for none."""
    cdef int i
    for i in range(names.n):
        if text[at] | 0x20 == names.letters[i][0] and (
            _is_name(text, at, n, names.letters[i], names.sizes[i])
        ):
            return i
    return -1


cdef Py_ssize_t _closing_tag(
    char_t* text, Py_ssize_t at, Py_ssize_t n, const uint8_t* letters, Py_ssize_t size
):
    """Where, from *at* on, the closing tag with the name of *letters* is; *n* if nowhere."""
    while True:
        at = _find(text, at, n, c"<")
        if at + 2 >= n:
            return n
        if text[at + 1] == c"/" and _is_name(text, at + 2, n, letters, size):
            return at
        at += 1


cdef Py_ssize_t _comment_end(char_t* text, Py_ssize_t start, Py_ssize_t n):
    """After the "-->" of the comment that begins at *start*; -1 if there is none."""
    cdef Py_ssize_t at = start + 3
    while True:
        at = _find(text, at + 1, n, c">")
        if at >= n:
            return -1
        if text[at - 1] == c"-" and text[at - 2] == c"-":
            return at + 1


cdef Py_ssize_t _add_reference(
    char_t* text, Py_ssize_t at, Py_ssize_t n, str source, Memory letters, _Rows rows
) except -1:
    """Add the reference at *at*, if *letters* has a number for one; where to read on."""
    cdef Py_ssize_t end = _reference_end(text, at, n)
    cdef uint64_t found
    cdef Asked asked
    if end == at:
        return at + 1
    asked = _asked(letters, text, at, end, n, IS_REFERENCE)
    found = _recall(letters, source, &asked)
    if found:
        rows.add(found, at, end)
    return end


cdef int _add_edits(
    char_t* text, Py_ssize_t n, str source, Memory letters, _Names names, _Rows rows
) except -1:
    cdef Py_ssize_t at = 0, tag = -1, reference = -1, end  # tag and reference are the next of each
    cdef bint comments_end = True  # whether a "-->" is still ahead: looked for in vain at most once
    cdef int name
    while True:
        if tag < at:
            tag = _find(text, at, n, c"<")
        if reference < at:
            reference = _find(text, at, n, c"&")
        at = min(tag, reference)
        if at + 2 >= n:
            return 0
        if at == reference:
            at = _add_reference(text, at, n, source, letters, rows)
        elif at + 3 < n and text[at + 1] == c"!" and text[at + 2] == c"-" and text[at + 3] == c"-":
            end = _comment_end(text, at, n) if comments_end else -1
            if end < 0:
                comments_end = False
                end = min(_find(text, at + 4, n, c">") + 1, n)
            rows.add(0, at, end)
            at = end
        else:
            name = _hiding(text, at + 1, n, names)
            if name < 0:
                at += 1
                continue
            end = _tag_end(text, at + 2, n)
            while reference < end:  # in the tag itself
                at = _add_reference(text, reference, n, source, letters, rows)
                reference = _find(text, at, n, c"&")
            at = _closing_tag(text, end, n, names.letters[name], names.sizes[name])
            rows.add(0, end, at)


cdef enum:
    LETTER_BITS = 21  # of each letter in the number of some
    LETTER_MASK = (1 << LETTER_BITS) - 1


cdef Py_ssize_t _edit(
    char_t* text, Py_ssize_t n, const int* starts, const int* ends, const uint64_t* letters,
    Py_ssize_t n_edits, uint32_t* edited
) except -1:
    """Fill *edited* with characters as wide as those of *text*; how many it then has.

    Where a letter needs more room, -2.
    """
    cdef Py_ssize_t at = 0, length = 0, number, start
    cdef char* room = <char*> edited
    cdef uint64_t left
    cdef uint32_t letter
    for number in range(n_edits + 1):
        start = starts[number] if number < n_edits else n
        if not at <= start <= n:
            raise ValueError(f"an edit from {start} after {at} of {n} characters")
        memcpy(room + length * sizeof(text[0]), text + at, (start - at) * sizeof(text[0]))
        length += start - at
        if number == n_edits:
            break
        at = ends[number]
        if at < start:
            raise ValueError(f"an edit from {start} to {at}")
        left = letters[number]
        for _ in range(min(3, at - start)):  # no more letters than the room of what they replace
            if left:
                letter = left & LETTER_MASK
                if <uint64_t> letter >> 8 * sizeof(text[0]):
                    return -2
                if sizeof(text[0]) == 1:
                    (<uint8_t*> room)[length] = <uint8_t> letter
                elif sizeof(text[0]) == 2:
                    (<uint16_t*> room)[length] = <uint16_t> letter
                else:
                    (<uint32_t*> room)[length] = letter
                length += 1
                left >>= LETTER_BITS
    return length


cdef str _edited(
    char_t* text, Py_ssize_t n, const int* starts, const int* ends, const uint64_t* letters,
    Py_ssize_t n_edits
):
    """The edited *text*; None where a letter needs more room than its characters have."""
    cdef uint32_t* room = <uint32_t*> malloc(n * sizeof(text[0]) + 4)
    cdef Py_ssize_t length
    if room == NULL:
        raise MemoryError
    try:
        length = _edit(text, n, starts, ends, letters, n_edits, room)
        if length < 0:
            return None
        return PyUnicode_FromKindAndData(sizeof(text[0]), room, length)
    finally:
        free(room)


cdef str _edited_wide(
    str source, Py_ssize_t n, const int* starts, const int* ends, const uint64_t* letters,
    Py_ssize_t n_edits
):
    """The edited *source*, whatever its letters."""
    cdef Py_UCS4* text = PyUnicode_AsUCS4Copy(source)
    if text == NULL:
        raise MemoryError
    try:
        return _edited(<const uint32_t*> text, n, starts, ends, letters, n_edits)
    finally:
        PyMem_Free(text)


cdef tuple _shifts(_Rows rows):
    """Where in the edited text offsets shift (int64[...], in half characters), and by how much."""
    cdef array places = clone(_INT64S, rows.n, False), shifts = clone(_INT32S, rows.n, False)
    cdef const int* start = rows.starts.data.as_ints
    cdef const int* end = rows.ends.data.as_ints
    cdef const uint64_t* letters = <const uint64_t*> rows.ids.data.as_ulonglongs
    cdef Py_ssize_t number
    cdef int shift = 0, i
    for number in range(rows.n):
        shift += end[number] - start[number]
        for i in range(3):
            shift -= letters[number] >> i * LETTER_BITS > 0
        shifts.data.as_ints[number] = shift
        places.data.as_longlongs[number] = 2 * <int64_t> (end[number] - shift) - (
            letters[number] > 0
        )
    return places, shifts


def cleaned(str source not None, Memory letters not None, tuple names not None):
    """*source* with what is taken out of it left out; where it then shifts, and by how much.

    It is comments, what is in elements with one of *names* (bytes, in lower case), and references
    that *letters* has a number for, whose letters stand instead. Places are int64[...], shifts
    int32[...], as `tokenizer.Cleaned` has them.
    """
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(source)
    cdef const void* data = PyUnicode_DATA(source)
    cdef _Rows rows = _Rows(64)
    cdef _Names hidden = _Names(names)
    cdef str text = None
    if PyUnicode_KIND(source) == 1:
        _add_edits(<const uint8_t*> data, n, source, letters, hidden, rows)
    elif PyUnicode_KIND(source) == 2:
        _add_edits(<const uint16_t*> data, n, source, letters, hidden, rows)
    else:
        _add_edits(<const uint32_t*> data, n, source, letters, hidden, rows)
    cdef const int* start = rows.starts.data.as_ints
    cdef const int* end = rows.ends.data.as_ints
    cdef const uint64_t* letter = <const uint64_t*> rows.ids.data.as_ulonglongs
    if not rows.n:
        text = source
    elif PyUnicode_KIND(source) == 1:
        text = _edited(<const uint8_t*> data, n, start, end, letter, rows.n)
    elif PyUnicode_KIND(source) == 2:
        text = _edited(<const uint16_t*> data, n, start, end, letter, rows.n)
    if text is None:
        text = _edited_wide(source, n, start, end, letter, rows.n)
    return text, *_shifts(rows)


cdef class Cleaner:
    """What leaves out the content of elements with *names*, and decodes the *letters* of some."""

    cdef Memory letters
    cdef tuple names

    def __init__(self, letters, tuple names not None):
        self.letters, self.names = Memory(letters), names

    def __call__(self, str source not None):
        text, places, shifts = cleaned(source, self.letters, self.names)
        return text, numpy.asarray(places), numpy.asarray(shifts)
