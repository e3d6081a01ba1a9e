"""The pieces of a cleaned text: a walk over characters that needs no object for each of them.

It knows no rule that says what a piece means. Where one begins and ends is `piece_pattern` of
`tokenizer`, alternative by alternative. The walk moves on with each step and looks back at no more
than it looked at, so that no text costs more than its length.
"""

# Classes of characters, as regular expressions have them.
cdef enum:
    IN_WORD = 1  # \w, but for ideographs and kana
    IDEOGRAPH = 2
    BLANK = 4
    OF_SYMBOLS = 8  # neither \w nor \s nor one of "<&"
    LETTER = 16  # of ASCII
    DIGIT = 32  # of ASCII
    HEX_DIGIT = 64
    SPACE = 128  # \s
    N_CODES = 0x10000

cdef enum:
    MAX_RANGES = 64
    MAX_NAMES = 256

cdef struct BareName:
    const uint8_t* letters
    Py_ssize_t size
    int following  # the next with the same first letter, or -1

cdef uint8_t _CLASSES[N_CODES]
cdef uint32_t _FIRST[MAX_RANGES]  # of the ranges of ideographs
cdef uint32_t _LAST[MAX_RANGES]
cdef Py_ssize_t _n_ranges = 0
cdef object _all_names = frozenset()  # of references, with their semicolons
cdef list _BARE_NAMES = []  # of references without semicolon, as bytes, shortest first
cdef BareName _NAMES[MAX_NAMES]  # the same
cdef int _FIRST_NAME[0x80]  # for each letter, the first name that begins with it, or -1


cdef int _prepare_tables(ideographs, bare_names, names) except -1:
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
    for code in range(N_CODES):
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
        found |= OF_SYMBOLS
    if code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF:
        found |= BLANK
    if c"0" <= code <= c"9":
        found |= DIGIT | HEX_DIGIT
    if c"a" <= (code | 0x20) <= c"z" and code < 0x80:
        found |= LETTER
        if (code | 0x20) <= c"f":
            found |= HEX_DIGIT
    return found


_prepare_tables(re.findall("(.)(?:-(.))?", CJK), BARE_NAMES, html5)


cdef inline uint8_t _class(uint32_t code):
    return _CLASSES[code] if code < N_CODES else _class_of(code)


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
    while end < n and _class(text[end]) & OF_SYMBOLS:
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
