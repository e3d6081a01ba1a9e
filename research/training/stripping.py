"""A page as if its author had used no class words and few tags: what old and plain pages are.

Today's templates say in class words and tags what is what, and a classifier that has seen no other
pages relies on it: a page of table cells without classes is then all article, its menus too.
Stripped copies of labelled pages teach it to look at the text.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.headline import HEADINGS
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokens import OPEN, Tokens

CONTAINERS = ("div", "td")  # one of which replaces all kinds of container on the page
LINE_BREAKS = "<br><br>"
# Tags that plain pages have, too.
PLAIN = frozenset(
    """
    html head title body h1 h2 h3 h4 h5 h6 p pre blockquote table tbody tr td th hr select option
    button noscript textarea
    """.split()
)
REPLACED = BLOCK_TAGS - PLAIN


def stripped(tokens: Tokens, variant: int) -> str:
    """The page without attributes, and with one tag for all containers; *variant* says which.

    On two pages of three line breaks part the paragraphs, on one of three bold type is a heading.
    """
    container = CONTAINERS[variant % 2]
    broken, bold = variant // 2 % 3 > 0, variant // 6 % 3 == 0
    source: list[str] = []
    at = 0
    tags = np.flatnonzero(tokens.is_tag)
    columns = (tokens.kind, tokens.tag, tokens.clean_start, tokens.clean_end)
    for kind, tag, start, end in zip(*(column[tags].tolist() for column in columns), strict=True):
        name = TAG_NAMES[tag]
        slash = "" if kind == OPEN else "/"
        if broken and name == "p":
            written = LINE_BREAKS
        elif bold and name in HEADINGS:
            written = f"</b>{LINE_BREAKS}" if slash else "<b>"
        else:
            written = f"<{slash}{container if name in REPLACED else name}>"
        source += (tokens.clean[at:start], written)
        at = end
    source.append(tokens.clean[at:])
    return "".join(source)
