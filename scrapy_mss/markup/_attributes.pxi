"""The attributes of a tag, written as the expression of `attributes.attributes_of_tag` has it.

It is the oracle.
"""


cdef enum:
    MAX_ATTRIBUTES = 128  # of one tag, as `attributes` has it


def attributes_of_tag(str text not None, Py_ssize_t start, Py_ssize_t end):
    """The attributes of the tag from *start* to *end*, by name in lower case."""
    _check_place(start, end, PyUnicode_GET_LENGTH(text))
    cdef const void* data = PyUnicode_DATA(text)
    if PyUnicode_KIND(text) == 1:
        return _read(<const uint8_t*> data, text, start, end)
    if PyUnicode_KIND(text) == 2:
        return _read(<const uint16_t*> data, text, start, end)
    return _read(<const uint32_t*> data, text, start, end)


def rows_with(str sought not None, str text not None, tags):
    """Those of the rows of *tags* that hold the name *sought*, in any case: an array of int32."""
    cdef const int[::1] rows = tags[0], starts = tags[1], ends = tags[2]
    cdef bytes name = sought.encode()
    cdef array found = clone(_INT32S, rows.shape[0], False)
    cdef int* into = found.data.as_ints
    cdef const void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t n
    cdef Steps steps
    _check_rows(rows, starts, ends, PyUnicode_GET_LENGTH(text))
    if not name:
        raise ValueError("no name")
    _prepare_steps(&steps, name)
    if PyUnicode_KIND(text) == 1:
        n = _choose(<const uint8_t*> data, text, rows, starts, ends, name, &steps, into)
    elif PyUnicode_KIND(text) == 2:
        n = _choose(<const uint16_t*> data, text, rows, starts, ends, name, &steps, into)
    else:
        n = _choose(<const uint32_t*> data, text, rows, starts, ends, name, &steps, into)
    resize(found, n)
    return found


cdef Py_ssize_t _choose(
    char_t* text, str source, const int[::1] rows, const int[::1] starts, const int[::1] ends,
    bytes name, const Steps* steps, int* into
):
    """Put those of *rows* whose tags hold *name* there; how many they are."""
    cdef Py_ssize_t i, n = 0, after = PyUnicode_GET_LENGTH(source)
    for i in range(rows.shape[0]):
        into[n] = rows[i]
        n += _holds(text, starts[rows[i]], ends[rows[i]], after, name, steps)
    return n


cdef int _check_rows(
    const int[::1] rows, const int[::1] starts, const int[::1] ends, Py_ssize_t n
) except -1:
    """Refuse rows whose tags are not in a text of *n* letters."""
    cdef Py_ssize_t i, n_rows = min(starts.shape[0], ends.shape[0])
    for i in range(rows.shape[0]):
        if not 0 <= rows[i] < n_rows:
            raise IndexError(f"row {rows[i]} of {n_rows}")
        _check_place(starts[rows[i]], ends[rows[i]], n)
    return 0


cdef int _check_place(Py_ssize_t start, Py_ssize_t end, Py_ssize_t n) except -1:
    if not 0 <= start <= end <= n:
        raise ValueError(f"a tag from {start} to {end} of {n}")
    return 0


cdef enum:
    N_STEPS = 0x80  # ASCII
    TOGETHER = 32  # places that are looked at together

# How far a name cannot begin, by the character that stands where it would end.
cdef struct Steps:
    Py_ssize_t by[N_STEPS]
    Py_ssize_t after  # the name's last letter, where the name does not end


cdef int _prepare_steps(Steps* steps, bytes name) except -1:
    """By a character that stands where *name* would end, how far the name cannot begin (Horspool).

    Of a letter that is further to the front of the name, so many characters; of others, all. Of the
    name's last letter none, as the name may end there.
    """
    cdef const uint8_t* letters = name
    cdef Py_ssize_t i, n = len(name)
    for i in range(N_STEPS):
        steps.by[i] = n
    for i in range(n - 1):
        if letters[i] >= N_STEPS:
            raise ValueError(f"{name!r} is not of ASCII alone")
        steps.by[letters[i]] = n - 1 - i
        if c"a" <= letters[i] <= c"z":
            steps.by[letters[i] - 0x20] = n - 1 - i
    if letters[n - 1] >= N_STEPS:
        raise ValueError(f"{name!r} is not of ASCII alone")
    steps.after = steps.by[letters[n - 1]]
    steps.by[letters[n - 1]] = 0
    if c"a" <= letters[n - 1] <= c"z":
        steps.by[letters[n - 1] - 0x20] = 0
    return 0


