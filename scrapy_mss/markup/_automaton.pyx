# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The walk of an automaton over bytes. See `metadata.text_language`, where the library's is the oracle."""

from cpython.array cimport array, clone, resize
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t

cdef array _INT32S = array("i")

cdef enum:
    N_BYTES = 256

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
        """What the states on the way over *text* give, in their order, and how often: int32[n] each.
        """
        cdef const uint8_t* letter = text
        cdef Py_ssize_t n = len(text), i, n_found = 0, mask = 1, slot
        cdef array found = clone(_INT32S, n, False), counts = clone(_INT32S, n, False), places
        cdef int32_t* place  # of what hashes to a slot among those found, from 1 on
        cdef uint32_t state = 0
        cdef int32_t output
        while mask <= 2 * n:
            mask *= 2
        places = clone(_INT32S, mask, True)
        place = <int32_t*> places.data.as_ints
        mask -= 1
        for i in range(n):
            state = self.moves[<Py_ssize_t> self.rows[state] * N_BYTES + letter[i]]
            output = self.outputs[state]
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
