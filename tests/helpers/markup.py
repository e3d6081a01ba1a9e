"""Generated markup: soup that no browser was meant to see, and well-nested documents."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import strategies as st

from scrapy_mss.markup.tags import TAG_NAMES, TAG_NUMBERS, UNKNOWN_TAG
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, KIND_BITS, OPEN, Bools, Tokens

TAGS = """
    <p <p> </p> <b> </b> <div> </div> <a> </a> <br/> <br> <hr> <table> </table> <td> <li> <nosuch>
    <script> <SCRIPT </script> </script </scriptx <style </style> <scripted> </ </> <! <? <p/x> =
    ' " < > / <!-- --> -- ! ; & # --> !!! << && ## &#
""".split()
ATTRIBUTES = [
    '<a href="x>y"',
    "<a title='x>y'>",
    "<a href =\n'",
    '<p class="">',
    "<p =>",
    "<a x=y'z>",
]
REFERENCES = """
    &eacute; &eacute &#233; &#xe9; &#xe9 &nbsp; &#160; &bogus; &copy; &copy &copyx &amp; &lt; &#1;
    &#; &#x; &frac12; &notit; &eacutex; &#20013; &#0; &#128; &#13; &#xd800; &#1114112;
""".split()
TEXTS = """
    a b p x Z \u00e9 running Relational 0 7 42 \u00b2 \u0661 _ . , \u0301 \u0645 \u200f
    \u4e2d \u6587 \u3005 \u30fc \u30fb \uac00 \ufa6e \U00020000 \U0001f600
    \u017f <\u017fcript> <scr\u0131pt> </\u00e9>
""".split()
BLANKS = [" ", "  ", "\n", "\t", "\x0b", "\x1f", "\x85", "\xa0", "\u2028", "\u3000"]
NO_TEXT = ["\0", "\x1b", "!!!!\0", "\0 \0", "\ud800", "\udc00"]

FRAGMENTS = (*TAGS, *ATTRIBUTES, *REFERENCES, *TEXTS, *BLANKS, *NO_TEXT)

# Few tags, so that openings meet closings: half of any soup is of these.
COMMON = "<p> </p> <b> </b> <div> </div> <a> </a> <br> <li> <table> </table> one &amp; .".split()

SOUP = st.lists(
    st.one_of(st.sampled_from([*COMMON, " "]), st.sampled_from(FRAGMENTS)), max_size=24
).map("".join)
# Nothing but these: misnested more often than not.
TAG_SOUP = st.lists(st.sampled_from([*COMMON, " "]), max_size=40).map("".join)

INLINE = ("a", "b", "span", "nosuch")
BLOCK = ("p", "div", "table", "ul")
VOID = ("br", "img", "hr")


def _element(content: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from([*INLINE, *BLOCK])
    inner = st.lists(content, max_size=4).map("".join)
    return st.builds(lambda name, text: f'<{name} id="{name}">{text}</{name}>', names, inner)


LEAVES = st.sampled_from(
    ["word ", "Two words.", " ", "&amp;", "&eacute;t\u00e9 ", "\u4e2d", "<!-- c -->"]
    + [f"<{name}>" for name in VOID]
)
# Every opening tag has its closing tag, void elements have none.
NESTED = st.lists(st.recursive(LEAVES, _element, max_leaves=20), max_size=4).map("".join)


def shown(tokens: Tokens) -> list[str]:
    """Each token as a reader would write it: `<p>`, `</p>`, a word, a punctuation mark."""
    rows = zip(
        tokens.kind.tolist(),
        tokens.tag.tolist(),
        tokens.clean_start.tolist(),
        tokens.clean_end.tolist(),
        strict=True,
    )
    sides = {OPEN: "<{}>", CLOSE: "</{}>"}
    return [
        sides[kind].format(TAG_NAMES[tag]) if kind in sides else tokens.clean[start:end]
        for kind, tag, start, end in rows
    ]


def marked(source: str) -> tuple[Tokens, Bools]:
    """The tokens of *source* without its braces, and which of them are not between braces."""
    parts = re.split("[{}]", source)
    chosen = np.repeat(np.arange(len(parts)) % 2 == 0, [len(part) for part in parts])
    tokens = tokenize("".join(parts))
    return tokens, chosen[tokens.start]


def tag_id(name: str, kind: int = OPEN) -> int:
    """The id of the tag *name*, opening or closing."""
    return TAG_NUMBERS.get(name, UNKNOWN_TAG) << KIND_BITS | kind
