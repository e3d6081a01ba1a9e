"""Where pieces of a text end: `tokenizer.piece_pattern`, alternative by alternative."""

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

cdef uint8_t _CLASSES[N_CODES]
cdef uint32_t _FIRST[MAX_RANGES]  # of the ranges of ideographs
cdef uint32_t _LAST[MAX_RANGES]
cdef Py_ssize_t _n_ranges = 0
cdef frozenset _BARE_NAMES = frozenset(BARE_NAMES)  # of references without semicolon
cdef Py_ssize_t _LONGEST_BARE = max(map(len, BARE_NAMES))
cdef bint _BEGINS_BARE[1 << 14]  # whether one has the two letters, of seven bits each


cdef int _prepare_tables(ideographs) except -1:
    """Take over the ranges of *ideographs*, and note how references begin."""
    global _n_ranges
    cdef uint32_t code
    if len(ideographs) > MAX_RANGES:
        raise ValueError(f"{len(ideographs)} ranges of ideographs where {MAX_RANGES} have room")
    for _n_ranges, (first, last) in enumerate(ideographs):
        _FIRST[_n_ranges] = ord(first)
        _LAST[_n_ranges] = ord(last or first)
    _n_ranges = len(ideographs)
    for one, other, *_ in BARE_NAMES:
        _BEGINS_BARE[ord(one) << 7 | ord(other)] = True
    for code in range(N_CODES):
        _CLASSES[code] = _class_of(code)
    return 0


cdef uint8_t _class_of(uint32_t code) noexcept:
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


_prepare_tables(re.findall("(.)(?:-(.))?", CJK))


cdef inline uint8_t _class(uint32_t code) noexcept:
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


cdef Py_ssize_t _name_end(char_t* text, Py_ssize_t at, Py_ssize_t n) noexcept:
    """After the name of the tag."""
    while at < n and text[at] != c"/" and text[at] != c">" and not _class(text[at]) & SPACE:
        at += 1
    return at


cdef Py_ssize_t _tag_end(char_t* text, Py_ssize_t at, Py_ssize_t n) noexcept:
    """After the tag whose name begins at *at*: a ">" in a quoted value is no end."""
    cdef Py_ssize_t value
    cdef uint32_t letter
    while at < n:
        letter = text[at]
        at += 1
        if letter == c">":
            return at
        if letter != c"=":
            continue
        value = at
        while value < n and _class(text[value]) & SPACE:
            value += 1
        if value < n and (text[value] == c'"' or text[value] == c"'"):
            at = min(_find(text, value + 1, n, <uint8_t> text[value]) + 1, n)
    return n


cdef Py_ssize_t _bare_name_end(char_t* text, Py_ssize_t at, Py_ssize_t n):
    """After the longest name at *at* that needs no semicolon; *at* if there is none."""
    cdef Py_ssize_t size = min(n - at, _LONGEST_BARE)
    if size < 2 or text[at] | text[at + 1] >= 0x80 or (
        not _BEGINS_BARE[text[at] << 7 | text[at + 1]]
    ):
        return at
    cdef str letters = PyUnicode_FromKindAndData(sizeof(text[0]), text + at, size)
    while size and letters[:size] not in _BARE_NAMES:
        size -= 1
    return at + size


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


cdef Py_ssize_t _symbols_end(char_t* text, Py_ssize_t at, Py_ssize_t n) noexcept:
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