cdef bint _holds(
    char_t* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t after, bytes name,
    const Steps* steps
):
    """Look closer at those blocks alone where both ends of *name* are in their places.

    A block may reach beyond *end*, and not beyond what is *after* the text.
    """
    cdef const uint8_t* letters = name
    cdef Py_ssize_t n = len(name), last
    while at + n <= end and at + TOGETHER + n - 1 <= after:
        last = min(end, at + TOGETHER + n - 1)
        if _may_begin(text + at, text + at + n - 1, letters[0] | 0x20, letters[n - 1] | 0x20) and (
            _is_between(text, at, last, name, steps)
        ):
            return True
        at += TOGETHER
    return at + n <= end and _is_between(text, at, end, name, steps)


cdef inline bint _may_begin(char_t* first, char_t* last, uint8_t one, uint8_t other) noexcept:
    """Whether a pair is *one* and *other*, in any case; without a branch, so that it is vectors."""
    cdef uint8_t found = 0
    cdef int i
    for i in range(TOGETHER):
        found |= ((first[i] | 0x20) == one) & ((last[i] | 0x20) == other)
    return found


cdef bint _is_between(
    char_t* text, Py_ssize_t at, Py_ssize_t end, bytes name, const Steps* steps
):
    """Most of the time is that of a step, so it looks at one letter and compares nothing."""
    cdef const uint8_t* letters = name
    cdef Py_ssize_t i, step, n = len(name), after = steps.after
    cdef uint32_t last
    at += n - 1
    while at < end:
        last = text[at]
        step = steps.by[last] if last < N_STEPS else n
        if step:
            at += step
            continue
        i = 1
        while i < n and _small(text[at - i]) == letters[n - 1 - i]:
            i += 1
        if i == n:
            return True
        at += after
    return False


cdef inline bint _is_white(uint32_t letter):
    return letter == c" " or letter == c"\t" or letter == c"\n" or letter == c"\r" or (
        letter == c"\f"
    )


cdef inline bint _ends_name(uint32_t letter):
    return _is_white(letter) or letter == c"/" or letter == c">"


cdef struct Attribute:
    Py_ssize_t name, name_end
    Py_ssize_t value, value_end


cdef dict _read(
    char_t* text, str source, Py_ssize_t at, Py_ssize_t end
):
    cdef Py_ssize_t n
    cdef Attribute each
    cdef dict found = {}
    cdef str name
    at = _attributes_begin(text, at, end)
    for n in range(MAX_ATTRIBUTES):
        at = _next(text, at, end, &each)
        if at < 0:
            break
        name = _lower(text, source, each.name, each.name_end)
        if name not in found:
            found[name] = _value(text, source, each.value, each.value_end)
    return found


cdef inline Py_ssize_t _attributes_begin(char_t* text, Py_ssize_t at, Py_ssize_t end):
    """The end of the name of the tag at *at*."""
    while at < end and not _ends_name(text[at]):
        at += 1
    return at


cdef inline Py_ssize_t _next(char_t* text, Py_ssize_t at, Py_ssize_t end, Attribute* found):
    """The end of the next attribute from *at* on, which is *found*; -1 if there is none."""
    while at < end and (_is_white(text[at]) or text[at] == c"/"):
        at += 1
    if at == end or text[at] == c">":
        return -1
    found.name = at
    at += 1
    while at < end and not _ends_name(text[at]) and text[at] != c"=":
        at += 1
    found.name_end = at
    found.value = found.value_end = 0
    cdef Py_ssize_t value = _after_white(text, at, end)
    if value == end or text[value] != c"=":
        return at
    at = found.value = found.value_end = _after_white(text, value + 1, end)
    if at < end and (text[at] == c'"' or text[at] == c"'"):
        found.value_end = _closing_quote(text, at, end)
        found.value = min(at + 1, found.value_end)
        return found.value_end + (found.value_end > at)
    while at < end and not _is_white(text[at]) and text[at] != c">":
        at += 1
    found.value_end = at
    return at


cdef inline Py_ssize_t _after_white(char_t* text, Py_ssize_t at, Py_ssize_t end):
    while at < end and _is_white(text[at]):
        at += 1
    return at


cdef inline Py_ssize_t _closing_quote(char_t* text, Py_ssize_t start, Py_ssize_t end):
    """Where the quote at *start* is closed; there if nowhere."""
    cdef Py_ssize_t at = start + 1
    while at < end and text[at] != text[start]:
        at += 1
    return at if at < end else start


cdef str _lower(char_t* text, str source, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t at
    cdef str name = PyUnicode_Substring(source, start, end)
    for at in range(start, end):
        if not c"a" <= text[at] <= c"z":
            return name.lower()
    return name


cdef str _value(char_t* text, str source, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t at
    cdef str value = PyUnicode_Substring(source, start, end)
    for at in range(start, end):
        if text[at] == c"&":
            return decode_value(value)
    return value
