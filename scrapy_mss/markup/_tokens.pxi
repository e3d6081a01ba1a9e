"""Source -> tokens: cleaning, scanning and nesting, as `tokenizer` has them.

These are walks over characters that need no object for each of them, and know no rule that says
what a piece means. A walk moves on with each step and looks back at no more than it looked at, so
that no text costs more than its length.
"""

@cython.final
cdef class _Rows:
    """Runs of a text and a number of each, as they are found."""

    cdef array numbers, starts, ends
    cdef Py_ssize_t n, room

    def __cinit__(self, Py_ssize_t room):
        self.numbers = clone(_UINT64S, room, False)
        self.starts = clone(_INT32S, room, False)
        self.ends = clone(_INT32S, room, False)
        self.room = room

    cdef int add(self, uint64_t number, Py_ssize_t start, Py_ssize_t end) except -1:
        if self.n == self.room:
            self.room *= 2
            resize(self.numbers, self.room)
            resize(self.starts, self.room)
            resize(self.ends, self.room)
        self.numbers.data.as_ulonglongs[self.n] = number
        self.starts.data.as_ints[self.n] = <int> start
        self.ends.data.as_ints[self.n] = <int> end
        self.n += 1
        return 0

    cdef tuple columns(self):
        resize(self.numbers, self.n)
        resize(self.starts, self.n)
        resize(self.ends, self.n)
        return tuple(map(numpy.asarray, (self.numbers, self.starts, self.ends)))


# --- cleaning -----------------------------------------------------------------------------------

cdef bint _is_name(char_t* text, Py_ssize_t at, Py_ssize_t n, Lower name):
    """Whether the tag with its name at *at* has this *name*, and more of it."""
    cdef uint32_t after
    if at + name.size >= n or not _begins_with(text, at, n, name):
        return False
    after = text[at + name.size]
    return after == c"/" or after == c">" or _class(after) & SPACE


cdef Py_ssize_t _closing_tag(char_t* text, Py_ssize_t at, Py_ssize_t n, Lower name):
    """Where, from *at* on, the closing tag with this *name* is; *n* if nowhere."""
    while True:
        at = _find(text, at, n, c"<")
        if at + 2 >= n:
            return n
        if text[at + 1] == c"/" and _is_name(text, at + 2, n, name):
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


cdef enum:
    LETTER_BITS = 21  # of each letter in the number of some
    LETTER_MASK = (1 << LETTER_BITS) - 1
    LONGEST = 40  # characters of a reference that stands for letters


cdef Py_ssize_t _add_reference(
    char_t* text, Py_ssize_t at, Py_ssize_t n, str source, object letters, _Rows edits
) except -1:
    """Add the reference at *at*, if *letters* has a number for one; where to read on."""
    cdef Py_ssize_t end = _reference_end(text, at, n)
    cdef uint64_t found
    if end == at:
        return at + 1
    if end - at <= LONGEST:
        found = letters(PyUnicode_Substring(source, at, end))
        if found:
            edits.add(found, at, end)
    return end


cdef int _add_edits(
    char_t* text, Py_ssize_t n, str source, Tokenizer rules, _Rows edits
) except -1:
    cdef Py_ssize_t at = 0, tag = -1, reference = -1, end  # tag and reference are the next of each
    cdef bint comments_end = True  # whether a "-->" is still ahead: looked for in vain at most once
    cdef int name
    letters = rules.letters
    while True:
        if tag < at:
            tag = _find(text, at, n, c"<")
        if reference < at:
            reference = _find(text, at, n, c"&")
        at = min(tag, reference)
        if at + 2 >= n:
            return 0
        if at == reference:
            at = _add_reference(text, at, n, source, letters, edits)
        elif at + 3 < n and text[at + 1] == c"!" and text[at + 2] == c"-" and text[at + 3] == c"-":
            end = _comment_end(text, at, n) if comments_end else -1
            if end < 0:
                comments_end = False
                end = min(_find(text, at + 4, n, c">") + 1, n)
            edits.add(0, at, end)
            at = end
        else:
            name = 0
            while name < rules.n_names and not _is_name(text, at + 1, n, rules.names[name]):
                name += 1
            if name == rules.n_names:
                at += 1
                continue
            end = _tag_end(text, at + 2, n)
            while reference < end:  # in the tag itself
                at = _add_reference(text, reference, n, source, letters, edits)
                reference = _find(text, at, n, c"&")
            at = _closing_tag(text, end, n, rules.names[name])
            edits.add(0, end, at)


