"""The kept tokens of a page as tags and runs of text between them, and what is between two runs.

The steps in Python of `rendering` and `output.sanitizing` are the oracle.
"""

cdef enum:
    TEXT = 2  # the kind of a run of text
    APART = 1  # what is between a piece and the one before
    GAP = 2


cdef struct Part:
    int kind, joint, tag, first, partner, begin, end


cdef Py_ssize_t _first_kept(const uint8_t[::1] is_kept) noexcept:
    """Where the first token is that is kept; the end if none is."""
    cdef Py_ssize_t n = is_kept.shape[0]
    cdef const uint8_t* found = <const uint8_t*> memchr(&is_kept[0], 1, n) if n else NULL
    return found - &is_kept[0] if found else n


cdef int _cut(tokens, const uint8_t[::1] is_kept, _Stack stack) except -1:
    """Write the kept tags, and the runs of text between them, with what is before each.

    Pieces are apart where white space was between them, or a tag of a block that is not kept: 1
    where tokens were left out, 2 between neighbours, else 0.
    """
    cdef const uint8_t[::1] kind = tokens.kind, tag = tokens.tag
    cdef const int[::1] start = tokens.clean_start, end = tokens.clean_end, partner = tokens.partner
    cdef Py_ssize_t n = kind.shape[0], i, first = -1, before = -1
    cdef int joint = 0
    cdef bint is_cut
    _check_sizes(
        n, (tag.shape[0], is_kept.shape[0], start.shape[0], end.shape[0], partner.shape[0])
    )
    while n and not is_kept[n - 1]:
        n -= 1
    for i in range(_first_kept(is_kept), n):
        if first >= 0 and not (is_kept[i] and kind[i] > CLOSE):  # the end of a run of text
            stack.add(Part(TEXT, joint, 0, first, -1, start[first], end[i - 1]))
            before = i - 1
            first = -1
            joint = 0
        if first >= 0:
            continue
        if start[i] > (end[i - 1] if i else 0) or (
            not is_kept[i] and kind[i] <= CLOSE and stack.is_block(tag[i])
        ):
            joint = APART
        if not is_kept[i]:
            continue
        joint = 0 if before < 0 else GAP if joint and before == i - 1 else joint
        if kind[i] > CLOSE:
            first = i
            continue
        _check(partner[i] + 1, is_kept.shape[0] + 1)
        is_cut = stack.add(Part(kind[i], joint, tag[i], i, partner[i], start[i], end[i]))
        if is_cut and partner[i] >= 0 and not is_kept[partner[i]]:
            stack.close_before(tag[i], start[partner[i]], end[partner[i]])
        elif is_cut and stack.is_block(tag[i]):
            stack.parts.append(" ")
        before = i
        joint = 0
    if first >= 0:
        stack.add(Part(TEXT, joint, 0, first, -1, start[first], end[n - 1]))
    stack.close_from(0)
    return 0


cdef enum:
    MAX_OPEN = 256  # elements in one another


