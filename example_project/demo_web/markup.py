"""Pieces of markup that sites share: escaping, class names, padding, pictures.

Real pages are mostly not text: style sheets, scripts and state weigh more than the article. What
`style_padding`, `script_padding` and `state` make is of that kind, seeded by the site's name.
"""

from __future__ import annotations

import html
import json
import random
import struct
import zlib
from collections.abc import Iterable, Sequence
from functools import cache

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PROPERTIES = (
    "margin:{}px",
    "padding:{}px 0",
    "font-size:{}px",
    "line-height:{}px",
    "width:{}%",
    "flex:1 1 {}px",
    "border-radius:{}px",
    "z-index:{}",
    "letter-spacing:.0{}em",
    "transition:opacity .{}s ease-in-out",
    "background:#{0}{0}{0}",
    "max-width:{}rem",
)
PARTS = "card grid rail teaser hero promo slot menu footer header badge modal toast field".split()
VERBS = "track push init load bind emit hydrate observe defer measure resize queue".split()
BANDS = 12
PICTURE_WIDTH, PICTURE_HEIGHT = 160, 90


def escape(text: str) -> str:
    """*text* as markup's content."""
    return html.escape(text, quote=False)


def quoted(text: str) -> str:
    """*text* as an attribute's value."""
    return html.escape(text)


def link(address: str, text: str, attributes: str = "") -> str:
    """A link."""
    return f'<a href="{quoted(address)}"{" " if attributes else ""}{attributes}>{escape(text)}</a>'


def items(links: Iterable[str], attributes: str = "") -> str:
    """List items, one a line."""
    opening = f"<li {attributes}>" if attributes else "<li>"
    return "\n".join(f"{opening}{each}</li>" for each in links)


def paragraphs(texts: Iterable[str], attributes: str = "") -> str:
    """Paragraphs, one a line."""
    opening = f"<p {attributes}>" if attributes else "<p>"
    return "\n".join(f"{opening}{escape(text)}</p>" for text in texts)


def code(text: str, length: int = 5) -> str:
    """A short name for *text*, such as a bundler makes up."""
    number, made = zlib.crc32(text.encode()), ""
    for _ in range(length):
        number, digit = divmod(number * 31 + 7, 62)
        made += BASE62[digit]
    return made


def spread(pieces: Sequence[str], boxes: Sequence[str]) -> str:
    """*pieces* with *boxes* between them at even distances; boxes that find no gap are left out."""
    boxes = boxes[: max(0, len(pieces) - 1)]
    places = {
        (number + 1) * len(pieces) // (len(boxes) + 1): box for number, box in enumerate(boxes)
    }
    return "\n".join(
        f"{places[number]}\n{piece}" if number and number in places else piece
        for number, piece in enumerate(pieces)
    )


@cache
def style_padding(seed: str, size: int) -> str:
    """About *size* characters of style rules for classes that no page uses."""
    chance = random.Random(f"{seed}/style")
    rules: list[str] = []
    length = 0
    while length < size:
        name = f"{chance.choice(PARTS)}__{chance.choice(PARTS)}--{chance.randrange(99)}"
        body = ";".join(chance.choice(PROPERTIES).format(chance.randrange(2, 64)) for _ in range(4))
        rules.append(f".{name}{{{body}}}")
        length += len(rules[-1])
    return "".join(rules)


@cache
def script_padding(seed: str, size: int) -> str:
    """About *size* characters of script that does nothing."""
    chance = random.Random(f"{seed}/script")
    lines = ["(function(w,d){'use strict';var q=w.__q=w.__q||[];"]
    length = 0
    while length < size:
        verb, part = chance.choice(VERBS), chance.choice(PARTS)
        name = f"{verb}{part.title()}{chance.randrange(999)}"
        lines.append(
            f"function {name}(a,b){{if(!a||a.length<{chance.randrange(9)}){{return b&&b('{part}')}}"
            f"for(var i=0;i<a.length;i++){{q.push(['{verb}',a[i],{chance.randrange(10**6)}])}}}}"
        )
        length += len(lines[-1])
    return "".join((*lines, "})(window,document);"))


def json_script(value: object, kind: str = "application/ld+json", attributes: str = "") -> str:
    """*value* in a script element."""
    text = json.dumps(value, ensure_ascii=False).replace("</", "<\\/")
    return f'<script type="{kind}"{attributes}>{text}</script>'


def icon(size: int = 24) -> str:
    """A small drawing, inlined as templates do."""
    return (
        f'<svg width="{size}" height="{size}" viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2'
        'a10 10 0 100 20 10 10 0 000-20zm4.6 14.2l-1.4 1.4L11 13.4V6h2v6.6z"></path></svg>'
    )


def picture(seed: str) -> bytes:
    """A PNG picture of coloured bands, as an evening sky has."""
    chance = random.Random(f"{seed}/picture")
    top, bottom = ([chance.randrange(40, 240) for _ in range(3)] for _ in range(2))
    palette = bytes(
        (first * (BANDS - band) + last * band) // BANDS
        for band in range(BANDS)
        for first, last in zip(top, bottom, strict=True)
    )
    lines = b"".join(
        b"\0" + bytes([row * BANDS // PICTURE_HEIGHT]) * PICTURE_WIDTH
        for row in range(PICTURE_HEIGHT)
    )
    header = struct.pack(">IIBBBBB", PICTURE_WIDTH, PICTURE_HEIGHT, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", _stored(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def _stored(data: bytes) -> bytes:
    """*data*, at most 65,535 bytes of it, as a zlib stream that compresses nothing.

    What `zlib.compress` makes differs between versions of zlib, and pages are compared by checksum.
    """
    length = len(data)
    block = struct.pack("<BHH", 1, length, length ^ 0xFFFF) + data
    return b"\x78\x01" + block + struct.pack(">I", zlib.adler32(data))


def document(seed: str, size: int = 20_000) -> bytes:
    """Bytes that begin and end as a PDF file does; no reader will open them."""
    noise = random.Random(f"{seed}/document").randbytes(size)
    head = b"%%PDF-1.4\n1 0 obj<</Length %d>>stream\n" % size
    return head + noise + b"\nendstream\n%%EOF\n"
