# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What numpy has no step for: nesting, equal numbers, and looks at characters here and there.

Arrays come as bytes and are returned as `array.array`. Each function is the inner loop of one of
Python, which is its oracle: one of `tokenizer`, `nesting.nesting`, `elements.nearest`, one of
`metadata.token_tree`, three of `hashing`, `shared_words` and `occurrences.occurrences`, and those
of `sites.counts`, `sites.observation` and `sites.evidence`.
"""

cimport cython
from cpython.array cimport array, clone, resize
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ
from libc.math cimport log, log1p, rint, sqrt
from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

# A character as it is stored: one, two or four bytes, the same in a whole text.
ctypedef fused char_t:
    const uint8_t
    const uint16_t
    const uint32_t

cdef enum:
    OPEN = 0
    CLOSE = 1  # the greatest kind of a tag; see `tokens`

ctypedef fused number_t:
    uint32_t
    uint64_t

cdef array _INT32S = array("i")
cdef array _COUNTS = array("q")
cdef array _HASHES = array("Q")
cdef array _UINT32S = array("I")
cdef array _FLOATS = array("d")
cdef array _SHORT_FLOATS = array("f")


def nearest(bytes parents not None, bytes chosen not None):
    """For each token the innermost of the *chosen* elements around it, or -1.

    *parents* has the most recent unclosed tag before each, an int32 each, *chosen* a byte each.
    """
    cdef const int* parent = <const int*> <const char*> parents
    cdef const uint8_t* is_chosen = chosen
    cdef Py_ssize_t n = min(len(parents) // sizeof(int), len(chosen)), i
    cdef array found = clone(_INT32S, n, False)
    cdef int* around = found.data.as_ints
    for i in range(n):
        if parent[i] >= i:
            raise ValueError(f"the parent of token {i} is {parent[i]}")
        if parent[i] < 0:
            around[i] = -1
        elif is_chosen[parent[i]]:
            around[i] = parent[i]
        else:
            around[i] = around[parent[i]]
    return found


def tag_rows(
    const uint8_t[::1] kind not None, const uint8_t[::1] number not None,
    const int[::1] start not None, const int[::1] end not None,
    const int[::1] partner not None, bytes raw not None, bytes lists not None,
):
    """The tags among tokens, one row each, but those inside of raw text.

    *kind* and *number* are of the tokens, *start* and *end* where each is, *partner* the token that
    ends its element or begins it, or -1. *raw* has a byte for each number of a tag, whether its
    content is raw text, and *lists* in which list its opening tags are. Of the rows come back:
    number, whether it opens, start, end, the row of its partner, and that of the element around it;
    then the rows of all opening tags, and the lists with some of them, of which the first is empty.
    """
    cdef Py_ssize_t n_tokens = kind.shape[0], n = 0, row, i
    if number.shape[0] != n_tokens or partner.shape[0] != n_tokens or (
        start.shape[0] != n_tokens or end.shape[0] != n_tokens
    ):
        raise ValueError(f"the columns are not those of {n_tokens} tokens")
    if len(raw) != 256 or len(lists) != 256:
        raise ValueError(f"{len(raw)} and {len(lists)} bytes for 256 numbers of tags")
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


def kinds_and_tags(bytes ids not None, int kind_bits, int tag_bits):
    """The kind of each of *ids* (a uint64 each), and of those of a tag its number; a byte each.

    The kind is in the lowest bits, the number in those that follow.
    """
    cdef const uint64_t* each = <const uint64_t*> <const char*> ids
    cdef Py_ssize_t n = len(ids) // sizeof(uint64_t), i
    cdef uint64_t kind_mask = (1 << kind_bits) - 1, tag_mask = (1 << tag_bits) - 1
    cdef bytearray kinds = bytearray(n), tags = bytearray(n)
    cdef char* kind = PyByteArray_AS_STRING(kinds)
    cdef char* tag = PyByteArray_AS_STRING(tags)
    for i in range(n):
        kind[i] = each[i] & kind_mask
        tag[i] = each[i] >> kind_bits & tag_mask if each[i] & kind_mask <= CLOSE else 0
    return kinds, tags


def nest(bytes kinds not None, bytes tags not None, int opening, int closing):
    """For each token the most recent unclosed tag when it ends, and its partner; -1 for none.

    *kinds* has what each token is, of which two numbers are *opening* and *closing*, *tags* the
    number of each tag's name: a byte a token.
    """
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* names = tags
    cdef Py_ssize_t n = min(len(kinds), len(tags)), at
    cdef array tops = clone(_INT32S, n, False), partners = clone(_INT32S, n, False)
    cdef array stack = clone(_INT32S, n, False)
    cdef int* top = tops.data.as_ints
    cdef int* partner = partners.data.as_ints
    cdef int* open_tags = stack.data.as_ints
    cdef Py_ssize_t depth = 0
    cdef Py_ssize_t n_open[256]
    memset(n_open, 0, sizeof(n_open))
    for at in range(n):
        partner[at] = -1
        if kind[at] == opening:
            open_tags[depth] = <int> at
            depth += 1
            n_open[names[at]] += 1
        elif kind[at] == closing and n_open[names[at]]:
            while True:
                depth -= 1
                n_open[names[open_tags[depth]]] -= 1
                if names[open_tags[depth]] == names[at]:
                    break
            partner[at] = open_tags[depth]
            partner[open_tags[depth]] = <int> at
        top[at] = open_tags[depth - 1] if depth else -1
    return tops, partners


# --- short strings in a text --------------------------------------------------------------------

cdef enum:
    BLOCK = 3  # characters by which a place is told
    BLOCK_BITS = 12
    MAX_PLACES = 128  # for a byte to number them

cdef struct Sought:
    const uint8_t* text
    Py_ssize_t size
    Py_ssize_t end  # of the last that was found

cdef struct Place:
    int8_t string  # its number
    int8_t offset  # of the block in it
    int8_t following  # the next place with the same block, or -1


cdef class _Search:
    """A look at every so many characters: as many as the shortest string has blocks.

    Whatever the string, one of its first blocks is where the search looks.
    """

    cdef list wanted
    cdef Py_ssize_t step
    cdef Sought sought[MAX_PLACES]
    cdef Place places[MAX_PLACES]
    cdef int8_t first[1 << BLOCK_BITS]  # the first place that has each block, or -1

    def __cinit__(self, list wanted not None):
        cdef Py_ssize_t number, offset, n_places = 0
        cdef bytes each
        self.wanted = wanted
        self.step = min(map(len, wanted), default=0) - BLOCK + 1
        if self.step < 1 or self.step * len(wanted) > MAX_PLACES:
            raise ValueError(f"cannot seek {wanted!r}: too many, or shorter than {BLOCK}")
        memset(self.first, -1, sizeof(self.first))
        for number, each in enumerate(wanted):
            self.sought[number] = Sought(each, len(each), 0)
            for offset in range(self.step):
                block = _block(<const uint8_t*> each, offset)
                self.places[n_places] = Place(number, offset, self.first[block])
                self.first[block] = n_places
                n_places += 1

    cdef int run(self, char_t* text, Py_ssize_t n, list found) except -1:
        cdef Py_ssize_t at = 0, step = self.step
        cdef const int8_t* first = self.first
        while at <= n - BLOCK:
            if first[_block(text, at)] >= 0:
                self.look(text, n, at, first[_block(text, at)], found)
            at += step
        return 0

    cdef int look(
        self, char_t* text, Py_ssize_t n, Py_ssize_t at, int number, list found
    ) except -1:
        """Note which strings *text* has around *at*; *number* is the block's first place."""
        cdef Place* place
        cdef Sought* sought
        cdef Py_ssize_t start
        while number >= 0:
            place = &self.places[number]
            number = place.following
            sought = &self.sought[place.string]
            start = at - place.offset
            if sought.end <= start <= n - sought.size and _is_same(text + start, sought):
                (<list> found[place.string]).append(start)
                sought.end = start + sought.size
        return 0


