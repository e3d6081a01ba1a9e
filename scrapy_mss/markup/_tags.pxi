"""The class words of tags, hashed, and which tags may be hidden.

Which attributes are read, which words hint at a hidden element, and how many words count is said by
`attributes`, whose regular expressions are the oracle. Only tags of ASCII letters are read here,
where upper and lower case are a matter of one bit; others are read by Python.
"""

cdef enum:
    MAX_WORDS = 64
    N_LETTERS = 0x80
    SEEN_BITS = 9
    N_SEEN = 1 << SEEN_BITS
cdef uint32_t NO_LETTER = 0xFFFFFFFFu  # the state of a crc32 before the first letter

# What a letter may be of two that follow one another; the second half is shifted to the first.
cdef enum Role:
    BEGINS_CUE = 1
    IS_SPACE = 2
    SECOND = 4  # bits by which what follows is shifted
    GOES_ON = 16  # a cue
    BEGINS_NAME = 32  # of an attribute, after space

# A tag that was read, placed by a hash of its characters: three of five tags of a page come again.
cdef struct Seen:
    int row  # counted from 1; 0 for none
    int word, n_words  # the first of its words, and how many they are
    bint has_cue

cdef struct Words:
    uint32_t found[MAX_WORDS]
    int n
    uint32_t key  # the running state of the hash of a tag with its words

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


@cython.final
cdef class _Found:
    """What is found of tags: a hash of each, the hashes of words, and the row of the tag of each."""

    cdef uint32_t[::1] keys, words
    cdef Py_ssize_t[::1] rows
    cdef Py_ssize_t n, n_words
    cdef list with_cue

    def __cinit__(self, keys, words, rows):
        self.keys, self.words, self.rows, self.with_cue = keys, words, rows, []

    cdef void add_word(self, uint32_t hashed):
        self.words[self.n_words], self.rows[self.n_words] = hashed, self.n
        self.n_words += 1

    cdef void end_tag(self, uint32_t key):
        self.keys[self.n] = key
        self.n += 1

    cdef int add_again(self, Seen seen) except -1:
        """Add a tag that is as the one that was *seen*."""
        cdef Py_ssize_t i
        if seen.has_cue:
            self.with_cue.append(self.n)
        for i in range(seen.word, seen.word + seen.n_words):
            self.add_word(self.words[i])
        self.end_tag(self.keys[seen.row - 1])
        return 0