cdef str _edited(str source, _Rows edits):
    """The *source* with letters, or nothing, in the place of each edit."""
    cdef list parts = []
    cdef Py_ssize_t number, at = 0
    cdef uint64_t left
    for number in range(edits.n):
        parts.append(PyUnicode_Substring(source, at, edits.starts.data.as_ints[number]))
        left = edits.numbers.data.as_ulonglongs[number]
        while left:
            parts.append(chr(left & LETTER_MASK))
            left >>= LETTER_BITS
        at = edits.ends.data.as_ints[number]
    parts.append(PyUnicode_Substring(source, at, PyUnicode_GET_LENGTH(source)))
    return "".join(parts)


cdef int _fill_places(_Rows edits, int[::1] offset, _Rows tokens, bint of_ends) except -1:
    """Map the starts of *tokens*, or their ends, from the edited text back to the source.

    A start at a place where something was taken out stands behind it, an end before it. A decoded
    letter shifts what follows from within itself, where no token begins or ends.
    """
    cdef const int* places = tokens.ends.data.as_ints if of_ends else tokens.starts.data.as_ints
    cdef const int* start = edits.starts.data.as_ints
    cdef const int* end = edits.ends.data.as_ints
    cdef const uint64_t* letters = <const uint64_t*> edits.numbers.data.as_ulonglongs
    cdef Py_ssize_t i, number = 0
    cdef int shift = 0, next_shift = 0
    cdef int64_t place = -1  # of the next edit, in half characters
    for i in range(tokens.n):
        while number < edits.n:
            if place < 0:
                next_shift = shift + end[number] - start[number] - _n_letters(letters[number])
                place = 2 * <int64_t> (end[number] - next_shift) - (letters[number] > 0)
            if 2 * <int64_t> places[i] < place + of_ends:
                break
            shift, place = next_shift, -1
            number += 1
        offset[i] = places[i] + shift
    return 0


cdef inline int _n_letters(uint64_t letters) noexcept:
    return (letters > 0) + (letters >> LETTER_BITS > 0) + (letters >> 2 * LETTER_BITS > 0)


# --- what pieces mean ---------------------------------------------------------------------------

cdef enum:
    # 8 MB. With a quarter of them, each of 400 pages of many sites asked for 42 words more, which
    # had been forgotten, and took a quarter more time to be scanned.
    SET_BITS = 16
    N_SETS = 1 << SET_BITS
    SET = 4  # slots: with two, as many were forgotten as with a quarter of the memory
    KEY_SIZE = 22  # bytes: eleven Cyrillic letters

# A short piece as it is remembered: its characters, their width and number.
cdef struct Key:
    uint64_t words[3]

cdef struct Slot:
    uint64_t value
    Key key

cdef enum:
    AHEAD = 16  # pieces whose sets the processor fetches before the first of them is looked up

