"""The class words of tags, hashed, and which tags may be hidden.

Which attributes are read, which words hint at a hidden element, and how many words count is said by
`attributes`, whose regular expressions are the oracle. Only tags of ASCII letters are read here,
where upper and lower case are a matter of one bit; others are read by Python.
"""

cdef enum:
    MAX_WORDS = 64
    MAX_NAMES = 16  # of attributes, and of cues
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
    int word  # the first of its words
    bint has_cue

cdef struct Lower:
    const uint8_t* first
    Py_ssize_t size

cdef struct Word:
    Py_ssize_t start
    Py_ssize_t size
    uint32_t hashed

cdef struct Words:
    Word found[MAX_WORDS]
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


@cython.final
cdef class _Found:
    """What is found of a page's tags: a row a tag in two columns, a row a word in the third."""

    cdef _Hashes keys, counts, words
    cdef list with_cue

    def __cinit__(self, Py_ssize_t n_tags):
        self.keys = _Hashes(n_tags)
        self.counts = _Hashes(n_tags)
        self.words = _Hashes(4 * n_tags)
        self.with_cue = []

    cdef int add_again(self, Seen seen) except -1:
        """Add a row that is as the one that was *seen*."""
        cdef Py_ssize_t i
        if seen.has_cue:
            self.with_cue.append(self.keys.n)
        self.keys.add(self.keys.items.data.as_uints[seen.row - 1])
        self.counts.add(self.counts.items.data.as_uints[seen.row - 1])
        for i in range(seen.word, seen.word + self.counts.items.data.as_uints[seen.row - 1]):
            self.words.add(self.words.items.data.as_uints[i])
        return 0

    cdef array rows(self):
        """Which row each word is of."""
        cdef array rows = clone(_INT64S, self.words.n, False)
        cdef Py_ssize_t word = 0, row
        cdef uint32_t i
        for row in range(self.counts.n):
            for i in range(self.counts.items.data.as_uints[row]):
                rows.data.as_longlongs[word] = row
                word += 1
        return rows


cdef class TagReader:
    """The words in the values of some attributes, hashed, and which tags have a cue.

    *texts* are the names of the attributes and the ends of words (bytes, in lower case, two letters
    or more) that are cues; and the names of elements by their numbers. *tags* are those that are
    read, a byte for each number, and the one that is always hidden. *bounds* are the words of a tag
    that count, and its characters. For tags that are not ASCII, *callback* gives, from number and
    source, the hash of a tag with its words, and that of each word; they have a cue. A tag with one
    is hidden if *is_hidden* finds something between two places.
    """

    cdef tuple kept  # what the letters below are of
    cdef Lower names[MAX_NAMES]
    cdef Lower cues[MAX_NAMES]
    cdef int n_names, n_cues, n_elements, most
    cdef uint8_t roles[N_LETTERS]
    cdef uint32_t keys[256]  # of the elements without words
    cdef bytes wanted
    cdef int always_hidden, longest
    cdef object callback, is_hidden

    def __init__(self, texts, tags, bounds, callback, is_hidden):
        cdef int most
        names, cues, elements = texts
        self.wanted, self.always_hidden = tags
        most, self.longest = bounds
        if len(self.wanted) != 256:
            raise ValueError(f"{len(self.wanted)} bytes for 256 numbers of tags")
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

    def __call__(self, tokens):
        """The columns of `attributes.ElementAttributes`."""
        cdef const uint8_t[::1] kind = tokens.kind, number = tokens.tag
        cdef const int[::1] partner = tokens.partner
        cdef const int[::1] start = tokens.clean_start, end = tokens.clean_end
        cdef const uint8_t* is_wanted = self.wanted
        cdef Py_ssize_t n = kind.shape[0], m = 0, i, row
        if not n == number.shape[0] == partner.shape[0] == start.shape[0] == end.shape[0]:
            raise ValueError(f"the columns are not those of {n} tokens")
        found = numpy.empty(n, "p")
        cdef Py_ssize_t[::1] at = found
        for i in range(n):  # without a branch: which tokens are tags is hard to foretell
            at[m] = i
            m += (kind[i] == OPEN) & (partner[i] >= 0) & (is_wanted[number[i]] != 0)
        found = found[:m].copy()
        numbers, bounds = numpy.empty(m, "u1"), numpy.empty((2, m), "i4")
        cdef uint8_t[::1] numbered = numbers
        cdef int[:, ::1] bound = bounds
        for row in range(m):
            i = at[row]
            numbered[row] = number[i]
            bound[0, row] = start[i]
            bound[1, row] = min(end[i], start[i] + self.longest)
        key, word, element, suspects = self.read(tokens.clean, numbers.tobytes(), *bounds)
        hidden = numbers == self.always_hidden
        for row in suspects:
            if self.is_hidden(tokens.clean, bound[0, row], bound[1, row]):
                hidden[row] = True
        return found, *map(numpy.asarray, (key, hidden, word, element))

    def read(
        self, str text not None, bytes tags not None, const int[::1] start not None,
        const int[::1] end not None,
    ):
        """The hash of each tag, that of each of its words, the rows of these; the rows with a cue.

        *tags* has their numbers, a byte each; *start* and *end* are where each is in *text*.
        """
        cdef const uint8_t* numbers = tags
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), n_tags = len(tags), row, first, last
        cdef _Found found = _Found(n_tags)
        cdef const char* data = <const char*> PyUnicode_DATA(text)
        cdef Py_ssize_t width = PyUnicode_KIND(text), n_cues, before
        cdef Seen seen[N_SEEN]
        cdef Seen* same
        cdef uint32_t key
        cdef bint is_added
        memset(seen, 0, sizeof(seen))
        if start.shape[0] != n_tags or end.shape[0] != n_tags:
            raise ValueError(f"{start.shape[0]} and {end.shape[0]} places for {n_tags} tags")
        for row in range(n_tags):
            if not 0 <= start[row] <= end[row] <= n or numbers[row] >= self.n_elements:
                raise ValueError(f"tag {numbers[row]} from {start[row]} to {end[row]} of {n}")
            key = self.keys[numbers[row]]
            first, last = start[row], end[row]
            same = &seen[_place(data + width * first, width * (last - first), numbers[row])]
            if same.row and numbers[same.row - 1] == numbers[row] and _are_same(
                data, width * start[same.row - 1], width * end[same.row - 1],
                width * first, width * last,
            ):
                found.add_again(same[0])
                continue
            n_cues, before = len(found.with_cue), found.words.n
            if PyUnicode_KIND(text) == 1:
                is_added = _add_tag(
                    self, <const uint8_t*> PyUnicode_DATA(text), first, last, key, found
                )
            elif PyUnicode_KIND(text) == 2:
                is_added = _add_tag(
                    self, <const uint16_t*> PyUnicode_DATA(text), first, last, key, found
                )
            else:
                is_added = _add_tag(
                    self, <const uint32_t*> PyUnicode_DATA(text), first, last, key, found
                )
            if is_added:
                same[0] = Seen(<int> row + 1, <int> before, len(found.with_cue) > n_cues)
            else:
                self._call_back(numbers[row], PyUnicode_Substring(text, first, last), row, found)
        return found.keys.column(), found.words.column(), found.rows(), found.with_cue

    cdef int _call_back(self, int tag, str source, Py_ssize_t row, _Found found) except -1:
        key, words = self.callback(tag, source)
        found.keys.add(key)
        found.counts.add(len(words))
        for word in words:
            found.words.add(word)
        found.with_cue.append(row)
        return 0


