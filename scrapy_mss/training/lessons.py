"""Labelled pages as the training takes them, and pieces cut from them.

A piece is a page's article with little around it. Sites send such pages to readers of feeds and
to phones; they are few among labelled pages, and what is learned from whole pages alone takes the
text of a page without a menu for no article.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from scrapy_mss.core.elements import elements
from scrapy_mss.core.tags import BLOCK_TAGS
from scrapy_mss.core.tokenizer import tokenize
from scrapy_mss.core.tokens import Bools, Floats, Tokens
from scrapy_mss.extractors.alignment import label_passages
from scrapy_mss.extractors.base import Example

PIECES_OF = 3  # one page in so many gives a piece, too
MOST_LEVELS = 3  # of elements around the article that a piece may have
PIECES_WEIGHT = 0.5  # of a whole page's
LARGEST_PIECE = 0.95  # of the page
MOST_WORDS = 200  # of a passage, by which it counts
FEWEST_WORDS = 2  # a passage of no words to speak of counts as much


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A page, which of its passages are of the article, and how much it counts."""

    tokens: Tokens
    inside: Bools  # bool[n_passages]
    site: str
    piece: bool = False

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
        share = PIECES_WEIGHT if self.piece else 1.0
        weights: Floats = sizes * (share / sizes.sum())
        return weights


def lessons(examples: Iterable[Example]) -> Iterator[Lesson]:
    """The *examples*, and pieces of some of them."""
    for number, example in enumerate(examples):
        tokens = tokenize(example.html)
        if not len(tokens.passages):
            continue
        site = example.site or str(number)
        lesson = Lesson(tokens, label_passages(tokens, example.text), site)
        yield lesson
        source = _piece(lesson, crc32(example.text.encode("utf-8", "surrogatepass")))
        if source:
            piece = tokenize(source)
            yield Lesson(piece, label_passages(piece, example.text), site, piece=True)


def _piece(lesson: Lesson, number: int) -> str:
    """The source of an element around the whole article; nothing if it is not this one's turn."""
    tokens, at = lesson.tokens, np.flatnonzero(lesson.token_labels)
    if number % PIECES_OF or not len(at):
        return ""
    opens = np.flatnonzero(elements(tokens, BLOCK_TAGS))
    around = opens[(opens < at[0]) & (tokens.partner[opens] > at[-1])]
    if not len(around):
        return ""
    level = min(number // PIECES_OF % MOST_LEVELS, len(around) - 1)
    chosen = around[-1 - level]
    source = tokens.html(chosen, tokens.partner[chosen] + 1)
    return source if len(source) < LARGEST_PIECE * len(tokens.source) else ""
