"""Labelled pages as the training takes them, and pages made from them.

A piece is a page's article with little around it. Sites send such pages to readers of feeds and
to phones; they are few among labelled pages, and what is learned from whole pages alone takes the
text of a page without a menu for no article. A bare copy is what the page would be without names
and with few tags (`bare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from research.datasets.pages import Example
from research.training.bare import bare
from scrapy_mss.core.alignment import label_passages
from scrapy_mss.markup.elements import elements
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Floats, Tokens

PIECE, BARE, NOTHING = "piece", "bare copy", ""
GIVEN = (PIECE, BARE, NOTHING)  # what one page in three each gives beside itself
MADE_WEIGHT = 0.5  # of a whole page's
MOST_LEVELS = 3  # of elements around the article that a piece may have
LARGEST_PIECE = 0.95  # of the page
MOST_WORDS = 200  # of a passage, by which it counts
FEWEST_WORDS = 2  # a passage of no words to speak of counts as much


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A page, which of its passages are of the article, and how much it counts."""

    tokens: Tokens
    inside: Bools  # bool[n_passages]
    site: str
    made: str = NOTHING  # what it is of a page that is a lesson as well

    @property
    def part(self) -> int:
        """A number that all pages of a site share."""
        return crc32(self.site.encode())

    @property
    def half(self) -> int:
        """The half of the sites that the page's site is in."""
        return self.part // 1000 % 2

    @property
    def token_labels(self) -> Bools:
        """bool[n_tokens]: the tokens of the passages that are inside."""
        return self.tokens.passages.spread(self.inside)

    @property
    def weights(self) -> Floats:
        """float64[n_passages]: all pages weigh the same, a page's passages by their words."""
        sizes = np.minimum(self.tokens.passages.words, MOST_WORDS) + FEWEST_WORDS
        share = MADE_WEIGHT if self.made else 1.0
        weights: Floats = sizes * (share / sizes.sum())
        return weights


def lessons(examples: Iterable[Example]) -> Iterator[Lesson]:
    """The *examples*, and what is made from some of them."""
    for place, example in enumerate(examples):
        site = example.site or str(place)
        tokens = tokenize(example.html)
        if not len(tokens.passages):
            continue
        page = Lesson(tokens, label_passages(tokens, example.text), site)
        yield page
        number = crc32(example.text.encode("utf-8", "surrogatepass"))
        turn, choice = divmod(number, len(GIVEN))
        made = tokenize(_source(page, GIVEN[choice], turn))
        if len(made.passages):
            yield Lesson(made, label_passages(made, example.text), site, GIVEN[choice])


def _source(page: Lesson, made: str, number: int) -> str:
    """The source of what is *made* of the page, one of its ways by *number*."""
    if made == PIECE:
        return _piece(page, number)
    return bare(page.tokens, number) if made == BARE else ""


def _piece(page: Lesson, number: int) -> str:
    """The source of an element around the whole article, of one of its levels by *number*."""
    tokens, at = page.tokens, np.flatnonzero(page.token_labels)
    if not len(at):
        return ""
    opens = np.flatnonzero(elements(tokens, BLOCK_TAGS))
    around = opens[(opens < at[0]) & (tokens.partner[opens] > at[-1])]
    if not len(around):
        return ""
    chosen = around[-1 - min(number % MOST_LEVELS, len(around) - 1)]
    source = tokens.html(chosen, tokens.partner[chosen] + 1)
    return source if len(source) < LARGEST_PIECE * len(tokens.source) else ""
