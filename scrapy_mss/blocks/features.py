"""Features of a text block, whatever its words mean: length, links, punctuation, position, context.

They are one ordered table, ``FEATURES``: each row is a name and a function. The names are part of
every stored classifier, so a row can be neither moved nor renamed without a file of other features
being recognized as such (`models.inputs`).

The features hold for any language: what is counted is punctuation, capitals, digits and lengths.
Counts are taken as logarithms, so that long pages are not out of proportion. Where a constant has
no other reason beside it, it was chosen once on `articles_wcxb` and never tuned: the network
weighs what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.shared_words import each_once, pairs, shared_pairs, shared_words
from scrapy_mss.blocks.text_counts import TextCounts, text_counts
from scrapy_mss.core.hashing import groups
from scrapy_mss.markup.attributes import meta_description
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import word_ids
from scrapy_mss.markup.tokens import WORD, Bools, Floats, TokenIds, Tokens

Columns: TypeAlias = dict[str, Floats]  # float64[n_blocks] by the feature's name

PARENTS = ("p", "li", "div", "td", "blockquote", "figcaption", "section", "pre", "dd")
ANCESTORS = (
    *("article", "main", "aside", "nav", "footer", "header", "form", "table", "ul", "ol"),
    *("figure", "blockquote", "section", "dl", "details", "button", "select", "noscript"),
)
HEADINGS = tuple(f"h{level}" for level in range(1, 7))
NO_LEVEL = 7.0  # a heading counts 7 - level, so that the main heading counts most and no heading 0
MAX_MAIN_HEADINGS = 4.0  # a page with more is a list of stories

MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE = 0.3, 0.6  # with the title, of a lower heading and of a line
MAX_HEADLINE = 40  # words
FULL_TITLE = 6  # words that a headline shares with the title to be it, however long the title is
H1_BONUS, HEADING_BONUS = 0.15, 0.05  # between candidates of nearly the same overlap

MIN_DESCRIPTION = 4  # words: a site's name is no description of a page
MAX_SHARED_BY_CHANCE = 4  # words of a headline that a description may share by chance
MIN_DESCRIBING = 0.5  # of the description, in a block that is the described text
FAR = 9.0  # log of the words to a heading that is not there

_PARENT_NUMBERS = np.array([[TAG_NUMBERS[name]] for name in PARENTS], np.uint8)
_ANCESTOR_BITS = np.zeros(256, np.uint32)
_ANCESTOR_BITS[[TAG_NUMBERS[name] for name in ANCESTORS]] = 1 << np.arange(len(ANCESTORS))
_EACH_ANCESTOR_BIT = 1 << np.arange(len(ANCESTORS), dtype=np.uint32)[:, np.newaxis]
_HEADING_LEVELS = np.zeros(256, np.int64)
_HEADING_LEVELS[[TAG_NUMBERS[name] for name in HEADINGS]] = range(1, len(HEADINGS) + 1)


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of the table: a name and what it is of a page's blocks."""

    name: str
    of: Callable[[Measured], Floats]


def block_features(page: Page) -> Columns:
    """All features of a page's blocks, in the order of the table."""
    measured = Measured(page)
    return {feature.name: feature.of(measured) for feature in FEATURES}


