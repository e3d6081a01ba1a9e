# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The pieces of a cleaned text, and where something has to be taken out of a source: walks over
characters that need no Python object for each of them.

It knows no rule that says what a piece means. Where one begins and ends is `piece_pattern` of the
tokenizer, alternative by alternative; what it means is asked of Python, for each piece that the
`Memory` does not hold: of a word its normal form, which is hashed here, as symbols are, since a
page may consist of words that no page before had. The Python of `tokenizer` is the oracle: both
give the same arrays for every text, and tests compare them. Every walk moves on with each step and
looks back at no more than it looked at, so that no text costs more than its length.
"""

import re
from hashlib import blake2b
from html.entities import html5

import numpy

from scrapy_mss.markup.references import BARE_NAMES
from scrapy_mss.markup.tokens import CJK

from cpython.array cimport array, clone, resize
from cpython.mem cimport PyMem_Free
from cpython.unicode cimport (
    PyUnicode_AsUCS4Copy, PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH,
    PyUnicode_KIND, PyUnicode_Substring, Py_UNICODE_ISALNUM, Py_UNICODE_ISSPACE,
)
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcpy, memmove, memset

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

# A character as it is stored: one, two or four bytes, the same in a whole text.
ctypedef fused char_t:
    const uint8_t
    const uint16_t
    const uint32_t

cdef array _UINT64S = array("Q")
cdef array _INT32S = array("i")
cdef array _INT64S = array("q")


# Classes of characters, as regular expressions have them.
cdef enum:
    IN_WORD = 1  # \w, but for ideographs and kana
    IDEOGRAPH = 2
    BLANK = 4
    SYMBOL = 8  # neither \w nor \s nor one of "<&"
    LETTER = 16  # of ASCII
    DIGIT = 32  # of ASCII
    HEX_DIGIT = 64
    SPACE = 128  # \s
    N_CLASSES = 0x10000

cdef enum:
    MAX_RANGES = 64
    MAX_NAMES = 256

cdef struct BareName:
    const uint8_t* letters
    Py_ssize_t size
    int following  # the next with the same first letter, or -1

cdef uint8_t _CLASSES[N_CLASSES]
cdef uint32_t _FIRST[MAX_RANGES]  # of the ranges of ideographs
cdef uint32_t _LAST[MAX_RANGES]
cdef Py_ssize_t _n_ranges = 0
cdef object _all_names = frozenset()  # of references, with their semicolons
cdef list _BARE_NAMES = []  # of references without semicolon, as bytes, shortest first
cdef BareName _NAMES[MAX_NAMES]  # the same
cdef int _FIRST_NAME[0x80]  # for each letter, the first name that begins with it, or -1


cdef int _prepare(ideographs, bare_names, names) except -1:
    """Take over the tables: ranges of *ideographs*, references that need no semicolon, and all."""
    global _n_ranges, _all_names
    _all_names = frozenset(names)
    cdef uint32_t code
    if len(ideographs) > MAX_RANGES:
        raise ValueError(f"{len(ideographs)} ranges of ideographs where {MAX_RANGES} have room")
    for _n_ranges, (first, last) in enumerate(ideographs):
        _FIRST[_n_ranges] = ord(first)
        _LAST[_n_ranges] = ord(last or first)
    _n_ranges = len(ideographs)
    _prepare_names(sorted((name.encode() for name in bare_names), key=len))
    for code in range(N_CLASSES):
        _CLASSES[code] = _class_of(code)
    return 0


cdef int _prepare_names(list shortest_first) except -1:
    cdef bytes name
    cdef const uint8_t* letters
    if len(shortest_first) > MAX_NAMES:
        raise ValueError(f"{len(shortest_first)} names of references where {MAX_NAMES} have room")
    _BARE_NAMES[:] = shortest_first  # which keeps the letters
    memset(_FIRST_NAME, -1, sizeof(_FIRST_NAME))
    for number, name in enumerate(shortest_first):
        letters = name
        _NAMES[number] = BareName(letters, len(name), _FIRST_NAME[letters[0]])
        _FIRST_NAME[letters[0]] = number
    return 0


cdef uint8_t _class_of(uint32_t code):
    cdef uint8_t found = 0
    cdef bint is_word = Py_UNICODE_ISALNUM(code) or code == c"_"
    cdef Py_ssize_t i
    for i in range(_n_ranges):
        if _FIRST[i] <= code <= _LAST[i]:
            found = IDEOGRAPH
    if is_word and not found:
        found = IN_WORD
    if Py_UNICODE_ISSPACE(code):
        found |= SPACE | BLANK
    elif not is_word and code != c"<" and code != c"&":
        found |= SYMBOL
    if code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF:
        found |= BLANK
    if c"0" <= code <= c"9":
        found |= DIGIT | HEX_DIGIT
    if c"a" <= (code | 0x20) <= c"z" and code < 0x80:
        found |= LETTER
        if (code | 0x20) <= c"f":
            found |= HEX_DIGIT
    return found


_prepare(re.findall("(.)(?:-(.))?", CJK), BARE_NAMES, html5)


cdef inline uint8_t _class(uint32_t code):
    return _CLASSES[code] if code < N_CLASSES else _class_of(code)


# --- hashes of texts ----------------------------------------------------------------------------

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


# --- where pieces end ---------------------------------------------------------------------------

cdef inline Py_ssize_t _find(
    char_t* text, Py_ssize_t at, Py_ssize_t n, uint8_t letter
) noexcept nogil:
    """Where a *letter* of ASCII is from *at* on; *n* if there is none.

    It is sought among the bytes, whatever the width of a character: C libraries do that with many
    at once.
    """
    cdef const uint8_t* first = <const uint8_t*> text
    cdef const uint8_t* end = <const uint8_t*> (text + n)
    cdef const uint8_t* found = <const uint8_t*> (text + at)
    while found < end:
        found = <const uint8_t*> memchr(found, letter, end - found)
        if found == NULL:
            return n
        at = (found - first) // <Py_ssize_t> sizeof(text[0])
        if text[at] == letter:
            return at
        found += 1
    return n


cdef inline bint _is_letter(char_t* text, Py_ssize_t at, Py_ssize_t n) noexcept nogil:
    return at < n and text[at] < 0x80 and _CLASSES[text[at]] & LETTER


cdef Py_ssize_t _name_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the name of the tag."""
    while at < n and text[at] != c"/" and text[at] != c">" and not _class(text[at]) & SPACE:
        at += 1
    return at


