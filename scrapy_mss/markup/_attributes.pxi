"""The attributes of a tag, tags that hold a name, and strings here and there in a source.

The Python of `attributes`, `pages.tree` and `pages.declarations` is the oracle.
"""


# --- attributes, and tags that hold a name ------------------------------------------------------

cdef enum:
    MAX_ATTRIBUTES = 128  # of one tag, as `attributes` has it


def attributes_of_tag(str text not None, Py_ssize_t start, Py_ssize_t end):
    """The attributes of the tag from *start* to *end*, by name in lower case."""
    cdef Attribute each, attributes[MAX_ATTRIBUTES]
    cdef dict found = {}
    cdef str name
    cdef int i
    for i in range(_attributes_in(text, start, end, attributes)):
        each = attributes[i]
        name = PyUnicode_Substring(text, each.name, each.name_end).lower()
        if name not in found:
            found[name] = _value(text, each)
    return found


def rows_with(str sought not None, str text not None, tags):
    """Those of the rows of *tags* that hold the name *sought*, in any case: an array of int32."""
    cdef const int[::1] rows = tags[0], starts = tags[1], ends = tags[2]
    cdef bytes name = sought.encode()
    cdef array found = clone(_INT32S, rows.shape[0], False)
    cdef int* into = found.data.as_ints
    cdef const void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t n = 0, size = PyUnicode_GET_LENGTH(text), i, at, end
    _check_rows(rows, starts, ends, size)
    if not name or not name.isascii():
        raise ValueError(f"{sought!r} is no name of ASCII")
    for i in range(rows.shape[0]):
        into[n], at, end = rows[i], starts[rows[i]], ends[rows[i]]
        if PyUnicode_KIND(text) == 1:
            n += _holds(<const uint8_t*> data, at, end, size, name)
        elif PyUnicode_KIND(text) == 2:
            n += _holds(<const uint16_t*> data, at, end, size, name)
        else:
            n += _holds(<const uint32_t*> data, at, end, size, name)
    resize(found, n)
    return found


def attribute_values(tuple names not None, str text not None, tags):
    """The values that each of *tags* has for the *names*, None where it has none."""
    cdef const int[::1] rows = tags[0], starts = tags[1], ends = tags[2]
    cdef tuple kept = tuple([name.encode("ascii") for name in names])  # what *sought* is of
    cdef Lower sought[MAX_NAMES]
    cdef list found = []
    cdef list values
    cdef Py_ssize_t i
    cdef int n = _point(sought, kept)
    _check_rows(rows, starts, ends, PyUnicode_GET_LENGTH(text))
    if any([b"k" in name for name in kept]):
        raise ValueError(f"one of {names!r} has a letter that has several in upper case")
    for i in range(rows.shape[0]):
        values = [None] * n
        _pick(text, starts[rows[i]], ends[rows[i]], sought, values, [])
        found.append(values)
    return found


cdef int _pick(
    str text, Py_ssize_t at, Py_ssize_t end, Lower* sought, list values, list order
) except -1:
    """Put the values of the attributes that are *sought* in their places, and note in what order.

    None has a "k": it is more than one letter in upper case.
    """
    cdef Attribute attributes[MAX_ATTRIBUTES]
    cdef Py_ssize_t n, i
    for n in range(_attributes_in(text, at, end, attributes)):
        for i in range(len(values)):
            if values[i] is None and _is_called(text, attributes[n], sought[i]):
                values[i] = _value(text, attributes[n])
                order.append(i)
    return 0


cdef inline bint _is_called(str text, Attribute attribute, Lower name) noexcept:
    """Whether an *attribute* has this *name*, in any case."""
    cdef Py_ssize_t i
    if attribute.name_end - attribute.name != name.size:
        return False
    for i in range(name.size):
        if name.first[i] != _small(
            PyUnicode_READ(PyUnicode_KIND(text), PyUnicode_DATA(text), attribute.name + i)
        ):
            return False
    return True


cdef int _check_rows(
    const int[::1] rows, const int[::1] starts, const int[::1] ends, Py_ssize_t n
) except -1:
    """Refuse rows whose tags are not in a text of *n* letters."""
    cdef Py_ssize_t i, n_rows = min(starts.shape[0], ends.shape[0])
    for i in range(rows.shape[0]):
        _check(rows[i], n_rows)
        _check_place(starts[rows[i]], ends[rows[i]], n)
    return 0