cdef inline Py_ssize_t _place(const char* at, Py_ssize_t size, uint64_t mixed) noexcept nogil:
    """The place of a tag of *size* bytes, by a hash that need not tell all tags apart."""
    cdef uint64_t word = 0
    while size >= <Py_ssize_t> sizeof(word):
        memcpy(&word, at, sizeof(word))
        mixed = (mixed ^ word) * 0x9E3779B97F4A7C15u
        mixed ^= mixed >> 32
        at += sizeof(word)
        size -= sizeof(word)
    while size > 0:
        size -= 1
        mixed = mixed * 31 + <uint8_t> at[size]
    return mixed * 0x9E3779B97F4A7C15u >> (64 - SEEN_BITS)


cdef inline bint _are_same(
    const char* data, Py_ssize_t one, Py_ssize_t end, Py_ssize_t other, Py_ssize_t other_end
) noexcept nogil:
    return end - one == other_end - other and memcmp(data + one, data + other, end - one) == 0


cdef int _point(Lower* letters, tuple strings) except -1:
    """Let *letters* be those of some bytes; how many there are."""
    cdef bytes each
    if len(strings) > MAX_NAMES:
        raise ValueError(f"{len(strings)} names where {MAX_NAMES} have room")
    for number, each in enumerate(strings):
        letters[number] = Lower(each, len(each))
    return len(strings)


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
        found.with_cue.append(found.keys.n)
    for i in range(words.n):
        found.words.add(words.found[i].hashed)
    found.keys.add(~words.key)
    found.counts.add(words.n)
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


cdef inline bint _begins_with(char_t* text, Py_ssize_t at, Py_ssize_t end, Lower lower):
    """Whether *text* goes on at *at* with these letters, which are *lower*, in any case."""
    cdef Py_ssize_t i = 0
    if end - at < lower.size:
        return False
    while i < lower.size and _small(text[at + i]) == lower.first[i]:
        i += 1
    return i == lower.size


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
        at += 1
        while at < end and text[at] != text[start]:
            at += 1
        return at + 1 if at < end else start
    while at < end and not _is_space(text[at]) and (
        text[at] != c">" and text[at] != c'"' and text[at] != c"'"
    ):
        at += 1
    return at


cdef void _add_words(
    char_t* text, Py_ssize_t at, Py_ssize_t end, Words* words, int most
) noexcept:
    """Add the words of a value, each once, up to *most*."""
    cdef Py_ssize_t i
    cdef Word word
    cdef uint32_t key
    while at < end and words.n < most:
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
        word.hashed = NO_LETTER
        key = _crc(words.key, c" ")
        for i in range(word.start, at):
            word.hashed = _crc(word.hashed, text[i] | 0x20)
            key = _crc(key, text[i] | 0x20)
        word.hashed = ~word.hashed
        if _is_new(text, &word, words):
            words.found[words.n] = word
            words.n += 1
            words.key = key


cdef bint _is_new(char_t* text, const Word* word, const Words* words) noexcept:
    cdef Py_ssize_t at, start
    cdef int i
    for i in range(words.n):
        if words.found[i].hashed == word.hashed and words.found[i].size == word.size:
            start, at = words.found[i].start, 0
            while at < word.size and text[word.start + at] | 0x20 == text[start + at] | 0x20:
                at += 1
            if at == word.size:
                return False
    return True
