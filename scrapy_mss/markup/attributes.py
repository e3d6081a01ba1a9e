"""What a page's attributes say: the one place that reads them.

Class words
    ``<div class="article-body__text" id="story3">`` is a div with the class words article, body,
    text, story: the words of class, id and a few attributes more. They say more about a modern
    page than its tags do, and many sites share them. Digits and punctuation separate words, so
    that numbered elements have the same words.
Hidden elements
    Those that are not shown until a script shows them.
Declarations
    The page's description of itself, and the schema.org and OpenGraph types that it declares.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from html import unescape
from itertools import compress, islice
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.references import decode_value
from scrapy_mss.markup.tags import TAG_NAMES, TAG_NUMBERS
from scrapy_mss.markup.tokens import (
    OPEN,
    Bools,
    Indices,
    Ints,
    Tokens,
)

MAX_CLASS_WORDS = 12  # of one element; templates have up to eight, utility-class frameworks fifty
TEMPLATE = "template"  # its content is shown only if a script copies it into the page
MAX_ATTRIBUTES = 128  # of one tag; of 5,100 pages none has a tag with more than 101
MAX_TAG_LENGTH = 2048  # characters of a tag that are read; one tag may be a megabyte of data
MAX_METAS = 512  # of a page that are read; of 1,325 pages none has more than 157

CLASS_ATTRIBUTES = ("class", "id", "itemprop", "role", "data-testid", "data-component")
_ATTRIBUTE = re.compile(
    rf"\s(?:{'|'.join(CLASS_ATTRIBUTES)})\s*=\s*"
    r"""("[^"]*"|'[^']*'|[^\s>"']+)""",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_HIDDEN = re.compile(
    r"\shidden[\s=/>]|"
    r"""\sstyle\s*=\s*(?:["'][^"'>]*?|[^\s"'>]*?)"""
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden)",
    re.IGNORECASE,
)

# Any attribute, as HTML has it, or the end of its tag.
_WHITE = r" \t\n\r\f"
_NAME_END = re.compile(rf"[{_WHITE}/>]")
_ANY_ATTRIBUTE = re.compile(
    rf""">|([^{_WHITE}/>][^{_WHITE}/>=]*)"""
    rf"""(?:[{_WHITE}]*=[{_WHITE}]*(?:"([^"]*)"|'([^']*)'|([^{_WHITE}>"'][^{_WHITE}>]*))?)?"""
)

