"""Writes HTML element by element; any other string is text and is escaped.

Names of sites come from the web, selectors from other people's files, text from pages: every string
reaches a document only through `element`, `lines` or `document`.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from scrapy_mss.files.untrusted import printable, without_controls


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: object) -> Html:
    """The element *name*; an attribute that is a word of Python has a line below it: ``class_``.

    True writes an attribute without a value, False omits it. A value that is `Html` is a whole
    document, as in ``srcdoc``, and is escaped as it is.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """*children* one after the other."""
    return Html("".join(each if isinstance(each, Html) else _text(each) for each in children))


def table(heads: Iterable[str], rows: Iterable[Html], **attributes: object) -> Html:
    """A table of *rows* below a row of *heads*."""
    head = element("tr", *(element("th", each, scope="col") for each in heads))
    return element("table", element("thead", head), element("tbody", *rows), **attributes)


def lines(text: str) -> Html:
    """*text* with its line ends, as in ``pre``."""
    return Html(escape(without_controls(text)))


def document(title: str, style: str, body: Html, policy: str) -> Html:
    """A whole page that may do what the *policy* of its contents' security says."""
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        Html(
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=False)}">'
        ),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", title),
        element("style", Html(style)),
    )
    return Html(f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n")


def _attribute(key: str, value: object) -> str:
    name = key.strip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {name}" * value
    return f' {name}="{escape(value) if isinstance(value, Html) else _text(str(value))}"'


def _text(text: str) -> str:
    return escape(printable(text))
