"""Kept tokens -> HTML that may be shown in a page of one's own.

Two steps, the first for the bound and the second for the promise:

1. `rebuilt` writes HTML anew from the tokens: tags of known names alone, each opened and closed in
   its place, with the attributes of the allow-list and quotes of ours. Nothing of the source that
   a browser could read otherwise than we did, such as comments, declarations or an attribute
   without its closing quote, is copied. HTML parsers take quadratic time and memory for markup
   that is badly nested (33 kB of `<p><b title=…>` become 38 MB), and none of it is left.
2. nh3 parses that as a browser does and lets through what `ALLOWED` lists.

The characters are those of `rendering.render` for the same tokens, white space aside: a block that
the page leaves open inside a word ends there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise
from urllib.parse import urljoin

import numpy as np

from scrapy_mss.markup.attributes import base_href
from scrapy_mss.markup.elements import Indices, is_tag_of, prefix_sums
from scrapy_mss.markup.references import decode_all
from scrapy_mss.markup.rendering import DECLARATION
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES, VOID_TAGS
from scrapy_mss.markup.tokens import CLOSE, OPEN, Bools, Tokens


@dataclass(frozen=True, slots=True)
class Allowed:
    """Elements that may be shown, with the attributes that they keep, and why."""

    elements: str
    attributes: str
    why: str


# No class, id, name or style: they would take part in the styles and scripts of the page that
# shows the article. No srcset: it is a list of addresses, and src is there for every browser.
ALLOWED: tuple[Allowed, ...] = (
    Allowed("p br hr wbr div article section main header footer aside", "", "paragraphs"),
    Allowed("h1 h2 h3 h4 h5 h6 hgroup address", "", "headlines and bylines"),
    Allowed("blockquote q cite pre code kbd samp var dfn", "", "quotations"),
    Allowed("b strong i em u s small mark sub sup abbr bdi span", "", "emphasis in a sentence"),
    Allowed("ruby rb rp rt rtc", "", "the reading of Chinese and Japanese words"),
    Allowed("bdo", "", "the direction of a word in a text of another direction"),
    Allowed("ul dl dt dd figure figcaption details summary", "", "lists and captions"),
    Allowed("ol", "start reversed", "lists whose numbers the text refers to"),
    Allowed("li", "value", "see ol"),
    Allowed("table caption thead tbody tfoot tr", "", "results, prices, tables of a league"),
    Allowed("td th", "colspan rowspan", "a cell without them is in the wrong column"),
    Allowed("time del ins", "datetime", "when something happened or was corrected"),
    Allowed("a", "href title", "what the article refers to"),
    Allowed("img", "src alt title width height", "photographs, which the text may speak of"),
)
EVERYWHERE = frozenset({"dir", "lang"})  # without them some scripts cannot be read
TAGS = frozenset(name for row in ALLOWED for name in row.elements.split())
ATTRIBUTES = {
    name: frozenset(row.attributes.split()) for row in ALLOWED for name in row.elements.split()
}
_KEPT_ATTRIBUTES = {name: ATTRIBUTES[name] | EVERYWHERE for name in ATTRIBUTES}
SCHEMES = frozenset({"http", "https", "mailto", "data"})  # data: of images, see `_value`
# As nh3 takes them, made once: it wants sets, and reads them.
_ALLOWED_TAGS, _ALLOWED_SCHEMES = set(TAGS), set(SCHEMES)
_ALLOWED_ATTRIBUTES = {"*": set(EVERYWHERE), **{k: set(v) for k, v in ATTRIBUTES.items()}}
LINK_REL = "noopener noreferrer"  # the page that is linked to learns nothing of who shows the link

# Pictures alone: what a browser takes for a document, SVG too, may contain a script.
_DATA_IMAGE = re.compile(
    r"data:image/(?:avif|bmp|gif|jpe?g|png|webp);base64,[A-Za-z0-9+/=]*", re.IGNORECASE
)
_IGNORED_IN_ADDRESSES = re.compile("[\x00-\x20]+")
# What every reader of an address leaves out, wherever it stands (WHATWG's URL standard).
_LEFT_OUT_OF_ADDRESSES = re.compile("[\t\n\r]+")

# 328 of 330 articles of as many pages nest elements at most half as deep; browsers stop at 512. A
# parser's work is at worst this number times the length.
MAX_DEPTH = 32
MAX_TAG_LENGTH = 2**16  # characters of a tag that are read: pictures in attributes are long

# The time of nh3 is quadratic in the characters that it escapes in a text without a tag in between.
MAX_ESCAPED = 256
_ESCAPED = re.compile("[&\xa0]")
_DIVISION = "<!---->"

_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")  # what no page shows

_TABLE_PARTS = frozenset("caption thead tbody tfoot tr td th".split())
_ROWS = frozenset("table thead tbody tfoot tr".split())  # what has no text of its own
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot", "caption"})

# What the opening tag of an element closes where it is open, and what shields it from that.
_LISTS, _TABLE = frozenset({"ul", "ol", "dl"}), frozenset({"table"})
_CELLS = frozenset({"td", "th", "caption"})
_CLOSES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), _LISTS),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), _LISTS)),
    **dict.fromkeys(("td", "th"), (_CELLS, _TABLE)),
    "tr": (_CELLS | {"tr"}, _TABLE),
    **dict.fromkeys(_ROW_GROUPS, (_ROW_GROUPS | {"tr"} | _CELLS, _TABLE)),
}


def sanitized(tokens: Tokens, kept: Bools, url: str = "") -> str:
    """The *kept* tokens (bool[n_tokens]) as HTML that is safe to show.

    Links and images become absolute by the page's `<base>` and *url*. Relative ones are dropped
    where neither gives an http address: in a page of one's own they would lead to one's own site,
    and an image there would be fetched with the reader's cookies.
    """
    html = rebuilt(tokens, kept)
    base = base_url(tokens, url)
    try:
        html = _cleaned(html, base)
    except ValueError:  # an address that Python takes for one and a browser does not
        html = _cleaned(html, "")
    return _without_controls(html, "")  # those that were written as references


def _without_controls(html: str, instead: str) -> str:
    """*html* with *instead* for each run of what no page shows."""
    # Most is printable but for its line ends and tabs, which is known ten times as fast.
    if html.replace("\n", "").replace("\t", "").isprintable():
        return html
    return _CONTROLS.sub(instead, html)


def _cleaned(html: str, base: str) -> str:
    """*html* with what is allowed alone; relative links begin with *base* or are dropped."""
    import nh3  # here: who asks for text alone need not wait for it

    return nh3.clean(
        html,
        tags=_ALLOWED_TAGS,
        attributes=_ALLOWED_ATTRIBUTES,
        attribute_filter=_value,
        url_schemes=_ALLOWED_SCHEMES,
        url_relative=("rewrite_with_base", base) if base else "deny",
        link_rel=LINK_REL,
    )


def _value(element: str, attribute: str, value: str) -> str | None:
    """*value* where it may stay; data: addresses only where they are pictures."""
    if attribute not in ("href", "src"):
        return value
    address = _IGNORED_IN_ADDRESSES.sub("", value)
    if not address.lower().startswith("data:"):
        return _LEFT_OUT_OF_ADDRESSES.sub("", value)
    return address if element == "img" and _DATA_IMAGE.fullmatch(address) else None


def base_url(tokens: Tokens, url: str) -> str:
    """What relative links of a page at *url* begin with; empty where that is no http address."""
    try:
        joined = urljoin(url, base_href(tokens))
    except ValueError:  # brackets that do not enclose an IPv6 address
        joined = ""
    return next((each for each in (joined, url) if each.startswith(("http://", "https://"))), "")


def rebuilt(tokens: Tokens, kept: Bools) -> str:
    """The *kept* tokens as well-nested HTML with allowed elements and attributes alone."""
    pieces = _Pieces.of(tokens, kept)
    builder = _Builder(tokens, kept, pieces)
    add = {_TEXT: builder.add_text, OPEN: builder.open, CLOSE: builder.close}
    for row, (kind, blank) in enumerate(zip(pieces.kind, pieces.blank, strict=True)):
        if blank and builder.parts:
            builder.parts.append(blank)
        add[kind](row)
    return builder.finished()


_TEXT = 2  # the kind of a piece that is no tag


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The kept tags and what is between them: lists with an entry a piece.

    ``first`` is its first token and ``partner`` that token's; ``tag`` is a name, of text "unknown".
    ``begin`` and ``end`` are its place in the cleaned source, and ``blank`` is what separates it
    from the piece before, if anything does.
    """

    kind: list[int]
    tag: list[str]
    first: list[int]
    partner: list[int]
    begin: list[int]
    end: list[int]
    blank: list[str]

    @classmethod
    def of(cls, tokens: Tokens, kept: Bools) -> _Pieces:
        is_tag = tokens.is_tag
        in_text = kept & ~is_tag
        is_kept_tag = kept & is_tag
        no = np.zeros(1, np.bool_)
        first = np.flatnonzero(is_kept_tag | in_text & ~np.concatenate((no, in_text[:-1])))
        last = np.flatnonzero(is_kept_tag | in_text & ~np.concatenate((in_text[1:], no)))
        begin, end = tokens.clean_start[first].tolist(), tokens.clean_end[last].tolist()
        return cls(
            kind=np.minimum(tokens.kind[first], _TEXT).tolist(),
            tag=list(map(TAG_NAMES.__getitem__, tokens.tag[first].tolist())),
            first=first.tolist(),
            partner=tokens.partner[first].tolist(),
            begin=begin,
            end=end,
            blank=_blanks(tokens, kept, first, last),
        )


