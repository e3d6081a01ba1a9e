"""A page's source without what is too much, for callers that parse it with libxml2.

libxml2 compares each attribute of a tag with all those before it, so that one tag of 350 KB takes
two seconds to parse, and one of 5 MB minutes. A tag keeps its first `MAX_ATTRIBUTES`, however long
they are.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.parser_tags import attributes, long_tags

MAX_ATTRIBUTES: Final = 128  # of 5,100 pages none has a tag with more than 101
SHORTEST: Final = 2 * MAX_ATTRIBUTES  # characters of a tag with more: a letter and a space each


def without_surplus_attributes(source: str) -> str:
    """*source*, each tag with its first `MAX_ATTRIBUTES` attributes."""
    compiled = compiled_part()
    if compiled is not None and not compiled.tags.may_exceed(source, MAX_ATTRIBUTES):
        return source  # known a dozen times as fast as where the tags are
    parts, position = [], 0
    for tag in long_tags(source, SHORTEST):
        surplus = next(islice(attributes(source, tag), MAX_ATTRIBUTES, None), None)
        if surplus is not None:
            parts.append(source[position:surplus])
            position = tag[1] - source.endswith(">", *tag)
    return "".join((*parts, source[position:])) if parts else source