cdef int _check_place(Py_ssize_t start, Py_ssize_t end, Py_ssize_t n) except -1:
    if not 0 <= start <= end <= n:
        raise ValueError(f"a tag from {start} to {end} of {n}")
    return 0


cdef enum:
    TOGETHER = 32  # places that are looked at together


cdef bint _holds(char_t* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t size, bytes name):
    """Whether *name* (in lower case) is between *at* and *end* of *size* letters, in any case."""
    cdef Lower letters = Lower(name, len(name))
    cdef Py_ssize_t n = letters.size, stop
    cdef uint8_t first = letters.first[0] | 0x20, last = letters.first[n - 1] | 0x20
    while at <= end - n:
        stop = at + TOGETHER
        if stop <= size - n and not _may_begin(text + at, text + at + n - 1, first, last):
            at = stop
            continue
        for at in range(at, min(stop, end - n + 1)):
            if _begins_with(text, at, end, letters):
                return True
        at += 1
    return False


cdef inline bint _may_begin(char_t* begin, char_t* end, uint8_t first, uint8_t last) noexcept:
    """Whether any of the pairs is *first* and *last*; without a branch, so that it is vectors."""
    cdef uint8_t found = 0
    cdef int i
    for i in range(TOGETHER):
        found |= ((begin[i] | 0x20) == first) & ((end[i] | 0x20) == last)
    return found


cdef inline bint _is_white(uint32_t letter) noexcept:
    return letter == c" " or letter == c"\t" or letter == c"\n" or letter == c"\r" or (
        letter == c"\f"
    )


cdef struct Attribute:
    Py_ssize_t name, name_end
    Py_ssize_t value, value_end


cdef int _attributes_in(str text, Py_ssize_t at, Py_ssize_t end, Attribute* found) except -1:
    """How many attributes, which are *found*, are in the tag from *at* to *end*."""
    cdef const void* data = PyUnicode_DATA(text)
    _check_place(at, end, PyUnicode_GET_LENGTH(text))
    if PyUnicode_KIND(text) == 1:
        return _find_attributes(<const uint8_t*> data, at, end, found)
    if PyUnicode_KIND(text) == 2:
        return _find_attributes(<const uint16_t*> data, at, end, found)
    return _find_attributes(<const uint32_t*> data, at, end, found)


cdef int _find_attributes(
    char_t* text, Py_ssize_t at, Py_ssize_t end, Attribute* found
) noexcept:
    cdef int n = 0
    while at < end and not _is_white(text[at]) and text[at] != c"/" and text[at] != c">":
        at += 1  # over the name of the tag
    while n < MAX_ATTRIBUTES:
        at = _next(text, at, end, found + n)
        if at < 0:
            break
        n += 1
    return n


cdef inline Py_ssize_t _next(
    char_t* text, Py_ssize_t at, Py_ssize_t end, Attribute* found
) noexcept:
    """The end of the next attribute from *at* on, which is *found*; -1 if there is none."""
    while at < end and (_is_white(text[at]) or text[at] == c"/"):
        at += 1
    if at == end or text[at] == c">":
        return -1
    found.name = at
    at += 1
    while at < end and not _is_white(text[at]) and (
        text[at] != c"/" and text[at] != c">" and text[at] != c"="
    ):
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


cdef inline Py_ssize_t _after_white(char_t* text, Py_ssize_t at, Py_ssize_t end) noexcept:
    while at < end and _is_white(text[at]):
        at += 1
    return at