@dataclass(frozen=True, eq=False)
class Measured:
    """What several features of a page's blocks are computed from, each once."""

    page: Page

    @cached_property
    def words(self) -> Floats:
        """float64[n]: the words of each block, at least 1."""
        return np.maximum(self.page.blocks.words, 1).astype(np.float64)

    @cached_property
    def texts(self) -> TextCounts:
        """What is counted of each block's words and symbols."""
        return text_counts(self.page)

    @cached_property
    def parents(self) -> Columns:
        """float64[n] for each of ``PARENTS``: 1 for the blocks right inside one."""
        is_inside = self.page.ancestor_tags[0] == _PARENT_NUMBERS
        return dict(zip(PARENTS, is_inside.astype(np.float64), strict=True))

    @cached_property
    def ancestors(self) -> Columns:
        """float64[n] for each of ``ANCESTORS``: 1 for the blocks inside one."""
        around = np.bitwise_or.reduce(_ANCESTOR_BITS[self.page.ancestor_tags], axis=0)
        is_inside = (around & _EACH_ANCESTOR_BIT) > 0
        return dict(zip(ANCESTORS, is_inside.astype(np.float64), strict=True))

    @cached_property
    def heading_above(self) -> NDArray[np.int64]:
        """int64[n]: the nearest heading before each block, -1 if there is none."""
        return heading_above(self.headline.level)

    @cached_property
    def total_words(self) -> float:
        return float(self.page.blocks.words.sum())

    @cached_property
    def headline(self) -> Headline:
        return Headline.of(self.page)

    @cached_property
    def description(self) -> Description:
        return Description.of(self.page)

    def share(self, name: str) -> Floats:
        """float64[n]: the words and symbols of the class *name* for each word of a block."""
        return self.texts.of(name) / self.words

    def constant(self, value: float) -> Floats:
        """float64[n]: *value* for every block."""
        return np.full(len(self.page.blocks), value)


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """The block that repeats the page's title; ``block`` is -1 where there is none."""

    overlap: Floats  # float64[n]: how much of a short block's text is in the page's title, 0 to 1
    level: NDArray[np.int64]  # int64[n]: of a heading 1 to 6, 0 for every other block
    block: int

    @classmethod
    def of(cls, page: Page) -> Headline:
        overlap, level = _title_overlap(page), heading_levels(page)
        is_main, is_lower = level == 1, level > 1
        is_candidate = ~page.is_parent("title") & (
            is_main | (is_lower & (overlap > MIN_OVERLAP_HEADING)) | (overlap > MIN_OVERLAP_LINE)
        )
        if not is_candidate.any():
            return cls(overlap, level, -1)
        rank = overlap + H1_BONUS * is_main + HEADING_BONUS * is_lower
        return cls(overlap, level, int(np.where(is_candidate, rank, -1.0).argmax()))

    def words_from(self, page: Page) -> Floats:
        """float64[n]: the logarithm of the words from the headline, negative before it."""
        if self.block < 0:
            return np.zeros(len(self.level))
        distance = page.words_before - page.words_before[self.block]
        logarithm: Floats = np.sign(distance) * np.log1p(np.abs(distance))
        return logarithm

    def is_above(self) -> Bools:
        """bool[n]: the blocks after the headline."""
        return np.greater(np.arange(len(self.level)), self.block) & (self.block >= 0)

    def later_headings(self) -> Floats:
        """float64[n]: the logarithm of how many headings of its level follow, up to each block."""
        if self.block < 0:
            return np.zeros(len(self.level))
        same = np.cumsum((self.level == self.level[self.block]) & (self.level > 0))
        later: Floats = np.log1p(np.maximum(same - same[self.block], 0))
        return later

    @property
    def own_overlap(self) -> float:
        return float(self.overlap[self.block]) if self.block >= 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """What each block shares with the page's description of itself, by pairs of words."""

    recall: Floats  # float64[n]: the share of the description that is in the block
    precision: Floats  # float64[n]: the share of the block that is in the description
    n_pairs: int

    @classmethod
    def of(cls, page: Page) -> Description:
        texts, blocks = page.texts, page.blocks
        described = _description_pairs(page.tokens)
        if not len(described):
            return cls(np.zeros(len(blocks)), np.zeros(len(blocks)), 0)
        hits = shared_pairs(texts, described)
        shown, is_long = ~page.is_parent("title"), blocks.words > MAX_SHARED_BY_CHANCE
        return cls(
            recall=np.minimum(1.0, hits / len(described)) * shown,
            precision=hits / np.maximum(blocks.words - 1, 1) * is_long * shown,
            n_pairs=len(described),
        )

    def sides(self) -> Floats:
        """float64[n]: 1 from the first described block on, -1 before it, 0 if there is none."""
        described = np.flatnonzero(self.recall > MIN_DESCRIBING)
        if not len(described):
            return np.zeros(len(self.recall))
        return np.where(np.arange(len(self.recall)) >= described[0], 1.0, -1.0)


def heading_levels(page: Page) -> NDArray[np.int64]:
    """int64[n]: 1 to 6 for a heading, 0 for every other block."""
    levels: NDArray[np.int64] = _HEADING_LEVELS[page.ancestor_tags[0]]
    return levels


