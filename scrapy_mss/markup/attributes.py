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
from itertools import compress
from string import ascii_lowercase
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.references import decode_value
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES, TAG_NUMBERS
from scrapy_mss.markup.tokens import (
    OPEN,
    Bools,
    Indices,
    Ints,
    Tokens,
    element_starts,
    tag_table,
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
_WORD = re.compile(rb"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
# For `bytes.translate`: small letters stay, all else becomes a space.
_SMALL_LETTERS = bytes(code if chr(code) in ascii_lowercase else ord(" ") for code in range(256))
_HIDDEN = re.compile(
    r"\shidden[\s=/>]|"
    r"""\sstyle\s*=\s*["'][^"'>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden)""",
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
_CONTENT = re.compile(r"""\scontent\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)

# schema.org types in JSON-LD and OpenGraph's og:type: what each begins with, and the whole. No type
# holds what another one begins with, so each beginning can be looked at by itself.
_TYPES = {
    "@type": re.compile(r"""@type["']\s*:\s*(?:\[\s*)?["']([A-Za-z]{1,40})["']"""),
    "og:type": re.compile(r"""og:type["']\s+content\s*=\s*["']([a-z.]{1,40})["']"""),
}
TYPE_CUES = tuple(_TYPES)


Values: TypeAlias = list[str | None]


class TagPlaces(NamedTuple):
    """Tags of a page, each of them one of its *rows*: int32 each.

    The tag in row n is from ``starts[n]`` to ``ends[n]`` in the source.
    """

    rows: array[int]
    starts: array[int]
    ends: array[int]

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Where each of the tags begins and ends."""
        return ((self.starts[row], self.ends[row]) for row in self.rows)


class ElementAttributes(NamedTuple):
    """The attributes of a page's block elements; one row an element, and one a class word.

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
    return [word.decode() for word in _class_words(tag)]


def class_words_among(attributes: Mapping[str, str]) -> list[str]:
    """The class words in the *attributes* of a tag, each once."""
    values = filter(None, map(attributes.get, CLASS_ATTRIBUTES))
    return [word.decode() for word in _words_in(values)]


def _class_words(tag: str) -> list[bytes]:
    return _words_in(_ATTRIBUTE.findall(tag))


def _words_in(texts: Iterable[str]) -> list[bytes]:
    values = " ".join(texts).encode("ascii", "replace")
    if values.islower():  # as most are, which is split in half the time
        found = [word for word in values.translate(_SMALL_LETTERS).split() if len(word) > 1]
    else:
        found = [word.lower() for word in _WORD.findall(values)]
    once: dict[int, bytes] = {}
    for word in found:  # of two with one hash the first
        once.setdefault(crc32(word), word)
    return [*once.values()][:MAX_CLASS_WORDS]


@lru_cache(2**13)  # a site's templates have the same tags on each of its pages
def _read_tag(name: str, tag: str) -> tuple[int, array[int], bool]:
    """The key of an element, the hashes of its class words, and whether it is hidden."""
    words = _class_words(tag)
    key = crc32(b" ".join((name.encode(), *words)))
    hidden = name == TEMPLATE or _HIDDEN.search(tag) is not None
    return key, array("I", map(crc32, words)), hidden


def element_attributes(tokens: Tokens) -> ElementAttributes:
    """The attributes of the block elements of a page."""
    return ElementAttributes(*_columns(tokens))


def _tag_tables() -> tuple[object, ...]:
    return (
        tuple(map(str.encode, CLASS_ATTRIBUTES)),
        TAG_NAMES,
        TAG_NUMBERS[TEMPLATE],
        MAX_CLASS_WORDS,
        lambda number, tag: _read_tag(TAG_NAMES[number], tag),
        tag_table(BLOCK_TAGS),
        MAX_TAG_LENGTH,
    )


@accelerated(_tag_tables, "TagReader")
def _columns(tokens: Tokens) -> tuple[Any, ...]:
    """The columns of `ElementAttributes`."""
    starts = element_starts(tokens, BLOCK_TAGS).nonzero()[0]
    sources = _tag_sources(tokens, starts)
    numbers = tokens.tag[starts].tolist()
    rows = [_read_tag(TAG_NAMES[number], tag) for number, tag in zip(numbers, sources, strict=True)]
    keys, words, hidden = zip(*rows, strict=True) if rows else ((), (), ())
    return (
        starts,
        np.array(keys, np.uint32),
        np.array(hidden, np.bool_),
        np.frombuffer(b"".join(words), np.uintc).astype(np.uint32, copy=False),
        np.arange(len(starts)).repeat(np.fromiter(map(len, words), np.intp, len(rows))),
    )


def _tag_bounds(tokens: Tokens, tags: Indices) -> tuple[Ints, Ints]:
    """Where *tags* begin and end in the cleaned source, cut where one is too long."""
    starts = tokens.clean_start[tags]
    return starts, np.minimum(tokens.clean_end[tags], starts + np.int32(MAX_TAG_LENGTH))


def _tag_sources(tokens: Tokens, tags: Indices) -> list[str]:
    """The source of *tags*, cut where one is too long."""
    starts, ends = _tag_bounds(tokens, tags)
    clean = tokens.clean
    return [clean[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


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
    tags = filter(_DESCRIPTION.search, _likely_descriptions(tokens))
    contents = filter(None, map(_CONTENT.search, tags))
    return max((content[1] or content[2] or "" for content in contents), key=len, default="")


def _likely_descriptions(tokens: Tokens) -> Iterator[str]:
    """The sources of `<meta>` tags that hold two letters of the name, cut where one is too long."""
    tags, at = tokens.tag.tobytes(), -1
    for _ in range(MAX_METAS):
        at = tags.find(TAG_NUMBERS["meta"], at + 1)
        if at < 0:
            return
        start, end = int(tokens.clean_start[at]), int(tokens.clean_end[at])
        source = tokens.clean[start : min(end, start + MAX_TAG_LENGTH)]
        if "cr" in source.lower() and tokens.kind[at] == OPEN:  # letters of one other form
            yield source


def base_href(tokens: Tokens) -> str:
    """What the page's `<base>` says that relative links begin with; empty if there is none."""
    if TAG_NUMBERS["base"] not in tokens.tag.tobytes():  # as most pages
        return ""
    bases = tokens.is_open("base").nonzero()[0]
    found = next(filter(None, map(_HREF.search, _tag_sources(tokens, bases))), None)
    return unescape(next(filter(None, found.groups()), "")).strip() if found else ""


def declared_types(source: str, places: Mapping[str, Iterable[int]]) -> set[str]:
    """The schema.org and OpenGraph types in *source*, by the *places* of some of `TYPE_CUES`."""
    found = (_TYPES[cue].match(source, place) for cue in places for place in places[cue])
    return {each[1] for each in found if each}
