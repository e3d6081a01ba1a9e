# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The mechanics of the tokenizer, compiled: walks over characters that need no Python object.

It knows no rule that says what a piece means. Where a piece begins and ends is `piece_pattern` of
the tokenizer, alternative by alternative; what it means is asked of Python, once for each piece
that the `Memory` does not hold. The Python of `tokenizer` is the oracle: both give the same arrays
for every text, and tests compare them. Nothing here keeps a position between two calls, and every
walk moves on with each step, so that no text costs more than its length.
"""

from cpython.array cimport array, clone, resize
from cpython.unicode cimport (
    PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH, PyUnicode_KIND,
    PyUnicode_READ, PyUnicode_Substring, Py_UNICODE_ISALNUM, Py_UNICODE_ISSPACE,
)
from libc.stdint cimport int8_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset


# A character as it is stored: one, two or four bytes, the same in a whole text.
ctypedef fused char_t:
    const uint8_t
    const uint16_t
    const uint32_t

cdef array _UINT64S = array("Q")
cdef array _UINT32S = array("I")
cdef array _UINT16S = array("H")
cdef array _INT32S = array("i")


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

cdef uint8_t _CLASSES[N_CLASSES]
cdef uint32_t _FIRST[MAX_RANGES]  # of the ranges of ideographs
cdef uint32_t _LAST[MAX_RANGES]
cdef Py_ssize_t _n_ranges = 0
cdef dict _BARE_NAMES = {}  # the names of references without semicolon, longest first, by letter


def prepare(ideographs, bare_names):
    """Take over the tables: ranges of *ideographs*, and references that need no semicolon."""
    global _n_ranges
    cdef uint32_t code
    if len(ideographs) > MAX_RANGES:
        raise ValueError(f"{len(ideographs)} ranges of ideographs where {MAX_RANGES} have room")
    for _n_ranges, (first, last) in enumerate(ideographs):
        _FIRST[_n_ranges] = ord(first)
        _LAST[_n_ranges] = ord(last or first)
    _n_ranges = len(ideographs)
    _BARE_NAMES.clear()
    for name in sorted(bare_names, key=len, reverse=True):
        _BARE_NAMES.setdefault(ord(name[0]), []).append(name)
    for code in range(N_CLASSES):
        _CLASSES[code] = _class_of(code)


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


cdef inline uint8_t _class(uint32_t code):
    return _CLASSES[code] if code < N_CLASSES else _class_of(code)


# --- what is remembered of pieces ---------------------------------------------------------------

cdef enum:
    N_SLOTS = 1 << 16  # the working set of a news crawl is a third of them; 2 MB
    KEY_SIZE = 22  # bytes: eleven Cyrillic letters; two slots are a line of most caches

cdef struct Slot:
    uint64_t value
    uint8_t size  # of the key in bytes; 0 where nothing is remembered
    uint8_t width  # bytes a character
    uint8_t key[KEY_SIZE]


cdef class Memory:
    """Numbers that a function gives for short texts; of two in one place the older is forgotten.

    A text has two slots. What is longer than a slot is asked for each time.
    """

    cdef Slot* slots
    cdef object ask

    def __cinit__(self, ask):
        self.ask = ask
        self.slots = <Slot*> calloc(N_SLOTS, sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)

    def __getitem__(self, str text not None):
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
        if PyUnicode_KIND(text) == 1:
            return _recall(self, <const uint8_t*> PyUnicode_DATA(text), 0, n, text)
        if PyUnicode_KIND(text) == 2:
            return _recall(self, <const uint16_t*> PyUnicode_DATA(text), 0, n, text)
        return _recall(self, <const uint32_t*> PyUnicode_DATA(text), 0, n, text)


cdef uint64_t _recall(
    Memory memory, char_t* text, Py_ssize_t start, Py_ssize_t end, str source
) except? 1:
    """What *memory* has, or is told, of the characters from *start* to *end* of *source*."""
    cdef Py_ssize_t n = end - start, i
    cdef uint32_t every = 0
    cdef uint64_t hashed = n
    cdef uint8_t width = 1
    cdef uint8_t key[KEY_SIZE]
    cdef Slot* slot
    cdef Slot* other
    if n == 0 or n > KEY_SIZE:
        return memory.ask(PyUnicode_Substring(source, start, end))
    for i in range(n):
        every |= text[start + i]
        hashed = (hashed ^ text[start + i]) * 0x9E3779B97F4A7C15u
        hashed ^= hashed >> 32
    if every >= 0x100:
        width = 2 if every < 0x10000 else 4
    if n * width > KEY_SIZE:
        return memory.ask(PyUnicode_Substring(source, start, end))
    for i in range(n * width):
        key[i] = <uint8_t> (text[start + i // width] >> 8 * (i % width))
    n *= width
    slot = &memory.slots[hashed >> 48]
    if slot.size == n and slot.width == width and memcmp(slot.key, key, n) == 0:
        return slot.value
    other = &memory.slots[(hashed >> 48) ^ 1]
    if other.size == n and other.width == width and memcmp(other.key, key, n) == 0:
        return other.value
    cdef uint64_t value = memory.ask(PyUnicode_Substring(source, start, end))
    other[0] = slot[0]
    slot.value = value
    slot.size = <uint8_t> n
    slot.width = width
    memcpy(slot.key, key, n)
    return value


# --- where pieces end ---------------------------------------------------------------------------

cdef inline bint _is_letter(char_t* text, Py_ssize_t at, Py_ssize_t n):
    return at < n and text[at] < 0x80 and _CLASSES[text[at]] & LETTER


cdef Py_ssize_t _name_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the name of the tag."""
    while at < n and text[at] != c"/" and text[at] != c">" and not _class(text[at]) & SPACE:
        at += 1
    return at