cdef inline int _block(char_t* text, Py_ssize_t at):
    cdef uint32_t mixed = text[at] | <uint32_t> text[at + 1] << 8 | <uint32_t> text[at + 2] << 16
    if sizeof(text[0]) == 1:  # a fourth, the zero after the end at last, makes it one load
        mixed |= <uint32_t> text[at + 3] << 24
    return (mixed << 8) * 0x9E3779B1u >> (32 - BLOCK_BITS)


cdef bint _is_same(char_t* text, Sought* sought):
    cdef Py_ssize_t i
    for i in range(sought.size):
        if text[i] != sought.text[i]:
            return False
    return True


def occurrences(str text not None, wanted not None):
    """The offsets of each of the *wanted* strings, which are ASCII, in *text*."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef _Search search = _Search([each.encode("ascii") for each in wanted])
    cdef list found = [[] for _ in wanted]
    if PyUnicode_KIND(text) == 1:
        search.run(<const uint8_t*> PyUnicode_DATA(text), n, found)
    elif PyUnicode_KIND(text) == 2:
        search.run(<const uint16_t*> PyUnicode_DATA(text), n, found)
    else:
        search.run(<const uint32_t*> PyUnicode_DATA(text), n, found)
    return found


def sorted_groups(bytes keys not None, bytes order not None):
    """The distinct *keys* (a uint64 each), ascending; where each is first, whose each is, how many.

    *order* (an int64 each) is where in the keys the least one is, and so on; of equal ones, the
    first is before the others.
    """
    cdef const uint64_t* key = <const uint64_t*> <const char*> keys
    cdef const int64_t* place = <const int64_t*> <const char*> order
    cdef Py_ssize_t n = len(keys) // sizeof(uint64_t), m = 0, i
    if len(order) != len(keys):
        raise ValueError(f"expected {n} places, got {len(order) // sizeof(int64_t)}")
    for i in range(n):
        if not 0 <= place[i] < n:
            raise ValueError(f"there is no key at {place[i]}")
        m += i == 0 or key[place[i]] != key[place[i - 1]]
    cdef array distinct = clone(_HASHES, m, False), firsts = clone(_COUNTS, m, False)
    cdef array groups = clone(_COUNTS, n, False), sizes = clone(_COUNTS, m, True)
    cdef uint64_t* each = <uint64_t*> distinct.data.as_ulonglongs
    cdef int64_t* first = <int64_t*> firsts.data.as_longlongs
    cdef int64_t* group = <int64_t*> groups.data.as_longlongs
    cdef int64_t* size = <int64_t*> sizes.data.as_longlongs
    m = -1
    for i in range(n):
        if i == 0 or key[place[i]] != key[place[i - 1]]:
            m += 1
            each[m] = key[place[i]]
            first[m] = place[i]
        group[place[i]] = m
        size[m] += 1
    return distinct, firsts, groups, sizes


cdef enum:
    ROW = 4  # counts of a key
    QUANTUM = 256  # parts of one that are counted


@cython.final
cdef class _Table:
    """Counts by key, as `sites.counts.KeyedCounts` has them, ascending."""

    cdef const uint64_t* key
    cdef const float* rows
    cdef const uint32_t* minute
    cdef Py_ssize_t n
    cdef tuple kept

    def __cinit__(self, bytes keys not None, bytes rows not None, bytes minutes not None):
        self.kept = keys, rows, minutes
        self.n = len(keys) // sizeof(uint64_t)
        if len(rows) != self.n * ROW * sizeof(float) or len(minutes) != self.n * sizeof(uint32_t):
            raise ValueError(f"the rows or minutes are not those of {self.n} keys")
        self.key = <const uint64_t*> <const char*> keys
        self.rows = <const float*> <const char*> rows
        self.minute = <const uint32_t*> <const char*> minutes


def merged_counts(tuple one not None, tuple other not None):
    """Two tables of counts added: keys, rows and minutes; of a key in both, the later minute."""
    cdef _Table a = _Table(*one), b = _Table(*other)
    cdef Py_ssize_t i = 0, j = 0, k = 0, place, most = a.n + b.n
    cdef array keys = clone(_HASHES, most, False), rows = clone(_SHORT_FLOATS, most * ROW, False)
    cdef array minutes = clone(_UINT32S, most, False)
    cdef uint64_t* key = <uint64_t*> keys.data.as_ulonglongs
    cdef float* row = rows.data.as_floats
    cdef uint32_t* minute = <uint32_t*> minutes.data.as_uints
    cdef bint in_a, in_b
    while i < a.n or j < b.n:
        in_a = j == b.n or (i < a.n and a.key[i] <= b.key[j])
        in_b = i == a.n or (j < b.n and b.key[j] <= a.key[i])
        key[k] = a.key[i] if in_a else b.key[j]
        for place in range(ROW):
            row[k * ROW + place] = a.rows[i * ROW + place] if in_a else b.rows[j * ROW + place]
        if in_a and in_b:
            for place in range(ROW):
                row[k * ROW + place] += b.rows[j * ROW + place]
        minute[k] = max(a.minute[i] if in_a else 0, b.minute[j] if in_b else 0)
        i += in_a
        j += in_b
        k += 1
    resize(keys, k)
    resize(rows, k * ROW)
    resize(minutes, k)
    return keys, rows, minutes


def found_counts(bytes keys not None, bytes rows not None, bytes wanted not None):
    """The counts of each of the *wanted* keys (a uint64 each), by column, 0 if it is unknown.

    *keys* are ascending, *rows* has four floats for each.
    """
    cdef const uint64_t* key = <const uint64_t*> <const char*> keys
    cdef const float* row = <const float*> <const char*> rows
    cdef const uint64_t* sought = <const uint64_t*> <const char*> wanted
    cdef Py_ssize_t n = len(keys) // sizeof(uint64_t), m = len(wanted) // sizeof(uint64_t)
    cdef Py_ssize_t i, column, low, high, middle
    if len(rows) != n * ROW * sizeof(float):
        raise ValueError(f"the rows are not those of {n} keys")
    cdef array found = clone(_FLOATS, ROW * m, True)
    cdef double* count = found.data.as_doubles
    for i in range(m):
        low, high = 0, n
        while low < high:
            middle = (low + high) // 2
            if key[middle] < sought[i]:
                low = middle + 1
            else:
                high = middle
        if low < n and key[low] == sought[i]:
            for column in range(ROW):
                count[column * m + i] = row[low * ROW + column]
    return found


@cython.cdivision(True)
def observed_texts(bytes firsts not None, bytes once not None, bytes mass not None, double total):
    """The counts of each text of a page: four floats each, in whole parts of ``QUANTUM``.

    *firsts* (int64) is the first block with each, *once* (a byte a block) whether it is the only
    one. *mass* (a double a block) is how much of the article each block is, of *total* in all; with
    a total of 0, nothing is said of places.
    """
    cdef const int64_t* first = <const int64_t*> <const char*> firsts
    cdef const char* is_once = <const char*> once
    cdef const double* share = <const double*> <const char*> mass
    cdef Py_ssize_t m = len(firsts) // sizeof(int64_t), n = len(once), i
    if len(mass) != n * sizeof(double):
        raise ValueError(f"the masses are not those of {n} blocks")
    cdef array rows = clone(_SHORT_FLOATS, m * ROW, True), sums = clone(_FLOATS, n, False)
    cdef float* row = rows.data.as_floats
    cdef double* through = sums.data.as_doubles
    cdef double added = 0, until
    for i in range(n):
        added += share[i]
        through[i] = added
    for i in range(m):
        if not 0 <= first[i] < n:
            raise ValueError(f"there is no block {first[i]}")
        row[i * ROW] = 1
        if total > 0 and is_once[first[i]]:
            until = through[first[i]] / total
            row[i * ROW + 1] = 1
            row[i * ROW + 2] = rint((until - share[first[i]] / total) * QUANTUM) / QUANTUM
            row[i * ROW + 3] = rint((1 - until) * QUANTUM) / QUANTUM
    return rows


@cython.cdivision(True)
def observed_containers(bytes groups not None, bytes sizes not None, bytes inside not None):
    """The counts of each container of a page: one page, and the mean of its blocks.

    *groups* (int64) is the container of each block, *sizes* (int64) how many blocks each has, and
    *inside* (a double a block) what is taken the mean of.
    """
    cdef const int64_t* group = <const int64_t*> <const char*> groups
    cdef const int64_t* size = <const int64_t*> <const char*> sizes
    cdef const double* value = <const double*> <const char*> inside
    cdef Py_ssize_t n = len(groups) // sizeof(int64_t), m = len(sizes) // sizeof(int64_t), i
    if len(inside) != len(groups):
        raise ValueError(f"the values are not those of {n} blocks")
    cdef array rows = clone(_SHORT_FLOATS, m * ROW, True), sums = clone(_FLOATS, m, True)
    cdef float* row = rows.data.as_floats
    cdef double* total = sums.data.as_doubles
    for i in range(n):
        if not 0 <= group[i] < m:
            raise ValueError(f"there is no container {group[i]} of {m}")
        total[group[i]] += value[i]
    for i in range(m):
        row[i * ROW] = 1
        row[i * ROW + 1] = rint(total[i] / size[i] * QUANTUM) / QUANTUM
    return rows


cdef struct Rules:
    double repetition, steepness, neighbours
    double anchors, plenty, few, least
    double unsettled, settled, most
    double lead_words, above_lead
    double novelty, often, many
    double even


@cython.cdivision(True)
cdef inline double _odds(double counts, double of):
    """The log-odds of so many of so many, with half a count more on either side."""
    return log((counts + 0.5) / (max(of - counts, 0) + 0.5))


@cython.cdivision(True)
def site_evidence(
    tuple known not None, tuple page not None, tuple site not None, tuple rules not None
):
    """The log-odds of each block by what is known of its site, but for labels and comments.

    *known* are the counts of the blocks' texts and of their containers, four columns of a double
    each. Of the *page*: its words (int64), the probabilities (double), the texts that occur once
    (a byte), and the groups of blocks in such containers (int64). Of the *site*: its pages, and the
    share of these that is usual for the article. *rules* are the constants in the order of `Rules`.
    """
    cdef bytes texts = known[0], containers = known[1], words = page[0], chances = page[1]
    cdef bytes onces = page[2], groups = page[3]
    cdef Py_ssize_t n = len(words) // sizeof(int64_t), i
    if len(texts) != 4 * n * sizeof(double) or len(containers) != len(texts):
        raise ValueError(f"the counts are not those of {n} blocks")
    if len(chances) != len(words) or len(groups) != len(words) or len(onces) != n:
        raise ValueError(f"the probabilities, groups or marks are not those of {n} blocks")
    cdef const double* text = <const double*> <const char*> texts
    cdef const double* place = <const double*> <const char*> containers
    cdef const int64_t* word = <const int64_t*> <const char*> words
    cdef const double* chance = <const double*> <const char*> chances
    cdef const char* once = <const char*> onces
    cdef const int64_t* group = <const int64_t*> <const char*> groups
    cdef double pages = site[0], usual = site[1]
    cdef Rules r
    (r.repetition, r.steepness, r.neighbours, r.anchors, r.plenty, r.few, r.least) = rules[:7]
    (r.unsettled, r.settled, r.most, r.lead_words, r.above_lead) = rules[7:12]
    (r.novelty, r.often, r.many, r.even) = rules[12:]
    cdef array evidence = clone(_FLOATS, n, True), repeated = clone(_FLOATS, n, False)
    cdef array sums = clone(_FLOATS, 2 * n, True), shares = clone(_FLOATS, n, False)
    cdef double* result = evidence.data.as_doubles
    cdef double* share = repeated.data.as_doubles
    cdef double* in_group = sums.data.as_doubles
    cdef double* on_side = shares.data.as_doubles
    cdef double expected = 0, often = 0, weight, weights = 0, weighted = 0
    for i in range(n):
        if not 0 <= group[i] < n:
            raise ValueError(f"there is no group {group[i]} of {n} blocks")
        share[i] = max(text[i] / pages - usual, 0)
        in_group[2 * group[i]] += word[i]
        in_group[2 * group[i] + 1] += word[i] * share[i]
        expected += word[i] * chance[i]
        if place[i] > r.often * pages:
            often += word[i] * chance[i]
        if place[i] > 0:
            weight = word[i] * chance[i] * chance[i]
            weights += weight
            weighted += weight * (place[n + i] + r.even) / (place[i] + 1)
    _sides(text, once, on_side, n, r.least)
    cdef double like = r.settled * min(weighted / weights, 1) if weights > 0 else 0
    cdef double usual_odds = log(like / (1 - like)) if like > 0 else 0
    cdef double trust = max(2 * often / max(expected, 1) - 1, 0) * pages / (pages + r.many)
    cdef double p, doubt, hints, others, total, below, through = 0
    for i in range(n):
        p = chance[i]
        doubt = 4 * p * (1 - p)
        through += word[i] * p
        result[i] = -r.repetition * log1p(
            r.steepness * (share[i] * sqrt(doubt) if p > r.even else share[i])
        )
        if place[i] == 0:
            result[i] -= r.novelty * trust
        if word[i] >= r.lead_words and text[i] == 0:
            if through - word[i] * p < r.above_lead * expected:
                continue
        others = in_group[2 * group[i]] - word[i]
        total = in_group[2 * group[i] + 1] - word[i] * share[i]
        hints = 0
        if others > 0 and total > 0:
            hints -= r.neighbours * log1p(r.steepness * total / others)
        if on_side[i] < r.plenty:
            hints += r.anchors * log((on_side[i] + r.few) / (r.plenty + r.few))
        if like > 0 and place[i] > 0:
            below = _odds(place[n + i], place[i]) - usual_odds
            if below < 0:
                below = max(r.unsettled * below, -r.most) * place[i] / (place[i] + 2)
                hints += below / (place[2 * n + i] + 1)
        result[i] += hints * doubt
    return evidence


@cython.cdivision(True)
cdef void _sides(
    const double* text, const char* once, double* share, Py_ssize_t n, double least
):
    """The least share of the article that texts above a block have after them, or those below it
    before them, of other pages."""
    cdef Py_ssize_t i
    cdef double beyond = 1
    for i in range(n):
        share[i] = beyond
        if once[i] and text[n + i] >= least:
            beyond = min(beyond, (text[3 * n + i] + 0.5) / (text[n + i] + 1))
    beyond = 1
    for i in range(n - 1, -1, -1):
        share[i] = min(share[i], beyond)
        if once[i] and text[n + i] >= least:
            beyond = min(beyond, (text[2 * n + i] + 0.5) / (text[n + i] + 1))