cdef class TagReader:
    """The words in the values of some attributes, hashed, and which tags have a cue.

    *texts* are the names of the attributes and the ends of words (bytes, in lower case, two letters
    or more) that are cues; and the names of elements by their numbers. *always_hidden* is the
    number of those that are. Of a tag *most* words count. For tags that are not ASCII, *callback*
    gives, from number and source, the hash of a tag with its words, and that of each word; they
    have a cue. A tag with one is hidden if *is_hidden* finds something between two places. Tags of
    *read* elements (256 bytes) are read, up to *longest* characters of each.
    """

    cdef tuple kept  # what the letters below are of
    cdef Lower names[MAX_NAMES]
    cdef Lower cues[MAX_NAMES]
    cdef int n_names, n_cues, n_elements, most
    cdef uint8_t roles[N_LETTERS]
    cdef uint32_t keys[256]  # of the elements without words
    cdef int always_hidden
    cdef object callback, is_hidden
    cdef bytes read
    cdef int longest

    def __init__(
        self, texts, int always_hidden, int most, callback, is_hidden, bytes read not None,
        int longest,
    ):
        names, cues, elements = texts
        self.always_hidden = always_hidden
        if most > MAX_WORDS:
            raise ValueError(f"{most} words of a tag where {MAX_WORDS} have room")
        if len(elements) > 256:
            raise ValueError(f"{len(elements)} elements where 256 have room")
        self.kept = tuple(names), tuple(cues)
        self.n_names = _point(self.names, self.kept[0])
        self.n_cues = _point(self.cues, self.kept[1])
        memset(self.roles, 0, N_LETTERS)
        for letter in range(N_LETTERS):
            self.roles[letter] = IS_SPACE * _is_space(letter)
        _mark(self.roles, BEGINS_NAME, [name[:1] for name in names])
        _mark(self.roles, BEGINS_CUE, [cue[:1] for cue in cues])
        _mark(self.roles, GOES_ON, [cue[1:2] for cue in cues])
        self.n_elements = len(elements)
        for number, name in enumerate(elements):
            self.keys[number] = NO_LETTER
            for letter in name.encode():
                self.keys[number] = _crc(self.keys[number], letter)
        self.most = most
        self.callback, self.is_hidden = callback, is_hidden
        self.read, self.longest = read, longest
        _check_sizes(256, (len(read),))

    def __call__(self, tokens):
        """The columns of `attributes.ElementAttributes`."""
        cdef str text = tokens.clean
        cdef const uint8_t[::1] kind = tokens.kind, tag = tokens.tag
        cdef const int[::1] begin = tokens.clean_start, stop = tokens.clean_end
        cdef const int[::1] partner = tokens.partner
        cdef const uint8_t* is_read = self.read
        cdef Py_ssize_t n = kind.shape[0], n_tags = 0, i, row
        cdef const void* data = PyUnicode_DATA(text)
        _check_sizes(n, (tag.shape[0], begin.shape[0], stop.shape[0], partner.shape[0]))
        chosen = numpy.empty(n, "p")
        cdef Py_ssize_t[::1] token = chosen
        for i in range(n):  # branch prediction fails on which are read
            token[n_tags] = i
            n_tags += (kind[i] == OPEN) & (partner[i] >= 0) & (is_read[tag[i]] != 0)
        numbers = numpy.empty(n_tags, "u1")
        cdef uint8_t[::1] number = numbers
        cdef int[::1] start = numpy.empty(n_tags, "i4"), end = numpy.empty(n_tags, "i4")
        for row in range(n_tags):
            i = token[row]
            number[row], start[row] = tag[i], begin[i]
            end[row] = min(stop[i], begin[i] + self.longest)
            _check(number[row], self.n_elements)
            _check_place(start[row], end[row], PyUnicode_GET_LENGTH(text))
        keys, words = numpy.empty(n_tags, "u4"), numpy.empty(self.most * n_tags, "u4")
        elements = numpy.empty(self.most * n_tags, "p")
        cdef _Found found = _Found(keys, words, elements)
        if PyUnicode_KIND(text) == 1:
            _add_tags(self, <const uint8_t*> data, text, number, start, end, found)
        elif PyUnicode_KIND(text) == 2:
            _add_tags(self, <const uint16_t*> data, text, number, start, end, found)
        else:
            _add_tags(self, <const uint32_t*> data, text, number, start, end, found)
        hidden = numpy.equal(numbers, self.always_hidden)
        for row in found.with_cue:
            if self.is_hidden(text, start[row], end[row]):
                hidden[row] = True
        words, elements = words[:found.n_words].copy(), elements[:found.n_words].copy()
        return chosen[:n_tags].copy(), keys, hidden, words, elements

    cdef int call_back(self, int tag, str source, _Found found) except -1:
        key, words = self.callback(tag, source)
        _check(len(words), self.most + 1)
        for word in words:
            found.add_word(word)
        found.with_cue.append(found.n)
        found.end_tag(key)
        return 0


cdef int _add_tags(
    TagReader reader, char_t* text, str source, const uint8_t[::1] number, const int[::1] start,
    const int[::1] end, _Found found,
) except -1:
    cdef Py_ssize_t row, first, last, n_cues, n_words
    cdef Seen seen[N_SEEN]
    cdef Seen* same
    memset(seen, 0, sizeof(seen))
    for row in range(number.shape[0]):
        first, last = start[row], end[row]
        same = &seen[_place(
            <const char*> (text + first), sizeof(text[0]) * (last - first), number[row]
        )]
        if same.row and number[same.row - 1] == number[row] and _are_same(
            text, start[same.row - 1], end[same.row - 1], first, last
        ):
            found.add_again(same[0])
            continue
        n_cues, n_words = len(found.with_cue), found.n_words
        if _add_tag(reader, text, first, last, reader.keys[number[row]], found):
            same[0] = Seen(
                <int> row + 1, <int> n_words, <int> (found.n_words - n_words),
                len(found.with_cue) > n_cues,
            )
        else:
            reader.call_back(number[row], PyUnicode_Substring(source, first, last), found)
    return 0


cdef inline Py_ssize_t _place(const char* at, Py_ssize_t size, uint64_t mixed) noexcept nogil:
    """The place of a tag of *size* bytes, by its ends, which need not tell all tags apart."""
    cdef uint64_t first = 0, last = 0
    cdef Py_ssize_t n = min(size, <Py_ssize_t> sizeof(first))
    memcpy(&first, at, n)
    memcpy(&last, at + size - n, n)
    mixed = (mixed ^ size ^ first) * 0x9E3779B97F4A7C15u ^ last
    mixed = (mixed ^ mixed >> 32) * 0x9E3779B97F4A7C15u
    return mixed >> (64 - SEEN_BITS)


