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

cdef uint8_t _CLASSES[N_CODES]
cdef list _RANGES = re.findall("(.)(?:-(.))?", CJK)  # of ideographs
cdef Py_ssize_t _N_RANGES = len(_RANGES)
cdef array _FIRST = array("I", [ord(first) for first, _ in _RANGES])
cdef array _LAST = array("I", [ord(last or first) for first, last in _RANGES])
cdef frozenset _BARE_NAMES = frozenset(BARE_NAMES)  # of references without semicolon
cdef Py_ssize_t _LONGEST_BARE = max(map(len, BARE_NAMES))
cdef bint _BEGINS_BARE[1 << 14]  # whether one has the two letters, of seven bits each


for _one, _other, *_ in BARE_NAMES:
    _BEGINS_BARE[ord(_one) << 7 | ord(_other)] = True


cdef uint8_t _class_of(uint32_t code) noexcept:
    cdef uint8_t found = 0
    cdef bint is_word = Py_UNICODE_ISALNUM(code) or code == c"_"
    cdef Py_ssize_t i
    for i in range(_N_RANGES):
        if _FIRST.data.as_uints[i] <= code <= _LAST.data.as_uints[i]:
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


cdef uint32_t _point_of_code
for _point_of_code in range(N_CODES):
    _CLASSES[_point_of_code] = _class_of(_point_of_code)


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


cdef inline bint _is_letter(char_t* text, Py_ssize_t at, Py_ssize_t n) noexcept:
    return at < n and _class(text[at]) & LETTER


cdef inline Py_ssize_t _past(
    char_t* text, Py_ssize_t at, Py_ssize_t n, uint8_t classes
) noexcept:
    """The first place from *at* on that has none of the *classes*."""
    while at < n and _class(text[at]) & classes:
        at += 1
    return at


cdef inline bint _ends_name(uint32_t letter) noexcept:
    """Whether the name of a tag ends before a *letter*."""
    return letter == c"/" or letter == c">" or _class(letter) & SPACE


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
        value = _past(text, at, n, SPACE)
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
    cdef Py_ssize_t end = at + 1, first
    cdef uint8_t digit = DIGIT
    if end < n and text[end] == c"#":
        end += 1
        if end < n and (text[end] == c"x" or text[end] == c"X"):
            end += 1
            digit = HEX_DIGIT
        first = end
        end = _past(text, first, n, digit)
        if end == first:
            return at
        return end + 1 if end < n and text[end] == c";" else end
    if not _is_letter(text, end, n):
        return at
    end = _past(text, end, n, LETTER | DIGIT)
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
    end = _past(text, at, n, OF_SYMBOLS)
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
