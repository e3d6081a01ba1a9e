"""Source -> tokens: cleaning, scanning and nesting, as `tokenizer` has them.

These are walks over characters that need no object for each of them, and know no rule that says
what a piece means. A walk moves on with each step and looks back at no more than it looked at, so
that no text costs more than its length.
"""

cdef struct Row:
    uint64_t number
    int start, end


@cython.final
cdef class _Rows:
    """Runs of a text and a number of each, as they are found."""

    cdef Row* rows
    cdef Py_ssize_t n, room

    def __cinit__(self, Py_ssize_t room):
        self.make_room(room)

    def __dealloc__(self):
        free(self.rows)

    cdef int make_room(self, Py_ssize_t room) except -1:
        cdef Row* rows = <Row*> realloc(self.rows, room * sizeof(Row))
        if rows == NULL:
            raise MemoryError
        self.rows, self.room = rows, room
        return 0

    cdef inline int add(self, uint64_t number, Py_ssize_t start, Py_ssize_t end) except -1:
        if self.n == self.room:
            self.make_room(2 * self.room)
        self.rows[self.n] = Row(number, <int> start, <int> end)
        self.n += 1
        return 0


# --- cleaning -----------------------------------------------------------------------------------

cdef bint _is_name(char_t* text, Py_ssize_t at, Py_ssize_t n, Lower name) noexcept:
    """Whether the tag with its name at *at* has this *name*, and more of it."""
    return at + name.size < n and _ends_name(text[at + name.size]) and (
        _begins_with(text, at, n, name)
    )


cdef Py_ssize_t _closing_tag(char_t* text, Py_ssize_t at, Py_ssize_t n, Lower name) noexcept:
    """Where, from *at* on, the closing tag with this *name* is; *n* if nowhere."""
    while True:
        at = _find(text, at, n, c"<")
        if at + 2 >= n:
            return n
        if text[at + 1] == c"/" and _is_name(text, at + 2, n, name):
            return at
        at += 1


cdef enum:
    LETTER_BITS = 21  # of each letter in the number of some
    LETTER_MASK = (1 << LETTER_BITS) - 1
    LONGEST = 40  # characters of a reference that stands for letters


cdef struct Reference:
    uint64_t name, letters

cdef enum:
    N_KNOWN = 64  # references: a page has many, and few different ones


cdef Py_ssize_t _add_reference(
    char_t* text, Py_ssize_t at, Py_ssize_t n, str source, object letters, Reference* known,
    _Rows edits
) except -1:
    """Add the reference at *at*, if *letters* has a number for one; where to read on.

    It is not asked for those of up to eight characters that are *known*.
    """
    cdef Py_ssize_t end = _reference_end(text, at, n), size = end - at, i
    cdef uint64_t name = 0
    if not 0 < size <= LONGEST:
        return max(end, at + 1)
    for i in range(min(size, 8)):
        name = name << 8 | text[at + i]
    known += name * 0x9E3779B97F4A7C15u >> 58
    if size > 8 or known.name != name:
        known.letters = letters(PyUnicode_Substring(source, at, end))
        known.name = name if size <= 8 else 0
    if known.letters:
        edits.add(known.letters, at, end)
    return end


cdef Py_ssize_t _next_markup(
    char_t* text, Py_ssize_t at, Py_ssize_t n, const uint8_t* begins
) noexcept:
    """Where, from *at* on, a "<" is before what may be a letter that *begins* has; or *n*."""
    while True:
        at = _find(text, at, n, c"<")
        if at + 1 >= n:
            return n
        if begins[text[at + 1] & 0xFF]:
            return at
        at += 1