cdef class Nesting:
    """How kept tokens become HTML that is well nested: a stack, and tables of what it obeys.

    *flags* has a byte for each number of a tag: what it is, by the bits below. *shown* and
    *instead* have the number of what it becomes: the first as a rule, the second where a part of a
    table is in none; 255 is nothing. *classes* has four bit sets for each number (uint32): the
    classes that it is in, those that its opening tag closes, those that shield from that, and those
    that are around it where parsers have no rule of their own; 0 for any.
    *of_text* are what text in a row of a table closes, and what shields from that. *paragraph* is
    the number of a p, *preformatted* that of a pre. By the numbers of what is shown, too, are
    *names*, and of each the *attributes* (bytes, in lower case) and its *opening* tag without any.
    *with_escaped* is what writes one with some.
    """

    cdef bytes tables
    cdef bytes classes
    cdef tuple names
    cdef list opening, closing, attributes
    cdef object with_escaped
    cdef uint32_t closed_by_text, shield_from_text
    cdef int paragraph, preformatted

    def __init__(
        self, bytes flags not None, bytes shown not None, bytes instead not None,
        bytes classes not None, names, opening, attributes, tuple of_text not None, int paragraph,
        int preformatted, with_escaped,
    ):
        _check_sizes(256, (len(flags), len(shown), len(instead)))
        _check_sizes(256 * 4 * 4, (len(classes),))
        self.tables = flags + shown + instead
        self.classes = classes
        self.names = tuple(names)
        self.opening = list(opening)
        self.closing = [f"</{name}>" for name in names]
        self.attributes = [tuple(each) for each in attributes]
        self.closed_by_text, self.shield_from_text = of_text
        self.paragraph, self.preformatted = paragraph, preformatted
        self.with_escaped = with_escaped
        _check_sizes(len(self.opening), (len(self.closing), len(self.attributes)))
        _check(max(each for each in shown + instead if each != NOTHING), len(self.opening))

    def __call__(self, builder):
        """Write the parts of the HTML, and the tags that belong before them, the last one first.

        See `sanitizing._write`; the *builder* is asked for the HTML of a text with "<", ">", "&"
        or a no-break space in it, and for attributes with their addresses as they may be shown.
        """
        cdef int depth = builder.depth
        _check(depth, MAX_OPEN + 1)
        cdef _Stack stack = _Stack(self, builder)
        _cut(builder.tokens, builder.kept.view("u1"), stack)
        builder.has_controls = stack.has_controls != 0
        if not stack.reads_back:
            builder.reads_back = False


cdef enum:  # what an element is
    BLOCK = 1
    VOID = 2
    PART_OF_TABLE = 4
    ROW = 8  # of a table: what has no text of its own
    TABLE = 16
    OF_RULES = 32  # what parsers have rules of their own for
    HEADING = 64
    LINK = 128
    NOTHING = 255  # the number of no tag