cdef inline bint _are_same(
    char_t* text, Py_ssize_t one, Py_ssize_t end, Py_ssize_t other, Py_ssize_t other_end
) noexcept nogil:
    return end - one == other_end - other and (
        memcmp(text + one, text + other, sizeof(text[0]) * (end - one)) == 0
    )


cdef int _mark(uint8_t* roles, int role, list letters) except -1:
    """Give a *role* to *letters*, in lower and in upper case."""
    for letter in letters:
        roles[ord(letter.lower())] |= role
        if letter.lower() != letter.upper():
            roles[ord(letter.upper())] |= role
    return 0


cdef bint _add_tag(
    TagReader reader, char_t* text, Py_ssize_t at, Py_ssize_t end, uint32_t key, _Found found
) except -1:
    """Add the row of a tag, if it is ASCII; *key* is the state of the hash of its name."""
    cdef Words words
    cdef Py_ssize_t value, read_to = at
    cdef uint32_t every = 0
    cdef int role, i
    cdef bint has_cue = False
    for value in range(at, end):
        every |= text[value]
    if every >= N_LETTERS:
        return False
    words.n, words.key = 0, key
    for at in range(at, end - 1):  # two letters with one look, of which few are worth a second
        role = reader.roles[text[at]] & reader.roles[text[at + 1]] >> SECOND
        if role == 0:
            continue
        if role & BEGINS_CUE and not has_cue:
            has_cue = _has_cue(reader, text, at, end)
        if role & IS_SPACE and at >= read_to:
            value = _value_start(reader, text, at + 1, end)
            if value >= 0:
                read_to = _value_end(text, value, end)
                _add_words(text, value, read_to, &words, reader.most)
    if has_cue:
        found.with_cue.append(found.n)
    for i in range(words.n):
        found.add_word(words.found[i])
    found.end_tag(~words.key)
    return True


cdef inline bint _is_space(uint32_t letter):
    """Whether an ASCII *letter* is white space, as regular expressions have it."""
    return letter == c" " or 9 <= letter <= 13 or 28 <= letter <= 31


cdef bint _has_cue(TagReader reader, char_t* text, Py_ssize_t at, Py_ssize_t end):
    """Whether one of the cues is at *at*."""
    cdef int i
    for i in range(reader.n_cues):
        if _begins_with(text, at, end, reader.cues[i]):
            return True
    return False


cdef Py_ssize_t _value_start(TagReader reader, char_t* text, Py_ssize_t at, Py_ssize_t end):
    """Where the value begins of an attribute at *at* that has one of the names and one; or -1."""
    cdef int i
    for i in range(reader.n_names):
        if _begins_with(text, at, end, reader.names[i]):
            at = _after_space(text, at + reader.names[i].size, end)
            if at == end or text[at] != c"=":
                return -1
            at = _after_space(text, at + 1, end)
            return at if _value_end(text, at, end) > at else -1
    return -1


cdef Py_ssize_t _after_space(char_t* text, Py_ssize_t at, Py_ssize_t end):
    while at < end and _is_space(text[at]):
        at += 1
    return at


cdef Py_ssize_t _value_end(char_t* text, Py_ssize_t at, Py_ssize_t end):
    """After the value at *at*; *at* if it has a quote that is never closed, or nothing."""
    cdef Py_ssize_t start = at
    if at < end and (text[at] == c'"' or text[at] == c"'"):
        at = _closing_quote(text, start, end)
        return at + 1 if at > start else start
    while at < end and not _is_space(text[at]) and (
        text[at] != c">" and text[at] != c'"' and text[at] != c"'"
    ):
        at += 1
    return at


cdef void _add_words(
    char_t* text, Py_ssize_t at, Py_ssize_t end, Words* words, int most
) noexcept:
    """Add the words of a value, each once, up to *most*."""
    cdef Py_ssize_t i, start
    cdef uint32_t key, hashed
    while at < end and words.n < most:
        start = at
        if c"A" <= text[at] <= c"Z":
            at += 1
        i = at
        while i < end and c"a" <= text[i] <= c"z":
            i += 1
        if i - at >= 2:
            at = i
        elif at > start:  # a capital letter without small ones
            while at < end and c"A" <= text[at] <= c"Z":
                at += 1
            if at - start < 2:
                continue
        else:
            at = max(i, at + 1)
            continue
        hashed, key = NO_LETTER, _crc(words.key, c" ")
        for i in range(start, at):
            hashed = _crc(hashed, text[i] | 0x20)
            key = _crc(key, text[i] | 0x20)
        i = 0
        while i < words.n and words.found[i] != ~hashed:
            i += 1
        if i == words.n:
            words.found[i] = ~hashed
            words.n += 1
            words.key = key
