"""Which tag is around which: the stack of a text, and the tags of a page as rows."""

def nearest(const int[::1] parent not None, chosen):
    """int32[n]: the nearest of the *chosen* on the way from each to its parent and on; or -1."""
    cdef const uint8_t[::1] is_chosen = chosen.view("u1")
    cdef Py_ssize_t n = parent.shape[0], i
    result = numpy.empty(n, "i4")
    cdef int[::1] around = result
    if is_chosen.shape[0] != n:
        raise ValueError(f"{is_chosen.shape[0]} marks for {n} tokens")
    for i in range(n):
        if parent[i] >= i:
            raise ValueError(f"the parent of token {i} is {parent[i]}")
        if parent[i] < 0:
            around[i] = -1
        elif is_chosen[parent[i]]:
            around[i] = parent[i]
        else:
            around[i] = around[parent[i]]
    return result


cdef class TagRows:
    """The tags among tokens, one row each, but those inside of raw text.

    *raw* has a byte for each number of a tag, whether its content is raw text, and *lists* in which
    list its opening tags are.
    """

    cdef bytes raw, lists

    def __init__(self, bytes raw not None, bytes lists not None):
        if len(raw) != 256 or len(lists) != 256:
            raise ValueError(f"{len(raw)} and {len(lists)} bytes for 256 numbers of tags")
        self.raw, self.lists = raw, lists

    def __call__(self, tokens):
        return _tag_rows(
            tokens.kind, tokens.tag, tokens.start, tokens.end, tokens.partner, self.raw, self.lists
        )


cdef tuple _tag_rows(
    const uint8_t[::1] kind, const uint8_t[::1] number,
    const int[::1] start, const int[::1] end,
    const int[::1] partner, bytes raw, bytes lists,
):
    """The columns of `tree.Tags`."""
    cdef Py_ssize_t n_tokens = kind.shape[0], n = 0, row, i
    if number.shape[0] != n_tokens or partner.shape[0] != n_tokens or (
        start.shape[0] != n_tokens or end.shape[0] != n_tokens
    ):
        raise ValueError(f"the columns are not those of {n_tokens} tokens")
    cdef array at = clone(_INT32S, n_tokens + 1, False)
    for i in range(n_tokens):
        at.data.as_ints[n] = <int> i
        n += kind[i] <= CLOSE
    n = _without_raw_text(at.data.as_ints, n, kind, number, partner, raw)
    cdef bytearray numbers = bytearray(n), opening = bytearray(n)
    cdef char* tag_number = PyByteArray_AS_STRING(numbers)
    cdef char* opens = PyByteArray_AS_STRING(opening)
    cdef array starts = clone(_INT32S, n, False), ends = clone(_INT32S, n, False)
    for row in range(n):
        i = at.data.as_ints[row]
        tag_number[row] = <char> number[i]
        opens[row] = kind[i] == OPEN
        starts.data.as_ints[row], ends.data.as_ints[row] = start[i], end[i]
    partners = _partner_rows(at.data.as_ints, n, partner)
    return (
        numbers, opening, starts, ends, partners, _rows_around(opening, partners),
        *_opening_rows(numbers, opening, lists),
    )


cdef Py_ssize_t _without_raw_text(
    int* at, Py_ssize_t n, const uint8_t[::1] kind, const uint8_t[::1] number,
    const int[::1] partner, const uint8_t* is_raw
):
    """Leave those of the tokens in *at* that are not inside of raw text; how many that are."""
    cdef Py_ssize_t n_left = 0, row
    cdef int token, raw_end = -1
    for row in range(n):
        token = at[row]
        if token >= raw_end:
            at[n_left] = token
            n_left += 1
            if is_raw[number[token]] and kind[token] == OPEN:
                raw_end = partner[token]
    return n_left


cdef array _partner_rows(const int* at, Py_ssize_t n, const int[::1] partner):
    """The row of the partner of each tag in *at*, or -1."""
    cdef array rows = clone(_INT32S, n, False), row_of = clone(_INT32S, partner.shape[0], False)
    cdef Py_ssize_t row, other
    memset(row_of.data.as_ints, -1, partner.shape[0] * sizeof(int))
    for row in range(n):
        row_of.data.as_ints[at[row]] = <int> row
    for row in range(n):
        other = partner[at[row]]
        if not -1 <= other < partner.shape[0]:
            raise ValueError(f"the partner of token {at[row]} is {other}")
        rows.data.as_ints[row] = row_of.data.as_ints[other] if other >= 0 else -1
    return rows


cdef array _rows_around(bytearray opening, array partners):
    """The row of the element around each tag, or -1; a closing tag is inside its own."""
    cdef const char* opens = PyByteArray_AS_STRING(opening)
    cdef const int* partner = partners.data.as_ints
    cdef array parents = clone(_INT32S, len(opening), False)
    cdef int* parent = parents.data.as_ints
    cdef int around = -1, row
    for row in range(len(opening)):
        parent[row] = around
        if opens[row] and partner[row] > row:
            around = row
        elif not opens[row] and 0 <= partner[row] < row:
            parent[row] = partner[row]
            around = parent[partner[row]]
    return parents


cdef tuple _opening_rows(bytearray numbers, bytearray opening, const uint8_t* list_of):
    """The rows of all opening tags, and lists of those of some numbers, the first of them empty."""
    cdef const uint8_t* number = <const uint8_t*> PyByteArray_AS_STRING(numbers)
    cdef const char* opens = PyByteArray_AS_STRING(opening)
    cdef array every = clone(_INT32S, len(numbers), False), one
    cdef list found = []
    cdef int n_found[256]
    cdef int* items[256]
    cdef int row, n = 0, which, n_lists = 0
    memset(n_found, 0, sizeof(n_found))
    for row in range(len(numbers)):
        every.data.as_ints[n] = row
        n += opens[row]
        n_found[list_of[number[row]]] += opens[row]
    resize(every, n)
    n_found[0] = 0
    for which in range(256):
        n_lists = max(n_lists, list_of[which] + 1)
    for which in range(n_lists):
        one = clone(_INT32S, n_found[which], False)
        items[which] = one.data.as_ints
        found.append(one)
        n_found[which] = 0
    for row in every:
        which = list_of[number[row]]
        if which:
            items[which][n_found[which]] = row
            n_found[which] += 1
    return every, found


def nesting(const uint64_t[::1] token_id not None):
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
