"""Whether the compiled part is at hand, and the switch between it and the Python that it must equal.

`_scan` is built at installation where there is a compiler. It repeats mechanics, not rules: what a
piece means is decided in `tokenizer` alone, so that an installation without it gives the same
result more slowly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_scan: ModuleType | None
try:
    from scrapy_mss.markup import _scan
except ImportError:  # there was no compiler
    _scan = None

IS_COMPILED = _scan is not None  # whether it was built
_used = [_scan]


def scan() -> ModuleType | None:
    """The compiled module, or nothing where Python is to do all of it."""
    return _used[-1]


@contextmanager
def python_alone() -> Iterator[None]:
    """In this context the compiled part is not used; for tests and measurements."""
    _used.append(None)
    try:
        yield
    finally:
        _used.pop()
