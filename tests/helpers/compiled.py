"""A step with the compiled part and without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from scrapy_mss.markup.compiled import python_alone

Result = TypeVar("Result")


def both(perform: Callable[[], Result]) -> tuple[Result, Result]:
    """What *perform* gives with the compiled part and without it."""
    with python_alone():
        python = perform()
    return perform(), python