cdef Py_ssize_t _tag_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the tag whose name begins at *at*: a ">" in a quoted value is no end."""
    cdef Py_ssize_t value
    cdef uint32_t quote
    while at < n and text[at] != c">":
        at += 1
        if text[at - 1] != c"=":
            continue
        value = at
        while value < n and _class(text[value]) & SPACE:
            value += 1
        if value < n and (text[value] == c'"' or text[value] == c"'"):
            quote = text[value]
            at = value + 1
            while at < n and text[at] != quote:
                at += 1
            if at < n:
                at += 1
    return at + 1 if at < n else n


cdef Py_ssize_t _reference_end(char_t* text, Py_ssize_t at, Py_ssize_t n, str source) except -2:
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
    for name in _BARE_NAMES.get(text[at + 1], ()):
        if source.startswith(name, at + 1):
            return at + 1 + len(name)
    return at


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


cdef int _scan(char_t* text, Py_ssize_t n, str source, Memory codes, uint64_t no_token, _Rows rows) except -1:
    cdef Py_ssize_t at = 0, end, known
    cdef uint32_t code
    cdef uint8_t is_in
    cdef uint64_t found
    while at < n:
        code = text[at]
        is_in = _class(code)
        if is_in & IN_WORD:
            end = at + 1
            while end < n and _class(text[end]) & IN_WORD:
                end += 1
            known = end
        elif is_in & BLANK:
            at += 1
            continue
        elif is_in & IDEOGRAPH:
            known = end = at + 1
        elif code == c"<" and _is_letter(text, at + 1 + (at + 1 < n and text[at + 1] == c"/"), n):
            known = _name_end(text, at + 2, n)
            end = _tag_end(text, at + 2, n)
        elif code == c"<" and at + 1 < n and (text[at + 1] == c"!" or text[at + 1] == c"?" or text[at + 1] == c"/"):
            at += 1
            while at < n and text[at] != c">":
                at += 1
            at += 1
            continue
        else:
            end = _reference_end(text, at, n, source) if code == c"&" else at
            if end == at:
                end = _symbols_end(text, at, n)
            known = end
        found = _recall(codes, text, at, known, source)
        if not found & no_token:
            rows.add(found, at, end)
        at = end
    return 0


def scan(str text not None, Memory codes not None, uint64_t no_token):
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


def codes_at(str text not None, bytes places not None):
    """The codes of the characters of *text* at *places*, an int32 each; FFFF for any beyond."""
    cdef const int* place = <const int*> <const char*> places
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), i
    cdef array found = clone(_UINT16S, len(places) // sizeof(int), False)
    cdef uint32_t code
    for i in range(len(found)):
        if not 0 <= place[i] < n:
            raise IndexError(f"character {place[i]} of {n}")
        code = PyUnicode_READ(PyUnicode_KIND(text), PyUnicode_DATA(text), place[i])
        found.data.as_ushorts[i] = <uint16_t> min(code, 0xFFFF)
    return found


# --- elements -----------------------------------------------------------------------------------

def nearest(bytes parents not None, bytes chosen not None):
    """For each token the innermost of the *chosen* elements around it, or -1.

    *parents* has the most recent unclosed tag before each, an int32 each, *chosen* a byte each.
    """
    cdef const int* parent = <const int*> <const char*> parents
    cdef const uint8_t* is_chosen = chosen
    cdef Py_ssize_t n = min(len(parents) // sizeof(int), len(chosen)), i
    cdef array found = clone(_INT32S, n, False)
    cdef int* around = found.data.as_ints
    for i in range(n):
        if parent[i] >= i:
            raise ValueError(f"the parent of token {i} is {parent[i]}")
        if parent[i] < 0:
            around[i] = -1
        elif is_chosen[parent[i]]:
            around[i] = parent[i]
        else:
            around[i] = around[parent[i]]
    return found


def nest(bytes tags not None, bytes closings not None):
    """For each tag the most recent unclosed tag after it, and its partner; -1 where there is none.

    *tags* has the number of each, *closings* whether it closes: a byte a tag.
    """
    cdef const uint8_t* names = tags
    cdef const uint8_t* closes = closings
    cdef Py_ssize_t n = min(len(tags), len(closings)), at
    cdef array tops = clone(_INT32S, n, False), partners = clone(_INT32S, n, False)
    cdef array stack = clone(_INT32S, n, False)
    cdef int* top = tops.data.as_ints
    cdef int* partner = partners.data.as_ints
    cdef int* open_tags = stack.data.as_ints
    cdef Py_ssize_t depth = 0
    cdef Py_ssize_t n_open[256]
    memset(n_open, 0, sizeof(n_open))
    for at in range(n):
        partner[at] = -1
        if not closes[at]:
            open_tags[depth] = <int> at
            depth += 1
            n_open[names[at]] += 1
        elif n_open[names[at]]:
            while True:
                depth -= 1
                n_open[names[open_tags[depth]]] -= 1
                if names[open_tags[depth]] == names[at]:
                    break
            partner[at] = open_tags[depth]
            partner[open_tags[depth]] = <int> at
        top[at] = open_tags[depth - 1] if depth else -1
    return tops, partners


# --- short strings in a source ------------------------------------------------------------------

cdef list _marks(char_t* text, Py_ssize_t n, str source, Memory letters):
    cdef Py_ssize_t at = 0, end
    cdef list found = []
    while at + 2 < n:
        if text[at] == c"<":
            end = at + 1 + (text[at + 1] == c"/")
            if text[end] == c"!":
                found.append(at)
            elif text[end] | 0x20 == c"s" and end + 1 < n and (
                text[end + 1] | 0x20 == c"c" or text[end + 1] | 0x20 == c"t"
            ):
                found.append(at)
        elif text[at] == c"&":
            end = _reference_end(text, at, n, source)
            if end > at:
                if _recall(letters, text, at, end, source):
                    found.append(at)
                at = end
                continue
        at += 1
    return found


def marks(str source not None, Memory letters not None):
    """Where a comment, a script, a style or a reference to one of the *letters* may begin.

    Other declarations and elements with such a name are among them, nothing else is missing.
    """
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(source)
    if PyUnicode_KIND(source) == 1:
        return _marks(<const uint8_t*> PyUnicode_DATA(source), n, source, letters)
    if PyUnicode_KIND(source) == 2:
        return _marks(<const uint16_t*> PyUnicode_DATA(source), n, source, letters)
    return _marks(<const uint32_t*> PyUnicode_DATA(source), n, source, letters)


cdef enum:
    BLOCK = 3  # characters by which a place is told
    BLOCK_BITS = 15
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
    cdef int8_t first[1 << BLOCK_BITS]  # the first place that has each block, or -1

    def __cinit__(self, list wanted not None):
        cdef Py_ssize_t number, offset, n_places = 0
        cdef bytes each
        self.wanted = wanted
        self.step = min(map(len, wanted), default=0) - BLOCK + 1
        if self.step < 1 or self.step * len(wanted) > MAX_PLACES:
            raise ValueError(f"cannot seek {wanted!r}: too many, or shorter than {BLOCK}")
        memset(self.first, -1, sizeof(self.first))
        for number, each in enumerate(wanted):
            self.sought[number] = Sought(each, len(each), 0)
            for offset in range(self.step):
                block = _block(<const uint8_t*> each, offset)
                self.places[n_places] = Place(number, offset, self.first[block])
                self.first[block] = n_places
                n_places += 1

    cdef int run(self, char_t* text, Py_ssize_t n, list found) except -1:
        cdef Py_ssize_t at = 0, start
        cdef Place* place
        cdef Sought* sought
        cdef int number
        while at <= n - BLOCK:
            number = self.first[_block(text, at)]
            while number >= 0:
                place = &self.places[number]
                number = place.following
                sought = &self.sought[place.string]
                start = at - place.offset
                if sought.end <= start <= n - sought.size and _is_same(text + start, sought):
                    (<list> found[place.string]).append(start)
                    sought.end = start + sought.size
            at += self.step
        return 0


cdef inline int _block(char_t* text, Py_ssize_t at):
    cdef uint32_t mixed = text[at] ^ <uint32_t> text[at + 1] << 8 ^ <uint32_t> text[at + 2] << 16
    return mixed * 0x9E3779B1u >> (32 - BLOCK_BITS)


cdef bint _is_same(char_t* text, Sought* sought):
    cdef Py_ssize_t i
    for i in range(sought.size):
        if text[i] != sought.text[i]:
            return False
    return True


def find_all(str text not None, list wanted not None):
    """The offsets of each of the *wanted* strings (ASCII, as bytes) in *text*."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef _Search search = _Search(wanted)
    cdef list found = [[] for _ in wanted]
    if PyUnicode_KIND(text) == 1:
        search.run(<const uint8_t*> PyUnicode_DATA(text), n, found)
    elif PyUnicode_KIND(text) == 2:
        search.run(<const uint16_t*> PyUnicode_DATA(text), n, found)
    else:
        search.run(<const uint32_t*> PyUnicode_DATA(text), n, found)
    return found


