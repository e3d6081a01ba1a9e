# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The attributes of a tag. How they are written is the expression of `attributes.tag_attributes`,
which is the oracle.
"""

from cpython.unicode cimport (
    PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_Substring,
)
from libc.stdint cimport uint8_t, uint16_t, uint32_t

# A character as it is stored: one, two or four bytes, the same in a whole text.
ctypedef fused char_t:
    const uint8_t
    const uint16_t
    const uint32_t


def read(
    str text not None, bytes starts not None, bytes ends not None, Py_ssize_t most, decode
):
    """The first *most* attributes of each tag, by name in lower case.

    *starts* and *ends* have where each tag begins and ends in *text*, an int32 each. Values with a
    "&" are decoded by *decode*.
    """
    cdef const int* start = <const int*> <const char*> starts
    cdef const int* end = <const int*> <const char*> ends
    cdef Py_ssize_t row
    _check(text, starts, ends)
    return [
        _of_tag(text, start[row], end[row], most, decode) for row in range(len(starts) // 4)
    ]


def read_one(str text not None, Py_ssize_t start, Py_ssize_t end, Py_ssize_t most, decode):
    """The same of the one tag from *start* to *end*."""
    _check_place(start, end, PyUnicode_GET_LENGTH(text))
    return _of_tag(text, start, end, most, decode)


cdef dict _of_tag(str text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t most, object decode):
    cdef const void* data = PyUnicode_DATA(text)
    if PyUnicode_KIND(text) == 1:
        return _read(<const uint8_t*> data, text, start, end, most, decode)
    if PyUnicode_KIND(text) == 2:
        return _read(<const uint16_t*> data, text, start, end, most, decode)
    return _read(<const uint32_t*> data, text, start, end, most, decode)


def holding(
    str text not None, bytes starts not None, bytes ends not None, bytes name not None
):
    """A byte for each tag: whether it holds *name* (in lower case), in any case."""
    cdef const int* start = <const int*> <const char*> starts
    cdef const int* end = <const int*> <const char*> ends
    cdef Py_ssize_t row, n = len(starts) // 4
    cdef bytearray found = bytearray(n)
    cdef Py_ssize_t steps[N_STEPS + 1]
    _check(text, starts, ends)
    if not name:
        raise ValueError("no name")
    _prepare(steps, name)
    for row in range(n):
        found[row] = _is_in(text, start[row], end[row], name, steps)
    return found


def holding_tags(
    str text not None, tuple tags not None, tuple places not None, tuple wanted not None,
    bytes name not None
):
    """The source of each tag that is *wanted*, a kind and a number, and holds *name*, in any case.

    *tags* are kinds and numbers, a byte a token; *places* where tokens begin and end in *text*, an
    int32 each. Of a longer tag than *wanted* has it third, so much is looked at.
    """
    cdef bytes kinds = tags[0], numbers = tags[1], starts = places[0], ends = places[1]
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* number = numbers
    cdef const int* start = <const int*> <const char*> starts
    cdef const int* end = <const int*> <const char*> ends
    cdef int kind_wanted = wanted[0], number_wanted = wanted[1], most = wanted[2]
    cdef Py_ssize_t n = len(kinds), n_letters = PyUnicode_GET_LENGTH(text), row, last
    cdef Py_ssize_t steps[N_STEPS]
    cdef list found = []
    if len(numbers) != n or len(starts) != 4 * n or len(ends) != 4 * n:
        raise ValueError(f"the columns are not those of {n} tokens")
    if not name:
        raise ValueError("no name")
    _prepare(steps, name)
    for row in range(n):
        if number[row] == number_wanted and kind[row] == kind_wanted:
            _check_place(start[row], end[row], n_letters)
            last = min(end[row], start[row] + <Py_ssize_t> most)
            if _is_in(text, start[row], last, name, steps):
                found.append(PyUnicode_Substring(text, start[row], last))
    return found


cdef bint _is_in(str text, Py_ssize_t start, Py_ssize_t end, bytes name, const Py_ssize_t* steps):
    """Whether *name*, whose *steps* are prepared, is between two places of *text*."""
    cdef const void* data = PyUnicode_DATA(text)
    if PyUnicode_KIND(text) == 1:
        return _holds(<const uint8_t*> data, start, end, name, steps)
    if PyUnicode_KIND(text) == 2:
        return _holds(<const uint16_t*> data, start, end, name, steps)
    return _holds(<const uint32_t*> data, start, end, name, steps)


cdef int _check(str text, bytes starts, bytes ends) except -1:
    """Refuse what is not in *text*."""
    cdef const int* start = <const int*> <const char*> starts
    cdef const int* end = <const int*> <const char*> ends
    cdef Py_ssize_t row, n = PyUnicode_GET_LENGTH(text)
    if len(starts) != len(ends) or len(starts) % 4:
        raise ValueError(f"{len(starts)} and {len(ends)} bytes of places")
    for row in range(len(starts) // 4):
        _check_place(start[row], end[row], n)
    return 0


cdef int _check_place(Py_ssize_t start, Py_ssize_t end, Py_ssize_t n) except -1:
    if not 0 <= start <= end <= n:
        raise ValueError(f"a tag from {start} to {end} of {n}")
    return 0


cdef enum:
    N_STEPS = 0x80  # ASCII
    BLOCK = 32  # places that are looked at together


cdef int _prepare(Py_ssize_t* steps, bytes name) except -1:
    """By a character that stands where *name* would end, how far the name cannot begin (Horspool).

    Of a letter that is further to the front of the name, so many characters; of others, all. Of the
    name's last letter none, as the name may end there; how far then, if it does not, comes last.
    """
    cdef const uint8_t* letters = name
    cdef Py_ssize_t i, n = len(name)
    for i in range(N_STEPS):
        steps[i] = n
    for i in range(n - 1):
        if letters[i] >= N_STEPS:
            raise ValueError(f"{name!r} is not of ASCII alone")
        steps[letters[i]] = n - 1 - i
        if c"a" <= letters[i] <= c"z":
            steps[letters[i] - 0x20] = n - 1 - i
    if letters[n - 1] >= N_STEPS:
        raise ValueError(f"{name!r} is not of ASCII alone")
    steps[N_STEPS] = steps[letters[n - 1]]
    steps[letters[n - 1]] = 0
    if c"a" <= letters[n - 1] <= c"z":
        steps[letters[n - 1] - 0x20] = 0
    return 0


cdef bint _holds(
    char_t* text, Py_ssize_t at, Py_ssize_t end, bytes name, const Py_ssize_t* steps
):
    """Look closer at those blocks alone where both ends of *name* are in their places."""
    cdef const uint8_t* letters = name
    cdef Py_ssize_t n = len(name)
    while at + BLOCK + n - 1 <= end:
        if _may_begin(text + at, text + at + n - 1, letters[0] | 0x20, letters[n - 1] | 0x20) and (
            _is_between(text, at, at + BLOCK + n - 1, name, steps)
        ):
            return True
        at += BLOCK
    return _is_between(text, at, end, name, steps)


cdef inline bint _may_begin(char_t* first, char_t* last, uint8_t one, uint8_t other) noexcept:
    """Whether a pair is *one* and *other*, in any case; without a branch, so that it is vectors."""
    cdef uint8_t found = 0
    cdef int i
    for i in range(BLOCK):
        found |= ((first[i] | 0x20) == one) & ((last[i] | 0x20) == other)
    return found


cdef bint _is_between(
    char_t* text, Py_ssize_t at, Py_ssize_t end, bytes name, const Py_ssize_t* steps
):
    """Most of the time is that of a step, so it looks at one letter and compares nothing."""
    cdef const uint8_t* letters = name
    cdef Py_ssize_t i, step, n = len(name), after = steps[N_STEPS]
    cdef uint32_t last
    at += n - 1
    while at < end:
        last = text[at]
        step = steps[last] if last < N_STEPS else n
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


cdef inline uint32_t _small(uint32_t letter):
    return letter | 0x20 if c"A" <= letter <= c"Z" else letter


cdef inline bint _is_white(uint32_t letter):
    return letter == c" " or letter == c"\t" or letter == c"\n" or letter == c"\r" or (
        letter == c"\f"
    )


cdef inline bint _ends_name(uint32_t letter):
    return _is_white(letter) or letter == c"/" or letter == c">"


cdef dict _read(
    char_t* text, str source, Py_ssize_t at, Py_ssize_t end, Py_ssize_t most, object decode
):
    cdef Py_ssize_t first, last, value, n
    cdef dict found = {}
    cdef str name
    while at < end and not _ends_name(text[at]):
        at += 1
    for n in range(most):
        while at < end and (_is_white(text[at]) or text[at] == c"/"):
            at += 1
        if at == end or text[at] == c">":
            break
        first = at
        at += 1
        while at < end and not _ends_name(text[at]) and text[at] != c"=":
            at += 1
        name = _lower(text, source, first, at)
        first = last = 0
        value = _after_white(text, at, end)
        if value < end and text[value] == c"=":
            at = first = last = _after_white(text, value + 1, end)
            if at < end and (text[at] == c'"' or text[at] == c"'"):
                last = _closing_quote(text, at, end)
                first = min(at + 1, last)
                at = last + (last > at)
            else:
                while at < end and not _is_white(text[at]) and text[at] != c">":
                    at += 1
                last = at
        if name not in found:
            found[name] = _value(text, source, first, last, decode)
    return found


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


cdef str _value(char_t* text, str source, Py_ssize_t start, Py_ssize_t end, object decode):
    cdef Py_ssize_t at
    cdef str value = PyUnicode_Substring(source, start, end)
    for at in range(start, end):
        if text[at] == c"&":
            return decode(value)
    return value