def _blanks(tokens: Tokens, kept: Bools, first: Indices, last: Indices) -> list[str]:
    """What separates the pieces from *first* to *last* from those before them.

    Between neighbours it is the source's white space, as preformatted text needs it.
    """
    is_removed_block = ~kept & is_tag_of(tokens, BLOCK_TAGS)
    separators = prefix_sums(tokens.blank_before | is_removed_block)
    is_separated = separators[first[1:] + 1] > separators[last[:-1] + 1]
    blanks = [" " * each for each in is_separated.tolist()]
    is_next = is_separated & (first[1:] == last[:-1] + 1)
    gaps = zip(
        tokens.clean_end[last[:-1][is_next]].tolist(),
        tokens.clean_start[first[1:][is_next]].tolist(),
        strict=True,
    )
    for row, (end, begin) in zip(np.flatnonzero(is_next).tolist(), gaps, strict=True):
        gap = tokens.clean[end:begin]
        if gap.isspace():
            blanks[row] = gap
    return ["", *blanks][: len(first)]


@dataclass(slots=True)
class _Builder:
    """HTML in the making; of the elements that are open, their closing tokens and names."""

    tokens: Tokens
    kept: Bools
    pieces: _Pieces
    parts: list[str] = field(default_factory=list)
    _front: list[str] = field(default_factory=list)
    _partners: list[int] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _escaped: int = 0  # characters since the last division

    def add_text(self, row: int) -> None:
        """Add words and symbols; a table in which they are outside of a cell ends before them."""
        if self._names and self._names[-1] in _ROWS:
            self._close_from(_place(self._names, _TABLE, _CELLS))
        text = self.tokens.clean[self.pieces.begin[row] : self.pieces.end[row]]
        if "<" in text:
            text = DECLARATION.sub(" ", text).replace("<", "&lt;")
        self.parts.append(self._in_parts(_with_closed_reference(text)))

    def _in_parts(self, text: str) -> str:
        """*text* with a comment, which nh3 takes out, after each so many of what it escapes."""
        self._escaped += text.count("&") + text.count("\xa0")
        if self._escaped <= MAX_ESCAPED:
            return text
        self._escaped = 0
        places = [found.start() for found in _ESCAPED.finditer(text)][::MAX_ESCAPED]
        bounds = pairwise((0, *places, len(text)))
        return _DIVISION.join(text[start:end] for start, end in bounds) + _DIVISION

    def open(self, row: int) -> None:
        """Add an opening tag, after closing what it closes."""
        tag, partner = self.pieces.tag[row], self.pieces.partner[row]
        is_block = tag in BLOCK_TAGS
        name = self._shown_name(tag)
        if is_block and "p" in self._names:
            self._close_from(self._names.index("p"))
        if name in _CLOSES:
            self._close_from(_place(self._names, *_CLOSES[name]))
        elif partner < 0 and name not in VOID_TAGS:
            # Nobody knows where it ends: a block as a paragraph, at the next block.
            name = "p" if is_block and name else ""
        if not name or not self._has_room_for(name):
            self.parts.append(" " * is_block)
            return
        self.parts.append(
            _opening(self._source(self.pieces.begin[row], self.pieces.end[row]), name)
        )
        if name not in VOID_TAGS:
            self._partners.append(partner)
            self._names.append(name)

    def close(self, row: int) -> None:
        """Close the element that ends here; one that was cut in two began before all else."""
        tag, partner, token = self.pieces.tag[row], self.pieces.partner[row], self.pieces.first[row]
        if token in self._partners:
            self._close_from(self._partners.index(token))
            return
        name = self._shown_name(tag)
        was_cut = partner >= 0 and not self.kept[partner]
        if was_cut and name and not self._names and len(self._front) < MAX_DEPTH:
            start, end = self.tokens.clean_start[partner], self.tokens.clean_end[partner]
            self._front.append(_opening(self._source(int(start), int(end)), name))
            self.parts.append(f"</{name}>")
        elif tag in BLOCK_TAGS:
            self.parts.append(" ")

    def finished(self) -> str:
        """The HTML, with everything closed."""
        self._close_from(0)
        return _without_controls("".join((*reversed(self._front), *self.parts)), " ")

    def _shown_name(self, name: str) -> str:
        """What an element *name* is called where it is shown; empty if it is not shown."""
        if name in TAGS and (name not in _TABLE_PARTS or "table" in self._names):
            return name
        return "div" if name in BLOCK_TAGS and name not in VOID_TAGS else ""

    def _has_room_for(self, name: str) -> bool:
        """Whether an element may be opened here: in a table only the next part of it may."""
        in_rows = bool(self._names) and self._names[-1] in _ROWS
        return len(self._names) < MAX_DEPTH and (not in_rows or name in _TABLE_PARTS)

    def _close_from(self, depth: int) -> None:
        while len(self._names) > depth:
            self.parts.append(f"</{self._names.pop()}>")
        del self._partners[depth:]

    def _source(self, start: int, end: int) -> str:
        return self.tokens.clean[start : min(end, start + MAX_TAG_LENGTH)]


