"""Pages with block elements and class words, odd pages, and text blocks by a slow walk."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from hypothesis import strategies as st

from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokens import OPEN, Tokens
from tests.helpers.markup import SOUP, TAG_SOUP

PIECES = """
    One two. seven 7 , " : Two One\u2026 \u4e2d <br> <br><br> <hr> <img> </p> <b> <li>three
    <p>left <h2>left
""".split()
ELEMENTS = """
    article main nav div div div p p p h1 h2 ul li a a b section footer title blockquote header
""".split()
ATTRIBUTES = ["", "", ' class="story"', ' class="story text"', ' id="menu"', " href=x"]


def _element(content: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inner = st.lists(content, max_size=4).map(" ".join)
    return st.builds(
        "<{0}{1}>{2}</{0}>".format, st.sampled_from(ELEMENTS), st.sampled_from(ATTRIBUTES), inner
    )


_LEAVES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(" ".join)
LAYOUTS = st.lists(st.recursive(_LEAVES, _element, max_leaves=12), max_size=5).map("".join)
PAGES = st.one_of(LAYOUTS, LAYOUTS, SOUP, TAG_SOUP)

ODD = {
    "empty": "",
    "no tags": "One two, three. " * 50,
    "only tags": "<p></p><div><br></div>" * 50,
    "one symbol": ".",
    "one word": "a",
    "only a title": "<title>One two</title>",
    "only links": "<ul>" + "<li><a href=x>One two</a></li>" * 50 + "</ul>",
    "unclosed elements": "<div>" * 20_000 + "one",
    "nested elements": "<div class=story>" * 20_000 + "one" + "</div>" * 20_000,
    "nested elements with text": "<div class=story>one" * 5000 + "</div>" * 5000,
    "closing tags": "<p>word" + "</i>" * 20_000 + "<b>word",
    "many tags": "<p>" + "<b>one</b> <i>two</i> " * 5_000,
    "tags in an attribute": ('<a ="' + "><div" * 60 + '">x</a>' + "</div>" * 60) * 300,
    "unknown elements": "".join(f"<x{n}>" for n in range(3000)) + "word",
    "raw text, not closed": "<textarea>one <p>two</textarea><p>two <!-- three <p>four <title>five",
    "a long word": "<p>" + "a" * 1_000_000,
    "a long attribute": '<div class="' + "story " * 170_000 + '">one</div>',
    "many attributes": "<div " + "class=story " * 80_000 + ">one</div>",
    "many class words": "<div class='"
    + " ".join(f"a{letter}" for letter in ascii_lowercase)
    + "'>x</div>",
    "line breaks": "<p>" + "one<br><br>" * 5000,
    "NUL and halves of surrogate pairs": "<p>\0\ud800</p><h1>\ud800 one \udfff</h1>",
    "numbers": "<table>" + "<tr><td>1</td><td>2.5</td></tr>" * 500 + "</table>",
}


def tag_of(tokens: Tokens, at: int) -> str:
    """The name of the tag that token *at* is; empty for text."""
    return TAG_NAMES[tokens.tag[at]] if tokens.is_tag[at] else ""


def block_runs(tokens: Tokens) -> list[list[int]]:
    """The words and symbols of each text block, found token by token."""
    runs: list[list[int]] = [[]]
    after_break = False  # whether there are only inline tags between this token and a line break
    for at in range(len(tokens)):
        name = tag_of(tokens, at)
        if not name:
            runs[-1].append(at)
        if name in BLOCK_TAGS or (name == "br" and after_break):
            runs.append([])
        if not name or name in BLOCK_TAGS or name == "br":
            after_break = name == "br"
    return [run for run in runs if any(tokens.is_word[at] for at in run)]


def block_ancestors(tokens: Tokens) -> dict[int, list[int]]:
    """The opening tags of the closed block elements around each token, innermost first."""
    return dict(_walk(tokens, 0, len(tokens), []))


def _walk(tokens: Tokens, at: int, end: int, above: list[int]) -> Iterator[tuple[int, list[int]]]:
    while at < end:
        yield at, above
        close = int(tokens.partner[at])
        if tokens.kind[at] == OPEN and close >= 0:
            inner = [at, *above] if tag_of(tokens, at) in BLOCK_TAGS else above
            yield from _walk(tokens, at + 1, close, inner)
            yield close, inner
            at = close
        at += 1
