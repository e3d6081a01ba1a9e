# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Runs of tokens: where they are, which of them a token is in, what is around them, the best one.

Arrays come as bytes and are returned as `array.array`. Each function is the inner loop of one of
Python, which is its oracle: three of `blocks.segmentation`, three of `blocks.selection`, and
`core.subsequence.best_span`. Which tokens are tags no processor foretells, so that walks over all
of them do without a branch for each.
"""

from cpython.array cimport array, clone, resize
from libc.stdint cimport int64_t, uint8_t

cdef enum:  # as `tokens` has them
    OPEN = 0
    WORD = 2

cdef enum:  # roles of tags, as `segmentation` has them
    ENDS_RUN = 1
    BREAKS_LINE = 2
    IS_LINK = 4

cdef array _UINT8S = array("B")
cdef array _INT32S = array("i")
cdef array _INT64S = array("q")
cdef array _FLOATS = array("d")


def text_runs(bytes kinds not None, bytes tags not None, bytes roles not None, int word):
    """The first and the last token of each run of text that has a word; int64 each.

    *kinds* and *tags* have a byte a token, *roles* one for each number of a tag: `ENDS_RUN` if it
    ends a run, `BREAKS_LINE` if two of its kind do, with nothing but other tags between them. What
    is below *word* is a tag, and what is above it a symbol.
    """
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* tag = tags
    cdef const uint8_t* role_of = roles
    cdef Py_ssize_t n = min(len(kinds), len(tags)), i, n_runs = 0, first = -1, last = -1
    cdef bint has_word = False, ends_run, after_break = False
    cdef uint8_t role
    cdef array firsts = clone(_INT64S, n, False), lasts = clone(_INT64S, n, False)
    _check_roles(roles)
    for i in range(n + 1):
        role = role_of[tag[i]] if i < n and kind[i] < word else 0
        ends_run = i == n or role & ENDS_RUN or (after_break and role & BREAKS_LINE)
        if ends_run:
            if has_word:
                firsts.data.as_longlongs[n_runs] = first
                lasts.data.as_longlongs[n_runs] = last
                n_runs += 1
            first = -1
            has_word = False
        if i < n and kind[i] >= word:
            first = i if first < 0 else first
            last = i
            has_word |= kind[i] == word
            after_break = False
        elif role & (ENDS_RUN | BREAKS_LINE):
            after_break = role & BREAKS_LINE
    return firsts[:n_runs], lasts[:n_runs]


def texts(bytes kinds not None, bytes firsts not None, bytes lasts not None):
    """The words and symbols of runs: the token of each; where each run's begin, and how many.

    *kinds* has a byte a token; the runs are from each of *firsts* to *lasts* (int64 each). Tokens
    are an int32 each, the rest an int64.
    """
    cdef const uint8_t* kind = kinds
    cdef const int64_t* first = <const int64_t*> <const char*> firsts
    cdef const int64_t* last = <const int64_t*> <const char*> lasts
    cdef Py_ssize_t n = len(kinds), i = 0, run, n_texts = 0
    cdef Py_ssize_t n_runs = min(len(firsts), len(lasts)) // sizeof(int64_t)
    cdef array tokens = clone(_INT32S, n, False)
    cdef array begins = clone(_INT64S, n_runs, False), sizes = clone(_INT64S, n_runs, False)
    for run in range(n_runs):
        if not i <= first[run] <= last[run] < n:
            raise ValueError(f"run {run} is from {first[run]} to {last[run]} of {n}, after {i}")
        begins.data.as_longlongs[run] = n_texts
        for i in range(first[run], last[run] + 1):
            tokens.data.as_ints[n_texts] = <int> i
            n_texts += kind[i] >= WORD
        i = last[run] + 1
        sizes.data.as_longlongs[run] = n_texts - begins.data.as_longlongs[run]
    resize(tokens, n_texts)
    return tokens, begins, sizes


def run_counts(tokens, bytes roles not None, bytes firsts not None, bytes lasts not None):
    """How many words each run has, how many of them are linked, and the tags: int64 each.

    Those between a run and the one before count, too.

    *tokens* are three columns: kinds and tags, a byte each, and partners, an int32 each. An element
    with the role `IS_LINK` is a link. The runs are from each of *firsts* to *lasts* (int64 each).
    """
    cdef bytes kinds, tags, partners
    kinds, tags, partners = tokens
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* tag = tags
    cdef const int* partner = <const int*> <const char*> partners
    cdef const uint8_t* role_of = roles
    cdef const int64_t* first = <const int64_t*> <const char*> firsts
    cdef const int64_t* last = <const int64_t*> <const char*> lasts
    cdef Py_ssize_t n = min(len(kinds), len(tags), len(partners) // sizeof(int)), i = 0, run
    cdef Py_ssize_t n_runs = min(len(firsts), len(lasts)) // sizeof(int64_t), end_of_link = -1
    cdef array words = clone(_INT64S, n_runs, True), linked = clone(_INT64S, n_runs, True)
    cdef array tag_counts = clone(_INT64S, n_runs, True)
    cdef int64_t n_words, n_linked, n_tags, is_word
    _check_roles(roles)
    for run in range(n_runs):
        if not i <= first[run] <= last[run] < n:
            raise ValueError(f"run {run} is from {first[run]} to {last[run]} of {n}, after {i}")
        n_words = n_linked = n_tags = 0
        while i <= last[run]:
            is_word = (kind[i] == WORD) & (i >= first[run])
            n_words += is_word
            n_linked += is_word & (i <= end_of_link)
            n_tags += kind[i] < WORD
            if (kind[i] == OPEN) & ((role_of[tag[i]] & IS_LINK) != 0):
                end_of_link = max(end_of_link, partner[i])
            i += 1
        words.data.as_longlongs[run] = n_words
        linked.data.as_longlongs[run] = n_linked
        tag_counts.data.as_longlongs[run] = n_tags
    return words, linked, tag_counts


cdef int _check_roles(bytes roles) except -1:
    if len(roles) != 256:
        raise ValueError(f"{len(roles)} roles for the 256 numbers of a tag")
    return 0


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


def levels_around(tokens, bytes roles not None, bytes firsts not None, int n_levels):
    """The elements around the tokens *firsts* (an int64 each), innermost first; -1 for none.

    *tokens* are four columns: kinds and tags, a byte each, the most recent unclosed tag when each
    ends, and partners, an int32 each. Those elements count that are closed and have the role
    `ENDS_RUN`. There are *n_levels* rows of an int32 for each of *firsts*.
    """
    cdef bytes kinds, tags, tops, partners
    kinds, tags, tops, partners = tokens
    cdef const uint8_t* kind = kinds
    cdef const uint8_t* tag = tags
    cdef const int* top = <const int*> <const char*> tops
    cdef const int* partner = <const int*> <const char*> partners
    cdef const uint8_t* role_of = roles
    cdef const int64_t* first = <const int64_t*> <const char*> firsts
    cdef Py_ssize_t n_ints = min(len(tops), len(partners)) // sizeof(int)
    cdef Py_ssize_t n = min(min(len(kinds), len(tags)), n_ints)
    cdef Py_ssize_t n_firsts = len(firsts) // sizeof(int64_t), i, at
    cdef int level, parent
    cdef array parents = clone(_INT32S, n, False)
    cdef int* parent_of = parents.data.as_ints
    cdef array found = clone(_INT32S, n_levels * n_firsts, False)
    cdef int* around = found.data.as_ints
    _check_roles(roles)
    for i in range(n):
        parent = top[i - 1] if i else -1
        if parent >= i:
            raise ValueError(f"the parent of token {i} is {parent}")
        if parent >= 0 and not (
            kind[parent] == OPEN and partner[parent] >= 0 and role_of[tag[parent]] & ENDS_RUN
        ):
            parent = parent_of[parent]
        parent_of[i] = parent
    for i in range(n_firsts):
        at = first[i]
        if not 0 <= at < n:
            raise IndexError(f"token {at} of {n}")
        for level in range(n_levels):
            at = parent_of[at] if at >= 0 else -1
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


def best_choice(
    const double[::1] probability not None, const double[::1] words not None,
    const Py_ssize_t[::1] best_first not None,
):
    """Half of the expected F1, by *words*, of the best choice of blocks, taken in order."""
    cdef Py_ssize_t n = probability.shape[0], i
    cdef double hits = 0.0, total, size = 0.0, best = 0.0
    if not n == words.shape[0] == best_first.shape[0]:
        raise ValueError(f"{words.shape[0]} words and {best_first.shape[0]} places of {n} blocks")
    for i in range(n):
        if not 0 <= best_first[i] < n:
            raise IndexError(f"there is no block {best_first[i]} of {n}")
        hits += probability[best_first[i]] * words[best_first[i]]
    total, hits = hits, 0.0
    for i in range(n if total > 0 else 0):
        hits += probability[best_first[i]] * words[best_first[i]]
        size += words[best_first[i]]
        best = max(best, hits / (size + total))
    return best


def scores(const double[::1] values not None, bytes numbers not None, bytes kinds not None):
    """For each token the one of *values* that the number of its run is of, as a float64.

    It is 0 for those without a run, whose number (an int32 each) is -1, and a tag's, whose kind (a
    byte each) is below `WORD`, is multiplied by 0.
    """
    cdef const int* number = <const int*> <const char*> numbers
    cdef const uint8_t* kind = kinds
    cdef Py_ssize_t n = min(len(numbers) // sizeof(int), len(kinds)), n_values = values.shape[0], i
    cdef array found = clone(_FLOATS, n, False)
    cdef double* score = found.data.as_doubles
    for i in range(n):
        if number[i] >= n_values:
            raise IndexError(f"token {i} is in run {number[i]} of {n_values}")
        score[i] = (values[number[i]] if number[i] >= 0 else 0.0) * (kind[i] >= WORD)
    return found


def kept(bytes partners not None, bytes numbers not None, bytes chosen not None):
    """A byte a token: what stays from the first to the last of the *chosen* runs (a byte each).

    The tokens of other runs do not, nor does an element with one of them and with none of a chosen
    run. *numbers* has the run of each token, -1 for none, *partners* the closing tag of each
    opening tag and vice versa, an int32 each. Both tags are in their element.
    """
    cdef const int* partner = <const int*> <const char*> partners
    cdef const int* number = <const int*> <const char*> numbers
    cdef const uint8_t* is_chosen = chosen
    cdef Py_ssize_t n = min(len(partners), len(numbers)) // sizeof(int), n_runs = len(chosen), i
    cdef Py_ssize_t first = -1, last = -1, emptied = -1
    cdef array before_removed = clone(_INT32S, n + 1, False)
    cdef array before_kept = clone(_INT32S, n + 1, False)
    cdef int* n_removed = before_removed.data.as_ints
    cdef int* n_kept = before_kept.data.as_ints
    cdef array found = clone(_UINT8S, n, True)
    cdef bint stays
    n_removed[0] = n_kept[0] = 0
    for i in range(n):
        if number[i] >= n_runs:
            raise IndexError(f"token {i} is in run {number[i]} of {n_runs}")
        stays = number[i] >= 0 and is_chosen[number[i]] != 0
        n_removed[i + 1] = n_removed[i] + (number[i] >= 0 and not stays)
        n_kept[i + 1] = n_kept[i] + stays
        if stays:
            first = i if first < 0 else first
            last = i
    for i in range(last + 1):
        if i < partner[i] < n and n_removed[partner[i]] > n_removed[i] and (
            n_kept[partner[i]] == n_kept[i]
        ):
            emptied = max(emptied, partner[i])
        stays = n_removed[i + 1] == n_removed[i] and i > emptied
        found.data.as_uchars[i] = i >= first and stays
    return found
