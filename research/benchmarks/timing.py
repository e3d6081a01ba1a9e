"""Time of one call, and lxml's parse of the same page as the unit."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import lxml.html


def milliseconds(call: Callable[[], object], repeats: int = 1) -> float:
    """The least time of *repeats* calls."""
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best * 1000


def lxml_milliseconds(source: bytes, repeats: int = 1) -> float:
    """How long lxml takes to parse *source*."""
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    return milliseconds(lambda: lxml.html.document_fromstring(source, parser=parser), repeats)
