"""Kept tokens -> HTML that may be shown in a page of one's own.

Two steps, the first for the bound and the second for the promise:

1. `rebuilt` writes new HTML from the tokens: tags of known names alone, each opened and closed in
   its place, with the attributes of the allow-list and quotes of ours. Nothing of the source that
   a browser could read otherwise than we did, such as comments, declarations or an attribute
   without its closing quote, is copied. HTML parsers take quadratic time and memory for markup
   that is badly nested (33 kB of `<p><b title=…>` become 38 MB), and none of it is left.
2. nh3 parses that as a browser does and lets through what `ALLOWED` lists. It gives back what it
   got where parsers have no rules of their own for the elements, and every address is known to be
   one that stays; then it is not asked. Tests compare the two.

The characters are those of `rendering.render` for the same tokens, white space aside: a block that
the page leaves open inside a word ends there.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from html import escape
from itertools import islice, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import urljoin

import numpy as np

from scrapy_mss.markup.attributes import attributes_of_tag, base_href
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.rendering import DECLARATION, decode_all, without_controls
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES, TAG_NUMBERS, VOID_TAGS
from scrapy_mss.markup.tokens import OPEN, Bools, Tokens, is_tag_of, prefix_sums

if TYPE_CHECKING:
    import nh3


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
SCHEMES = frozenset({"http", "https", "mailto", "data"})  # data: of images, see `address_value`
# As nh3 takes them, made once: it wants sets, and reads them.
_ALLOWED_TAGS, _ALLOWED_SCHEMES = set(TAGS), set(SCHEMES)
_ALLOWED_ATTRIBUTES = {"*": set(EVERYWHERE), **{k: set(v) for k, v in ATTRIBUTES.items()}}
LINK_REL = "noopener noreferrer"  # the page that is linked to learns nothing of who shows the link

# Pictures alone: what a browser takes for a document, SVG too, may contain a script.
_DATA_IMAGE = re.compile(
    r"data:image/(?:avif|bmp|gif|jpe?g|png|webp);base64,[A-Za-z0-9+/=]*", re.IGNORECASE
)
ADDRESSES = ("href", "src")
_RELATIVE = re.compile(r' (?:href|src)="(?!https?://|mailto:|data:)')
_SHOWN = "[^\x00-\x1f\x7f-\x9f\ud800-\udfff]*"
# Addresses that every reader takes for one as it is, and those that need no more than another
# beginning, by the page's address: what a reader would rewrite in those is left out.
_HOST = r"(?:(?!xn--|-)[a-z0-9-]{1,63}(?<!-)\.)+(?!xn--)[a-z]{2,63}"
_KNOWN = re.compile(rf"https?://{_HOST}(?::\d{{1,4}})?(?:[/?#]{_SHOWN})?|mailto:(?!//){_SHOWN}")
_KNOWN_SITE = re.compile(rf"(https?:)//{_HOST}(?=[/?#]|\Z)")
_LETTERS = r"A-Za-z0-9_!$&()*+,;=:@~%.\-"
_FRAGMENT = rf"#[{_LETTERS}/?]+"
_NAME = rf"(?!\.|%2[Ee])[{_LETTERS}]*"
_NAMES = rf"{_NAME}(?:/{_NAME})*(?:\?[{_LETTERS}/?]+)?"
_ABOVE = r"(?:\.\./)+|\./"
_BELOW = rf"/(?!/)|//(?={_HOST}/)|{_ABOVE}|(?![/?#]|[^/?#]*:)"
_BY_PAGE = re.compile(rf"(?:{_BELOW}){_NAMES}(?:{_FRAGMENT})?|{_FRAGMENT}")
_BEGINNING = re.compile(rf"//?|#|{_ABOVE}|")
_KNOWN_PAGE = re.compile(rf"https?://{_HOST}/{_NAMES}(?=#|\Z)")
MAX_ABOVE = 4  # folders
# What nh3 leaves out, whatever follows.
_OTHER_SCHEME = re.compile("(?!https?:|mailto:|data:)[a-z][a-z0-9+.-]*:")
_IGNORED_IN_ADDRESSES = re.compile("[\x00-\x20]+")
# What every reader of an address leaves out, wherever it stands (WHATWG's URL standard).
_LEFT_OUT_OF_ADDRESSES = re.compile("[\t\n\r]+")

# 328 of 330 articles of as many pages nest elements at most half as deep; browsers stop at 512. A
# parser's work is at worst this number times the length.
MAX_DEPTH = 32
SHORTEST_ATTRIBUTE = len("<b dir=x")  # or "<a href=x>" and the like
MAX_TAG_LENGTH = 2**16  # characters of a tag that are read: pictures in attributes are long

# In a text without a tag in between, nh3 takes quadratic time for the characters at which it looks
# for something to escape: "&", and all that begin with the byte C2, as the no-break space does.
MAX_ESCAPED = 256
_ESCAPED = re.compile("[&\x80-\xbf]")
_LONG_TEXT = re.compile(rf"(?:\A|(?<=>))[^<>]{{{MAX_ESCAPED},}}")
_DIVISION = "<!---->"

# References by a number that is their character's; readers differ in what the others stand for.
_PLAIN_NUMBER = (
    r"(?:0{0,4}(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6]|1[6-9]\d|[2-9]\d\d|[1-9]\d{3}|[1-4]\d{4}|12\d{4})"
    r"|[xX]0{0,4}(?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]|[a-fA-F][0-9a-fA-F]|[1-9a-fA-F][0-9a-fA-F]{2}"
    r"|[1-9a-cA-C][0-9a-fA-F]{3}));"
)
_ODD_NUMBER = re.compile(rf"&#(?=[0-9xX])(?!{_PLAIN_NUMBER})")

# What elements that are not shown become: a block stays one.
_INSTEAD = {name: "div" if name in BLOCK_TAGS - VOID_TAGS else "" for name in TAG_NAMES}
_TABLE_PARTS = frozenset("caption thead tbody tfoot tr td th".split())
_ROWS = frozenset("table thead tbody tfoot tr".split())  # what has no text of its own
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot", "caption"})

# Parsers have rules of their own for what is in these, for a heading in a heading, for links in a
# link, and for parts of a table where that around them is left out: they are in none but these.
_OF_RULES = frozenset("ruby rb rp rt rtc".split())
_PREFORMATTED = frozenset({"pre"})  # where parsers leave out a line end that comes first
_AROUND = {
    "tr": frozenset({"thead", "tbody", "tfoot"}),
    **dict.fromkeys(("td", "th"), frozenset({"tr"})),
}
_HEADINGS, _LINK = frozenset("h1 h2 h3 h4 h5 h6".split()), frozenset({"a"})

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
_WITHOUT_BLOCKS = _HEADINGS | {"p", *_CLOSES}  # what has none in it, for a parser to read it alike


def sanitized(tokens: Tokens, kept: Bools, url: str = "", depth: int = MAX_DEPTH) -> str:
    """The *kept* tokens (bool[n_tokens]) as HTML that is safe to show, so many elements deep.

    Links and images become absolute by the page's `<base>` and *url*. Relative ones are dropped
    where neither gives an http address: in a page of one's own they would lead to one's own site,
    and an image there would be fetched with the reader's cookies.
    """
    html, reads_back = rebuilt(tokens, kept, url, depth)
    if reads_back and not html.startswith("\ufeff"):  # which parsers leave out
        return html
    base = base_url(tokens, url) if _RELATIVE.search(html) else ""
    n_escaped = html.count("&") + html.encode("utf-8", "surrogatepass").count(b"\xc2")
    divided = _LONG_TEXT.sub(_in_parts, html) if n_escaped > MAX_ESCAPED else html
    safe = _cleaner(base).clean(divided)
    return without_controls(safe, "") if "&#" in html else safe  # those written as references


def _in_parts(found: re.Match[str]) -> str:
    """A text with a comment, which nh3 takes out, before each so many of `_ESCAPED`."""
    text = found[0]
    places = [each.start() for each in islice(_ESCAPED.finditer(text), 0, None, MAX_ESCAPED)]
    return _DIVISION.join(text[start:end] for start, end in pairwise((0, *places, len(text))))


@lru_cache(2**4)  # it takes .1 ms; most pages need one without a base
def _cleaner(base: str) -> nh3.Cleaner:
    """What lets through what is allowed; relative links begin with *base* or are dropped."""
    import nh3  # here: who asks for text alone need not wait for it

    cleaner = partial(
        nh3.Cleaner,
        tags=_ALLOWED_TAGS,
        attributes=_ALLOWED_ATTRIBUTES,
        attribute_filter=address_value,
        url_schemes=_ALLOWED_SCHEMES,
        link_rel=LINK_REL,
    )
    try:
        return cleaner(url_relative=("rewrite_with_base", base) if base else "deny")
    except ValueError:  # an address that Python takes for one and a browser does not
        return cleaner(url_relative="deny")


def address_value(element: str, attribute: str, value: str) -> str | None:
    """*value* where it may stay; data: addresses only where they are pictures."""
    if attribute not in ADDRESSES:
        return value
    address = _IGNORED_IN_ADDRESSES.sub("", value)
    if not address.lower().startswith("data:"):
        return _LEFT_OUT_OF_ADDRESSES.sub("", value)
    return address if element == "img" and _DATA_IMAGE.fullmatch(address) else None


def base_url(tokens: Tokens, url: str) -> str:
    """What relative links of a page at *url* begin with; empty where that is no http address."""
    scheme, colon, rest = url.strip().partition(":")
    url = f"{scheme.lower()}{colon}{rest}"
    try:
        joined = urljoin(url, base_href(tokens))
    except ValueError:  # brackets that do not enclose an IPv6 address
        joined = ""
    return next((each for each in (joined, url) if each.startswith(("http://", "https://"))), "")


class Rebuilt(NamedTuple):
    """HTML of our own; it *reads_back* if a browser's parser makes the same of it."""

    html: str
    reads_back: bool