cdef Py_ssize_t _tag_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the tag whose name begins at *at*: a ">" in a quoted value is no end."""
    cdef Py_ssize_t value
    cdef uint8_t quote
    while at < n and text[at] != c">":
        at += 1
        if text[at - 1] != c"=":
            continue
        value = at
        while value < n and _class(text[value]) & SPACE:
            value += 1
        if value < n and (text[value] == c'"' or text[value] == c"'"):
            quote = <uint8_t> text[value]
            at = _find(text, value + 1, n, quote)
            if at < n:
                at += 1
    return at + 1 if at < n else n


cdef Py_ssize_t _bare_name_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the name at *at* that needs no semicolon; *at* if there is none."""
    cdef int name = _FIRST_NAME[text[at]]
    cdef Py_ssize_t i
    while name >= 0:
        i = 0
        while i < _NAMES[name].size and at + i < n and text[at + i] == _NAMES[name].letters[i]:
            i += 1
        if i == _NAMES[name].size:
            return at + i
        name = _NAMES[name].following
    return at


cdef Py_ssize_t _reference_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the reference whose "&" is at *at*; *at* if there is none."""
    cdef Py_ssize_t end = at + 1
    cdef uint8_t digit = DIGIT
    if end < n and text[end] == c"#":
        end += 1
        if end < n and (text[end] == c"x" or text[end] == c"X"):
            end += 1
            digit = HEX_DIGIT
        if end >= n or text[end] >= 0x80 or not _CLASSES[text[end]] & digit:
            return at
        while end < n and text[end] < 0x80 and _CLASSES[text[end]] & digit:
            end += 1
        return end + 1 if end < n and text[end] == c";" else end
    if not _is_letter(text, end, n):
        return at
    while end < n and text[end] < 0x80 and _CLASSES[text[end]] & (LETTER | DIGIT):
        end += 1
    if end < n and text[end] == c";":
        return end + 1
    end = _bare_name_end(text, at + 1, n)
    return end if end > at + 1 else at


cdef bint _is_no_name(str reference) except -1:
    """Whether a *reference* has a semicolon and no name that may have one."""
    return reference[1] != "#" and reference.endswith(";") and reference[1:] not in _all_names


cdef bint _has_bare_name(str reference) except -1:
    """Whether a *reference*, which is ASCII, begins with a name that needs no semicolon."""
    cdef const uint8_t* letters = <const uint8_t*> PyUnicode_DATA(reference)
    return _bare_name_end(letters, 1, PyUnicode_GET_LENGTH(reference)) > 1


cdef Py_ssize_t _symbols_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the symbol at *at*, or after several that are one."""
    cdef Py_ssize_t end = at, last
    if text[at] == c"<":
        while end < n and text[end] == c"<":
            end += 1
        return end - 1 if end - at > 1 else end
    while end < n and _class(text[end]) & SYMBOL:
        end += 1
    if end - at >= 4:
        return end
    if text[at] == c"&" or text[at] == c"#":
        last = end = at
        while end < n and (text[end] == c"&" or text[end] == c"#"):
            if text[end] == c"&":
                last = end
            end += 1
        if last > at:
            return last
    return at + 1