cdef int _add_edits(
    char_t* text, Py_ssize_t n, str source, Tokenizer rules, _Rows edits
) except -1:
    cdef Py_ssize_t at = 0, tag = -1, reference = -1, end  # tag and reference are the next of each
    cdef bint comments_end = True  # whether a "-->" is still ahead: looked for in vain at most once
    cdef int name
    cdef Reference known[N_KNOWN]
    memset(known, 0, sizeof(known))
    letters = rules.letters
    while True:
        if tag < at:
            tag = _next_markup(text, at, n, rules.begins)
        if reference < at:
            reference = _find(text, at, n, c"&")
        at = min(tag, reference)
        if at + 2 >= n:
            return 0
        if at == reference:
            at = _add_reference(text, at, n, source, letters, known, edits)
        elif at + 3 < n and text[at + 1] == c"!" and text[at + 2] == c"-" and text[at + 3] == c"-":
            end = PyUnicode_Find(source, "-->", at + 2, n, 1) if comments_end else -1
            comments_end = end >= 0
            end = end + 3 if comments_end else min(_find(text, at + 4, n, c">") + 1, n)
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
                at = _add_reference(text, reference, n, source, letters, known, edits)
                reference = _find(text, at, n, c"&")
            at = _closing_tag(text, end, n, rules.names[name])
            edits.add(0, end, at)


cdef str _cleaned(char_t* text, Py_ssize_t n, str source, Tokenizer rules, _Rows edits):
    """The *text* of the *source* with letters, or nothing, in the place of each edit.

    The *edits*, after which is one at its end, then have by how much what is before each was
    shifted, and where that ends, in half characters of what is returned: a start at a place where
    something was taken out stands behind it, an end before it. A decoded letter shifts what follows
    from within itself, where no token begins or ends.
    """
    cdef Py_ssize_t size = 0, at = 0, i, number
    cdef uint32_t every = 0, narrower = 0x80 if sizeof(text[0]) == 1 else 1 << 4 * sizeof(text[0])
    cdef uint64_t letters
    _add_edits(text, n, source, rules, edits)
    edits.add(0, n, n)
    for number in range(edits.n):
        size += edits.rows[number].start - at
        if every < narrower:
            for i in range(at, edits.rows[number].start):
                every |= text[i]
        at = edits.rows[number].end
        letters = edits.rows[number].number
        while letters:
            every, letters, size = every | letters & LETTER_MASK, letters >> LETTER_BITS, size + 1
    cdef str edited = PyUnicode_New(size, min(every, 0x10FFFF))
    cdef int width = PyUnicode_KIND(edited)
    cdef void* data = PyUnicode_DATA(edited)
    size = at = 0
    for number in range(edits.n):
        n = edits.rows[number].start - at
        if width == sizeof(text[0]):
            memcpy(<uint8_t*> data + width * size, text + at, width * n)
        else:
            for i in range(n):
                PyUnicode_WRITE(width, data, size + i, text[at + i])
        size += n
        letters = edits.rows[number].number
        edits.rows[number].start -= <int> size
        while letters:
            PyUnicode_WRITE(width, data, size, letters & LETTER_MASK)
            size, letters = size + 1, letters >> LETTER_BITS
        at = edits.rows[number].end
        edits.rows[number].number = 2 * size - (edits.rows[number].number > 0)
    return edited


# --- what pieces mean ---------------------------------------------------------------------------

cdef enum:
    # 8 MB. With a quarter of them, each of 400 pages of many sites asked for 42 words more, which
    # had been forgotten, and took a quarter more time to be scanned.
    SET_BITS = 16
    N_SETS = 1 << SET_BITS
    SET = 4  # slots: with two, as many were forgotten as with a quarter of the memory
    KEY_SIZE = 22  # bytes: eleven Cyrillic letters
    HUGE_PAGE = 1 << 21

# A short piece as it is remembered: its characters, their number and width.
cdef union Key:
    uint64_t words[3]
    uint8_t letters[KEY_SIZE + 2]