# --- the attributes of tags ---------------------------------------------------------------------

cdef enum:
    MOST_WORDS = 64

cdef struct Word:
    Py_ssize_t start
    Py_ssize_t size
    uint32_t hashed

cdef uint32_t _CRC[256]


cdef int _fill_crc() except -1:
    cdef uint32_t value
    for number in range(256):
        value = number
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320u if value & 1 else 0)
        _CRC[number] = value
    return 0

_fill_crc()


cdef inline uint32_t _crc(uint32_t state, uint32_t letter):
    """The running state of zlib's crc32 after one more *letter*."""
    return _CRC[(state ^ letter) & 0xFF] ^ state >> 8


cdef class _Hashes:
    """Hashes, as they are found."""

    cdef array items
    cdef Py_ssize_t n, room

    def __cinit__(self, Py_ssize_t room):
        self.items = clone(_UINT32S, room, False)
        self.room = room

    cdef int add(self, uint32_t hashed) except -1:
        if self.n == self.room:
            self.room = 2 * self.room + 1
            resize(self.items, self.room)
        self.items.data.as_uints[self.n] = hashed
        self.n += 1
        return 0

    cdef array column(self):
        resize(self.items, self.n)
        return self.items


cdef class TagReader:
    """The words in the values of some attributes, hashed, and which tags have a cue.

    *names* are those of the attributes and *cues* what is looked for anywhere in a tag (bytes, in
    lower case), *elements* the names of elements by their numbers. No more than *most* words of a
    tag count. Tags that are not ASCII are told by *ask*: from number and source the hash of a tag
    with its words, and that of each word; they have a cue.
    """

    cdef list names
    cdef list cues
    cdef list elements
    cdef int most
    cdef object ask

    def __init__(self, names, cues, elements, int most, ask):
        if most > MOST_WORDS:
            raise ValueError(f"{most} words of a tag where {MOST_WORDS} have room")
        self.names = [bytes(name) for name in names]
        self.cues = [bytes(cue) for cue in cues]
        self.elements = [name.encode() for name in elements]
        self.most = most
        self.ask = ask

    def read(self, str text not None, bytes tags not None, bytes starts not None, bytes ends not None):
        """The hash of each tag, that of each of its words, how many it has; the rows with a cue.

        *tags* has their numbers, a byte each; *starts* and *ends* have where each begins and ends
        in *text*, an int32 each.
        """
        cdef const uint8_t* numbers = tags
        cdef const int* start = <const int*> <const char*> starts
        cdef const int* end = <const int*> <const char*> ends
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), i
        cdef _Hashes keys = _Hashes(len(tags)), words = _Hashes(4 * len(tags))
        cdef _Hashes counts = _Hashes(len(tags))
        cdef list with_cue = []
        cdef bint has_cue
        cdef int tag
        if len(starts) != sizeof(int) * len(tags) or len(ends) != sizeof(int) * len(tags):
            raise ValueError(f"{len(starts)} and {len(ends)} bytes of places for {len(tags)} tags")
        for i in range(len(tags)):
            tag = numbers[i]
            if not 0 <= start[i] <= end[i] <= n or tag >= len(self.elements):
                raise ValueError(f"tag {tag} from {start[i]} to {end[i]} in {n} characters")
            has_cue = True
            if PyUnicode_KIND(text) == 1:
                found = self.tell(<const uint8_t*> PyUnicode_DATA(text), start[i], end[i], tag, keys, words, &has_cue)
            elif PyUnicode_KIND(text) == 2:
                found = self.tell(<const uint16_t*> PyUnicode_DATA(text), start[i], end[i], tag, keys, words, &has_cue)
            else:
                found = self.tell(<const uint32_t*> PyUnicode_DATA(text), start[i], end[i], tag, keys, words, &has_cue)
            if has_cue:
                with_cue.append(i)
            if found < 0:
                key, asked = self.ask(tag, PyUnicode_Substring(text, start[i], end[i]))
                keys.add(key)
                for hashed in asked:
                    words.add(hashed)
                found = len(asked)
            counts.add(found)
        return keys.column(), words.column(), counts.column(), with_cue

    cdef int tell(
        self, char_t* text, Py_ssize_t at, Py_ssize_t end, int tag, _Hashes keys, _Hashes words, bint* has_cue
    ) except -2:
        """How many words the tag has; -1 if it is not ASCII."""
        cdef Word found[MOST_WORDS]
        cdef Py_ssize_t i, value
        cdef uint32_t every = 0, state = 0xFFFFFFFFu
        cdef int n = 0, word
        cdef bytes name = self.elements[tag]
        cdef const uint8_t* letters = name
        for i in range(at, end):
            every |= text[i]
        if every >= 0x80:
            return -1
        has_cue[0] = _has_any(self.cues, text, at, end)
        while at < end:
            at += 1
            if _CLASSES[text[at - 1]] & SPACE:
                value = _value_start(self.names, text, at, end)
                if value >= 0:
                    at = _value_end(text, value, end)
                    n = _add_words(text, value, at, found, n, self.most)
        for i in range(len(name)):
            state = _crc(state, letters[i])
        for word in range(n):
            state = _crc(state, c" ")
            for i in range(found[word].start, found[word].start + found[word].size):
                state = _crc(state, text[i] | 0x20)
            words.add(found[word].hashed)
        keys.add(~state)
        return n