@cython.final
cdef class _Stack:
    """The elements that are open: what each is called, and the token that closes it."""

    cdef Nesting rules
    cdef str text
    cdef object addresses, words
    cdef list parts, front
    cdef const uint8_t* flags
    cdef const uint8_t* shown
    cdef const uint8_t* instead
    cdef const uint32_t* classes
    cdef int names[MAX_OPEN]
    cdef int partners[MAX_OPEN]
    cdef int n, depth, n_tables, n_paragraphs, end_before
    cdef int last  # the last element that was opened, until there is text
    cdef bint reads_back  # whether a parser makes the same of what is written
    cdef int has_controls  # whether any of that is a character that no page shows
    cdef int written  # the flags of all elements so far

    def __cinit__(self, Nesting rules, builder):
        cdef bytes tables = rules.tables, classes = rules.classes
        self.rules, self.text, self.depth = rules, builder.tokens.clean, builder.depth
        self.parts, self.front = builder.parts, builder.front
        self.addresses, self.words = builder.with_addresses, builder.html_of
        self.flags = tables
        self.shown = self.flags + 256
        self.instead = self.flags + 512
        self.classes = <const uint32_t*> <const char*> classes
        self.reads_back, self.last = True, NOTHING

    cdef bint is_block(self, int tag):
        return self.flags[tag] & BLOCK

    cdef bint add(self, Part piece) except -1:
        """Write a piece; whether it is a closing tag that closes nothing."""
        cdef str between
        if piece.joint and self.parts:
            between = " "
            if piece.joint == GAP:
                between = PyUnicode_Substring(self.text, self.end_before, piece.begin)
            if not between.isspace():
                between = " "
            elif self.is_in_row() and not between.isascii():
                self.reads_back = False
            self.add_words(between)
        self.end_before = piece.end
        if piece.kind == TEXT:
            if self.is_in_row():
                self.close_from(
                    self.place(self.rules.closed_by_text, self.rules.shield_from_text)
                )
            self.add_words(PyUnicode_Substring(self.text, piece.begin, piece.end))
        elif piece.kind < CLOSE:
            self.open(piece)
        else:
            return not self.close(piece)
        return False

    cdef int add_words(self, str text) except -1:
        cdef int marks = _marks_of(text)
        if marks & ESCAPED:
            text = self.words(text)
            marks = _marks_of(text)
        if self.last == self.rules.preformatted and text.startswith("\n"):
            self.reads_back = False
        self.last = NOTHING
        self.has_controls |= marks & CONTROL
        self.parts.append(text)
        return 0

    cdef int open(self, Part piece) except -1:
        cdef int name = self.shown_as(piece.tag), first = 0
        cdef bint is_block = self.is_block(piece.tag)
        if is_block and self.n_paragraphs:
            while self.names[first] != self.rules.paragraph:
                first += 1
            self.close_from(first)
        if name == NOTHING:
            pass
        elif self.classes[4 * name + 1]:
            self.close_from(self.place(self.classes[4 * name + 1], self.classes[4 * name + 2]))
        elif piece.partner < 0 and not self.flags[name] & VOID:
            name = self.rules.paragraph if is_block else NOTHING  # nobody knows where it ends
        if name == NOTHING or not self.has_room_for(name):
            self.parts.append(" " if is_block else "")
            return 0
        self.parts.append(self.opening(name, piece.begin, piece.end))
        if self.is_of_rules(name):
            self.reads_back = False
        self.written |= self.flags[name]
        self.last = name
        if not self.flags[name] & VOID:
            self.names[self.n], self.partners[self.n] = name, piece.partner
            self.n += 1
            self.n_tables += (self.flags[name] & TABLE) != 0
            self.n_paragraphs += name == self.rules.paragraph
        return 0

    cdef bint close(self, Part piece) except -1:
        """Close the element that the tag ends; False if none that is open does."""
        cdef int i
        for i in range(self.n):
            if self.partners[i] == piece.first:
                self.close_from(i)
                return True
        return False

    cdef int close_before(self, int tag, int start, int end) except -1:
        """Close an element that began before all that is kept, from *start* to *end*."""
        cdef int name = self.shown_as(tag)
        if name != NOTHING and not self.n and len(self.front) < self.depth:
            self.front.append(self.opening(name, start, end))
            self.note_front(name)
            self.parts.append(self.rules.closing[name])
        elif self.is_block(tag):
            self.parts.append(" ")
        return 0

    cdef bint is_of_rules(self, int name):
        """Whether parsers have a rule of their own for an element in what is open."""
        cdef int i, flags = self.flags[name]
        cdef int around = self.names[self.n - 1] if self.n else NOTHING
        if flags & LINK:
            for i in range(self.n):
                if self.flags[self.names[i]] & LINK:
                    return True
        return flags & OF_RULES or flags & self.flags[around] & HEADING or (
            self.classes[4 * name + 3] and not self.classes[4 * around] & self.classes[4 * name + 3]
        )

    cdef void note_front(self, int name):
        """Note an element that was cut in two, and is around all that was written so far."""
        cdef int flags = self.flags[name]
        cdef bint has_no_blocks = (
            flags & HEADING or name == self.rules.paragraph or self.classes[4 * name + 1] != 0
        )
        if flags & (OF_RULES | TABLE | VOID) or name == self.rules.preformatted or (
            (has_no_blocks and self.written & BLOCK) or flags & self.written & LINK
        ):
            self.reads_back = False
        self.written |= flags

    cdef int close_from(self, int depth) except -1:
        cdef int name
        while self.n > depth:
            self.n -= 1
            name = self.names[self.n]
            self.n_tables -= (self.flags[name] & TABLE) != 0
            self.n_paragraphs -= name == self.rules.paragraph
            self.parts.append(self.rules.closing[name])
        return 0

    cdef int place(self, uint32_t classes, uint32_t shields):
        """Where the first of some classes is open inside the last of the shields; else the end."""
        cdef int found = self.n, at = self.n - 1
        while at >= 0 and not self.classes[4 * self.names[at]] & shields:
            if self.classes[4 * self.names[at]] & classes:
                found = at
            at -= 1
        return found

    cdef int shown_as(self, int tag):
        if self.flags[tag] & PART_OF_TABLE and not self.n_tables:
            return self.instead[tag]
        return self.shown[tag]

    cdef bint has_room_for(self, int name):
        """In a row of a table only the next part of it has room."""
        return self.n < self.depth and (
            not self.is_in_row() or self.flags[name] & PART_OF_TABLE
        )

    cdef bint is_in_row(self):
        """Whether what is open is a part of a table that has no text of its own."""
        return self.n and self.flags[self.names[self.n - 1]] & ROW

    cdef str opening(self, int name, int start, int end):
        """An opening tag with the attributes of that from *start* to *end* that are allowed."""
        cdef str plain = self.rules.opening[name], tag = self.rules.names[name], written = ""
        cdef tuple names = self.rules.attributes[name]
        cdef list values = [None] * len(names), order = []
        cdef Lower sought[MAX_NAMES]
        cdef int marks = 0
        if end - start < SHORTEST_ATTRIBUTE:
            return plain
        _point(sought, names)
        _pick(self.text, start, min(end, start + LONGEST_TAG), sought, values, order)
        if not order:
            return plain
        kept = self.addresses({(<bytes> names[i]).decode(): values[i] for i in order})
        for key, value in kept.items():
            marks |= _marks_of(value)
            written += f' {key}="{value}"'
        self.has_controls |= marks & CONTROL
        if marks & (ESCAPED | QUOTE):
            return self.rules.with_escaped(tag, kept)
        return f"<{tag}{written}{plain[len(tag) + 1:]}"


