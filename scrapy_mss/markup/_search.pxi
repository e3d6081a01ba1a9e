"""Short strings here and there in a text, all found in one look at it."""

cdef enum:
    LOOK = 3  # characters by which a place is told
    LOOK_BITS = 12
    MAX_PLACES = 128  # for a byte to number them

cdef struct Sought:
    const uint8_t* text
    Py_ssize_t size
    Py_ssize_t end  # of the last that was found

cdef struct Place:
    int8_t string  # its number
    int8_t offset  # of the block in it
    int8_t following  # the next place with the same block, or -1


cdef class _Search:
    """A look at every so many characters: as many as the shortest string has blocks.

    Whatever the string, one of its first blocks is where the search looks.
    """

    cdef list wanted
    cdef Py_ssize_t step
    cdef Sought sought[MAX_PLACES]
    cdef Place places[MAX_PLACES]
    cdef int8_t first[1 << LOOK_BITS]  # the first place that has each block, or -1

    def __cinit__(self, list wanted not None):
        cdef Py_ssize_t number, offset, n_places = 0
        cdef bytes each
        self.wanted = wanted
        self.step = min(map(len, wanted), default=0) - LOOK + 1
        if self.step < 1 or self.step * len(wanted) > MAX_PLACES:
            raise ValueError(f"cannot seek {wanted!r}: too many, or shorter than {LOOK}")
        memset(self.first, -1, sizeof(self.first))
        for number, each in enumerate(wanted):
            self.sought[number] = Sought(each, len(each), 0)
            for offset in range(self.step):
                block = _block(<const uint8_t*> each, offset)
                self.places[n_places] = Place(number, offset, self.first[block])
                self.first[block] = n_places
                n_places += 1

    cdef int run(self, char_t* text, Py_ssize_t n, list found) except -1:
        cdef Py_ssize_t at = 0, step = self.step
        cdef const int8_t* first = self.first
        while at <= n - LOOK:
            if first[_block(text, at)] >= 0:
                self.look(text, n, at, first[_block(text, at)], found)
            at += step
        return 0

    cdef int look(
        self, char_t* text, Py_ssize_t n, Py_ssize_t at, int number, list found
    ) except -1:
        """Note which strings *text* has around *at*; *number* is the block's first place."""
        cdef Place* place
        cdef Sought* sought
        cdef Py_ssize_t start
        while number >= 0:
            place = &self.places[number]
            number = place.following
            sought = &self.sought[place.string]
            start = at - place.offset
            if sought.end <= start <= n - sought.size and _is_there(text + start, sought):
                (<list> found[place.string]).append(start)
                sought.end = start + sought.size
        return 0


cdef inline int _block(char_t* text, Py_ssize_t at):
    cdef uint32_t mixed = text[at] | <uint32_t> text[at + 1] << 8 | <uint32_t> text[at + 2] << 16
    if sizeof(text[0]) == 1:  # a fourth, the zero after the end at last, makes it one load
        mixed |= <uint32_t> text[at + 3] << 24
    return (mixed << 8) * 0x9E3779B1u >> (32 - LOOK_BITS)


cdef bint _is_there(char_t* text, Sought* sought):
    cdef Py_ssize_t i
    for i in range(sought.size):
        if text[i] != sought.text[i]:
            return False
    return True


def occurrences(str text not None, wanted not None):
    """The offsets of each of the *wanted* strings, which are ASCII, in *text*."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef _Search search = _Search([each.encode("ascii") for each in wanted])
    cdef list found = [[] for _ in wanted]
    if PyUnicode_KIND(text) == 1:
        search.run(<const uint8_t*> PyUnicode_DATA(text), n, found)
    elif PyUnicode_KIND(text) == 2:
        search.run(<const uint16_t*> PyUnicode_DATA(text), n, found)
    else:
        search.run(<const uint32_t*> PyUnicode_DATA(text), n, found)
    return found