cdef uint8_t _MASK[2 * (KEY_SIZE + 2)]  # the bytes that count, and those that do not
memset(_MASK, 0xFF, KEY_SIZE + 2)

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
    #define _prefetch(set) __builtin_prefetch(set)
    #else
    #define _prefetch(set) ((void) 0)
    #endif
    """
    void _prefetch(const void* set) noexcept


cdef class Codes:
    """The codes of pieces: of short ones by *code*, the latest of which are remembered.

    Of those in one set, the one that was longest not asked for is forgotten. *code_of_long* may
    remember others. Words are coded here: by their *stem*, that of ASCII letters, or by what is
    *normal* of others, and *empty*, a hash that has seen nothing. A look-up writes, so that two
    threads need two of them.
    """

    cdef Slot* slots
    cdef uint8_t[::1] memory
    cdef object code, code_of_long, stem, normal, copy

    def __cinit__(self, code, code_of_long, stem, normal, empty):
        self.code, self.code_of_long = code, code_of_long
        self.stem, self.normal, self.copy = stem, normal, empty.copy
        # By numpy, which asks for huge pages: a look-up in one of 2,000 others takes as long again.
        self.memory = numpy.zeros(N_SETS * SET * sizeof(Slot) + HUGE_PAGE, "u1")
        self.slots = <Slot*> ((<size_t> &self.memory[0] | HUGE_PAGE - 1) + 1)


cdef inline bint _has_key(
    Key* key, char_t* text, Py_ssize_t n, Py_ssize_t left, uint32_t every
) noexcept:
    """Whether the *n* characters at *text* have room in a *key*, which is then theirs.

    It has a byte of each, or two or four if *every* bit of any needs them. None is that of an empty
    slot. A whole key is read at once, so that where fewer are *left* of the text, none is.
    """
    cdef Py_ssize_t i, width = 1 if every < 0x100 else 2 if every < 0x10000 else 4
    cdef uint64_t mask[3]
    if n * width > KEY_SIZE or left < <Py_ssize_t> sizeof(key.letters):
        return False
    if width == 1:  # in vectors, since words cannot be read before their bytes are written
        for i in range(<Py_ssize_t> sizeof(key.letters)):
            key.letters[i] = <uint8_t> text[i]
        memcpy(mask, _MASK + sizeof(mask) - n, sizeof(mask))
        for i in range(3):
            key.words[i] &= mask[i]
    else:
        key.words[0] = key.words[1] = key.words[2] = 0
        for i in range(n):
            key.words[i * width >> 3] |= <uint64_t> text[i] << 8 * (i * width & 7)
    key.words[2] |= <uint64_t> (width << 8 | n) << 8 * KEY_SIZE - 128
    return True


cdef inline Slot* _set(Codes codes, const Key* key) noexcept:
    cdef uint64_t mixed = key.words[0] * 0x9E3779B97F4A7C15u
    mixed += key.words[1] * 0xC2B2AE3D27D4EB4Fu + key.words[2] * 0x165667B19E3779F9u
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u
    return codes.slots + SET * (mixed >> (64 - SET_BITS))


cdef inline bint _are_equal(const Key* one, const Key* other) noexcept:
    return one.words[0] == other.words[0] and one.words[1] == other.words[1] and (
        one.words[2] == other.words[2]
    )


cdef bint _is_remembered(Slot* slots, const Key* key) noexcept:
    """Whether a set has the *key*, which is then in its first slot."""
    cdef int i
    cdef Slot found
    for i in range(SET):
        if _are_equal(&slots[i].key, key):
            if i:
                found = slots[i]
                memmove(slots + 1, slots, i * sizeof(Slot))
                slots[0] = found
            return True
    return False


cdef inline uint64_t _remember(Slot* slots, const Key* key, uint64_t code) noexcept:
    memmove(slots + 1, slots, (SET - 1) * sizeof(Slot))
    slots[0].value, slots[0].key = code, key[0]
    return code


cdef uint64_t _code(Codes codes, const Piece* piece, str source) except? 1:
    """The code of a *piece* of *source*."""
    cdef Slot* slots = piece.slots
    cdef str text
    cdef uint64_t code
    if piece.is_short and _is_remembered(slots, &piece.key):
        return slots[0].value
    if piece.is_short and piece.is_word:
        return _remember(slots, &piece.key, _code_of_word(codes, piece, source))
    text = PyUnicode_Substring(source, piece.start, piece.known)
    return _remember(slots, &piece.key, codes.code(text)) if piece.is_short else (
        codes.code_of_long(text)
    )


cdef uint64_t _code_of_word(Codes codes, const Piece* piece, str source) except? 1:
    """The code of a short word: if it is of ASCII letters, that of the same in lower case."""
    cdef Key small = piece.key
    cdef Slot* slots
    cdef int i, n = <int> (piece.known - piece.start)
    cdef bint are_letters = small.letters[KEY_SIZE + 1] == 1
    cdef str word = PyUnicode_Substring(source, piece.start, piece.known)
    for i in range(n if are_letters else 0):
        small.letters[i] |= 0x20
        are_letters &= c"a" <= small.letters[i] <= c"z"
    if not are_letters:
        return _hash(codes, codes.normal(word))
    if _are_equal(&small, &piece.key):
        return _hash(codes, codes.stem(word))
    slots = _set(codes, &small)
    if not _is_remembered(slots, &small):
        _remember(slots, &small, _hash(codes, codes.stem(word.lower())))
    return slots[0].value


cdef uint64_t _hash(Codes codes, str normal) except? 1:
    cdef uint64_t code
    hashed = codes.copy()
    hashed.update(normal.encode())
    cdef bytes digest = hashed.digest()
    memcpy(&code, <const char*> digest, sizeof(code))
    return code >> HASH_SHIFT << HASH_SHIFT | WORD


# --- scanning and nesting -----------------------------------------------------------------------

cdef int _scan(
    char_t* text, Py_ssize_t n, str source, Codes codes, uint64_t no_token, _Rows tokens
) except -1:
    """Add the tokens of *text*; a tag goes on after what its code is of.

    Behind the text is a zero, which is blank: a walk over words needs no look at its length.
    """
    cdef Py_ssize_t at = 0, end, known, i
    cdef uint32_t letter, every
    cdef uint8_t is_in
    cdef Piece pieces[AHEAD]
    cdef Piece* piece
    cdef int n_pieces = 0
    while at < n:
        letter = text[at]
        is_in = _class(letter)
        if is_in & BLANK:
            at += 1
            continue
        piece = &pieces[n_pieces]
        piece.start, piece.is_word = at, is_in & IN_WORD
        every, end = 0, at
        if is_in & IN_WORD:
            while _class(text[end]) & IN_WORD:
                every |= text[end]
                end += 1
            known = end
        else:
            if is_in & IDEOGRAPH:
                known = end = at + 1
            elif letter == c"<" and _is_letter(
                text, at + 1 + (at + 1 < n and text[at + 1] == c"/"), n
            ):
                known = at + 2
                while known < n and not _ends_name(text[known]):
                    known += 1
                end = _tag_end(text, at + 2, n)
            elif letter == c"<" and at + 1 < n and text[at + 1] in (c"!", c"?", c"/"):
                at = _find(text, at + 1, n, c">") + 1  # a declaration
                continue
            else:
                end = _reference_end(text, at, n) if letter == c"&" else at
                known = end = end if end > at else _symbols_end(text, at, n)
            for i in range(at, min(known, at + KEY_SIZE)):
                every |= text[i]
        piece.known, piece.end = known, end
        piece.is_short = _has_key(&piece.key, text + at, known - at, n - at, every)
        if piece.is_short:
            piece.slots = _set(codes, &piece.key)
            _prefetch(piece.slots)
        at, n_pieces = end + (text[end] == c" "), n_pieces + 1
        if n_pieces == AHEAD:
            _look_up(source, codes, no_token, pieces, n_pieces, tokens)
            n_pieces = 0
    return _look_up(source, codes, no_token, pieces, n_pieces, tokens)


cdef int _look_up(
    str source, Codes codes, uint64_t no_token, const Piece* pieces, int n, _Rows tokens
) except -1:
    """Add those of the *n* pieces that are tokens."""
    cdef const Piece* piece
    cdef uint64_t code
    cdef int i
    for i in range(n):
        piece = &pieces[i]
        if piece.is_short and _are_equal(&piece.slots[0].key, &piece.key):
            code = piece.slots[0].value
        else:
            code = _code(codes, piece, source)
        if not code & no_token:
            tokens.add(code, piece.start, piece.end)
    return 0


cdef inline const Row* _behind(const Row* edit, uint64_t place) noexcept:
    """The first edit, from one on, that is behind a *place*."""
    while edit.number <= place:
        edit += 1
    return edit


cdef tuple _columns(_Rows edits, _Rows tokens):
    """The columns of *tokens* but for the text."""
    cdef Py_ssize_t n = tokens.n, at, depth = 0
    cdef uint8_t what, name
    cdef Row token
    cdef const Row* edit = edits.rows  # the next one
    numbers, kinds = numpy.empty(n, "u8"), numpy.empty((2, n + 1), "u1")
    places = numpy.empty((6, n + 1), "i4")
    cdef uint64_t[::1] number = numbers
    cdef uint8_t[:, ::1] kind_of = kinds
    cdef int[:, ::1] place = places
    cdef uint8_t* kind = &kind_of[0, 0]
    cdef uint8_t* tag = &kind_of[1, 0]
    cdef int* start = &place[0, 0]
    cdef int* end = &place[1, 0]
    cdef int* clean_start = &place[2, 0]
    cdef int* clean_end = &place[3, 0]
    cdef int* unclosed = &place[4, 0]
    cdef int* partner = &place[5, 0]
    cdef array stack = clone(_INT32S, n + 1, False)
    cdef int* open_tags = stack.data.as_ints  # below all of them is none
    cdef Py_ssize_t n_open[256]
    memset(n_open, 0, sizeof(n_open))
    open_tags[0] = -1
    for at in range(n):
        token = tokens.rows[at]
        number[at] = token.number
        what, name = token.number & KIND_MASK, token.number >> KIND_BITS & 0xFF
        kind[at], tag[at] = what, name
        clean_start[at], clean_end[at] = token.start, token.end
        edit = _behind(edit, 2 * <uint64_t> token.start)
        start[at] = token.start + edit.start
        edit = _behind(edit, 2 * <uint64_t> token.end - 1)
        end[at] = token.end + edit.start
        partner[at] = -1
        open_tags[depth + 1] = <int> at  # if it opens: branch prediction fails on that
        depth += what == OPEN
        n_open[name] += what == OPEN
        if what == CLOSE and n_open[name]:
            while True:
                depth -= 1
                n_open[tag[open_tags[depth + 1]]] -= 1
                if tag[open_tags[depth + 1]] == name:
                    break
            partner[at] = open_tags[depth + 1]
            partner[open_tags[depth + 1]] = <int> at
        unclosed[at] = open_tags[depth]
    return (numbers, *kinds[:, :n], *places[:, :n])


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
    cdef uint8_t begins[256]  # whether a letter begins one of them, or a comment
    cdef uint64_t no_token

    def __init__(self, callback, letters, tuple names not None, uint64_t no_token):
        self.codes, self.callback, self.letters, self.no_token = {}, callback, letters, no_token
        self.kept = names
        self.n_names = _point(self.names, names)
        for each in (b"!", *names):
            self.begins[each[0]] = self.begins[each[0] ^ 0x20] = True

    def __call__(self, str source not None, stem):
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(source)
        cdef const void* data = PyUnicode_DATA(source)
        cdef _Rows tokens = _Rows(n // 16 + 16), edits = _Rows(64)
        cdef list free = self.codes.setdefault(stem, [])
        cdef Codes codes
        cdef str text
        if PyUnicode_KIND(source) == 1:
            text = _cleaned(<const uint8_t*> data, n, source, self, edits)
        elif PyUnicode_KIND(source) == 2:
            text = _cleaned(<const uint16_t*> data, n, source, self, edits)
        else:
            text = _cleaned(<const uint32_t*> data, n, source, self, edits)
        n, data = PyUnicode_GET_LENGTH(text), PyUnicode_DATA(text)
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
        return text, *_columns(edits, tokens)
