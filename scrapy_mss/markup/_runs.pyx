# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Runs of tokens: where they are, which of them a token is in, what is around them, the best one.

Arrays come as bytes and are returned as `array.array`. Each function is the inner loop of one of
Python, which is its oracle: three of `blocks.segmentation`, one of `blocks.selection`, and
`core.subsequence.best_span`.
"""

from cpython.array cimport array, clone
from libc.stdint cimport int64_t, uint8_t

cdef array _UINT8S = array("B")
cdef array _INT32S = array("i")
cdef array _INT64S = array("q")


def text_runs(bytes kinds not None, bytes ends not None, int text, int word):
    """The first and the last token of each run of text that has a word; int64 each.

    *kinds* has a byte a token: below *text* it is none, and *word* is a word's. A run ends before
    each token that *ends* one, a byte a token.
    """
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* ends_run = ends
    cdef Py_ssize_t n = min(len(kinds), len(ends)), i, n_runs = 0, first = -1, last = -1
    cdef bint has_word = False
    cdef array firsts = clone(_INT64S, n, False), lasts = clone(_INT64S, n, False)
    for i in range(n + 1):
        if i == n or ends_run[i]:
            if has_word:
                firsts.data.as_longlongs[n_runs] = first
                lasts.data.as_longlongs[n_runs] = last
                n_runs += 1
            first = -1
            has_word = False
        if i < n and kind[i] >= text:
            first = i if first < 0 else first
            last = i
            has_word |= kind[i] == word
    return firsts[:n_runs], lasts[:n_runs]


def run_numbers(bytes firsts not None, bytes lasts not None, Py_ssize_t n):
    """For each of *n* tokens the number of the run that it is in, or -1: an int32 each.

    The runs have an int64 each for the first and the last token; none begins in another.
    """
    cdef const int64_t* first = <const int64_t*> <const char*> firsts
    cdef const int64_t* last = <const int64_t*> <const char*> lasts
    cdef Py_ssize_t n_runs = min(len(firsts), len(lasts)) // sizeof(int64_t), run, at = 0
    cdef array numbers = clone(_INT32S, n, False)
    cdef int* number = numbers.data.as_ints
    for run in range(n_runs):
        if not at <= first[run] <= last[run] < n:
            raise ValueError(f"run {run} is from {first[run]} to {last[run]} of {n}, after {at}")
        while at < first[run]:
            number[at] = -1
            at += 1
        while at <= last[run]:
            number[at] = <int> run
            at += 1
    while at < n:
        number[at] = -1
        at += 1
    return numbers


def levels_around(bytes parents not None, bytes firsts not None, int n_levels):
    """The elements around the tokens *firsts* (an int64 each), innermost first; -1 for none.

    *parents* has the element around each token, an int32 each. There are *n_levels* rows of an
    int32 for each of *firsts*.
    """
    cdef const int* parent = <const int*> <const char*> parents
    cdef const int64_t* first = <const int64_t*> <const char*> firsts
    cdef Py_ssize_t n = len(parents) // sizeof(int), n_firsts = len(firsts) // sizeof(int64_t)
    cdef Py_ssize_t i, at
    cdef int level
    cdef array found = clone(_INT32S, n_levels * n_firsts, False)
    cdef int* around = found.data.as_ints
    for i in range(n_firsts):
        at = first[i]
        for level in range(n_levels):
            if at >= n or at < -1:
                raise IndexError(f"token {at} of {n}")
            at = parent[at] if at >= 0 else -1
            around[level * n_firsts + i] = <int> at
    return found


def best_run(bytes values not None):
    """Where the run with the greatest sum of *values* begins and ends, and its sum.

    *values* are a float64 each. Of runs with one sum the one that ends first, of these the longest.
    """
    cdef const double* value = <const double*> <const char*> values
    cdef Py_ssize_t n = len(values) // sizeof(double), i, lowest_at = 0, start = 0, end = 0
    cdef double before = 0, lowest = 0, best = 0
    for i in range(n):
        if before < lowest:
            lowest, lowest_at = before, i
        before += value[i]
        if before - lowest > best:
            best, start, end = before - lowest, lowest_at, i + 1
    return start, end, best


def inside_emptied(bytes partners not None, bytes wanted not None, bytes unwanted not None):
    """A byte a token: whether it is in an element with some *wanted* and no *unwanted* token.

    *partners* has the closing tag of each opening tag and vice versa, an int32 each; *wanted* and
    *unwanted* have a byte each. Both tags are in their element.
    """
    cdef const int* partner = <const int*> <const char*> partners
    cdef const uint8_t* is_wanted = wanted
    cdef const uint8_t* is_unwanted = unwanted
    cdef Py_ssize_t n = min(len(partners) // sizeof(int), len(wanted), len(unwanted)), i, last = -1
    cdef array before_wanted = clone(_INT32S, n + 1, False)
    cdef array before_unwanted = clone(_INT32S, n + 1, False)
    cdef int* n_wanted = before_wanted.data.as_ints
    cdef int* n_unwanted = before_unwanted.data.as_ints
    cdef array found = clone(_UINT8S, n, False)
    n_wanted[0] = n_unwanted[0] = 0
    for i in range(n):
        n_wanted[i + 1] = n_wanted[i] + (is_wanted[i] != 0)
        n_unwanted[i + 1] = n_unwanted[i] + (is_unwanted[i] != 0)
    for i in range(n):
        if i < partner[i] < n and n_wanted[partner[i]] > n_wanted[i] and (
            n_unwanted[partner[i]] == n_unwanted[i]
        ):
            last = max(last, partner[i])
        found.data.as_uchars[i] = i <= last
    return found
