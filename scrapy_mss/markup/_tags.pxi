"""The class words of tags, hashed, and which tags are hidden.

Which attributes are read, which tags are hidden and how many words count is said by `attributes`,
whose regular expressions are the oracle. Only tags of ASCII letters are read here, where upper and
lower case are a matter of one bit; others are read by Python.
"""

cdef enum:
    N_LETTERS = 0x80
    SEEN_BITS = 9
    N_SEEN = 1 << SEEN_BITS
cdef uint32_t NO_LETTER = 0xFFFFFFFFu  # the state of a crc32 before the first letter

# A tag that was read, placed by a hash of its characters: three of five tags of a page come again.
cdef struct Seen:
    int row  # counted from 1; 0 for none
    int first, size
    int word, n_words  # the first of its words, and how many they are
    int tag

cdef uint32_t _CRC[256]
for _letter in range(256):
    _CRC[_letter ^ 0xFF] = crc32(bytes([_letter])) ^ 0xFF000000u


cdef inline uint32_t _crc(uint32_t state, uint32_t letter) noexcept:
    """The running state of zlib's crc32 after one more *letter*."""
    return _CRC[(state ^ letter) & 0xFF] ^ state >> 8


@cython.final
cdef class _Found:
    """What is found of tags: a hash of each, the hashes of words, and the tag that each is of."""

    cdef uint32_t[::1] keys, words
    cdef Py_ssize_t[::1] rows
    cdef uint8_t[::1] hidden
    cdef Py_ssize_t n, n_words
    cdef Py_ssize_t first  # word of the tag that is read
    cdef uint32_t key  # the running state of the hash of it and its words

    def __cinit__(self, keys, words, rows, hidden):
        self.keys, self.words, self.rows, self.hidden = keys, words, rows, hidden

    cdef void add_word(self, uint32_t hashed) noexcept:
        self.words[self.n_words], self.rows[self.n_words] = hashed, self.n
        self.n_words += 1

    cdef void end_tag(self, uint32_t key, bint is_hidden) noexcept:
        self.keys[self.n], self.hidden[self.n] = key, is_hidden
        self.n += 1

    cdef void add_again(self, const Seen* seen) noexcept:
        """Add a tag that is as the one that was *seen*."""
        cdef Py_ssize_t i
        for i in range(seen.word, seen.word + seen.n_words):
            self.add_word(self.words[i])
        self.end_tag(self.keys[seen.row - 1], self.hidden[seen.row - 1])


cdef class TagReader:
    """The words in the values of some attributes, hashed, and which tags are hidden.

    *names* are those of the attributes (bytes, in lower case), *elements* those of the elements by
    their numbers. *always_hidden* is the number of those that are. Of a tag *most* words count. For
    tags that are not ASCII, *callback* gives, from number and source, the hash of a tag with its
    words, that of each word, and whether it is hidden. Up to *longest* characters of each are read.
    """

    cdef tuple kept  # what the names are of
    cdef Lower names[MAX_NAMES]
    cdef int n_names, n_elements, most
    cdef uint8_t begins[N_LETTERS]  # whether a letter begins the name of an attribute that counts
    cdef uint32_t keys[256]  # of the elements without words
    cdef int always_hidden
    cdef object callback
    cdef int longest

    def __init__(
        self, tuple names not None, elements, int always_hidden, int most, callback, int longest
    ):
        self.always_hidden = always_hidden
        _check(len(elements), 256 + 1)
        self.kept, self.n_names = names, _point(self.names, names)
        memset(self.begins, 0, N_LETTERS)
        for letter in b"hs" + b"".join([name[:1] for name in names]):  # and "hidden" and "style"
            self.begins[letter] = self.begins[letter ^ 0x20] = True
        self.n_elements = len(elements)
        for number, name in enumerate(elements):
            self.keys[number] = NO_LETTER
            for letter in name.encode():
                self.keys[number] = _crc(self.keys[number], letter)
        self.most, self.callback, self.longest = most, callback, longest

    def __call__(self, tokens, const Py_ssize_t[::1] token):
        """The columns of `attributes.ElementAttributes` but for the opening tokens."""
        cdef str text = tokens.clean
        cdef const uint8_t[::1] tag = tokens.tag
        cdef const int[::1] begin = tokens.clean_start, stop = tokens.clean_end
        cdef Py_ssize_t n = tag.shape[0], n_tags = token.shape[0], row
        cdef const void* data = PyUnicode_DATA(text)
        _check_sizes(n, (begin.shape[0], stop.shape[0]))
        for row in range(n_tags):
            _check(token[row], n)
            _check(tag[token[row]], self.n_elements)
            _check_place(begin[token[row]], stop[token[row]], PyUnicode_GET_LENGTH(text))
        keys, words = numpy.empty(n_tags, "u4"), numpy.empty(self.most * n_tags, "u4")
        elements, hidden = numpy.empty(self.most * n_tags, "p"), numpy.empty(n_tags, "?")
        cdef _Found found = _Found(keys, words, elements, hidden.view("u1"))
        if PyUnicode_KIND(text) == 1:
            _add_tags(self, <const uint8_t*> data, text, token, tag, begin, stop, found)
        elif PyUnicode_KIND(text) == 2:
            _add_tags(self, <const uint16_t*> data, text, token, tag, begin, stop, found)
        else:
            _add_tags(self, <const uint32_t*> data, text, token, tag, begin, stop, found)
        # No array keeps what has room for more.
        return keys, hidden, words[:found.n_words].copy(), elements[:found.n_words].copy()


