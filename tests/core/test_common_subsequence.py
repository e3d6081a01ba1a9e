"""The longest common subsequence; `test_labels` holds it against a table of lengths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.common_subsequence import common_subsequence

LCSseq = pytest.importorskip("rapidfuzz.distance").LCSseq
NUMBERS = st.lists(st.integers(0, 4), max_size=80)


@given(NUMBERS, NUMBERS)
def test_it_is_that_of_another_library(first: list[int], second: list[int]) -> None:
    runs = [each for each in LCSseq.opcodes(first, second) if each.tag == "equal"]
    expected = [at for run in runs for at in range(run.src_start, run.src_end)]

    assert common_subsequence(first, second) == expected
