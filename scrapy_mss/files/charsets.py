"""The character encoding of a page: declared by the page, by its server, or wrongly by both.

    byte order mark -> UTF-8, if the bytes are -> what is declared, if the bytes fit -> a guess

As in browsers, the header goes before the page's own declaration, and a label that names no text
encoding is ignored. Legacy text is hardly ever valid UTF-8 by accident, and UTF-8 is declared by
servers and templates without regard to the page; so the bytes decide between the two. Legacy
encodings cannot be told from each other with such certainty: the declaration is overruled only if
the bytes do not fit it, and by a guess only if the detector is sure of it.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

UTF8: Final = "utf-8"
# What decodes as something else is a protocol or a trick, such as utf-7, unicode_escape and EBCDIC;
# idna has no words as long as the last one.
MARKUP: Final = (
    b"<!DOCTYPE html>\r\n\t<p class='a' id=\"b\">+ADw- \\u003c &amp; #.,:;?%()[] " + 64 * b"a"
)
WITHOUT_ORDER: Final = {"utf-16": "utf-16-be", "utf-32": "utf-32-be", "utf-8-sig": UTF8}
WIDE: Final = re.compile("utf-(16|32)")  # in which markup has NULs; elsewhere no page has any
# A sequence of UTF-8, or in the group a byte that is in none.
SEQUENCE: Final = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|([\x80-\xff])"
)
MOST_SEQUENCES: Final = 1000  # that are looked at: the share of errors is known by then
# Shares of what is not ASCII. UTF-8 that a program cut has a few errors. A page in which other
# encodings are embedded has more; there is none that fits all of it.
NEARLY_UTF8, MIXED = 0.98, 0.5
FEW_ERRORS: Final = 0.02
SEARCHED: Final = 2**20  # bytes in which text is looked for, so that the event loop is not stalled
SAMPLE: Final = 2**14  # bytes of text, with which the detector is as good as with all
# Between pieces of text. None of these bytes is part of a character in any encoding of the web.
BETWEEN: Final = bytes.maketrans(b'<>";', b"\n\n\n\n")
# Of quotes, dashes and signs alone, as in English, the detector makes any encoding. Below so many
# bytes that are not ASCII, or such a share, only the encoding that most such pages have is sure.
COMMON: Final = "cp1252"
LEAST_ODD, ODD = 32, 0.02
SHORTEST_PAIR: Final = 4  # bytes of UTF-8 for two characters that are not ASCII
LETTERS: Final = 6  # of a word: a wrong character costs the whole word
# Encodings as which UTF-8 is decoded by mistake, and the runs of what is not ASCII that show it.
MISTAKEN: Final = ("cp1252", "cp1250", "cp1251", "cp1254")
MOJIBAKE: Final = re.compile(
    rb"(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+"
)
ASCII_AS_SPACE: Final = b" " * 128 + bytes(range(128, 256))
PORTION: Final = re.compile(rb"(?s).{1,65536}[^ ]*")  # whose runs are counted at a time


class Charset(NamedTuple):
    """The codec that decodes a page, and whether the page *is_mended*: declared otherwise."""

    name: str
    is_mended: bool = False


def decoded(body: bytes, content_type: str | None = None) -> str:
    """The text of a page with the header *content_type*; it never fails."""
    from w3lib.encoding import read_bom, to_unicode

    if not body.isascii() and b"\0" not in body:
        with suppress(UnicodeDecodeError):
            return body.decode(UTF8).removeprefix("\ufeff")
    _, mark = read_bom(body)
    return to_unicode(body[len(mark or b"") :], charset_of(body, content_type).name)


def charset_of(body: bytes, content_type: str | None = None) -> Charset:
    """The encoding of a page with the header *content_type*."""
    from w3lib.encoding import read_bom

    marked, _ = read_bom(body)
    if marked is not None:
        return Charset(marked)
    declared = _declared(body, content_type)
    name = _chosen(body, [each for each in declared if is_usable(each)])
    return Charset(name, name != next(iter(declared), UTF8))


def _declared(body: bytes, content_type: str | None) -> list[str]:
    """The codecs that the header and the page declare, usable or not."""
    from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

    found = (http_content_type_encoding(content_type), html_body_declared_encoding(body))
    return [WITHOUT_ORDER.get(name, name) for name in found if name]


@lru_cache(maxsize=256)
def is_usable(name: str) -> bool:
    """Whether *name* is a codec that pages can be in."""
    if WIDE.match(name):
        return True
    try:
        return MARKUP.decode(name, "replace") == MARKUP.decode("ascii")
    except (LookupError, ValueError):  # a codec of bytes, or of something else than text
        return False


def _chosen(body: bytes, declared: list[str]) -> str:
    """The codec for *body*, by the usable codecs that are *declared*."""
    if b"\0" not in body:
        declared = [name for name in declared if not WIDE.match(name)]
    first = next(iter(declared), UTF8)
    if body.isascii() or WIDE.match(first):
        return first
    with suppress(UnicodeDecodeError):
        body.decode(UTF8)
        return UTF8
    text = _odd_parts(body)
    if _share_of_utf8(text) > (MIXED if first == UTF8 else NEARLY_UTF8):
        return UTF8
    if first != UTF8 and _fits(text, first):
        return first
    others = (name for name in (*declared[1:], _guessed(text)) if name not in {"", UTF8})
    return next((name for name in others if _fits(text, name)), first)


def _odd_parts(body: bytes) -> bytes:
    """The pieces of text of *body* that are not ASCII, of those that are searched in whole."""
    parts = body[:SEARCHED].translate(BETWEEN).split(b"\n")
    whole = parts[:-1] if len(body) > SEARCHED else parts  # a character of the last may be cut
    return b"\n".join(part for part in whole if not part.isascii())


def _share_of_utf8(text: bytes) -> float:
    """How much of what is not ASCII in *text* is UTF-8."""
    found = [each[1] is None for each in islice(SEQUENCE.finditer(text), MOST_SEQUENCES)]
    return sum(found) / max(len(found), 1)


def _fits(text: bytes, name: str) -> bool:
    """Whether *text* can be in the encoding *name*."""
    from w3lib.encoding import to_unicode

    read = to_unicode(text, name)
    return read.count("\ufffd") <= FEW_ERRORS * (len(read) - len(read.encode("ascii", "ignore")))


def _guessed(text: bytes) -> str:
    """The legacy encoding that *text* is in as far as a detector is sure; else empty."""
    from chardetng_py import EncodingDetector
    from w3lib.encoding import resolve_encoding

    sample = text[:SAMPLE]
    detector = EncodingDetector()
    detector.feed(sample, last=len(text) <= SAMPLE)  # a character may be cut
    guess, is_sure = detector.guess_assess(tld=None, allow_utf8=False)
    name = resolve_encoding(guess) or ""
    n_odd = len(sample.translate(None, delete=bytes(range(128))))
    is_sure = is_sure and (name == COMMON or n_odd >= max(LEAST_ODD, ODD * len(sample)))
    return name if n_odd and is_sure else ""


def damage(text: str) -> float:
    """The estimated share of the words of *text* that were decoded wrongly."""
    if text.isascii():
        return 0.0
    runs = _runs_beyond_ascii(text)
    mojibake = max(_n_mistaken(runs.encode(name, "replace")) for name in MISTAKEN) if runs else 0
    return min(1.0, LETTERS * (text.count("\ufffd") + mojibake) / len(text))


def _runs_beyond_ascii(text: str) -> str:
    """The runs of at least two characters that are not ASCII: nothing else is mistaken UTF-8."""
    portions = PORTION.finditer(text.encode(UTF8, "replace").translate(ASCII_AS_SPACE))
    runs = (run for portion in portions for run in portion[0].split() if len(run) >= SHORTEST_PAIR)
    return b" ".join(runs).decode(UTF8)


def _n_mistaken(text: bytes) -> int:
    """The number of characters of *text* that are UTF-8."""
    runs = Counter[bytes]()  # a text has the same few
    for portion in PORTION.finditer(text.translate(ASCII_AS_SPACE)):
        runs.update(portion[0].split())
    return sum(
        times * len(run.decode(UTF8, "replace"))
        for run, times in runs.items()
        if MOJIBAKE.fullmatch(run)
    )
