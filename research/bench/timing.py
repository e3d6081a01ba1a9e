"""The unit of time: what lxml takes to parse a page."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from lxml import etree, html

LARGE = 2**16  # bytes, for which C libraries look through what was freed


def parse_milliseconds(source: bytes, clock: Callable[[], float] = perf_counter) -> float | None:
    """How long lxml takes to parse *source* by *clock*; None for a page that it rejects."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    start = clock()
    try:
        tree = html.document_fromstring(source, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None
    taken = (clock() - start) * 1000
    # After the clock has stopped: freeing the tree is no part of parsing. Nor is it a part of what
    # is measured next, to which the C library would leave it to join the many small pieces.
    del tree
    bytearray(LARGE)
    return taken
