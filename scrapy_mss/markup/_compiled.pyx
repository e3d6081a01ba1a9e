# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: auto_pickle=False, binding=False, emit_code_comments=False, freethreading_compatible=True
"""The compiled part: the steps that `compiled.accelerated` decorates, by the same names.

The Python of each is its oracle: the same results to the last bit, sums in numpy's order. What a
step does, which tags count and what a row means is said there. It is one module, of a file for each
idea: what Cython adds to a module takes longer to compile than most of them.

Threads may use it at once, without the GIL, too: tables of the module and of its objects are filled
when they are made, and only read afterwards, but for `Codes`, which one scan has at a time.
"""

import re
import sys
from functools import lru_cache
from zlib import crc32

cimport cython
import numpy

from scrapy_mss.markup import tokens as _tokens
from scrapy_mss.markup.references import BARE_NAMES, decode, decode_value
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import CJK

from cpython.array cimport array, clone, resize
from cpython.bytearray cimport PyByteArray_Resize
from cpython.unicode cimport (
    Py_UNICODE_ISALNUM, Py_UNICODE_ISPRINTABLE, Py_UNICODE_ISSPACE, PyUnicode_DATA,
    PyUnicode_Find, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_New,
    PyUnicode_READ, PyUnicode_Substring, PyUnicode_WRITE,
)
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

# A character as it is stored: one, two or four bytes, the same in a whole text.
ctypedef fused char_t:
    const uint8_t
    const uint16_t
    const uint32_t

# A character that is written.
ctypedef fused written_t:
    uint8_t
    uint16_t
    uint32_t

cdef enum:  # kinds of tokens, and how an id has them; checked below
    OPEN = 0
    CLOSE = 1
    WORD = 2
    SYMBOL = 3
    KIND_BITS = 2
    KIND_MASK = 3
    HASH_SHIFT = 12

if (OPEN, CLOSE, WORD, SYMBOL, KIND_BITS, KIND_MASK, HASH_SHIFT) != (
    _tokens.OPEN, _tokens.CLOSE, _tokens.WORD, _tokens.SYMBOL, _tokens.KIND_BITS,
    _tokens.KIND_MASK, _tokens.HASH_SHIFT,
):
    raise RuntimeError("the compiled part has other kinds of tokens than `tokens`: build it again")

cdef int _TITLE = TAG_NUMBERS["title"], _TABLE = TAG_NUMBERS["table"]

# By which hashes, keys of pieces and counts of blocks are read.
if sys.byteorder != "little" or sizeof(Py_ssize_t) != sizeof(int64_t):
    raise ImportError("the compiled part is for little-endian processors of 64 bits alone")

cdef array _INT32S = array("i")
cdef array _UINT64S = array("Q")
cdef array _DOUBLES = array("d")


cdef int _refuse(Py_ssize_t index, Py_ssize_t end) except -1:
    raise IndexError(f"{index} is not from 0 to {end - 1}")


cdef inline int _check(Py_ssize_t index, Py_ssize_t end) except -1:
    return 0 if 0 <= index < end else _refuse(index, end)


cdef int _check_sizes(Py_ssize_t n, tuple sizes) except -1:
    cdef Py_ssize_t size
    for size in sizes:
        if size != n:
            raise ValueError(f"expected {n} values, got {size}")
    return 0


# Letters that are sought, in lower case.
cdef struct Lower:
    const uint8_t* first
    Py_ssize_t size

cdef enum:
    MAX_NAMES = 16  # of elements, of attributes, and of cues


cdef int _point(Lower* letters, tuple strings) except -1:
    """Let *letters* be those of some bytes; how many there are."""
    cdef bytes each
    if len(strings) > MAX_NAMES:
        raise ValueError(f"{len(strings)} names where {MAX_NAMES} have room")
    for number, each in enumerate(strings):
        letters[number] = Lower(each, len(each))
    return len(strings)


cdef inline uint32_t _small(uint32_t letter) noexcept:
    return letter | 0x20 if c"A" <= letter <= c"Z" else letter


cdef inline bint _begins_with(char_t* text, Py_ssize_t at, Py_ssize_t end, Lower lower) noexcept:
    """Whether *text* goes on at *at* with these letters, which are *lower*, in any case."""
    cdef Py_ssize_t i = 0
    if end - at < lower.size:
        return False
    while i < lower.size and _small(text[at + i]) == lower.first[i]:
        i += 1
    return i == lower.size


include "_pieces.pxi"
include "_tokens.pxi"
include "_tags.pxi"
include "_attributes.pxi"
include "_kept.pxi"
include "_blocks.pxi"
include "_features.pxi"
include "_sites.pxi"
include "_opinions.pxi"
include "_evidence.pxi"