# A piece of a text: its code is that of what is before *known*, by its key if it has one.
cdef struct Piece:
    Py_ssize_t start, known, end
    bint is_word, is_short
    Key key
    Slot* slots


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define _prefetch(set) (__builtin_prefetch(set), __builtin_prefetch((const char*)(set) + 64))
    #else
    #define _prefetch(set) ((void) 0)
    #endif
    """
    void _prefetch(const void* set) noexcept


cdef class Codes:
    """The codes of pieces: of short ones by *code*, the latest of which are remembered.

    Of those in one set, the one that was longest not asked for is forgotten. *code_of_long* may
    remember others. Words are coded here: by their *stem*, that of small letters, or by what is
    *normal* of others, and *empty*, a hash that has seen nothing. A look-up writes, so that two
    threads need two of them.
    """

    cdef Slot* slots
    cdef object code, code_of_long, stem, normal, copy

    def __cinit__(self, code, code_of_long, stem, normal, empty):
        self.code, self.code_of_long = code, code_of_long
        self.stem, self.normal, self.copy = stem, normal, empty.copy
        self.slots = <Slot*> calloc(N_SETS * SET, sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)


cdef inline bint _is_key(Key* key, char_t* text, Py_ssize_t n) noexcept:
    """Make the *key* of the *n* characters at *text*, if they have room in it.

    None is that of an empty slot.
    """
    cdef uint32_t every = 0
    cdef Py_ssize_t i, width, at
    if n > KEY_SIZE:
        return False
    for i in range(n):
        every |= text[i]
    width = 1 if every < 0x100 else 2 if every < 0x10000 else 4
    if n * width > KEY_SIZE:
        return False
    key.words[0] = key.words[1] = 0
    key.words[2] = <uint64_t> (n << 3 | width) << 48
    for i in range(n):
        at = i * width
        key.words[at >> 3] |= <uint64_t> text[i] << 8 * (at & 7)
    return True


cdef inline Py_ssize_t _set(const Key* key) noexcept:
    cdef uint64_t mixed = key.words[0] * 0x9E3779B97F4A7C15u
    mixed += key.words[1] * 0xC2B2AE3D27D4EB4Fu + key.words[2] * 0x165667B19E3779F9u
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u
    return mixed >> (64 - SET_BITS)


cdef inline bint _is_remembered(Slot* slots, const Key* key) noexcept:
    """Whether a set has the *key*, which is then in its first slot."""
    cdef int i
    cdef Slot found
    for i in range(SET):
        if slots[i].key.words[0] == key.words[0] and slots[i].key.words[1] == key.words[1] and (
            slots[i].key.words[2] == key.words[2]
        ):
            if i:
                found = slots[i]
                memmove(slots + 1, slots, i * sizeof(Slot))
                slots[0] = found
            return True
    return False


cdef uint64_t _code_of_word(
    Codes codes, char_t* text, Py_ssize_t start, Py_ssize_t end, str source
) except? 1:
    cdef str word = PyUnicode_Substring(source, start, end)
    cdef bytes digest
    cdef uint64_t code
    while start < end and c"a" <= text[start] <= c"z":
        start += 1
    hashed = codes.copy()
    hashed.update((codes.stem(word) if start == end else codes.normal(word)).encode())
    digest = hashed.digest()
    memcpy(&code, <const char*> digest, sizeof(code))
    return code >> HASH_SHIFT << HASH_SHIFT | WORD


cdef uint64_t _code(Codes codes, char_t* text, const Piece* piece, str source) except? 1:
    """The code of a *piece* of *source*."""
    cdef Slot* slots = piece.slots
    cdef uint64_t code
    if not piece.is_short:
        return codes.code_of_long(PyUnicode_Substring(source, piece.start, piece.known))
    if not _is_remembered(slots, &piece.key):
        if piece.is_word:
            code = _code_of_word(codes, text, piece.start, piece.known, source)
        else:
            code = codes.code(PyUnicode_Substring(source, piece.start, piece.known))
        memmove(slots + 1, slots, (SET - 1) * sizeof(Slot))
        slots[0].value, slots[0].key = code, piece.key
    return slots[0].value


# --- scanning and nesting -----------------------------------------------------------------------

cdef int _scan(
    char_t* text, Py_ssize_t n, str source, Codes codes, uint64_t no_token, _Rows tokens
) except -1:
    """Add the tokens of *text*; a tag goes on after what its code is of."""
    cdef Py_ssize_t at = 0, end, known
    cdef uint32_t letter
    cdef uint8_t is_in
    cdef Piece pieces[AHEAD]
    cdef Piece* piece
    cdef int n_pieces = 0
    while at < n:
        letter = text[at]
        is_in = _class(letter)
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
        elif letter == c"<" and _is_letter(
            text, at + 1 + (at + 1 < n and text[at + 1] == c"/"), n
        ):
            known = _name_end(text, at + 2, n)
            end = _tag_end(text, at + 2, n)
        elif letter == c"<" and at + 1 < n and text[at + 1] in (c"!", c"?", c"/"):
            at = _find(text, at + 1, n, c">") + 1  # a declaration
            continue
        else:
            end = _reference_end(text, at, n) if letter == c"&" else at
            end = end if end > at else _symbols_end(text, at, n)
            known = end
        piece = &pieces[n_pieces]
        piece.start, piece.known, piece.end, piece.is_word = at, known, end, is_in & IN_WORD
        piece.is_short = _is_key(&piece.key, text + at, known - at)
        if piece.is_short:
            piece.slots = codes.slots + SET * _set(&piece.key)
            _prefetch(piece.slots)
        at, n_pieces = end, n_pieces + 1
        if n_pieces == AHEAD:
            _look_up(text, source, codes, no_token, pieces, n_pieces, tokens)
            n_pieces = 0
    return _look_up(text, source, codes, no_token, pieces, n_pieces, tokens)


cdef int _look_up(
    char_t* text, str source, Codes codes, uint64_t no_token, const Piece* pieces, int n,
    _Rows tokens
) except -1:
    """Add those of the *n* pieces that are tokens."""
    cdef uint64_t code
    cdef int i
    for i in range(n):
        code = _code(codes, text, &pieces[i], source)
        if not code & no_token:
            tokens.add(code, pieces[i].start, pieces[i].end)
    return 0


cdef tuple _nested(const uint64_t[::1] token_id):
    """The kind and tag of each token, its most recent unclosed tag when it ends, its partner."""
    cdef Py_ssize_t n = token_id.shape[0], at, depth = 0
    kinds, tags = numpy.empty(n, "u1"), numpy.empty(n, "u1")
    tops, partners = numpy.empty(n, "i4"), numpy.empty(n, "i4")
    cdef uint8_t[::1] kind = kinds, tag = tags
    cdef int[::1] top = tops, partner = partners
    cdef array stack = clone(_INT32S, n, False)
    cdef int* open_tags = stack.data.as_ints
    cdef Py_ssize_t n_open[256]
    memset(n_open, 0, sizeof(n_open))
    for at in range(n):
        kind[at] = token_id[at] & KIND_MASK
        tag[at] = token_id[at] >> KIND_BITS & 0xFF if kind[at] <= CLOSE else 0
        partner[at] = -1
        if kind[at] == OPEN:
            open_tags[depth] = <int> at
            depth += 1
            n_open[tag[at]] += 1
        elif kind[at] == CLOSE and n_open[tag[at]]:
            while True:
                depth -= 1
                n_open[tag[open_tags[depth]]] -= 1
                if tag[open_tags[depth]] == tag[at]:
                    break
            partner[at] = open_tags[depth]
            partner[open_tags[depth]] = <int> at
        top[at] = open_tags[depth - 1] if depth else -1
    return kinds, tags, tops, partners


cdef class Tokenizer:
    """The columns of `tokens.Tokens` but for the source.

    *callback* gives for a stemmer what its `Codes` are made of, and *letters* a number for a
    reference. The content of elements with *names* (bytes, in lower case) is taken
    out. What has the bits *no_token* in its code is no token.
    """

    cdef dict codes  # by stemmer, a list of those that no scan has
    cdef object callback, letters
    cdef tuple kept  # what the names are of
    cdef Lower names[MAX_NAMES]
    cdef int n_names
    cdef uint64_t no_token

    def __init__(self, callback, letters, tuple names not None, uint64_t no_token):
        self.codes, self.callback, self.letters, self.no_token = {}, callback, letters, no_token
        self.kept = names
        self.n_names = _point(self.names, names)

    def __call__(self, str source not None, stem):
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(source)
        cdef const void* data = PyUnicode_DATA(source)
        cdef _Rows edits = _Rows(64), tokens = _Rows(n // 16 + 16)
        if PyUnicode_KIND(source) == 1:
            _add_edits(<const uint8_t*> data, n, source, self, edits)
        elif PyUnicode_KIND(source) == 2:
            _add_edits(<const uint16_t*> data, n, source, self, edits)
        else:
            _add_edits(<const uint32_t*> data, n, source, self, edits)
        cdef str text = _edited(source, edits) if edits.n else source
        self.scan(text, stem, tokens)
        numbers, clean_starts, clean_ends = tokens.columns()
        starts, ends = numpy.empty(tokens.n, "i4"), numpy.empty(tokens.n, "i4")
        _fill_places(edits, starts, tokens, False)
        _fill_places(edits, ends, tokens, True)
        kinds, tags, tops, partners = _nested(numbers)
        return (
            text, numbers, kinds, tags, starts, ends, clean_starts, clean_ends, tops, partners
        )

    cdef int scan(self, str text, stem, _Rows tokens) except -1:
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
        cdef const void* data = PyUnicode_DATA(text)
        cdef list free = self.codes.setdefault(stem, [])
        cdef Codes codes
        try:
            codes = free.pop()
        except IndexError:  # this is the first scan, or others have theirs
            codes = Codes(*self.callback(stem))
        if PyUnicode_KIND(text) == 1:
            _scan(<const uint8_t*> data, n, text, codes, self.no_token, tokens)
        elif PyUnicode_KIND(text) == 2:
            _scan(<const uint16_t*> data, n, text, codes, self.no_token, tokens)
        else:
            _scan(<const uint32_t*> data, n, text, codes, self.no_token, tokens)
        free.append(codes)
        return 0