def rebuilt(tokens: Tokens, kept: Bools, url: str = "", depth: int = MAX_DEPTH) -> Rebuilt:
    """The *kept* tokens of the page at *url* as well-nested HTML, so many elements deep.

    It has allowed elements and attributes alone.
    """
    builder = _Builder(tokens, kept, url, depth)
    _write(builder)
    html = "".join((*reversed(builder.front), *builder.parts))
    html = without_controls(html, " ") if builder.has_controls else html
    return Rebuilt(html, builder.reads_back)


def _nesting() -> tuple[object, ...]:
    """What the compiled part obeys, for each number of a tag: the rules of `_Builder`."""
    rules = [*_CLOSES.values(), _AROUND.values(), (_TABLE, _CELLS)]
    sets = list({each for rule in rules for each in rule})
    bit = {names: 1 << number for number, names in enumerate(sets)}
    marks = (BLOCK_TAGS, VOID_TAGS, _TABLE_PARTS, _ROWS, _TABLE, _OF_RULES, _HEADINGS, _LINK)
    nothing = bytes([255])
    flags, shown, instead, classes = b"", b"", b"", array("I")
    for name in TAG_NAMES:
        flags += bytes([sum((name in names) << place for place, names in enumerate(marks))])
        shown += _number(name if name in TAGS else _INSTEAD[name])
        instead += _number(_INSTEAD[name])
        closed, shields = _CLOSES.get(name, (None, None))
        classes.append(sum(bit[each] for each in sets if name in each))
        classes.extend((bit[closed], bit[shields]) if closed and shields else (0, 0))
        classes.append(bit.get(_AROUND.get(name, frozenset()), 0))
    rest = 256 - len(TAG_NAMES)
    return (
        flags + bytes(rest),
        shown + nothing * rest,
        instead + nothing * rest,
        classes.tobytes() + bytes(4 * classes.itemsize * rest),
        TAG_NAMES,
        [_tag(name) for name in TAG_NAMES],
        [[each.encode() for each in _KEPT_ATTRIBUTES.get(name, ())] for name in TAG_NAMES],
        (bit[_TABLE], bit[_CELLS]),
        TAG_NUMBERS["p"],
        TAG_NUMBERS["pre"],
        _tag,
    )