_HREF = re.compile(r"""\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_NAMED_DESCRIPTION = r"""=\s*["']?(?:og:|twitter:)?description["'\s/>]"""
_DESCRIPTION = re.compile(rf"\s(?:name|property|itemprop)\s*{_NAMED_DESCRIPTION}", re.IGNORECASE)
_CONTENT = re.compile(r"""\scontent\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)

_SCHEMA_TYPE = re.compile(r"""@type["']\s*:\s*(?:\[\s*)?["']([A-Za-z]{1,40})["']""")
TYPE_CUES = ("@type", "og:type")  # where a type by schema.org in JSON-LD is, and one by OpenGraph
MAX_TO_TAG_END = 200  # characters from `og:type` to where its tag begins, and to where it ends


Values: TypeAlias = list[str | None]


class TagPlaces(NamedTuple):
    """Tags of a page, each of them one of its *rows*: int32 each.

    The tag in row n is from ``starts[n]`` to ``ends[n]`` in the source.
    """

    rows: array[int] | Ints
    starts: array[int] | Ints
    ends: array[int] | Ints

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Where each of the tags begins and ends."""
        return ((self.starts[row], self.ends[row]) for row in self.rows)


class ElementAttributes(NamedTuple):
    """The attributes of some elements of a page; one row an element, and one a class word.

    ``start`` is the opening token of each element, ``key`` a hash of its tag and class words
    together. ``word`` is a hash of each single class word and ``element`` the row of its element.
    """

    start: Indices  # intp[n_elements]
    key: NDArray[np.uint32]
    hidden: Bools
    word: NDArray[np.uint32]  # uint32[n_words]
    element: Indices


def class_words(tag: str) -> list[str]:
    """The class words in the source of an opening *tag*, each once, in their order."""
    return _words_in(_ATTRIBUTE.findall(tag))


def class_words_among(attributes: Mapping[str, str]) -> list[str]:
    """The class words in the *attributes* of a tag, each once."""
    return _words_in(filter(None, map(attributes.get, CLASS_ATTRIBUTES)))


def _words_in(values: Iterable[str]) -> list[str]:
    once: dict[int, str] = {}
    for word in map(str.lower, _WORD.findall(" ".join(values))):  # of two with one hash the first
        once.setdefault(crc32(word.encode()), word)
    return [*once.values()][:MAX_CLASS_WORDS]


@lru_cache(2**13)  # a site's templates have the same tags on each of its pages
def _read_tag(name: str, tag: str) -> tuple[int, array[int], bool]:
    """The key of an element, the hashes of its class words, and whether it is hidden."""
    words = class_words(tag)
    key = crc32(" ".join((name, *words)).encode())
    hidden = name == TEMPLATE or _HIDDEN.search(tag) is not None
    return key, array("I", [crc32(word.encode()) for word in words]), hidden


def element_attributes(tokens: Tokens, starts: Indices) -> ElementAttributes:
    """The attributes of the elements of a page that begin at *starts*."""
    return ElementAttributes(starts, *_columns(tokens, starts))


def _tag_tables() -> tuple[object, ...]:
    return (
        tuple(map(str.encode, CLASS_ATTRIBUTES)),
        TAG_NAMES,
        TAG_NUMBERS[TEMPLATE],
        MAX_CLASS_WORDS,
        lambda number, tag: _read_tag(TAG_NAMES[number], tag),
        MAX_TAG_LENGTH,
    )


@accelerated(_tag_tables, "TagReader")
def _columns(tokens: Tokens, starts: Indices) -> tuple[Any, ...]:
    """The columns of `ElementAttributes` but for the *starts*."""
    columns = (tokens.tag, tokens.clean_start, tokens.clean_end)
    tags = zip(*(column[starts].tolist() for column in columns), strict=True)
    rows = [
        _read_tag(TAG_NAMES[number], tokens.clean[start : min(end, start + MAX_TAG_LENGTH)])
        for number, start, end in tags
    ]
    keys, words, hidden = zip(*rows, strict=True) if rows else ((), (), ())
    return (
        np.array(keys, np.uint32),
        np.array(hidden, np.bool_),
        np.frombuffer(b"".join(words), np.uintc).astype(np.uint32, copy=False),
        np.arange(len(starts)).repeat(np.fromiter(map(len, words), np.intp, len(rows))),
    )


def _tag_source(tokens: Tokens, tag: int) -> str:
    """The source of a *tag*, cut where it is too long."""
    start = int(tokens.clean_start[tag])
    return tokens.clean[start : min(int(tokens.clean_end[tag]), start + MAX_TAG_LENGTH)]


@accelerated()
def attributes_of_tag(source: str, start: int, end: int) -> dict[str, str]:
    """The attributes of the tag from *start* to *end* in *source*, by name in lower case.

    As HTML has it, of two with one name the first counts.
    """
    attributes: dict[str, str] = {}
    name_end = _NAME_END.search(source, start, end)
    position = name_end.start() if name_end else end
    for _ in range(MAX_ATTRIBUTES):
        found = _ANY_ATTRIBUTE.search(source, position, end)
        if not found or not found[1]:
            break
        name, *values = found.groups()
        attributes.setdefault(name.lower(), decode_value(next(filter(None, values), "")))
        position = found.end()
    return attributes


@accelerated()
def attribute_values(names: tuple[str, ...], source: str, tags: TagPlaces) -> list[Values]:
    """The values that each of *tags* has for *names*, which are in lower case; None for none.

    They are those that `attributes_of_tag` finds. No name has a k, which is more than one letter
    in upper case.
    """
    found = (attributes_of_tag(source, *bounds) for bounds in tags.bounds())
    return [list(map(each.get, names)) for each in found]


@accelerated()
def rows_with(name: str, source: str, tags: TagPlaces) -> array[int]:
    """The rows of those *tags* that hold an ASCII *name*, in any case.

    It may be that of an attribute, or part of one or of a value.
    """
    holds = re.compile(re.escape(name), re.IGNORECASE | re.ASCII).search
    found = (holds(source, *bounds) is not None for bounds in tags.bounds())
    return array("i", compress(tags.rows, found))


def meta_description(tokens: Tokens) -> str:
    """The longest description that the page gives of itself; empty if there is none."""
    metas = np.equal(tokens.tag, TAG_NUMBERS["meta"]).nonzero()[0][:MAX_METAS].astype(np.int32)
    places = TagPlaces(metas, tokens.clean_start, tokens.clean_end)
    rows = rows_with("cr", tokens.clean, places)  # letters of the name that have one other form
    likely = (_tag_source(tokens, row) for row in rows if tokens.kind[row] == OPEN)
    contents = filter(None, map(_CONTENT.search, filter(_DESCRIPTION.search, likely)))
    values = (next(filter(None, content.groups()), "") for content in contents)
    return max(values, key=len, default="")


def base_href(tokens: Tokens) -> str:
    """What the page's `<base>` says that relative links begin with; empty if there is none."""
    if TAG_NUMBERS["base"] not in tokens.tag.tobytes():  # as most pages
        return ""
    bases = (_tag_source(tokens, at) for at in tokens.is_open("base").nonzero()[0].tolist())
    found = next(filter(None, map(_HREF.search, bases)), None)
    return unescape(next(filter(None, found.groups()), "")).strip() if found else ""


def schema_types(source: str, places: Iterable[int]) -> set[str]:
    """The types by schema.org in *source*, by the *places* of ``@type``."""
    found = (_SCHEMA_TYPE.match(source, place) for place in places)
    return {each[1] for each in found if each}


def graph_types(source: str, places: Iterable[int]) -> set[str]:
    """The types by OpenGraph in *source*, by the *places* of ``og:type`` in their tags."""
    found = set[str]()
    for place in islice(places, MAX_METAS):
        start = source.rfind("<", max(place - MAX_TO_TAG_END, 0), place)
        end = source.find(">", place, place + MAX_TO_TAG_END)
        tag = attributes_of_tag(source, start, end) if 0 <= start < end else {}
        if "og:type" in {tag.get("property"), tag.get("name")} and tag.get("content"):
            found.add(tag["content"].strip().lower())
    return found
