# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The walk of an automaton over bytes, and rows of a table of short floats.

See `metadata.text_language`, where the library's are the oracle. Its tables are of many megabytes,
of which a text needs a few places far from one another: the time is that of the way to memory. So
several parts of a text are walked over at once, and rows are fetched ahead of their use.
"""

from cpython.array cimport array, clone, resize
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FETCH(address) __builtin_prefetch(address)
    #else
    #define FETCH(address) ((void)0)
    #endif
    """
    void FETCH(const void* address) noexcept nogil

cdef array _INT32S = array("i")
cdef array _FLOATS = array("f")

cdef enum:
    N_BYTES = 256
    N_PARTS = 16  # of a text that are walked over at once
    BEFORE = 8  # bytes before a part, from which on a state mostly depends on them alone
    SHORT = 64  # bytes of a text that is walked over in one part
    AHEAD = 8  # rows that are fetched before they are read
    LINE = 32  # short floats that memory gives at once
    N_SHORTS = 65536

cdef uint32_t MULTIPLIER = 2654435769  # 2**32 by the golden ratio, as Knuth has it


cdef class Automaton:
    """What a state gives, by *outputs*, and which follows it, by the row of *moves* that it has.

    *moves* are rows of 256 states each, one a byte; *rows* and *outputs* have one number a state.
    An output below zero is none. The first state is 0.
    """

    cdef const uint32_t[::1] moves
    cdef const uint16_t[::1] rows
    cdef const int32_t[::1] outputs

    def __init__(
        self,
        const uint32_t[::1] moves not None,
        const uint16_t[::1] rows not None,
        const int32_t[::1] outputs not None,
    ):
        cdef Py_ssize_t i, n_states = len(rows), n_moves = len(moves)
        if not n_states or len(outputs) != n_states:
            raise ValueError(f"{len(outputs)} outputs of {n_states} states")
        for i in range(n_states):
            if (rows[i] + 1) * N_BYTES > n_moves:
                raise ValueError(f"state {i} has row {rows[i]} of {n_moves / N_BYTES}")
        for i in range(n_moves):
            if moves[i] >= n_states:
                raise ValueError(f"move {i} leads to state {moves[i]} of {n_states}")
        self.moves, self.rows, self.outputs = moves, rows, outputs

    def counts(self, bytes text not None):
        """What the states on the way over *text* give, in order, and how often: int32[n] each.
        """
        cdef const uint8_t* letter = text
        cdef Py_ssize_t n = len(text), i, n_found = 0, mask = 1, slot
        cdef array found = clone(_INT32S, n, False), counts = clone(_INT32S, n, False), places
        cdef int32_t* place  # of what hashes to a slot among those found, from 1 on
        cdef array outputs = clone(_INT32S, n, False)
        cdef int32_t output
        while mask <= 2 * n:
            mask *= 2
        places = clone(_INT32S, mask, True)
        place = <int32_t*> places.data.as_ints
        mask -= 1
        self._walk(letter, n, <int32_t*> outputs.data.as_ints)
        for i in range(n):
            output = outputs.data.as_ints[i]
            if output < 0:
                continue
            slot = (<uint32_t> output * MULTIPLIER >> 8) & mask
            while place[slot] and found.data.as_ints[place[slot] - 1] != output:
                slot = (slot + 1) & mask
            if not place[slot]:
                found.data.as_ints[n_found] = output
                counts.data.as_ints[n_found] = 0
                n_found += 1
                place[slot] = n_found
            counts.data.as_ints[place[slot] - 1] += 1
        resize(found, n_found)
        resize(counts, n_found)
        return found, counts

    cdef int _walk(self, const uint8_t* text, Py_ssize_t n, int32_t* outputs) except -1:
        """What the state after each of *n* bytes gives.

        The parts begin in the first state, some bytes early. By their beginning they are mostly in
        the state that the part before ends in; one that is not is walked over again from there.
        """
        cdef Py_ssize_t size = (n + N_PARTS - 1) // N_PARTS if n > SHORT else n, step, at
        cdef int part, n_parts = N_PARTS if n > SHORT else 1
        cdef uint32_t state[N_PARTS]
        cdef uint32_t first[N_PARTS]  # in which each part begins
        cdef uint32_t last = 0
        for part in range(n_parts):
            state[part] = first[part] = 0
        for step in range(-BEFORE if n_parts > 1 else 0, size):
            for part in range(n_parts):
                at = part * size + step
                if step == 0:
                    first[part] = state[part]
                if 0 <= at < n:
                    state[part] = self._next(state[part], text[at])
                    outputs[at] = self.outputs[state[part]]
        for part in range(n_parts):
            if first[part] != last:
                state[part] = last
                for at in range(part * size, min(part * size + size, n)):
                    state[part] = self._next(state[part], text[at])
                    outputs[at] = self.outputs[state[part]]
            last = state[part]
        return 0

    cdef inline uint32_t _next(self, uint32_t state, uint8_t letter) noexcept:
        return self.moves[<Py_ssize_t> self.rows[state] * N_BYTES + letter]


def floats(
    const uint16_t[:, ::1] table not None, const int32_t[::1] rows not None,
    const float[::1] of not None,
):
    """Those *rows* of a *table* of short floats, one behind the other, as *of* has each of them.

    That is float32[65536]: what each 16 bits stand for.
    """
    cdef Py_ssize_t n = table.shape[1], i, column
    cdef array found = clone(_FLOATS, rows.shape[0] * n, False)
    cdef float* into = found.data.as_floats
    cdef const float* number = &of[0]
    cdef const uint16_t* shorts
    if of.shape[0] != N_SHORTS:
        raise ValueError(f"{of.shape[0]} floats where 16 bits have {N_SHORTS}")
    for i in range(rows.shape[0]):
        if not 0 <= rows[i] < table.shape[0]:
            raise IndexError(f"row {rows[i]} of {table.shape[0]}")
    for i in range(-AHEAD, rows.shape[0]):
        if i + AHEAD < rows.shape[0]:
            column = 0
            while column < n:
                FETCH(&table[rows[i + AHEAD], column])
                column += LINE
        if i >= 0:
            shorts = &table[rows[i], 0]
            for column in range(n):
                into[column] = number[shorts[column]]
            into += n
    return found
