"""A page as if its author had no names for elements and few tags: what old and plain pages are.

Today's templates say in their names and tags what is what, and a judge that has seen no others
relies on it: a page of nameless table cells is then all article, its menus too. Bare copies of
labelled pages teach it to look at the text.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.features import HEADINGS
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokens import OPEN, Tokens

BOXES = ("div", "td")  # one of which stands for all kinds of box on the page
BREAKS = "<br><br>"
# Tags that plain pages have, too.
PLAIN = frozenset(
    """
    html head title body h1 h2 h3 h4 h5 h6 p pre blockquote table tbody tr td th hr select option
    button noscript textarea
    """.split()
)
SPOKEN_OF = BLOCK_TAGS - PLAIN


def bare(tokens: Tokens, number: int) -> str:
    """The page without attributes, and with one tag for all boxes; *number* says which.

    On two pages of three line breaks part the paragraphs, on one of three bold type is a heading.
    """
    box = BOXES[number % 2]
    broken, bold = number // 2 % 3 > 0, number // 6 % 3 == 0
    source: list[str] = []
    at = 0
    tags = np.flatnonzero(tokens.is_tag)
    columns = (tokens.kind, tokens.tag, tokens.clean_start, tokens.clean_end)
    for kind, tag, start, end in zip(*(column[tags].tolist() for column in columns), strict=True):
        name = TAG_NAMES[tag]
        slash = "" if kind == OPEN else "/"
        if broken and name == "p":
            written = BREAKS
        elif bold and name in HEADINGS:
            written = f"</b>{BREAKS}" if slash else "<b>"
        else:
            written = f"<{slash}{box if name in SPOKEN_OF else name}>"
        source += (tokens.clean[at:start], written)
        at = end
    source.append(tokens.clean[at:])
    return "".join(source)