cdef enum:  # of tags, as `sanitizing` has it
    SHORTEST_ATTRIBUTE = 8
    LONGEST_TAG = 1 << 16

cdef enum:  # what a character is
    ESCAPED = 1  # what HTML escapes
    CONTROL = 2  # what no page shows
    QUOTE = 4

cdef uint8_t _MARKS[0x100]
for _letter in (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)):
    _MARKS[_letter] = CONTROL
for _letter in map(ord, "<>&\xa0"):
    _MARKS[_letter] = ESCAPED
_MARKS[c'"'] = QUOTE


cdef int _marks_of(str text):
    """What any of the characters is."""
    cdef int found = 0, kind = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef uint32_t letter
    cdef Py_ssize_t i
    for i in range(PyUnicode_GET_LENGTH(text)):
        letter = PyUnicode_READ(kind, data, i)
        if letter < 0x100:
            found |= _MARKS[letter]
        elif 0xD800 <= letter <= 0xDFFF:
            found |= CONTROL
    return found


def decode_all(str text not None):
    """*text* with its character references decoded."""
    cdef const void* data = PyUnicode_DATA(text)
    if PyUnicode_KIND(text) == 1:
        return _decode_all(<const uint8_t*> data, text)
    if PyUnicode_KIND(text) == 2:
        return _decode_all(<const uint16_t*> data, text)
    return _decode_all(<const uint32_t*> data, text)


cdef str _decode_all(char_t* text, str source):
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(source), begin = 0, end, at = _find(text, 0, n, c"&")
    cdef list parts = []
    while at < n:
        end = _reference_end(text, at, n)
        if end > at:
            parts += PyUnicode_Substring(source, begin, at), decode(source[at:end])
            begin = end
        at = _find(text, max(end, at + 1), n, c"&")
    return "".join([*parts, PyUnicode_Substring(source, begin, n)]) if parts else source


# --- the text of slices as it is shown ----------------------------------------------------------

cdef enum:  # what is before a run of text, and what a tag does to that, as `rendering` has it
    PARAGRAPH = 2  # how much a text breaks at most between two runs
    SPACE_ALONE = 3  # what is there if it does not
    JOINT = 3
    OF_LIST = 4
    OPENS_ITEM = 16
    OPENS = 0x70  # that and more, of opening tags alone