def heading_above(level: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: the nearest heading before each block, -1 if there is none."""
    at = np.where(level > 0, np.arange(len(level)), -1)
    return np.concatenate(([-1], np.maximum.accumulate(at)))[: len(level)]


def _title_overlap(page: Page) -> Floats:
    words, title = page.blocks.words, _title_words(page.tokens)
    hits = shared_words(page.texts, title)
    is_short = (words > 1) & (words <= MAX_HEADLINE) & ~page.is_parent("title")
    completeness = np.minimum(1.0, hits / max(1, min(len(title), FULL_TITLE)))
    return np.where(is_short, hits / np.maximum(words, 1) * completeness, 0.0)


def _title_words(tokens: Tokens) -> TokenIds:
    """The words of the page's title, each once."""
    titles = np.flatnonzero(tokens.is_open("title"))
    closed = titles[tokens.partner[titles] >= 0]
    if not len(closed):
        return tokens.token_id[:0]
    inside = slice(closed[0], tokens.partner[closed[0]])
    return each_once(tokens.token_id[inside][tokens.kind[inside] == WORD])


def _description_pairs(tokens: Tokens) -> TokenIds:
    """The pairs of neighbouring words of the page's description, each once."""
    words = word_ids(meta_description(tokens))
    return each_once(pairs(words if len(words) >= MIN_DESCRIPTION else words[:0]))


def _words_below_heading(measured: Measured) -> Floats:
    before, above = measured.page.words_before, measured.heading_above
    distance = np.log1p(np.maximum(before - before[above], 0.0)) if len(above) else before
    return np.where(above >= 0, distance, FAR)


def _rank_of_heading_above(measured: Measured) -> Floats:
    level, above = measured.headline.level, measured.heading_above
    return np.where(above >= 0, NO_LEVEL - level[above], 0.0) if len(above) else np.zeros(0)


def _repetitions(page: Page) -> Floats:
    """float64[n]: how many blocks of the page have the same text."""
    which = groups(page.text_hashes)
    repetitions: Floats = np.bincount(which)[which].astype(np.float64)
    return repetitions


def _as_numbers(are_so: Bools) -> Floats:
    """float64[n]: 1 for true, 0 for false."""
    return are_so.astype(np.float64)


def _parent_feature(tag: str) -> Feature:
    return Feature(f"is_{tag}", lambda m: m.parents[tag])


def _ancestor_feature(tag: str) -> Feature:
    return Feature(f"in_{tag}", lambda m: m.ancestors[tag])


FEATURES: tuple[Feature, ...] = (
    # The block's text
    Feature("words", lambda m: np.log1p(m.words)),
    Feature("letters", lambda m: np.log1p(m.texts.letters)),
    Feature("word_length", lambda m: m.texts.letters / m.words),
    Feature("link_share", lambda m: m.page.blocks.linked_words / m.words),
    Feature("all_linked", lambda m: _as_numbers(m.page.blocks.linked_words == m.words)),
    Feature("capital_share", lambda m: m.share("capital")),
    Feature("digit_share", lambda m: m.share("digit")),
    Feature("sentence_ends", lambda m: np.log1p(m.texts.of("sentence_end"))),
    Feature("sentence_end_share", lambda m: m.share("sentence_end")),
    Feature("commas", lambda m: np.log1p(m.texts.of("comma"))),
    Feature("quotes", lambda m: np.log1p(m.texts.of("quote"))),
    Feature("symbol_share", lambda m: m.share("symbol")),
    Feature("ends_sentence", lambda m: _as_numbers(m.texts.ends_with("closer"))),
    Feature("ends_with_colon", lambda m: _as_numbers(m.texts.ends_with("colon"))),
    Feature("starts_with_capital", lambda m: _as_numbers(m.texts.begins_with("capital"))),
    Feature("repetitions", lambda m: np.log(_repetitions(m.page))),
    # The elements around it
    *(_parent_feature(tag) for tag in PARENTS),
    *(_ancestor_feature(tag) for tag in ANCESTORS),
    Feature("depth", lambda m: (m.page.blocks.ancestors >= 0).sum(axis=0) / 10.0),
    Feature("hidden", lambda m: _as_numbers(m.page.hidden)),
    # Its position in the page
    Feature("position", lambda m: m.page.words_before / max(m.total_words, 1.0)),
    Feature("rank", lambda m: np.arange(len(m.page.blocks)) / max(len(m.page.blocks), 1)),
    Feature("words_before", lambda m: np.log1p(m.page.words_before)),
    Feature(
        "words_after",
        lambda m: np.log1p(m.total_words - m.page.words_before - m.page.blocks.words),
    ),
    Feature("page_words", lambda m: m.constant(np.log1p(m.total_words))),
    # The headline
    Feature("title_overlap", lambda m: m.headline.overlap),
    Feature("headline_title_overlap", lambda m: m.constant(m.headline.own_overlap)),
    Feature("words_from_headline", lambda m: m.headline.words_from(m.page)),
    Feature("below_headline", lambda m: _as_numbers(m.headline.is_above())),
    Feature("later_headings", lambda m: m.headline.later_headings()),
    # Headings
    Feature(
        "heading_rank", lambda m: np.where(m.headline.level > 0, NO_LEVEL - m.headline.level, 0)
    ),
    Feature("words_below_heading", _words_below_heading),
    Feature("rank_of_heading_above", _rank_of_heading_above),
    Feature(
        "main_headings",
        lambda m: np.minimum(np.cumsum(m.headline.level == 1), MAX_MAIN_HEADINGS),
    ),
    # The page's description of itself
    Feature("description_recall", lambda m: m.description.recall),
    Feature("description_precision", lambda m: m.description.precision),
    Feature("below_description", lambda m: m.description.sides()),
    Feature("has_description", lambda m: m.constant(float(m.description.n_pairs > 0))),
)
