r"""A page's source without what is too much, for callers that parse it with libxml2.

libxml2 compares each attribute of a tag with all those before it, so that one tag of 350 KB takes
two seconds to parse, and one of 5 MB minutes. A tag keeps its first `MAX_ATTRIBUTES`, however long
they are.

`tokenizer` keeps the text of broken pages and takes a ``<!--`` between quotes for a comment. What
has to know beforehand how the parser reads a page cannot use it: whoever makes the two disagree
could hide a tag. This is HTML's standard, section 13.2.5, with one exception of libxml2: an element
of `_RAW_TEXT` that is closed by its own tag (``<style/>``) has no content. Before libxml2 2.14,
comments and a few rare elements were read otherwise.

One pass of one regular expression, whose alternatives consume all they looked at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Final

MAX_ATTRIBUTES: Final = 128  # of 5,100 pages none has a tag with more than 101
SHORTEST: Final = 2 * MAX_ATTRIBUTES  # characters of a tag with more: a letter and a space each

Run = tuple[int, int]  # offsets into the source

# Possessive quantifiers keep no state a repetition, which matters on a tag with a million
# attributes; before Python 3.11 there are none, and such a tag takes memory for a moment.
_P: Final = "+" if sys.version_info >= (3, 11) else ""
_WHITE: Final = r" \t\n\f\r"  # and no other: `\s` has more
_END: Final = rf"[{_WHITE}/>]"  # of a name

_VALUE: Final = rf"""(?:"[^"]*{_P}(?:"|\Z)|'[^']*{_P}(?:'|\Z)|[^{_WHITE}>"'][^{_WHITE}>]*{_P})"""
_ATTRIBUTE: Final = (
    rf"[^{_WHITE}/>][^{_WHITE}/>=]*{_P}(?:[{_WHITE}]*{_P}=[{_WHITE}]*{_P}{_VALUE}?{_P})?{_P}"
)
_ATTRIBUTES: Final = rf"(?:[{_WHITE}/]*{_P}{_ATTRIBUTE})*{_P}"
_NAME: Final = rf"/?[a-zA-Z][^{_WHITE}/>]*{_P}"
# Most tags end after their names, and are passed over; not where the name has a "<", since the
# search would go on there, and read the rest of the name again.
_PLAIN: Final = rf"/?[a-zA-Z][^{_WHITE}/<>]*{_P}>"
_TAG: Final = rf"(?P<tag>(?!{_PLAIN}){_NAME}{_ATTRIBUTES}[{_WHITE}/]*{_P}(?:>|\Z))"

_COMMENT: Final = rf"!--(?:-?>|(?:[^-]+{_P}|-(?!-!?>))*{_P}(?:--!?>|\Z))"
_DECLARATION: Final = rf"(?:[!?]|/[^a-zA-Z>])[^>]*{_P}"  # and a closing tag without a name


def _in_any_case(names: str) -> str:
    """A pattern of *names*; sets of letters fail faster than a pattern that ignores case."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in names)


# Inside a comment in a script, a script has a closing tag of its own.
_SCRIPT: Final = _in_any_case("script") + _END
_INNER_SCRIPT: Final = rf"<{_SCRIPT}(?:[^<-]+{_P}|-(?!->)|<(?!/{_SCRIPT}))*{_P}(?:</{_SCRIPT})?"
_SCRIPT_COMMENT: Final = (
    rf"<!(?=--)(?:[^<-]+{_P}|-(?!->)|{_INNER_SCRIPT}|<(?!/{_SCRIPT}))*{_P}(?:-->)?"
)
_SCRIPT_TEXT: Final = rf"(?:[^<]+{_P}|{_SCRIPT_COMMENT}|<(?!/{_SCRIPT}))*{_P}"

# Elements whose content is text up to their own closing tag.
_RAW: Final = _in_any_case("style|xmp|iframe|noembed|noframes|title|textarea")
_RAW_TEXT: Final = rf"(?:[^<]+{_P}|<(?!/(?ai:(?P=raw)){_END}))*{_P}"
_RAW_ELEMENT: Final = (
    rf"(?P<raw_tag>(?:{_in_any_case('script')}|(?P<raw>{_RAW}))(?={_END}){_ATTRIBUTES}"
    rf"(?:[{_WHITE}/]*/>|(?P<open>[{_WHITE}/]*(?:>|\Z))))"
    rf"(?(open)(?(raw){_RAW_TEXT}|{_SCRIPT_TEXT})|)"
)
_NOT_RAW: Final = rf"(?!(?:{_in_any_case('script')}|{_RAW}){_END})"

_MARKUP: Final = re.compile(
    rf"<(?:{_NOT_RAW}{_TAG}|{_COMMENT}|{_DECLARATION}|{_RAW_ELEMENT})", re.DOTALL
)
_TAG_NAME: Final = re.compile(_NAME)
_ANY_ATTRIBUTE: Final = re.compile(_ATTRIBUTE)


def without_surplus_attributes(source: str) -> str:
    """*source*, each tag with its first `MAX_ATTRIBUTES` attributes."""
    parts, position = [], 0
    for tag in long_tags(source, SHORTEST):
        surplus = next(islice(attributes(source, tag), MAX_ATTRIBUTES, None), None)
        if surplus is not None:
            parts.append(source[position:surplus])
            position = tag[1] - source.endswith(">", *tag)
    return "".join((*parts, source[position:])) if parts else source


def long_tags(source: str, length: int) -> Iterator[Run]:
    """The tags of *source* with attributes and more characters than *length*, without ``<``."""
    for found in _MARKUP.finditer(source):
        if found.end() - found.start() > length and found.lastgroup:
            start, end = found.span(found.lastgroup)
            if end - start > length:
                yield start, end


def attributes(source: str, tag: Run) -> Iterator[int]:
    """Where the attributes of *tag* begin."""
    name = _TAG_NAME.match(source, *tag)
    start = name.end() if name else tag[0]
    return (each.start() for each in _ANY_ATTRIBUTE.finditer(source, start, tag[1]))