def _number(name: str) -> bytes:
    """The number of a tag as the compiled part has it: 255 means no tag."""
    return bytes([TAG_NUMBERS[name] if name else 255])


@accelerated(_nesting, "Nesting")
def _write(builder: _Builder) -> None:
    """Write what is kept; the compiled function has a stack of its own."""
    clean, end_before = builder.tokens.clean, 0
    for kind, joint, tag, token, partner, begin, end in _pieces(builder.tokens, builder.kept):
        if joint and builder.parts:
            gap = clean[end_before:begin] if joint == GAP else " "
            builder.add_gap(gap if gap.isspace() else " ")
        if kind == TEXT:
            builder.add_text(clean[begin:end])
        elif kind == OPEN:
            builder.open(TAG_NAMES[tag], partner, (begin, end))
        else:
            builder.close(TAG_NAMES[tag], partner, token)
        end_before = end
    builder.close_from(0)


TEXT = 2  # the kind of a piece that is no tag
# What separates a piece from the one before: white space or a removed block, where tokens were left
# out or between neighbours. There it is the source's own, as preformatted text needs it.
APART, GAP = 1, 2

# Its kind, what separates it, the number of its tag, its first token and that token's partner, and
# where it begins and ends in the cleaned source; of text, tag and partner are 0 and -1.
_Piece: TypeAlias = tuple[int, int, int, int, int, int, int]


