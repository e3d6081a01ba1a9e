"""The text of an article as the feed of its site has it.

It labels the page, and stands in for it where the page cannot be had, if it is a whole one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.text_labels import MAX_MARKUP, MAX_TEXT
from scrapy_mss.markup.rendering import readable
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.pages.walls import OF_TEASER, breaks_off, offer_at_end

MAX_END: Final = 40  # characters that "Read more" and what is after it may have
_MORE: Final = re.compile(r"\b(?:read|show|see|view) (?:more|on)\W*\Z", re.IGNORECASE)


class FedText(NamedTuple):
    """What an entry of a feed has of its article; *html* is as it is there, and not safe."""

    html: str
    title: str = ""
    authors: tuple[str, ...] = ()
    is_whole: bool = False  # and not the beginning of the text alone

    @classmethod
    def of(cls, html: str, title: str = "", authors: Sequence[str] = ()) -> FedText | None:
        """The text of an entry; None if it has no words, or too many."""
        if len(html) > MAX_MARKUP:
            return None
        page = Page(tokenize(html))
        own = own_tokens(page)
        text = readable(page.tokens, own)
        if not 0 < len(text) <= MAX_TEXT:
            return None
        is_long = np.count_nonzero(own & page.tokens.is_word) >= OF_TEASER
        return cls(html, title, tuple(authors), bool(is_long) and ends(text))


def own_tokens(page: Page) -> Bools:
    """bool[n_tokens]: the text of an entry, without links at its end, such as where it is from."""
    blocks = page.blocks
    texts = np.flatnonzero(2 * blocks.linked_words < blocks.words)
    end = int(blocks.last[texts[-1]]) if len(texts) else -1
    found: Bools = np.arange(len(page.tokens)) <= end
    return found


def ends(text: str) -> bool:
    """Whether *text* ends with a sentence, and offers nothing more."""
    return not (breaks_off(text) or offer_at_end(text) or _MORE.search(text[-MAX_END:]))
