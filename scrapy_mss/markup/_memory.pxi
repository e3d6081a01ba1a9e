"""Numbers that are remembered for short texts, and how the pieces of a text are asked for.

What a piece means is asked of Python, for each that the `Memory` does not hold: of a word its
normal form, which is hashed here, as symbols are, since a page may consist of words that no page
before had.
"""

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define _prefetch(place) __builtin_prefetch(place)
    #else
    #define _prefetch(place)
    #endif
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define _IS_LITTLE_ENDIAN 1
    #else
    #define _IS_LITTLE_ENDIAN 0
    #endif
    """
    void _prefetch(const void* place) noexcept nogil
    const bint _IS_LITTLE_ENDIAN


cdef object _BLAKE2B = blake2b(digest_size=EIGHT)


cdef uint64_t _hash(str text) except? 1:
    """BLAKE2b of *text*, of eight bytes that are a little-endian number."""
    cdef bytes digest
    cdef uint64_t found = 0
    cdef int i
    state = _BLAKE2B.copy()  # in two thirds of the time that another one takes
    state.update(text.encode("utf-8", "surrogatepass"))
    digest = state.digest()
    for i in range(EIGHT):
        found |= <uint64_t> <uint8_t> digest[i] << 8 * i
    return found


# --- what is remembered of pieces ---------------------------------------------------------------

cdef enum:
    # 8 MB. With a quarter of them, each of 400 pages of many sites asked for 42 words more, which
    # had been forgotten, and took a quarter more time to be scanned.
    SET_BITS = 16
    N_SETS = 1 << SET_BITS
    SET = 4  # slots: with two, as many were forgotten as with a quarter of the memory
    KEY_SIZE = 22  # bytes: eleven Cyrillic letters
    EIGHT = 8  # bytes of a number
    LINE = 64  # bytes of most caches, and half of a set

cdef enum Piece:
    IS_WORD
    IS_SYMBOL
    IS_REFERENCE  # or looks like one
    OTHER

# A text as it is remembered: its size in bytes, bytes a character, and its characters, in words
# that are compared and mixed as numbers. No text has the key of an empty slot, whose size is 0.
cdef struct Letters:
    uint8_t size
    uint8_t width
    uint8_t letters[KEY_SIZE]

cdef union Key:
    Letters of
    uint64_t words[3]

cdef struct Slot:
    uint64_t value
    Key key


cdef class Memory:
    """Numbers that a function gives for short texts; of five in one set the oldest is forgotten.

    What is asked for again gets into the first half of its set, which is looked at first. What is
    longer than a slot is asked for each time.
    """

    cdef void* room
    cdef Slot* slots  # in the room, from the beginning of a line on
    cdef object ask

    def __cinit__(self, ask, *_):
        self.ask = ask
        self.room = calloc(N_SETS * SET * sizeof(Slot) + LINE, 1)
        if self.room == NULL:
            raise MemoryError
        self.slots = <Slot*> (<char*> self.room + LINE - <size_t> self.room % LINE)

    def __dealloc__(self):
        free(self.room)

    def __getitem__(self, str text not None):
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
        cdef Asked asked
        if PyUnicode_KIND(text) == 1:
            asked = _asked(self, <const uint8_t*> PyUnicode_DATA(text), 0, n, n, OTHER)
        elif PyUnicode_KIND(text) == 2:
            asked = _asked(self, <const uint16_t*> PyUnicode_DATA(text), 0, n, n, OTHER)
        else:
            asked = _asked(self, <const uint32_t*> PyUnicode_DATA(text), 0, n, n, OTHER)
        return _recall(self, text, &asked)

    cdef uint64_t told(self, str text, Piece piece) except? 1:
        """The number of a *text* that is not remembered."""
        return self.ask(text)

    cdef bint is_worth_it(self, str text, Piece piece) except -1:
        """Whether to ask for the number of a *text*; what is not asked for has 0.

        What is no name stands for itself, or for a beginning and what follows: no letters.
        """
        return piece != IS_REFERENCE or not _is_no_name(text)


cdef class Codes(Memory):
    """The codes of pieces. Those of short words and symbols are hashes, which are made here.

    The hash is that of what *normal* gives for a word, or of the symbol itself, without its last
    *shift* bits, in whose place stands what *kinds* has for words and for symbols. For a word in
    letters of ASCII, which is short, it is what *stem* gives for small ones. Of what is short and
    neither, *code* has the code, of what is longer *ask*, which may remember it.
    """

    cdef object code, normal, stem
    cdef uint64_t word, symbol
    cdef int shift

    def __init__(self, ask, code, normal, stem, kinds, int shift):
        self.code = code
        self.normal = normal
        self.stem = stem
        self.word, self.symbol = kinds
        self.shift = shift

    cdef uint64_t told(self, str text, Piece piece) except? 1:
        cdef Py_ssize_t size
        if piece == IS_REFERENCE and _is_no_name(text) and not _has_bare_name(text):
            piece = IS_SYMBOL  # it stands for itself
        if piece == OTHER or piece == IS_REFERENCE:
            return self.code(text)
        cdef str hashed = text
        cdef Key key
        cdef Slot* known
        if piece == IS_WORD:
            hashed = _in_small_letters(text)
            if hashed is not None and hashed is not text:
                size = PyUnicode_GET_LENGTH(hashed)
                _is_key(&key, <const uint8_t*> PyUnicode_DATA(hashed), size, size)
                known = _remembered(self.slots + SET * _set(&key), &key)
                if known != NULL:
                    return known.value
            hashed = self.normal(text) if hashed is None else self.stem(hashed)
        cdef uint64_t found = _hash(hashed)
        return found >> self.shift << self.shift | (self.word if piece == IS_WORD else self.symbol)

    cdef bint is_worth_it(self, str text, Piece piece) except -1:
        return True


cdef str _in_small_letters(str text):
    """A *text* of ASCII letters in small ones; None for any other."""
    cdef const uint8_t* letters = <const uint8_t*> PyUnicode_DATA(text)
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), i
    cdef uint8_t small[KEY_SIZE]
    cdef bint is_small = True
    if PyUnicode_KIND(text) != 1 or n > KEY_SIZE:
        return None
    for i in range(n):
        small[i] = letters[i] | 0x20
        if not c"a" <= small[i] <= c"z":
            return None
        is_small &= small[i] == letters[i]
    return text if is_small else PyUnicode_FromKindAndData(1, small, n)


cdef uint64_t _FIRST_BYTES[EIGHT + 1]  # masks of so many bytes


cdef void _fill_masks() noexcept:
    cdef int n
    for n in range(EIGHT):
        _FIRST_BYTES[n] = (<uint64_t> 1 << 8 * n) - 1
    _FIRST_BYTES[EIGHT] = ~<uint64_t> 0


_fill_masks()


cdef inline uint64_t _bytes(const void* at, Py_ssize_t n) noexcept nogil:
    """The first *n* of eight bytes, as a number."""
    cdef uint64_t found
    memcpy(&found, at, EIGHT)
    return found & _FIRST_BYTES[min(max(n, 0), EIGHT)]


cdef inline uint64_t _low_bytes(uint64_t four) noexcept nogil:
    """Of four numbers of two bytes, which are below 256, the low ones."""
    four = (four | four >> 8) & 0x0000FFFF0000FFFFu
    return (four | four >> 16) & 0xFFFFFFFFu


cdef inline uint64_t _eight(char_t* text, Py_ssize_t n, uint64_t* wide) noexcept nogil:
    """The first *n* of eight characters, a byte each; *wide* is no longer 0 if they need more."""
    cdef uint64_t one, other
    if n <= 0:
        return 0
    if sizeof(text[0]) == 1:
        return _bytes(text, n)
    one, other = _bytes(text, 2 * n), _bytes(text + 4, 2 * n - EIGHT)
    wide[0] |= (one | other) & 0xFF00FF00FF00FF00u
    return _low_bytes(one) | _low_bytes(other) << 32


cdef inline bint _is_short_key(
    Key* key, char_t* text, Py_ssize_t n, Py_ssize_t room
) noexcept nogil:
    """Make the *key* of *n* characters with a byte each, where there is *room* to read some more.

    In registers: what has just been written a byte at a time has to be waited for.
    """
    cdef uint64_t wide = 0, one, other, last
    if not (_IS_LITTLE_ENDIAN and sizeof(text[0]) <= 2 and 0 < n <= KEY_SIZE and room >= 3 * EIGHT):
        return False
    one = _eight(text, n, &wide)
    other = _eight(text + EIGHT, n - EIGHT, &wide)
    last = _eight(text + 2 * EIGHT, n - 2 * EIGHT, &wide)
    key.words[0] = one << 16 | 1 << 8 | <uint64_t> n
    key.words[1] = other << 16 | one >> 48
    key.words[2] = last << 16 | other >> 48
    return not wide


cdef bint _is_key(Key* key, char_t* text, Py_ssize_t n, Py_ssize_t room) noexcept nogil:
    """Make the *key* of the *n* characters at *text*, if they have room in it.

    So many as *room* are there before the text ends.
    """
    cdef uint32_t every = 0, code
    cdef Py_ssize_t i, place
    cdef uint8_t width
    if _is_short_key(key, text, n, room):
        return True
    if not 0 < n <= KEY_SIZE:
        return False
    memset(key, 0, sizeof(Key))
    if sizeof(text[0]) == 1:
        memcpy(key.of.letters, text, n)
    else:
        for i in range(n):
            every |= text[i]
            key.of.letters[i] = <uint8_t> text[i]
    key.of.size, key.of.width = <uint8_t> n, 1
    if every < 0x100:
        return True
    width = 2 if every < 0x10000 else 4
    if n * width > KEY_SIZE:
        return False
    key.of.size, key.of.width = <uint8_t> (n * width), width
    for i in range(n):
        code = text[i]
        for place in range(i * width, (i + 1) * width):
            key.of.letters[place] = <uint8_t> code
            code >>= 8
    return True


cdef inline Py_ssize_t _set(Key* key) noexcept nogil:
    cdef uint64_t mixed = key.words[0] * 0x9E3779B97F4A7C15u
    mixed += key.words[1] * 0xC2B2AE3D27D4EB4Fu + key.words[2] * 0x165667B19E3779F9u
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u
    return mixed >> (64 - SET_BITS)


cdef inline bint _is_same(Key* one, Key* other) noexcept nogil:
    return one.words[0] == other.words[0] and (
        one.words[1] == other.words[1] and one.words[2] == other.words[2]
    )


cdef inline Slot* _remembered(Slot* slots, Key* key) noexcept nogil:
    """The slot of a set that has the *key*, or NULL."""
    cdef int i
    if _is_same(&slots[0].key, key):
        return &slots[0]
    if _is_same(&slots[1].key, key):
        return &slots[1]
    for i in range(2, SET):
        if _is_same(&slots[i].key, key):
            slots[1], slots[i] = slots[i], slots[1]
            return &slots[1]
    return NULL


# A piece of a source, and where it is remembered, if it is.
cdef struct Asked:
    Py_ssize_t start, end
    Piece piece
    bint has_key
    Key key
    Slot* slots


cdef inline Asked _asked(
    Memory memory, char_t* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t n, Piece piece
) noexcept nogil:
    """What is to be asked of the characters of *text* from *start* to *end*; there are *n*."""
    cdef Asked asked
    asked.start, asked.end, asked.piece = start, end, piece
    asked.has_key = _is_key(&asked.key, text + start, end - start, n - start)
    if asked.has_key:
        asked.slots = memory.slots + SET * _set(&asked.key)
        _prefetch(asked.slots)
    return asked


cdef uint64_t _recall(Memory memory, str source, Asked* asked) except? 1:
    """What *memory* has, or is told, of a piece of *source*."""
    cdef Slot* known
    cdef str text
    if not asked.has_key:
        text = PyUnicode_Substring(source, asked.start, asked.end)
        return memory.ask(text) if memory.is_worth_it(text, asked.piece) else 0
    known = _remembered(asked.slots, &asked.key)
    if known != NULL:
        return known.value
    text = PyUnicode_Substring(source, asked.start, asked.end)
    if not memory.is_worth_it(text, asked.piece):
        return 0
    cdef uint64_t value = memory.told(text, asked.piece)
    memmove(asked.slots + 1, asked.slots, (SET - 1) * sizeof(Slot))
    asked.slots[0].value, asked.slots[0].key = value, asked.key
    return value
