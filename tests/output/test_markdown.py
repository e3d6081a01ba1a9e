"""Markdown of articles. A parser of CommonMark is the oracle: it shows what was in the HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import nh3
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from parsel import Selector

from scrapy_mss import Extractor
from scrapy_mss.output.markdown import markdown
from scrapy_mss.output.sanitizing import ATTRIBUTES, TAGS
from tests.helpers.effort import examples
from tests.helpers.timing import FACTOR, grows_linearly

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

ELEMENTS = "h2 h3 ul ol li blockquote hr pre th td em s strong a"

# Whatever means something in Markdown, and what decides whether it does.
MARKS = st.sampled_from([*"*_`~#>+-=|!&;<:()[]\\.", "1. ", "- ", "    ", "&copy;", "---"])
TEXT = st.lists(MARKS | st.sampled_from(["word", "a", "é", "中", "“", " ", "\n", "7"]), max_size=8)
INLINE_TAGS = st.sampled_from(
    ["b", "i", "em", "del", "code", "span", "sup", "a href='http://e.com/a_b?c=(d'"]
)
BLOCK_TAGS = st.sampled_from(
    ["p", "div", "h2", "blockquote", "ul", "ol", "ol start=4", "ol reversed", "li", "figure", "dl"]
)


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def element(tag: str, inside: list[str]) -> str:
    return f"<{tag}>{''.join(inside)}</{tag.split(maxsplit=1)[0]}>"


TEXTS = TEXT.map(lambda parts: escape("".join(parts)))
INLINE = st.recursive(
    TEXTS | st.just("<br>"),
    lambda inner: st.builds(element, INLINE_TAGS, st.lists(inner, max_size=3)),
    max_leaves=6,
)
TABLES = st.lists(st.lists(INLINE, min_size=1, max_size=3), min_size=1, max_size=3).map(
    lambda rows: element(
        "table", [element("tr", [element("td", [cell]) for cell in row]) for row in rows]
    )
)
BLOCKS = st.recursive(
    INLINE | TABLES,
    lambda inner: st.builds(element, BLOCK_TAGS, st.lists(inner, max_size=3)),
    max_leaves=8,
)


def shown(html: str) -> list[str]:
    """The words that *html* shows; a block ends a word, and a line break too."""
    spaced = re.sub(
        r"<(?:/?(?:p|div|h\d|blockquote|ul|ol|li|t[a-z]+|figure|dl|pre)\b[^>]*|br ?/?)>", " ", html
    )
    return "".join(Selector(f"<div>{spaced}</div>").xpath("//text()").getall()).split()


def safe(html: str) -> str:
    """*html* as articles have it: parsed and repaired as a browser does."""
    allowed = {name: set(values) for name, values in ATTRIBUTES.items()}
    return nh3.clean(html, tags=set(TAGS), attributes=allowed, link_rel=None)


@given(st.lists(BLOCKS, max_size=4).map("".join))
@examples(3)
@example("<p>Wow!<a href='http://e.com/'>link</a></p>")
@example(f"<a href='http://e.com/'>{'<div>' * 8}a <a href='http://e.com/b'>b</a> c")
@example("<p>x<b>“y”</b>z <b>a</b><b>b</b> <b>c</b><i>d</i></p>")
@example("<p>a<br>---<br>| b<br>= </p><h2>c #</h2>")
def test_a_parser_shows_the_same_words(html: str) -> None:
    html = html.replace("<ol reversed>", "<ol>")  # whose numbers are written as words
    clean = safe(html)

    assert shown(PARSER.render(markdown(clean))) == shown(clean)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Rain <i>falls</i></h2><p>In May.</p>", "## Rain *falls*\n\nIn May."),
        ("<h3>##</h3>", "### \\##"),
        ("<p>One<br>two<br><br>three</p>", "One  \ntwo\n\nthree"),
        (
            "<p>5 * 3 and snake_case, AT&amp;T, &amp;copy;</p>",
            "5 \\* 3 and snake_case, AT&T, \\&copy;",
        ),
        ("<p>1. is no list, - nor is this</p>", "1\\. is no list, - nor is this"),
        ("<p>a <b>bold </b>word</p>", "a **bold** word"),
        ("<p><del>old</del> <code>a`b</code></p>", "~~old~~ ``a`b``"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n* b"),
        ('<ol start="9"><li><p>a</p><p>b</p></li><li>c</li></ol>', "9. a\n\n   b\n\n10. c"),
        ('<ol reversed=""><li>a</li><li>b</li></ol>', "2\\.\n\na\n\n1\\.\n\nb"),
        ("<ul><li>a<ul><li>b</li></ul>c</li></ul>", "- a\n\n  - b\n\n  c"),
        ('<ul><li>a<ol start="5"><li>x</li></ol></li></ul>', "- a\n\n  5. x"),
        (
            '<ol start="999999999"><li>a</li><li>b</li></ol>',
            "999999999\\.\n\na\n\n1000000000\\.\n\nb",
        ),
        ("<pre>a\n  *b*</pre>", "```\na\n  *b*\n```"),
        ('<p>See!<a href="http://e.com/a b">it</a></p>', "See\\![it](http://e.com/a%20b)"),
        ('<p><a href=" http://e.com/\n">y</a></p>', "[y](http://e.com/)"),
        ("<p><a><i>a</i></a><i>.</i></p>", "*a*."),
        ("<p>&amp;q<img>uot;</p>", "\\&quot;"),
        ('<p><img src="http://e.com/x.png" alt="A [b]"></p>', "![A \\[b\\]](http://e.com/x.png)"),
        ('<p>a<img src="data:image/png;base64,AA" alt="b">c</p>', "ac"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td></td></tr></table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 |  |",
        ),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "| 1 | 2 |\n| --- | --- |"),
        ("<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>", "a\n\nb\n\nc"),
        (
            '<table><tr><td colspan="9999999">a</td></tr></table>',
            f"| a |{'  |' * 19}\n|{' --- |' * 20}",
        ),
    ],
)
def test_worked_examples(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li>a<ol><li>b</li><li>c</li></ol></li></ul><ul><li>d</li></ul>",
        "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><hr><pre>c</pre>",
        "<ul><li><hr></li><li><pre>a</pre></li><li><h3>b</h3></li></ul>",
        '<p>a <a href="http://e.com/?a=(b)&amp;c">b <em>c</em></a><s>d</s> <strong>e</strong></p>',
    ],
)
def test_a_parser_finds_the_same_elements(html: str) -> None:
    rendered, was = Selector(PARSER.render(markdown(html))), Selector(html)

    assert all(len(rendered.css(name)) == len(was.css(name)) for name in ELEMENTS.split())


GROWING: dict[str, Callable[[int], str]] = {
    "no-break spaces": lambda n: "<p>a" + "\xa0" * n + "b</p>",
    "number signs": lambda n: f"<h2>{'#' * n}x</h2>",
    "lines of dashes": lambda n: f"<p>{'-<br>' * n}x</p>",
    "emphasis": lambda n: f"<p>{'<b>a</b>' * n}</p>",
    "backticks": lambda n: f"<p><code>{'` ' * n}</code></p>",
    "links": lambda n: f"<p>{'!<a href=//e.com>a</a>' * n}</p>",
    "lists": lambda n: "<ul><li>a</li></ul>" * n,
    "rows": lambda n: f"<table>{'<tr><td colspan=20>a</td></tr>' * n}</table>",
}


@pytest.mark.parametrize("page", GROWING.values(), ids=GROWING.keys())
def test_markdown_is_written_in_linear_time(page: Callable[[int], str]) -> None:
    small, large = page(1_000), page(1_000 * FACTOR)

    assert grows_linearly(partial(markdown, small), partial(markdown, large))


def test_an_extraction_has_markdown() -> None:
    paragraph = (
        "<p>The river rose two metres in the night, said the <b>council</b> of the town.</p>"
    )
    page = f"<article><h1>Rain</h1>{paragraph * 5}</article>"
    extraction = Extractor().extract(page)

    assert extraction.markdown.count("said the **council** of the town.") == 5