def _pieces(tokens: Tokens, kept: Bools) -> Iterator[_Piece]:
    """The *kept* tokens (bool[n_tokens]) as tags and the runs of text between them."""
    in_text = kept & ~tokens.is_tag
    is_kept_tag = kept & tokens.is_tag
    no = np.zeros(1, np.bool_)
    first = np.flatnonzero(is_kept_tag | in_text & ~np.concatenate((no, in_text[:-1])))
    last = np.flatnonzero(is_kept_tag | in_text & ~np.concatenate((in_text[1:], no)))
    is_removed_block = ~kept & is_tag_of(tokens, BLOCK_TAGS)
    separators = prefix_sums(tokens.blank_before | is_removed_block)
    is_apart = separators[first[1:] + 1] > separators[last[:-1] + 1]
    is_next = first[1:] == last[:-1] + 1
    joint = np.where(is_apart, np.where(is_next, GAP, APART), 0)
    columns = (
        np.minimum(tokens.kind[first], TEXT),
        np.concatenate(([0], joint))[: len(first)],
        tokens.tag[first],
        first,
        tokens.partner[first],
        tokens.clean_start[first],
        tokens.clean_end[last],
    )
    return zip(*(column.tolist() for column in columns), strict=True)


@dataclass
class _Builder:
    """HTML in the making; of the elements that are open, their closing tokens and names."""

    tokens: Tokens
    kept: Bools
    url: str
    depth: int  # elements in one another; what is deeper is left out with its text kept
    parts: list[str] = field(default_factory=list)
    front: list[str] = field(default_factory=list)  # tags that belong before them, the last first
    reads_back: bool = True
    has_controls: bool = True  # unless it is known that there are none
    _partners: list[int] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _shown: set[str] = field(default_factory=set)  # the names of all so far
    _last: str = ""  # the name of the last to be opened, until there is text

    @lazy
    def beginnings(self) -> dict[str, str]:
        """What the beginnings of addresses stand for by that of the page, if that is known."""
        base = base_url(self.tokens, self.url)
        site, page = _KNOWN_SITE.match(base), _KNOWN_PAGE.match(base)
        known = {"/": f"{site[0]}/", "//": f"{site[1]}//"} if site else {}
        if page:
            folders = page[0].partition("?")[0].split("/")[:-1]
            for n in range(MAX_ABOVE):
                known["../" * n] = "/".join([*folders[: max(3, len(folders) - n)], ""])
            known |= {"./": known[""], "#": f"{page[0]}#"}
        return known

    def add_text(self, text: str) -> None:
        """Add words and symbols; a table in which they are outside of a cell ends before them."""
        if self._names and self._names[-1] in _ROWS:
            self.close_from(_place(self._names, _TABLE, _CELLS))
        self._add_words(text)

    def _add_words(self, text: str) -> None:
        html = self.html_of(text)
        self.reads_back &= not (self._last in _PREFORMATTED and html.startswith("\n"))
        self._last = ""
        self.parts.append(html)

    def add_gap(self, blanks: str) -> None:
        """Add what is between two pieces; in a row of a table all but plain blanks are text."""
        is_in_row = bool(self._names) and self._names[-1] in _ROWS
        self.reads_back &= blanks.isascii() or not is_in_row
        self._add_words(blanks)

    def html_of(self, text: str) -> str:
        text = DECLARATION.sub(" ", text) if "<" in text else text
        if "&#" in text and _ODD_NUMBER.search(text):
            self.reads_back = False
            return _with_closed_reference(text.replace("<", "&lt;").replace(">", "&gt;"))
        return _escaped(decode_all(text))

    def open(self, tag: str, partner: int, place: tuple[int, int]) -> None:
        """Add an opening tag, after closing what it closes."""
        names, is_block = self._names, tag in BLOCK_TAGS
        name = self._shown_name(tag)
        if is_block and "p" in names:
            self.close_from(names.index("p"))
        if name in _CLOSES:
            self.close_from(_place(self._names, *_CLOSES[name]))
        elif partner < 0 and name not in VOID_TAGS:
            # Nobody knows where it ends: a block as a paragraph, at the next block.
            name = "p" if is_block and name else ""
        if not name or not self._has_room_for(name):
            self.parts.append(" " * is_block)
            return
        self.parts.append(self.with_attributes(place, name))
        self.reads_back &= not self._is_of_rules(name)
        self._shown.add(name)
        self._last = name
        if name not in VOID_TAGS:
            self._partners.append(partner)
            names.append(name)

    def close(self, tag: str, partner: int, token: int) -> None:
        """Close the element that ends here; one that was cut in two began before all else."""
        if token in self._partners:
            self.close_from(self._partners.index(token))
            return
        name = self._shown_name(tag)
        was_cut = partner >= 0 and not self.kept[partner]
        if was_cut and name and not self._names and len(self.front) < self.depth:
            start, end = self.tokens.clean_start[partner], self.tokens.clean_end[partner]
            self.front.append(self.with_attributes((int(start), int(end)), name))
            self._note_front(name)
            self.parts.append(f"</{name}>")
        elif tag in BLOCK_TAGS:
            self.parts.append(" ")

    def _shown_name(self, name: str) -> str:
        """What an element *name* is called where it is shown; empty if it is not shown."""
        if name in _TABLE_PARTS and "table" not in self._names:
            return _INSTEAD[name]
        return name if name in TAGS else _INSTEAD[name]

    def _has_room_for(self, name: str) -> bool:
        """Whether an element may be opened here: in a table only the next part of it may."""
        names = self._names
        if names and names[-1] in _ROWS and name not in _TABLE_PARTS:
            return False
        return len(names) < self.depth

    def _is_of_rules(self, name: str) -> bool:
        """Whether parsers have a rule of their own for an element in what is open."""
        around = self._names[-1] if self._names else ""
        return (
            name in _OF_RULES
            or around not in _AROUND.get(name, {around})
            or (name in _HEADINGS and around in _HEADINGS)
            or (name in _LINK and name in self._names)
        )

    def _note_front(self, name: str) -> None:
        """Note an element that was cut in two, and is around all that was written so far."""
        is_around = (name in _WITHOUT_BLOCKS and not self._shown.isdisjoint(BLOCK_TAGS)) or (
            name in _LINK and name in self._shown
        )
        self.reads_back &= not (is_around or name in _OF_RULES | _PREFORMATTED | _TABLE | VOID_TAGS)
        self._shown.add(name)

    def close_from(self, depth: int) -> None:
        names = self._names
        while len(names) > depth:
            self.parts.append(f"</{names.pop()}>")
        del self._partners[depth:]

    def with_attributes(self, place: tuple[int, int], name: str) -> str:
        """An opening tag with the attributes of its source that are allowed."""
        start, end = place
        if end - start < SHORTEST_ATTRIBUTE:
            return _tag(name)
        found = attributes_of_tag(self.tokens.clean, start, min(end, start + MAX_TAG_LENGTH))
        kept = _KEPT_ATTRIBUTES[name]
        return _tag(name, self.with_addresses({key: found[key] for key in found if key in kept}))

    def with_addresses(self, values: dict[str, str]) -> dict[str, str]:
        """The *values* of attributes, with addresses as they are to be read by all."""
        for key in ADDRESSES:
            if key in values and not _KNOWN.fullmatch(values[key]):
                return self._with_address(values, key, values[key])
        return values

    def _with_address(self, values: dict[str, str], key: str, address: str) -> dict[str, str]:
        """*values* with an *address* as it is to be read by all, or without it."""
        if not address:
            return {name: value for name, value in values.items() if name != key}
        found = _BEGINNING.match(address) if _BY_PAGE.fullmatch(address) else None
        if found and found[0] in self.beginnings:
            return {**values, key: self.beginnings[found[0]] + address[found.end() :]}
        if address.startswith("data:"):
            picture = address_value("img", key, address) if key == "src" else None
            return {**values, key: picture} if picture else _without(values, key)
        if _OTHER_SCHEME.match(address):
            return _without(values, key)
        self.reads_back = False
        return values


def _without(values: dict[str, str], name: str) -> dict[str, str]:
    """*values* without one, in whose place is the last: as nh3 leaves out an attribute."""
    rows = list(values.items())
    rows[list(values).index(name)] = rows[-1]
    return dict(rows[:-1])


def _tag(name: str, values: Mapping[str, str] = MappingProxyType({})) -> str:
    """The opening tag of an element as nh3 writes it."""
    written = "".join([f' {key}="{_escaped(value, in_tag=True)}"' for key, value in values.items()])
    return f'<{name}{written} rel="{LINK_REL}">' if name == "a" else f"<{name}{written}>"


def _escaped(text: str, *, in_tag: bool = False) -> str:
    """*text* as nh3 writes it, which may be *in a tag*."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = text.replace("\xa0", "&nbsp;")
    return text.replace('"', "&quot;") if in_tag else text


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