# --- a text's tokens ----------------------------------------------------------------------------

cdef class _Rows:
    """The ids, starts and ends of tokens, as they are found."""

    cdef array ids, starts, ends
    cdef Py_ssize_t n, room

    def __cinit__(self, Py_ssize_t room):
        self.ids = clone(_UINT64S, room, False)
        self.starts = clone(_INT32S, room, False)
        self.ends = clone(_INT32S, room, False)
        self.room = room

    cdef int add(self, uint64_t token_id, Py_ssize_t start, Py_ssize_t end) except -1:
        if self.n == self.room:
            self.room *= 2
            resize(self.ids, self.room)
            resize(self.starts, self.room)
            resize(self.ends, self.room)
        self.ids.data.as_ulonglongs[self.n] = token_id
        self.starts.data.as_ints[self.n] = <int> start
        self.ends.data.as_ints[self.n] = <int> end
        self.n += 1
        return 0

    cdef tuple columns(self):
        resize(self.ids, self.n)
        resize(self.starts, self.n)
        resize(self.ends, self.n)
        return self.ids, self.starts, self.ends


# Pieces that are asked for while memory is read for those before them: a word of a text is in
# no cache of the processor more often than not.
cdef enum:
    AHEAD = 8


cdef struct Waiting:
    Asked asked[AHEAD]
    Py_ssize_t ends[AHEAD]  # of the tokens; a tag goes on after what is asked
    Py_ssize_t n  # that there were


cdef inline int _settle(
    Waiting* waiting, Py_ssize_t number, str source, Codes codes, uint64_t no_token, _Rows rows
) except -1:
    """Add a row for the piece of this *number*, if it is a token."""
    cdef Asked* asked = &waiting.asked[number % AHEAD]
    cdef uint64_t found = _recall(codes, source, asked)
    if not found & no_token:
        rows.add(found, asked.start, waiting.ends[number % AHEAD])
    return 0