cdef bint _has_any(list cues, char_t* text, Py_ssize_t at, Py_ssize_t end):
    cdef bytes each
    cdef const uint8_t* cue
    cdef Py_ssize_t start, i, n
    for each in cues:
        cue, n = each, len(each)
        for start in range(at, end - n + 1):
            i = 0
            while i < n and _lower(text[start + i]) == cue[i]:
                i += 1
            if i == n:
                return True
    return False


cdef Py_ssize_t _value_start(list names, char_t* text, Py_ssize_t at, Py_ssize_t end) except -2:
    """Where the value begins of the attribute at *at*, if it is one of *names* and has one; or -1."""
    cdef bytes each
    cdef const uint8_t* name
    cdef Py_ssize_t i, n
    for each in names:
        name, n = each, len(each)
        i = 0
        while i < n and at + i < end and _lower(text[at + i]) == name[i]:
            i += 1
        if i == n:
            at = _after_space(text, at + n, end)
            if at == end or text[at] != c"=":
                return -1
            at = _after_space(text, at + 1, end)
            return at if _value_end(text, at, end) > at else -1
    return -1


cdef inline uint32_t _lower(uint32_t letter):
    return letter | 0x20 if c"A" <= letter <= c"Z" else letter


cdef Py_ssize_t _after_space(char_t* text, Py_ssize_t at, Py_ssize_t end):
    while at < end and _CLASSES[text[at]] & SPACE:
        at += 1
    return at


