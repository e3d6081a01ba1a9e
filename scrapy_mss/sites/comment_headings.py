"""Headings of readers' comments, as newspapers print them above a thread.

The reading of a single page mistakes comments in markup without telling names for the article, and
so does the memory of a site, which counts such readings. Only the meaning of the heading helps.
A heading is recognized by the whole text of its block, with or without a number of comments.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools, TokenIds

HEADINGS: Final = """
comments, reader comments, readers' comments, your comments, letters, letters to the editor
kommentare, leserkommentare, kommentare zum artikel, lesermeinungen, leserbriefe
commentaires, vos commentaires, commentaires des lecteurs, réactions, vos réactions
comentarios, comentarios de los lectores, comentários, comentários dos leitores, comentaris
commenti, i commenti, commenti dei lettori, comentarii, reacties, lezersreacties
kommentarer, läsarkommentarer, kommentit, lukijoiden kommentit, kommentaarid
komentarze, komentarze czytelników, komentáře, komentari, komentáre, hozzászólások, yorumlar
комментарии, комментариев, комментария, комментарии читателей, коментарі, коментарів, коментари
σχόλια, σχόλια αναγνωστών, تعليقات, التعليقات, תגובות
评论, 条评论, 网友评论, 評論, 網友評論, 讀者回應, コメント, 件のコメント, 댓글, bình luận
"""
_FORMS: Final = (
    *("{}", "{}:", "{} (1)", "{}: 1", "{} 1", "1 {}", "({}) 1", "{} [1]"),
    *("(1) {}", "{}\N{FULLWIDTH LEFT PARENTHESIS}1\N{FULLWIDTH RIGHT PARENTHESIS}"),
    *(form for n in ("1,1", "1.1", "1 1") for form in (f"{{}} ({n})", f"{{}} [{n}]", f"{n} {{}}")),
)
_APOSTROPHE: Final = "\N{RIGHT SINGLE QUOTATION MARK}"


def are_comment_headings(texts: TokenIds) -> Bools:
    """bool[n]: which of the hashes of blocks' *texts* (uint64[n]) are headings of comments."""
    known = _hashes()
    is_heading: Bools = known[np.searchsorted(known[:-1], texts)] == texts
    return is_heading


@cache
def _hashes() -> TokenIds:
    """uint64[m], ascending: the hashes of all headings in all forms; any number counts as 1."""
    names = HEADINGS.strip().replace("\n", ", ").split(", ")
    spelled = {form for name in names for form in (name, name.replace("'", _APOSTROPHE))}
    # A page each: one of a thousand short blocks is not read block by block.
    lines = ("".join(f"<p>{form.format(name)}</p>" for form in _FORMS) for name in spelled)
    return np.unique(np.concatenate([Page.of(each).text_hashes for each in lines]))