cdef int _add_tags(
    TagReader reader, char_t* text, str source, const Py_ssize_t[::1] chosen,
    const uint8_t[::1] tag, const int[::1] begin, const int[::1] stop, _Found found,
) except -1:
    cdef Py_ssize_t row, token
    cdef int first, size, n_words
    cdef Seen seen[N_SEEN]
    cdef Seen* same
    memset(seen, 0, sizeof(seen))
    for row in range(chosen.shape[0]):
        token = chosen[row]
        first = begin[token]
        size = min(stop[token] - first, reader.longest)
        same = &seen[_place(<const char*> (text + first), sizeof(text[0]) * size, tag[token])]
        if same.row and same.size == size and same.tag == tag[token] and (
            memcmp(text + same.first, text + first, sizeof(text[0]) * size) == 0
        ):
            found.add_again(same)
            continue
        n_words = <int> found.n_words
        if _add_tag(reader, text, first, first + size, tag[token], found):
            same[0] = Seen(
                <int> row + 1, first, size, n_words, <int> found.n_words - n_words, tag[token]
            )
        else:
            key, words, is_hidden = reader.callback(
                tag[token], PyUnicode_Substring(source, first, first + size)
            )
            _check(len(words), reader.most + 1)
            for word in words:
                found.add_word(word)
            found.end_tag(key, is_hidden)
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


cdef bint _add_tag(
    TagReader reader, char_t* text, Py_ssize_t first, Py_ssize_t end, uint8_t tag, _Found found
) except -1:
    """Add the row of a *tag*, if it is ASCII."""
    cdef Py_ssize_t at, read_to = first
    cdef uint32_t every = 0
    cdef bint is_hidden = tag == reader.always_hidden
    for at in range(first, end):
        every |= text[at]
    if every >= N_LETTERS:
        return False
    found.first, found.key = found.n_words, reader.keys[tag]
    for at in range(first, end - 1):
        if text[at] > c" " or not reader.begins[text[at + 1]] or (
            not _class(text[at]) & SPACE
        ):
            continue
        is_hidden = is_hidden or _hides(text, at + 1, end)
        if at >= read_to:
            read_to = _add_value(reader, text, at + 1, end, found)
    found.end_tag(~found.key, is_hidden)
    return True


cdef bint _hides(char_t* text, Py_ssize_t at, Py_ssize_t end) noexcept:
    """Whether the attribute at *at* hides its element."""
    if _begins_with(text, at, end, Lower(b"hidden", 6)):
        return at + 6 < end and (text[at + 6] == c"=" or _ends_name(text[at + 6]))
    if not _begins_with(text, at, end, Lower(b"style", 5)):
        return False
    at = _after_sign(text, at + 5, end, c"=")
    cdef bint is_quoted = at < end and (text[at] == c'"' or text[at] == c"'")
    at += is_quoted
    while at < end and text[at] != c'"' and text[at] != c"'" and text[at] != c">" and (
        is_quoted or not _class(text[at]) & SPACE
    ):
        if _styles(text, at, end, Lower(b"display", 7), Lower(b"none", 4)) or (
            _styles(text, at, end, Lower(b"visibility", 10), Lower(b"hidden", 6))
        ):
            return True
        at += 1
    return False


cdef inline bint _styles(
    char_t* text, Py_ssize_t at, Py_ssize_t end, Lower name, Lower value
) noexcept:
    return _begins_with(text, at, end, name) and _begins_with(
        text, _after_sign(text, at + name.size, end, c":"), end, value
    )


cdef inline Py_ssize_t _after_sign(
    char_t* text, Py_ssize_t at, Py_ssize_t end, uint8_t sign
) noexcept:
    """After a *sign* that is next, and the space around it; *end* if another one is."""
    at = _past(text, at, end, SPACE)
    return _past(text, at + 1, end, SPACE) if at < end and text[at] == sign else end


cdef Py_ssize_t _add_value(
    TagReader reader, char_t* text, Py_ssize_t at, Py_ssize_t end, _Found found
) noexcept:
    """Add the words in the value of the attribute at *at*, if it counts; after what was read."""
    cdef Py_ssize_t value, value_end
    cdef int i = 0
    while i < reader.n_names and not _begins_with(text, at, end, reader.names[i]):
        i += 1
    if i == reader.n_names:
        return at
    value = _after_sign(text, at + reader.names[i].size, end, c"=")
    value_end = _value_end(text, value, end)
    if value_end == value:
        return at
    _add_words(text, value, value_end, found, reader.most)
    return value_end


cdef inline Py_ssize_t _value_end(char_t* text, Py_ssize_t at, Py_ssize_t end) noexcept:
    """After the value at *at*; *at* if it has a quote that is never closed, or nothing."""
    cdef Py_ssize_t start = at
    if at < end and (text[at] == c'"' or text[at] == c"'"):
        at = _closing_quote(text, start, end)
        return at + 1 if at > start else start
    while at < end and not _class(text[at]) & SPACE and (
        text[at] != c">" and text[at] != c'"' and text[at] != c"'"
    ):
        at += 1
    return at


cdef void _add_words(
    char_t* text, Py_ssize_t at, Py_ssize_t end, _Found found, int most
) noexcept:
    """Add the words of a value, each once, up to *most*."""
    cdef Py_ssize_t i, start
    cdef uint32_t key, hashed
    while at < end and found.n_words - found.first < most:
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
        hashed, key = NO_LETTER, _crc(found.key, c" ")
        for i in range(start, at):
            hashed = _crc(hashed, text[i] | 0x20)
            key = _crc(key, text[i] | 0x20)
        i = found.first
        while i < found.n_words and found.words[i] != ~hashed:
            i += 1
        if i == found.n_words:
            found.add_word(~hashed)
            found.key = key
