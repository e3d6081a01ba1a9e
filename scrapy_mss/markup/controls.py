"""Controls and halves of surrogate pairs: what no page shows, and no text of ours contains."""

from __future__ import annotations

import re

from scrapy_mss.markup.compiled import compiled_part

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")  # but for tabs and line ends
# Characters that are replaced at a time: a substitution keeps what is between two controls as an
# object, 50 bytes for two letters.
PORTION = 2**16
_CONTROL_BYTES = bytes(n for n in range(128) if CONTROLS.match(chr(n)))
_CONTROLS_OF_TWO_BYTES = re.compile(b"\xc2[\x80-\x9f]")


def without_controls(text: str, instead: str) -> str:
    """*text* with *instead* for each run of controls, or for its parts where portions meet."""
    if not has_controls(text):
        return text
    portions = (text[at : at + PORTION] for at in range(0, len(text), PORTION))
    return "".join(CONTROLS.sub(instead, portion) for portion in portions)


def has_controls(text: str) -> bool:
    """Whether *text* has what `CONTROLS` is: known sooner than it is found."""
    compiled = compiled_part()
    return _has_controls(text) if compiled is None else compiled.kept.has_controls(text)


def _has_controls(text: str) -> bool:
    # Most is printable but for its line ends and tabs, which is known four times as fast.
    if not text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return False
    try:
        encoded = text.encode()
    except UnicodeEncodeError:  # a surrogate
        return True
    if len(encoded.translate(None, _CONTROL_BYTES)) < len(encoded):
        return True
    return _CONTROLS_OF_TWO_BYTES.search(encoded) is not None