cdef inline Py_ssize_t _closing_quote(char_t* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Where the quote at *start* is closed; there if nowhere."""
    cdef Py_ssize_t at = start + 1
    while at < end and text[at] != text[start]:
        at += 1
    return at if at < end else start


cdef str _value(str source, Attribute attribute):
    cdef str value = PyUnicode_Substring(source, attribute.value, attribute.value_end)
    return decode_value(value) if "&" in value else value


# --- the tags of a page --------------------------------------------------------------------------


def tag_rows(tokens, const uint8_t[::1] is_raw not None):
    """The columns of the tags that are not in raw text, as `tree.TagRows` has them."""
    cdef const uint8_t[::1] kind = tokens.kind, tag = tokens.tag
    cdef const int[::1] start = tokens.start, end = tokens.end
    cdef const int[::1] partner = tokens.partner, unclosed = tokens.unclosed
    cdef Py_ssize_t n = kind.shape[0], i, until = 0, before = n
    cdef int row, parent, n_rows = 0, n_opening = 0
    cdef array row_of = clone(_INT32S, n + 1, False)  # the last is that of no token
    cdef array token_of = clone(_INT32S, n, False)
    cdef int* rows = row_of.data.as_ints
    _check_sizes(
        n, (tag.shape[0], start.shape[0], end.shape[0], partner.shape[0], unclosed.shape[0])
    )
    _check(255, is_raw.shape[0])
    rows[n] = -1
    for i in range(n):
        rows[i] = -1
        if i >= until and kind[i] <= CLOSE:
            _check(partner[i] + 1, n + 1)
            _check(unclosed[i] + 1, i + 2)
            rows[i], token_of.data.as_ints[n_rows] = n_rows, i
            n_rows += 1
            if kind[i] == OPEN and is_raw[tag[i]]:
                until = max(partner[i], i + 1)
    cdef list columns = [clone(_INT32S, n_rows, False) for _ in range(6)]
    cdef bytearray number = bytearray(n_rows), opens = bytearray(n_rows)
    cdef array firsts = clone(_INT32S, 257, True)
    cdef int* first = firsts.data.as_ints
    cdef int* starts = (<array> columns[0]).data.as_ints
    cdef int* ends = (<array> columns[1]).data.as_ints
    cdef int* partners = (<array> columns[2]).data.as_ints
    cdef int* parents = (<array> columns[3]).data.as_ints
    cdef int* opening = (<array> columns[4]).data.as_ints
    cdef int* by_name = (<array> columns[5]).data.as_ints
    for row in range(n_rows):
        i = token_of.data.as_ints[row]
        number[row], opens[row] = tag[i], kind[i] == OPEN
        starts[row], ends[row] = start[i], end[i]
        partners[row] = rows[partner[i] if partner[i] >= 0 else n]
        parent = rows[before]
        if parent >= 0 and not (opens[parent] and partners[parent] >= 0):
            parent = parents[parent]
        parents[row] = parent
        before = unclosed[i] if unclosed[i] >= 0 else n  # what is open behind the tag
        if kind[i] == OPEN:
            opening[n_opening] = row
            n_opening += 1
            first[tag[i] + 1] += 1
    for i in range(256):
        first[i + 1] += first[i]
    cdef int place[256]
    memcpy(place, first, sizeof(place))
    for i in range(n_opening):
        row = opening[i]
        by_name[place[<uint8_t> number[row]]] = row
        place[<uint8_t> number[row]] += 1
    resize(token_of, n_rows)
    resize(columns[4], n_opening)
    resize(columns[5], n_opening)
    return (number, opens, token_of, *columns, firsts)


cdef enum:
    CHARACTERS_PER_VISIT = 256  # as `tree` has it
    NO_TEXT = 1
    LINE = 2


def text_runs(str source not None, rows, const uint8_t[::1] effects not None, tuple bounds):
    """What is displayed between tags: text, row, whether it is spaced, cost of the visits."""
    cdef const uint8_t[::1] number = rows.number
    cdef const int[::1] starts = rows.start, ends = rows.end, partner = rows.partner
    cdef Py_ssize_t row = bounds[0], stop = bounds[1], n = number.shape[0], start, end
    cdef int64_t most = bounds[2], cost = 0
    cdef bint spaced = False, is_blank
    cdef str text
    _check_sizes(n, (starts.shape[0] - 1, ends.shape[0], partner.shape[0]))
    _check(row + 1, n + 2)
    _check(stop, n + 1)
    _check(255, effects.shape[0])
    while row < stop and cost <= most:
        start, end = ends[row] if row >= 0 else 0, starts[row + 1]
        _check_place(start, end, PyUnicode_GET_LENGTH(source))
        cost += 1 + (end - start) // CHARACTERS_PER_VISIT
        text = PyUnicode_Substring(source, start, end)
        is_blank = text.isspace()
        if text and not is_blank:
            yield text, row, spaced, cost
            spaced, cost = False, 0
        spaced |= is_blank
        row += 1
        if row < stop:
            spaced |= effects[number[row]] == LINE
            if effects[number[row]] == NO_TEXT and partner[row] > row:
                row = min(<Py_ssize_t> partner[row], stop)
    yield "", row, spaced, cost


# --- strings here and there in a text, all found in one look at it ------------------------------

cdef enum:
    LOOK = 3  # characters by which a place is told
    LOOK_BITS = 14  # with 12, twice as many looks are in vain, and all take a tenth longer
    MAX_PLACES = 128  # for a byte to number them

cdef struct Sought:
    const void* letters
    Py_ssize_t size
    Py_ssize_t end  # of the last that was found

cdef struct Place:
    int8_t string  # its number
    int8_t offset  # of the block in it
    int8_t following  # the next place with the same block, or -1


cdef int _seek(char_t* text, Py_ssize_t n, list wanted, list found) except -1:
    """Note where *text* has each of the *wanted* strings, by a look at every so many characters.

    They are as many as the shortest string has blocks: whatever the string, one of its first
    blocks is where the search looks. Strings are of characters as the text has them, and a zero.
    """
    cdef Sought* one, sought[MAX_PLACES]
    cdef Place places[MAX_PLACES]
    cdef int8_t first[1 << LOOK_BITS]  # the first place that has each block, or -1
    cdef Py_ssize_t at = 0, step = min(map(len, wanted), default=0) - LOOK, start, offset
    cdef int number, block, n_places = 0
    cdef array each
    if step < 1 or step * len(wanted) > MAX_PLACES:
        raise ValueError(f"cannot seek {wanted!r}: too many, or shorter than {LOOK}")
    memset(first, -1, sizeof(first))
    for number, each in enumerate(wanted):
        sought[number] = Sought(each.data.as_voidptr, len(each) - 1, 0)
        for offset in range(step):
            block = _block(<char_t*> each.data.as_voidptr + offset)
            places[n_places] = Place(number, offset, first[block])
            first[block] = n_places
            n_places += 1
    while True:
        at = _next_known(text, at, n, step, first)
        if at > n - LOOK:
            return 0
        number = first[_block(text + at)]
        while number >= 0:
            start, one = at - places[number].offset, sought + places[number].string
            if one.end <= start <= n - one.size and memcmp(
                text + start, one.letters, one.size * sizeof(text[0])
            ) == 0:
                (<list> found[places[number].string]).append(start)
                one.end = start + one.size
            number = places[number].following
        at += step


cdef Py_ssize_t _next_known(
    char_t* text, Py_ssize_t at, Py_ssize_t n, Py_ssize_t step, const int8_t* first
) noexcept:
    """Where the next four looks are of which one may see a string; apart, for a tight loop."""
    while at + 3 * step <= n - LOOK and (
        first[_block(text + at)] & first[_block(text + at + step)]
        & first[_block(text + at + 2 * step)] & first[_block(text + at + 3 * step)]
    ) < 0:
        at += 4 * step
    return at


cdef inline int _block(char_t* text) noexcept:
    """A number of three characters, loaded with the next, which may be the zero behind the text."""
    cdef uint64_t block = 0
    if sizeof(text[0]) == 4:
        block = text[0] | <uint64_t> text[1] << 21 | <uint64_t> text[2] << 42
    else:
        memcpy(&block, text, (LOOK + 1) * sizeof(text[0]))
        block <<= (64 - 8 * LOOK * sizeof(text[0])) & 63  # which it is, of a byte or two
    return block * 0x9E3779B97F4A7C15u >> (64 - LOOK_BITS)


@lru_cache(8)
def _characters(tuple wanted, int width):
    """The *wanted* strings as arrays of characters that have a *width* of so many bytes."""
    return [array("BBHHI"[width], [*each.encode("ascii"), 0]) for each in wanted]


def occurrences(str text not None, wanted not None):
    """The offsets of each of the *wanted* strings, which are ASCII, in *text*."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef list found = [[] for _ in wanted]
    cdef list strings = _characters(tuple(wanted), kind)
    if kind == 1:
        _seek(<const uint8_t*> PyUnicode_DATA(text), n, strings, found)
    elif kind == 2:
        _seek(<const uint16_t*> PyUnicode_DATA(text), n, strings, found)
    else:
        _seek(<const uint32_t*> PyUnicode_DATA(text), n, strings, found)
    return found
