"""JSON-LD in the source of a page: its scripts, and the types of what describes the page.

A script that cannot be parsed is skipped. A node describes the page if all keys on the way to it
are in `PAGE_KEYS`: an article under any other key, in an `ItemList` or as a mention, is another
page's. Scripts are found by a look at the source alone, as the types are wanted for each page that
is read, those in comments among them; metadata are read from a parsed page (`metadata.jsonld`).
"""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from scrapy_mss.markup.references import unescaped

# The longest of 368 scripts on news sites had 34,406 characters.
MAX_SCRIPT: Final = 500_000  # characters of one script
MAX_REMEMBERED: Final = 50_000
MAX_ALL_SCRIPTS: Final = 1_000_000  # characters of all scripts
# Keys under which a node still describes the page.
PAGE_KEYS: Final = frozenset({"@graph", "mainEntity", "mainEntityOfPage", "subjectOf", "article"})

CUE: Final = "ld+json"  # in the opening tag of each script
MAX_TAG: Final = 300  # characters of it behind the cue
MAX_PAGE_SCRIPTS: Final = 50
MAX_PAGE_NODES: Final = 2_000  # objects and lists that describe the page; real pages have some ten
MAX_TYPES: Final = 20  # of one node
MAX_TYPE_NAME: Final = 200
END: Final = re.compile(r"</(?ai:script)(?=[\s/>])")  # as a parser has it: no long s

# The CDATA section or comment that XHTML needed around a script, and how far from the end of the
# script its closing mark is searched.
_OPENING: Final = re.compile(r"(?://|/\*)?\s{0,9}(?:<!\[CDATA\[|<!--)\s{0,9}(?:\*/)?")
_CLOSING: Final = re.compile(r"(?://|/\*)?\s{0,9}(?:\]\]>|-->)\s{0,9}(?:\*/)?$")
MAX_CLOSING: Final = 40
# What is between commas before a closing bracket, in one match as long as there are none. An
# unclosed string extends to the end: searching it again from each quote would be quadratic.
_P: Final = "+" if sys.version_info >= (3, 11) else ""  # keeps no state a repetition
_STRING: Final = rf'"(?:[^"\\]+{_P}|\\.|\\\Z)*{_P}(?:"|\Z)'
_BETWEEN_COMMAS: Final = re.compile(rf'(?:[^",]+{_P}|{_STRING}|,(?!\s*[\]}}]))+{_P}', re.DOTALL)
_BETWEEN: Final = re.compile(r"[\s;,]*")
_DECODER: Final = json.JSONDecoder(strict=False)  # line breaks in strings are a common mistake


def parse_script(source: str) -> list[Any]:
    """The JSON values in the text of one script, not to be changed; none if it is malformed."""
    if len(source) > MAX_SCRIPT:
        return []
    return _remembered(source) if len(source) <= MAX_REMEMBERED else _parsed(source)


# Both the types of a page and its metadata are read from its scripts, one soon after the other.
@lru_cache(8)
def _remembered(source: str) -> list[Any]:
    return _parsed(source)


def _parsed(source: str) -> list[Any]:
    source = _without_wrapper(source.strip())
    if source.startswith(("{&quot;", "[{&quot;")):
        source = unescaped(source)
    values = _values(source)
    if values is None:
        repaired = _without_trailing_commas(source)
        values = None if repaired == source else _values(repaired)
    return values or []


def _without_wrapper(source: str) -> str:
    opening = _OPENING.match(source)
    if not opening:
        return source
    body, end = source[opening.end() : -MAX_CLOSING], source[-MAX_CLOSING:]
    return body + _CLOSING.sub("", end) if body else _CLOSING.sub("", source[opening.end() :])


def _without_trailing_commas(source: str) -> str:
    """The source without commas before a closing bracket; strings are left alone."""
    return "".join(_BETWEEN_COMMAS.findall(source))


def _values(source: str) -> list[Any] | None:
    """The JSON values in *source*, None if it is malformed or nested thousands of levels deep."""
    values: list[Any] = []
    position = _end_of_gap(source, 0)
    try:
        while position < len(source):
            value, position = _DECODER.raw_decode(source, position)
            values.append(value)
            position = _end_of_gap(source, position)
    except (ValueError, RecursionError):
        return None
    return values


def _end_of_gap(source: str, position: int) -> int:
    match = _BETWEEN.match(source, position)
    return match.end() if match else position


def page_types(source: str, places: Iterable[int]) -> set[str]:
    """The types of the nodes that describe the page, in the scripts with ``CUE`` at *places*."""
    types: set[str] = set()
    left = MAX_PAGE_NODES
    for script in _scripts(source, islice(places, MAX_PAGE_SCRIPTS)):
        queue: deque[Any] = deque(parse_script(script))
        while queue and left > 0:
            left -= 1
            value = queue.popleft()
            if isinstance(value, list):
                queue.extend(value[:MAX_PAGE_NODES])
            elif isinstance(value, dict):
                types.update(_types_of(value))
                queue.extend(value[key] for key in PAGE_KEYS if key in value)
    return types


def _scripts(source: str, places: Iterable[int]) -> Iterator[str]:
    """The texts of the scripts in whose opening tags the *places* are, up to a bound in all."""
    left = MAX_ALL_SCRIPTS
    for place in places:
        start = source.find(">", place, place + MAX_TAG) + 1
        if not start:
            continue
        end = END.search(source, start, start + left)
        if end is None:
            return  # the last one that is read: what is behind it is part of it
        yield source[start : end.start()]
        left -= end.start() - start


def _types_of(node: Mapping[str, Any]) -> Iterator[str]:
    """The names of the types of *node*, without the vocabulary that they are from."""
    value = node.get("@type")
    for each in value[:MAX_TYPES] if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield re.split(r"[/#:]", each[:MAX_TYPE_NAME])[-1]
