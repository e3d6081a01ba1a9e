"""The text of slices as it is shown: the Python of `rendering` is the oracle."""

# A character that is written.
ctypedef fused written_t:
    uint8_t
    uint16_t
    uint32_t

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
