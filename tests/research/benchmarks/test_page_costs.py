"""What a page takes is measured whatever the process had before."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

import pytest

from research.benchmarks.children import forked
from research.benchmarks.page_costs import growth

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="measured in forked children")
TAKEN = 50_000_000  # bytes
KEEP_FREE_MEMORY = -1, 2**31 - 1  # M_TRIM_THRESHOLD of mallopt, and bytes


def grown_beside_free_memory() -> Iterator[int]:
    """Growth by what would fit into memory that malloc keeps for this process."""
    c = ctypes.CDLL(None)
    c.malloc.restype, c.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    c.mallopt(*KEEP_FREE_MEMORY)
    size = TAKEN // 1000
    blocks = [c.malloc(size) for _ in range(4000)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for block in blocks:
        c.free(block)
    yield growth(lambda: bytearray(b"x") * TAKEN)[1]


def test_memory_that_was_freed_before_hides_nothing() -> None:
    (found,) = forked(grown_beside_free_memory)

    assert found == pytest.approx(TAKEN, rel=0.05)
