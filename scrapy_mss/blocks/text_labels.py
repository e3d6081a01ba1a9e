"""Labels of a page by a text that is said to be its own: by people, or by the feed of its site.

A feed may have teasers, the texts of other pages, or a headline and a closing line with each text.
So a text labels a page only where both agree, and where it agrees with what is read of the page: if
it is cut short, the reading goes on.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection, match_words, words_of
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools

# In labels by feeds, as a share of that in a wrapper's: research/notes/labels.md.
TRUST: Final = 0.8
AGREEMENT: Final = 0.9  # share of the words of either that the other has
MAX_TEXT: Final = 50_000  # characters of a text that is looked for
MAX_MARKUP: Final = 500_000  # characters of it with its tags
MAX_PAIRS: Final = 2**28  # of a word of the text and one of the page: a bit each
_HEADINGS = [TAG_NUMBERS[name] for name in ("h1", "h2", "h3", "h4", "h5", "h6")]


def label_blocks(page: Page, text: str) -> Bools:
    """bool[n_blocks]: the blocks most of whose words are in *text*.

    On both sides of a gap, too: where junk splits an article, a span would be one side of it.
    """
    return page.blocks.mostly(match_words(page.tokens, text))


def agreed_tokens(page: Page, text: str, read: Bools) -> Bools | Rejection:
    """bool[n_tokens]: the blocks that *text* labels; why it labels none, if they disagree.

    *read* is bool[n_tokens], the article as it is read without the text. The text has nine tenths
    of it and ends with a block, and the page has nine tenths of the text, be they read or not.
    """
    n_words, is_word = len(words_of(text)), page.tokens.is_word
    is_read = read & is_word
    if not n_words or n_words * np.count_nonzero(is_word) > MAX_PAIRS:
        return Rejection.NOT_FOUND
    matched = match_words(page.tokens, text)
    inside = page.blocks.mostly(matched) & ~_headline(page, is_read)
    labelled = page.blocks.spread(inside)
    is_inside = labelled & is_word
    if _share(matched, is_inside, n_words) < AGREEMENT:
        return Rejection.NOT_FOUND
    held = (_share(matched, each, int(each.sum())) for each in (is_inside, is_read))
    if min(held) < AGREEMENT or not _ends_a_block(page, matched & is_read):
        return Rejection.DISAGREES
    return labelled


def plain_words(html: str) -> str:
    """The words of *html*, separated by spaces; empty if they are too many to look for."""
    if len(html) > MAX_MARKUP:
        return ""
    text = " ".join(tokenize(html).words())
    return text if len(text) <= MAX_TEXT else ""


def _headline(page: Page, read: Bools) -> Bools:
    """bool[n_blocks]: titles and headings above what is *read*, which are no part of the text."""
    is_above: Bools = np.cumsum(page.blocks.count(read)) == 0
    return page.in_title | (is_above & np.isin(page.ancestor_tags[0], _HEADINGS))


def _ends_a_block(page: Page, matched: Bools) -> bool:
    """Whether the last of the *matched* words is the last of its block: a cut is anywhere."""
    last = int(np.flatnonzero(matched)[-1])
    end = int(page.blocks.last[page.blocks.of_token[last]])
    return not page.tokens.is_word[last + 1 : end + 1].any()


def _share(matched: Bools, of: Bools, n_words: int) -> float:
    """How many of *n_words* are *matched* words *of* something."""
    return np.count_nonzero(matched & of) / n_words if n_words else 0.0
