"""HTML that is written element by element; what is not made here is text and is escaped.

Names of sites come from the web, selectors from other people's files: no string reaches the page
but through `element`.
"""

from __future__ import annotations

from html import escape

from scrapy_mss.untrusted import printable


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: object) -> Html:
    """The element *name*; an attribute that is a word of Python has a line below it: ``class_``."""
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{_text(str(value))}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """*children* one after the other."""
    return Html("".join(each if isinstance(each, Html) else _text(each) for each in children))


def _text(text: str) -> str:
    return escape(printable(text))
