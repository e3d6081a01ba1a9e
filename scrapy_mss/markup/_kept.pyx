# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The kept tokens of a page as tags and runs of text between them, and what is between two runs.

See `kept_pieces`, `text_runs` and `slice_texts`, whose steps are the oracle.
"""

from cpython.array cimport array, clone, resize
from cpython.bytearray cimport PyByteArray_Resize
from cpython.unicode cimport (
    Py_UNICODE_ISPRINTABLE, Py_UNICODE_ISSPACE, PyUnicode_DATA, PyUnicode_FromKindAndData,
    PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_Substring,
)
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

# A character as it is stored: one, two or four bytes, the same in a whole text.
ctypedef fused char_t:
    uint8_t
    uint16_t
    uint32_t

cdef array _INT64S = array("q")

cdef enum:
    CLOSE = 1  # the greatest kind of a tag; see `tokens`
    TEXT = 2  # the kind of a run of text
    APART = 1  # what is between a piece and the one before
    GAP = 2


def pieces(tuple columns not None, tuple places not None, bytes blocks not None):
    """A row a piece: kind, what is before it, tag, first token, its partner, place in the text.

    *columns* are kinds, tags and marks of what is kept, a byte a token; *places* where tokens begin
    and end in the text and their partners, an int32 each; *blocks* has a byte for each number of a
    tag. Pieces are apart where white space was between them, or a tag of a block that is not kept:
    1 where tokens were left out, 2 between neighbours, else 0.
    """
    cdef bytes kinds = columns[0], tags = columns[1], kept = columns[2]
    cdef bytes starts = places[0], ends = places[1], partners = places[2]
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* tag = tags
    cdef const uint8_t* is_kept = kept
    cdef const uint8_t* is_block = blocks
    cdef const int* start = <const int*> <const char*> starts
    cdef const int* end = <const int*> <const char*> ends
    cdef const int* partner = <const int*> <const char*> partners
    cdef Py_ssize_t n = len(kinds), i, first = -1, before = -1
    cdef int joint = 0
    cdef list found = []
    if len(tags) != n or len(kept) != n or len(blocks) != 256:
        raise ValueError(f"{len(tags)} tags, {len(kept)} marks and {len(blocks)} names for {n}")
    if len(starts) != 4 * n or len(ends) != 4 * n or len(partners) != 4 * n:
        raise ValueError(f"{len(starts)}, {len(ends)} and {len(partners)} bytes of places for {n}")
    for i in range(n):
        if first >= 0 and not (is_kept[i] and kind[i] > CLOSE):  # the end of a run of text
            found.append((TEXT, joint, 0, first, -1, start[first], end[i - 1]))
            before = i - 1
            first = -1
            joint = 0
        if first >= 0:
            continue
        if start[i] > (end[i - 1] if i else 0) or (
            not is_kept[i] and kind[i] <= CLOSE and is_block[tag[i]]
        ):
            joint = APART
        if not is_kept[i]:
            continue
        joint = 0 if before < 0 else GAP if joint and before == i - 1 else joint
        if kind[i] > CLOSE:
            first = i
            continue
        found.append((kind[i], joint, tag[i], i, partner[i], start[i], end[i]))
        before = i
        joint = 0
    if first >= 0:
        found.append((TEXT, joint, 0, first, -1, start[first], end[n - 1]))
    return found


def text_runs(bytes kinds not None, bytes kept not None):
    """Where the runs of *kept* words and symbols begin, and where they end; int64 each.

    *kinds* and *kept* have a byte a token.
    """
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* is_kept = kept
    cdef Py_ssize_t n = len(kinds), i, n_runs = 0
    cdef array firsts = clone(_INT64S, n // 2 + 1, False), ends = clone(_INT64S, n // 2 + 1, False)
    cdef bint inside = False, is_text
    if len(kept) != n:
        raise ValueError(f"{len(kept)} marks for {n} tokens")
    for i in range(n):
        is_text = is_kept[i] and kind[i] > CLOSE
        if is_text and not inside:
            firsts.data.as_longlongs[n_runs] = i
        elif inside and not is_text:
            ends.data.as_longlongs[n_runs] = i
            n_runs += 1
        inside = is_text
    if inside:
        ends.data.as_longlongs[n_runs] = n
        n_runs += 1
    resize(firsts, n_runs)
    resize(ends, n_runs)
    return firsts, ends


def between(tuple tags not None, tuple places not None, tuple runs not None, bytes breaks not None):
    """How much the tags between each run and the next break, and whether white space is there.

    *tags* are kinds and numbers of tags, a byte a token; *places* where tokens begin and end in the
    text, an int32 each; *runs* where those begin and end, an int64 each; *breaks* has a byte for
    each number of a tag. Both results have a byte a gap; no sum of breaks counts above 255.
    """
    cdef bytes kinds = tags[0], numbers = tags[1], first_places = places[0], last_places = places[1]
    cdef bytes firsts = runs[0], ends = runs[1]
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* tag = numbers
    cdef const uint8_t* break_of = breaks
    cdef const int* start = <const int*> <const char*> first_places
    cdef const int* end = <const int*> <const char*> last_places
    cdef const int64_t* first = <const int64_t*> <const char*> firsts
    cdef const int64_t* after = <const int64_t*> <const char*> ends
    cdef Py_ssize_t n = len(kinds), n_runs = len(firsts) // sizeof(int64_t), run, i
    cdef bytearray levels = bytearray(max(n_runs - 1, 0)), blanks = bytearray(max(n_runs - 1, 0))
    cdef int level
    cdef bint blank
    if len(numbers) != n or len(first_places) != 4 * n or len(last_places) != 4 * n:
        raise ValueError(f"the columns are not those of {n} tokens")
    if len(ends) != len(firsts) or len(breaks) != 256:
        raise ValueError(f"{len(firsts)} and {len(ends)} bytes of runs, {len(breaks)} breaks")
    for run in range(n_runs - 1):
        if not 0 < after[run] <= first[run + 1] < n:
            raise IndexError(f"a run ends at {after[run]}, the next begins at {first[run + 1]}")
        level = blank = 0
        for i in range(after[run], first[run + 1] + 1):
            blank |= start[i] > end[i - 1]
            if i < first[run + 1] and kind[i] <= CLOSE:
                level = min(level + break_of[tag[i]], 255)
        levels[run], blanks[run] = level, blank
    return levels, blanks


def spaced(str text not None, bytes starts not None, bytes ends not None, decode):
    """The slices of *text* with one space for all white space in a row, and none at either end.

    They are from each of *starts* to *ends* (int32 each). One with a "<" or a "&" is what *decode*
    makes of it. None is for what has a character that is neither printable nor white space.
    """
    cdef const int* start = <const int*> <const char*> starts
    cdef const int* end = <const int*> <const char*> ends
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), row, n_rows = len(starts) // 4
    cdef bytearray room = bytearray()
    cdef list found = []
    cdef str part
    if len(starts) != len(ends) or len(starts) % 4:
        raise ValueError(f"{len(starts)} and {len(ends)} bytes of places")
    for row in range(n_rows):
        if not 0 <= start[row] <= end[row] <= n:
            raise IndexError(f"a slice from {start[row]} to {end[row]} of {n}")
        part = _spaced(text, start[row], end[row], room, False)
        if part is None:
            part = decode(PyUnicode_Substring(text, start[row], end[row]))
            part = _spaced(part, 0, PyUnicode_GET_LENGTH(part), room, True)
        found.append(part)
    return found


cdef str _spaced(str text, Py_ssize_t start, Py_ssize_t end, bytearray room, bint is_decoded):
    """A slice of *text*, or None where it is not for here; *room* grows to hold it."""
    cdef int kind = PyUnicode_KIND(text)
    cdef Py_ssize_t size
    if len(room) < kind * (end - start):
        PyByteArray_Resize(room, 2 * kind * (end - start))
    cdef void* data = PyUnicode_DATA(text)
    cdef void* into = <char*> room
    if kind == 1:
        size = _space(<const uint8_t*> data, start, end, is_decoded, <uint8_t*> into)
    elif kind == 2:
        size = _space(<const uint16_t*> data, start, end, is_decoded, <uint16_t*> into)
    else:
        size = _space(<const uint32_t*> data, start, end, is_decoded, <uint32_t*> into)
    return PyUnicode_FromKindAndData(kind, into, size) if size >= 0 else None


cdef Py_ssize_t _space(
    const char_t* text, Py_ssize_t start, Py_ssize_t end, bint is_decoded, char_t* into
) noexcept:
    """Copy a slice of *text*, spaced; how long it is then, or -1 if it is not for here."""
    cdef Py_ssize_t i, n = 0
    cdef uint32_t letter
    for i in range(start, end):
        letter = text[i]
        if letter > 0x20 and (
            letter < 0x7F and (is_decoded or letter != 0x26 and letter != 0x3C)  # "&" and "<"
            or letter > 0x7F and Py_UNICODE_ISPRINTABLE(letter)
        ):
            into[n] = <char_t> letter
            n += 1
        elif not Py_UNICODE_ISSPACE(letter):
            return -1
        elif n and into[n - 1] != 0x20:
            into[n] = 0x20
            n += 1
    return n - 1 if n and into[n - 1] == 0x20 else n