def _with_closed_reference(text: str) -> str:
    """*text* with a reference at its end decoded: the word after a dropped tag is no part of it."""
    at = text.rfind("&")
    if at < 0 or ";" in text[at:]:
        return text
    return text[:at] + escape(decode_all(text[at:]), quote=False)


def _place(open_names: list[str], names: frozenset[str], shields: frozenset[str]) -> int:
    """Where the first of *names* is open inside the last of *shields*; the end if none is."""
    found = len(open_names)
    for depth in range(len(open_names) - 1, -1, -1):
        if open_names[depth] in shields:
            break
        if open_names[depth] in names:
            found = depth
    return found


def _opening(source: str, name: str) -> str:
    """An opening tag with the attributes of *source* that are allowed, the first of each name."""
    allowed = _KEPT_ATTRIBUTES[name]
    if "=" not in source or not _has_any(source.lower(), allowed):
        return f"<{name}>"
    values: dict[str, str] = {}
    for written_name, value in _ATTRIBUTE.findall(source):
        attribute = written_name.lower()
        if attribute in allowed and value and attribute not in values:
            values[attribute] = unescape(value.strip(value[0] * (value[0] in "\"'")))
    written = "".join(f' {key}="{escape(value)}"' for key, value in values.items())
    return f"<{name}{written}>"


def _has_any(text: str, wanted: frozenset[str]) -> bool:
    """Whether *text* has one of a few strings, which is known sooner than where each tag has it."""
    for each in wanted:  # `any` takes twice as long  # noqa: SIM110
        if each in text:
            return True
    return False