@cython.final
cdef class TextRuns:
    """The columns of `rendering.Runs`.

    *roles* (256 bytes) is what a tag does to a gap, by its number. A run with a "<" or a "&" is
    what *decode* makes of it. All have one space for white space in a row, and none at either end.
    """

    cdef bytes roles
    cdef object decode

    def __init__(self, bytes roles not None, decode):
        self.roles, self.decode = roles, decode
        _check_sizes(256, (len(roles),))

    def __call__(self, tokens, kept):
        cdef const uint8_t[::1] kind = tokens.kind, tag = tokens.tag, is_kept = kept.view("u1")
        cdef const int[::1] start = tokens.clean_start, end = tokens.clean_end
        cdef const uint8_t* role_of = self.roles
        cdef Py_ssize_t n = kind.shape[0], i, n_runs = 0
        cdef int level = 0, marks = 0, role
        cdef bint blank = False, are_printable = True
        cdef bytearray room = bytearray(), gaps = bytearray(n // 2 + 1)
        cdef list texts = []
        cdef str text, clean = tokens.clean
        starts, ends = numpy.empty(n // 2 + 1, "p"), numpy.empty(n // 2 + 1, "p")
        cdef Py_ssize_t[::1] first = starts, after = ends
        cdef uint8_t* gap = gaps
        _check_sizes(n, (tag.shape[0], is_kept.shape[0], start.shape[0], end.shape[0]))
        while n and not is_kept[n - 1]:
            n -= 1
        i = _first_kept(is_kept)
        while i < n and not (is_kept[i] and kind[i] > CLOSE):
            i += 1
        while i > 0 and kind[i - 1] <= CLOSE:
            i -= 1
        while i < n:
            blank = blank or (i > 0 and start[i] > end[i - 1])
            if is_kept[i] and kind[i] > CLOSE:
                level = level if level else SPACE_ALONE * blank
                gap[n_runs] = <uint8_t> (marks | (level if n_runs else 0))
                first[n_runs] = i
                while i < n and is_kept[i] and kind[i] > CLOSE:
                    i += 1
                after[n_runs] = i
                n_runs += 1
                level = blank = marks = 0
                continue
            if kind[i] <= CLOSE:
                role = role_of[tag[i]] & ~(OPENS * kind[i])
                level = min(level + (role & JOINT), PARAGRAPH)
                marks = role & ~JOINT | (marks & ~OPENS_ITEM if role & OF_LIST else marks)
            i += 1
        for i in range(n_runs):
            text = _spaced(clean, start[first[i]], end[after[i] - 1], NOT_SHOWN, room)
            if text is None:
                text = self.decode(clean[start[first[i]]:end[after[i] - 1]])
                text = _spaced(text, 0, len(text), 0, room)
                are_printable = are_printable and text.isprintable()
            texts.append(text)
        runs = starts[:n_runs].copy(), ends[:n_runs].copy()
        return *runs, bytes(gaps[:n_runs]), texts, are_printable


cdef str _spaced(str text, Py_ssize_t start, Py_ssize_t end, uint8_t refused, bytearray room):
    """A slice of *text*, None if a character is *refused*; *room* grows to hold it."""
    cdef int kind = PyUnicode_KIND(text)
    cdef Py_ssize_t size
    _check_place(start, end, PyUnicode_GET_LENGTH(text))
    if len(room) < kind * (end - start):
        PyByteArray_Resize(room, 2 * kind * (end - start))
    cdef void* data = PyUnicode_DATA(text)
    cdef void* into = <char*> room
    if kind == 1:
        size = _space(<const uint8_t*> data, start, end, refused, <uint8_t*> into)
    elif kind == 2:
        size = _space(<const uint16_t*> data, start, end, refused, <uint16_t*> into)
    else:
        size = _space(<const uint32_t*> data, start, end, refused, <uint32_t*> into)
    return PyUnicode_FromKindAndData(kind, into, size) if size >= 0 else None


cdef Py_ssize_t _space(
    const written_t* text, Py_ssize_t start, Py_ssize_t end, uint8_t refused, written_t* into
) noexcept:
    """Copy a slice of *text*, spaced; how long it is then, or -1 if a character is *refused*."""
    cdef Py_ssize_t i, n = 0
    cdef uint8_t found, before = BLANK_SHOWN, all_found = 0
    for i in range(start, end):  # without a branch: none could be foretold
        found = _SHOWN_AS[text[i]] if text[i] < 0x100 else _shown_as(text[i])
        into[n] = 0x20 if found & BLANK_SHOWN else text[i]
        n += not found & before & BLANK_SHOWN
        all_found |= found
        before = found
    if all_found & refused:
        return -1
    return n - 1 if n and into[n - 1] == 0x20 else n


cdef enum:  # how a character of a text is shown
    BLANK_SHOWN = 1
    NOT_SHOWN = 2  # or begins what stands for something else

cdef uint8_t _SHOWN_AS[0x100]


cdef inline uint8_t _shown_as(uint32_t letter) noexcept:
    cdef uint8_t found = _class(letter)
    if found & (IN_WORD | SPACE):
        return BLANK_SHOWN * (found & SPACE != 0)
    return 0 if Py_UNICODE_ISPRINTABLE(letter) and letter != c"&" and letter != c"<" else NOT_SHOWN


for _letter in range(0x100):
    _SHOWN_AS[_letter] = _shown_as(_letter)


# --- tables of data -----------------------------------------------------------------------------

cdef enum:  # of a gap, as `rendering` has it; and what is between two runs of text in a table
    OPENS_CELL = 32
    OPENS_ROW = 64
    OF_CAPTION = 128
    HAS_ROWS = 1
    HAS_CELLS = 2
    HAS_DATA = HAS_ROWS | HAS_CELLS
    LAYS_OUT = 4


cdef struct Table:
    int first, last, around, flags


def tables_with_rows(bytes roles not None, tokens):
    """`rendering.tables_with_rows`; *roles* (256 bytes) is what a tag does to a gap."""
    cdef const uint8_t[::1] kind = tokens.kind, tag = tokens.tag
    cdef const int[::1] partner = tokens.partner
    cdef const uint8_t* role_of = roles
    cdef int n = <int> kind.shape[0], m = 0, i, gap = 0, left = -1, inner = -1
    cdef bint in_run = False
    _check_sizes(n, (tag.shape[0], partner.shape[0]))
    _check_sizes(256, (len(roles),))
    for i in range(n):
        m += tag[i] == _TABLE
    cdef array room = clone(_INT32S, m * (sizeof(Table) // sizeof(int)), True)
    cdef Table* tables = <Table*> room.data.as_ints
    m = 0
    for i in range(n):
        if kind[i] > CLOSE:
            if inner >= 0 and not in_run:
                _cross(tables, left, inner, gap)
                left, gap, in_run = inner, 0, True
            continue
        in_run = False
        gap |= role_of[tag[i]] & ~(OPENS * kind[i])
        if kind[i] == OPEN and tag[i] == _TABLE and partner[i] >= 0:
            tables[m] = Table(i, partner[i], inner, 0)
            inner, m = m, m + 1
        elif inner >= 0 and tables[inner].last == i:
            inner = tables[inner].around
    found = [(tables[i].first, tables[i].last) for i in range(m) if tables[i].flags == HAS_DATA]
    return tuple(numpy.array(found, "p").reshape(-1, 2).T)


cdef void _cross(Table* tables, int left, int right, int gap):
    """Note what a *gap* tells of the tables that the runs of text around it are in."""
    if left == right:
        if gap & OPENS_CELL and not gap & OF_CAPTION:
            tables[left].flags |= HAS_ROWS if gap & OPENS_ROW else HAS_CELLS
        elif gap & JOINT and not gap & OF_CAPTION:  # more lines in a cell
            tables[left].flags |= LAYS_OUT
    elif left >= 0:  # a table in a cell
        if tables[right].around == left:
            tables[left].flags |= LAYS_OUT
        if tables[left].around == right:
            tables[right].flags |= LAYS_OUT
