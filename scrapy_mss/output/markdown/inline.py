"""Text, emphasis, links, pictures and code inside a block.

A mark is written only where a parser of Markdown takes it for one: `**` next to a letter and before
a quotation mark would stay on the page as two asterisks, so the words are left without emphasis.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.output.markdown.tree import Element, Node

LINE_BREAK = "  \n"

_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "cite": "*", "dfn": "*", "del": "~~"}
_MARKS |= {"s": "~~"}
_CODE = frozenset({"code", "kbd", "samp", "var"})

_BLANKS = re.compile(r"[ \t\n\r\f]+")
# An underscore inside a word is none of emphasis, nor an ampersand that begins no reference, which
# may end behind an element that leaves nothing, such as a picture without an address.
_SPECIAL = re.compile(r"[\\`*\[\]<~]|&(?=#?\w*(?:;|$))|(?<![^\W_])_|_(?![^\W_])")
_BACKTICKS = re.compile("`+")
# What ends an address in parentheses, or would end the line that it is in.
_NOT_IN_ADDRESSES = re.compile(r"[\s()<>\\]")
_LINE_ENDS = re.compile(r"[\t\n\r]")

# What at the beginning of a line makes a heading, a quotation, a list, a rule or a table of it.
_LINE_START = re.compile(
    r"^(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|>|=+\s*$|[-|:][-|:\s]*$)|(?<=^)(\d{1,9})(?=[.)](?:\s|$))",
    re.MULTILINE,
)


def escaped(text: str) -> str:
    """*text* with a backslash before all that Markdown would take for a mark."""
    # Looked for first: a replacement that names a group costs more than most texts are long.
    return _SPECIAL.sub(r"\\\g<0>", text) if _SPECIAL.search(text) else text


def guarded(paragraph: str) -> str:
    """Inline Markdown whose lines begin no other kind of block."""
    return _LINE_START.sub(r"\1\\", paragraph) if _LINE_START.search(paragraph) else paragraph


def inline(nodes: Sequence[Node]) -> str:
    """*nodes* as lines of Markdown; what is a block elsewhere stands between spaces here."""
    if len(nodes) == 1 and isinstance(nodes[0], str):  # as in most cells and paragraphs
        return escaped(_BLANKS.sub(" ", nodes[0])).strip()
    line = _Line([])
    line.add_all(nodes, emphasized=False)
    lines = (each.strip() for each in line.written().split("\n"))
    return "\n".join(lines).strip().replace("\n", LINE_BREAK)


def on_one_line(nodes: Sequence[Node]) -> str:
    """*nodes* as Markdown without a line break, for headings and cells."""
    return " ".join(inline(nodes).split())


@dataclass(frozen=True, slots=True)
class _Marked:
    """Text between two marks; *plain* is the same without, *is_code* if no mark in it counts."""

    mark: str
    text: str
    plain: str
    is_code: bool = False

    def can_be_marked(self, before: str, after: str) -> bool:
        """Whether a parser would take the marks for such, by CommonMark's rules of flanking."""
        return self.is_code or all(
            not _is_punctuation(inner) or not outer or outer.isspace() or _is_punctuation(outer)
            for inner, outer in ((self.text[0], before), (self.text[-1], after))
        )


@dataclass(slots=True)
class _Line:
    """Inline Markdown in the making; whether emphasis can be marked depends on what follows."""

    parts: list[str | _Marked]

    def add_all(self, nodes: Iterable[Node], *, emphasized: bool) -> None:
        for node in nodes:
            if isinstance(node, str):
                self._add(escaped(_BLANKS.sub(" ", node)))
            else:
                self._add_element(node, emphasized=emphasized)

    def _add_element(self, element: Element, *, emphasized: bool) -> None:
        name = element.name
        if name == "br":
            self._add("\n")
        elif name == "img":
            self._add(_picture(element))
        elif name in _CODE:
            self._add_code(element.text)
        elif name == "a":
            self._add_link(element, emphasized=emphasized)
        elif name in _MARKS and not emphasized:
            self._add_emphasis(_MARKS[name], element)
        else:
            gap = " " if name in BLOCK_TAGS else ""
            self._add(gap)
            self.add_all(element.children, emphasized=emphasized)
            self._add(gap)

    def _add(self, text: str) -> None:
        if text:
            self.parts.append(text)

    def _add_emphasis(self, mark: str, element: Element) -> None:
        """Each line of the element, without the white space around it, which is no emphasis."""
        inside = _Line([])
        inside.add_all(element.children, emphasized=True)
        lines = zip(inside.written().split("\n"), inside.plain().split("\n"), strict=True)
        for number, (line, plain) in enumerate(lines):
            if number:
                self.parts.append("\n")
            text = line.strip()
            self._add(" " * line[:1].isspace())
            if text:
                self.parts.append(_Marked(mark, text, plain.strip()))
                self._add(" " * line[-1].isspace())

    def _add_link(self, element: Element, *, emphasized: bool) -> None:
        inside = _Line([])
        inside.add_all(element.children, emphasized=emphasized)
        written = inside.written()
        text, address = " ".join(written.split()), element.attributes.get("href", "")
        if not text or not address:
            self.parts += inside.parts
            return
        self._add(" " * written[0].isspace())
        self._add(f"[{text}]({_address(address)})")
        self._add(" " * written[-1].isspace())

    def _add_code(self, content: str) -> None:
        text = " ".join(content.split())
        if not text:
            self._add(content[:1] and " ")
            return
        fence = "`" * (longest_run_of_backticks(text) + 1)
        gap = " " if "`" in (text[0], text[-1]) else ""
        self._add(" " * content[0].isspace())
        self.parts.append(_Marked(fence, f"{gap}{text}{gap}", escaped(text), is_code=True))
        self._add(" " * content[-1].isspace())

    def plain(self) -> str:
        """All parts without marks."""
        return _concatenated(part if isinstance(part, str) else part.plain for part in self.parts)

    def written(self) -> str:
        """All parts, marked where they can be; of two that touch only the first is."""
        written: list[str] = []
        before, was_marked = "", False
        for part, following in zip_longest(self.parts, self.parts[1:], fillvalue=""):
            if isinstance(part, str):
                text, was_marked = part, False
            else:
                after = following if isinstance(following, str) else following.plain
                was_marked = not was_marked and part.can_be_marked(before, after[:1])
                text = f"{part.mark}{part.text}{part.mark}" if was_marked else part.plain
            written.append(text)
            before = text[-1]
        return _concatenated(written)


def _concatenated(parts: Iterable[str]) -> str:
    """All *parts*; an exclamation mark before a link would make a picture of it."""
    found: list[str] = []
    for part in parts:
        if part.startswith("[") and found and found[-1].endswith("!"):
            found[-1] = f"{found[-1][:-1]}\\!"
        found.append(part)
    return "".join(found)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _picture(element: Element) -> str:
    """A picture with an address; those that are in the page itself would fill the text."""
    address = element.attributes.get("src", "")
    if not address or address.startswith("data:"):
        return ""
    text = " ".join(escaped(element.attributes.get("alt", "")).split())
    return f"![{text}]({_address(address)})"


def longest_run_of_backticks(text: str) -> int:
    """How many backticks follow one another at most."""
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _address(address: str) -> str:
    """*address* as browsers understand it: without white space around it, and on one line."""
    address = _LINE_ENDS.sub("", address.strip())
    return _NOT_IN_ADDRESSES.sub(lambda found: _percent_encoded(found[0]), address)


def _percent_encoded(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())
