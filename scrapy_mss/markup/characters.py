"""The characters of a text as numbers, by the fastest way that Python has for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.tokens import Ints

LAST_CODE = 0xFFFF  # no character


def codes_at(text: str, places: Ints) -> NDArray[np.uint16]:
    """uint16[n]: the codes of the characters of *text* at *places*; FFFF for any beyond."""
    compiled = compiled_part()
    if compiled is not None:
        return np.asarray(compiled.arrays.codes_at(text, places.tobytes()))
    codes = character_codes(text)[places].astype(np.uint32)
    return np.minimum(codes, LAST_CODE).astype(np.uint16)


def character_codes(text: str) -> NDArray[np.unsignedinteger[Any]]:
    """uint8[n] or uint32[n]: the code of each character of *text*."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