cdef Py_ssize_t _value_end(char_t* text, Py_ssize_t at, Py_ssize_t end):
    """After the value at *at*; *at* if it has a quote that is never closed, or nothing."""
    cdef Py_ssize_t start = at
    if at < end and (text[at] == c'"' or text[at] == c"'"):
        at += 1
        while at < end and text[at] != text[start]:
            at += 1
        return at + 1 if at < end else start
    while at < end and not _CLASSES[text[at]] & SPACE and (
        text[at] != c">" and text[at] != c'"' and text[at] != c"'"
    ):
        at += 1
    return at


cdef int _add_words(char_t* text, Py_ssize_t at, Py_ssize_t end, Word* found, int n, int most):
    """Add the words of a value to the *n* that were *found*; how many there are then."""
    cdef Py_ssize_t i
    cdef Word word
    while at < end and n < most:
        word.start = at
        if c"A" <= text[at] <= c"Z":
            at += 1
        i = at
        while i < end and c"a" <= text[i] <= c"z":
            i += 1
        if i - at >= 2:
            at = i
        elif at > word.start:  # a capital letter without small ones
            while at < end and c"A" <= text[at] <= c"Z":
                at += 1
            if at - word.start < 2:
                continue
        else:
            at = max(i, at + 1)
            continue
        word.size = at - word.start
        word.hashed = 0xFFFFFFFFu
        for i in range(word.start, at):
            word.hashed = _crc(word.hashed, text[i] | 0x20)
        word.hashed = ~word.hashed
        if _is_new(text, word, found, n):
            found[n] = word
            n += 1
    return n