cdef int _scan(
    char_t* text, Py_ssize_t n, str source, Codes codes, uint64_t no_token, _Rows rows
) except -1:
    cdef Waiting waiting
    cdef Py_ssize_t number
    cdef Py_ssize_t at = 0, end, known
    cdef uint32_t code
    cdef uint8_t is_in
    cdef Piece piece
    waiting.n = 0
    while at < n:
        code = text[at]
        is_in = _class(code)
        piece = OTHER
        if is_in & IN_WORD:
            piece = IS_WORD
            end = at + 1
            while end < n and _class(text[end]) & IN_WORD:
                end += 1
            known = end
        elif is_in & BLANK:
            at += 1
            continue
        elif is_in & IDEOGRAPH:
            if Py_UNICODE_ISALNUM(code):  # some are not assigned
                piece = IS_WORD
            known = end = at + 1
        elif code == c"<" and _is_letter(text, at + 1 + (at + 1 < n and text[at + 1] == c"/"), n):
            known = _name_end(text, at + 2, n)
            end = _tag_end(text, at + 2, n)
        elif code == c"<" and at + 1 < n and (
            text[at + 1] == c"!" or text[at + 1] == c"?" or text[at + 1] == c"/"
        ):
            at += 1  # a declaration
            while at < n and text[at] != c">":
                at += 1
            at += 1
            continue
        else:
            end = _reference_end(text, at, n) if code == c"&" else at
            if end == at:
                end = _symbols_end(text, at, n)
                piece = IS_SYMBOL if code != c"&" or end == at + 1 else OTHER
            else:
                piece = IS_REFERENCE
            known = end
        if waiting.n >= AHEAD:
            _settle(&waiting, waiting.n - AHEAD, source, codes, no_token, rows)
        waiting.asked[waiting.n % AHEAD] = _asked(codes, text, at, known, n, piece)
        waiting.ends[waiting.n % AHEAD] = end
        waiting.n += 1
        at = end
    for number in range(max(0, waiting.n - AHEAD), waiting.n):
        _settle(&waiting, number, source, codes, no_token, rows)
    return 0


def scan(str text not None, Codes codes not None, uint64_t no_token):
    """The ids of the tokens of *text* by *codes*, and where each begins and ends."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef _Rows rows = _Rows(n // 16 + 16)
    if PyUnicode_KIND(text) == 1:
        _scan(<const uint8_t*> PyUnicode_DATA(text), n, text, codes, no_token, rows)
    elif PyUnicode_KIND(text) == 2:
        _scan(<const uint16_t*> PyUnicode_DATA(text), n, text, codes, no_token, rows)
    else:
        _scan(<const uint32_t*> PyUnicode_DATA(text), n, text, codes, no_token, rows)
    return rows.columns()


cdef class Scanner:
    """The walk for each of the stemmers, with the `Codes` that are made of what *ask* gives."""

    cdef dict codes
    cdef object ask
    cdef uint64_t no_token

    def __init__(self, ask, uint64_t no_token):
        self.codes, self.ask, self.no_token = {}, ask, no_token

    def __call__(self, str text not None, stem):
        codes = self.codes.get(stem)
        if codes is None:
            codes = self.codes[stem] = Codes(*self.ask(stem))
        return tuple(map(numpy.asarray, scan(text, codes, self.no_token)))


# --- what is taken out of a source --------------------------------------------------------------

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
    cdef const uint64_t* letters = rows.ids.data.as_ulonglongs
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
    int32[...], as `source_cleaning.Cleaned` has them.
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
    cdef const uint64_t* letter = rows.ids.data.as_ulonglongs
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


cdef _shifted(
    const int[::1] offset, const int64_t[::1] place, const int[::1] by, bint is_end
):
    """Each offset by the last shift whose *place* is not behind it; of ends, is before it."""
    cdef Py_ssize_t n = min(place.shape[0], by.shape[0]), number = 0, i
    cdef int shift = 0
    result = numpy.empty(offset.shape[0], "i4")
    cdef int[::1] found = result
    for i in range(offset.shape[0]):
        while number < n and place[number] + is_end <= 2 * <int64_t> offset[i]:
            shift = by[number]
            number += 1
        found[i] = offset[i] + shift
    return result


def in_source(
    const int[::1] starts not None, const int[::1] ends not None,
    const int64_t[::1] places not None, const int[::1] shifts not None
):
    """Offsets into a cleaned text, ascending, led back to its source."""
    return _shifted(starts, places, shifts, False), _shifted(ends, places, shifts, True)