cdef bint _is_new(char_t* text, Word word, Word* found, int n):
    cdef Py_ssize_t i, at
    for i in range(n):
        if found[i].hashed == word.hashed and found[i].size == word.size:
            at = 0
            while at < word.size and text[word.start + at] | 0x20 == text[found[i].start + at] | 0x20:
                at += 1
            if at == word.size:
                return False
    return True


# --- equal numbers ------------------------------------------------------------------------------

cdef inline uint64_t _scattered(uint64_t key, uint64_t salt):
    key = (key ^ salt) * 0xFF51AFD7ED558CCDu
    key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53u
    return key ^ key >> 33


def groups(bytes keys not None, uint64_t salt):
    """For each of *keys* (a uint64 each) how many others come first: equal ones have one number.

    The *salt* is a secret of the process: a page cannot choose keys that collide.
    """
    cdef const uint64_t* key = <const uint64_t*> <const char*> keys
    cdef Py_ssize_t n = len(keys) // sizeof(uint64_t), n_slots = 2, i, slot
    cdef int n_groups = 0
    cdef array numbers = clone(_INT32S, n, False)
    cdef int* number = numbers.data.as_ints
    while n_slots < 2 * n:
        n_slots *= 2
    cdef array table = clone(_INT32S, n_slots, True)  # which key is in each slot, counted from 1
    cdef int* first = table.data.as_ints
    for i in range(n):
        slot = _scattered(key[i], salt) & (n_slots - 1)
        while first[slot] and key[first[slot] - 1] != key[i]:
            slot = (slot + 1) & (n_slots - 1)
        if first[slot]:
            number[i] = number[first[slot] - 1]
        else:
            first[slot] = <int> i + 1
            number[i] = n_groups
            n_groups += 1
    return numbers
