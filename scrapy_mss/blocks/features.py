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
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import groups, is_among
from scrapy_mss.markup.attributes import meta_description
from scrapy_mss.markup.characters import LAST_CODE, codes_at
from scrapy_mss.markup.elements import Indices
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import word_ids
from scrapy_mss.markup.tokens import Bools, Floats, TokenIds, Tokens

Columns: TypeAlias = dict[str, Floats]  # float64[n_blocks] by the feature's name

SENTENCE_ENDS = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
COMMAS = ",;\u060c\u061b\u3001\uff0c"
QUOTES = "\"'\u00ab\u00bb\u2018\u2019\u201c\u201d\u201e\u300c\u300d"
CLOSERS = SENTENCE_ENDS + '"\u00bb\u201d:)'

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

_N_CODES = 0x2000  # letters with a case and digits are below, but for wide and rare forms
_UPPER = np.zeros(LAST_CODE + 1, np.bool_)
_UPPER[:_N_CODES] = [chr(code).isupper() for code in range(_N_CODES)]
_DIGIT = np.zeros(LAST_CODE + 1, np.bool_)
_DIGIT[:_N_CODES] = [chr(code).isdigit() for code in range(_N_CODES)]
_ANCESTOR_BITS = np.zeros(256, np.uint32)
_ANCESTOR_BITS[[TAG_NUMBERS[name] for name in ANCESTORS]] = 1 << np.arange(len(ANCESTORS))
_HEADING_LEVELS = np.zeros(256, np.int64)
_HEADING_LEVELS[[TAG_NUMBERS[name] for name in HEADINGS]] = range(1, len(HEADINGS) + 1)


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of the table: a name and what it is of a page's blocks."""

    name: str
    of: Callable[[Measured], NDArray[Any]]


def block_features(page: Page) -> Columns:
    """All features of a page's blocks, in the order of the table."""
    measured = Measured(page)
    return {
        feature.name: feature.of(measured).astype(np.float64, copy=False) for feature in FEATURES
    }


@dataclass(frozen=True, eq=False)
class Measured:
    """What several features of a page's blocks are computed from, each once."""

    page: Page

    @cached_property
    def words(self) -> Floats:
        """float64[n]: the words of each block, at least 1."""
        return np.maximum(self.page.blocks.words, 1).astype(np.float64)

    @cached_property
    def letters(self) -> Floats:
        """float64[n]: the characters of each block's words."""
        tokens, texts = self.page.tokens, self.page.texts
        lengths = tokens.clean_end[texts.token] - tokens.clean_start[texts.token]
        of_words = lengths * tokens.is_word[texts.token]
        return np.add.reduceat(of_words, texts.first, dtype=np.int64).astype(np.float64)

    @cached_property
    def first_codes(self) -> NDArray[np.uint16]:
        """uint16[n_texts]: the code of each word's and symbol's first character, up to FFFF."""
        return first_codes(self.page.tokens, self.page.texts.token)

    @cached_property
    def first_code(self) -> NDArray[np.uint16]:
        """uint16[n]: the first character of each block."""
        return self.first_codes[self.page.texts.first]

    @cached_property
    def last_code(self) -> NDArray[np.uint16]:
        """uint16[n]: the first character of each block's last token."""
        texts = self.page.texts
        last: NDArray[np.uint16] = self.first_codes[texts.first + texts.size - 1]
        return last

    @cached_property
    def sentence_ends(self) -> Floats:
        """float64[n]: how many sentences end in each block."""
        return self.count_of(SENTENCE_ENDS)

    @cached_property
    def ancestors(self) -> dict[str, Bools]:
        """bool[n] for each of ``ANCESTORS``: the blocks inside one."""
        around = np.bitwise_or.reduce(_ANCESTOR_BITS[self.page.ancestor_tags], axis=0)
        bits = _ANCESTOR_BITS[[TAG_NUMBERS[tag] for tag in ANCESTORS]]
        return dict(zip(ANCESTORS, around & bits[:, np.newaxis] > 0, strict=True))

    @cached_property
    def total_words(self) -> float:
        return float(self.page.blocks.words.sum())

    @cached_property
    def headline(self) -> Headline:
        return Headline.of(self.page)

    @cached_property
    def description(self) -> Description:
        return Description.of(self.page)

    def count(self, chosen: Bools) -> Floats:
        """float64[n]: the *chosen* words and symbols (bool[n_texts]) of each block."""
        return self.page.texts.count(chosen).astype(np.float64)

    def count_of(self, characters: str) -> Floats:
        """float64[n]: the words and symbols of each block that begin with one of *characters*."""
        return self.count(_is_one_of(self.first_codes, characters))

    def share(self, chosen: Bools) -> Floats:
        """float64[n]: the *chosen* words and symbols of each block for each of its words."""
        return self.count(chosen) / self.words

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
        is_candidate = ~page.is_parent("title") & (
            (level == 1)
            | ((level > 1) & (overlap > MIN_OVERLAP_HEADING))
            | (overlap > MIN_OVERLAP_LINE)
        )
        if not is_candidate.any():
            return cls(overlap, level, -1)
        rank = overlap + H1_BONUS * (level == 1) + HEADING_BONUS * (level > 1)
        return cls(overlap, level, int(np.argmax(np.where(is_candidate, rank, -1.0))))

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
        tokens, blocks = page.tokens, page.blocks
        described = _description_pairs(tokens)
        words = page.texts.token[tokens.is_word[page.texts.token]]
        block = blocks.of_token[words]
        is_common = is_among(_pairs(tokens.token_id[words]), described) & (np.diff(block) == 0)
        hits = np.bincount(block[:-1][is_common], minlength=len(blocks))
        shown, is_long = ~page.is_parent("title"), blocks.words > MAX_SHARED_BY_CHANCE
        return cls(
            recall=np.minimum(1.0, hits / max(len(described), 1)) * shown,
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


def first_codes(tokens: Tokens, chosen: Indices) -> NDArray[np.uint16]:
    """uint16[n]: the code of the first character of the tokens *chosen*; FFFF for any beyond."""
    return codes_at(tokens.clean, tokens.clean_start[chosen])


def _title_overlap(page: Page) -> Floats:
    words, title = page.blocks.words, _title_words(page.tokens)
    is_hit = is_among(page.tokens.token_id[page.texts.token], title)
    hits = page.texts.count(is_hit)
    is_short = (words > 1) & (words <= MAX_HEADLINE) & ~page.is_parent("title")
    completeness = np.minimum(1.0, hits / max(1, min(len(title), FULL_TITLE)))
    return np.where(is_short, hits / np.maximum(words, 1) * completeness, 0.0)


def _title_words(tokens: Tokens) -> TokenIds:
    """The words of the page's title, each once."""
    titles = np.flatnonzero(tokens.is_open("title") & (tokens.partner >= 0))
    if not len(titles):
        return tokens.token_id[:0]
    inside = slice(titles[0], tokens.partner[titles[0]])
    return _each_once(tokens.token_id[inside][tokens.is_word[inside]])


def _each_once(ids: TokenIds) -> TokenIds:
    """The *ids* without repetitions, in any order."""
    return np.array(list(set(ids.tolist())), np.uint64)


def _pairs(ids: TokenIds) -> TokenIds:
    """uint64[n-1]: a hash of each of *ids* (uint64[n]) with the next."""
    return ids[:-1] * np.uint64(3) + ids[1:]  # any odd factor tells (a, b) from (b, a)


def _description_pairs(tokens: Tokens) -> TokenIds:
    """The pairs of neighbouring words of the page's description, each once."""
    words = word_ids(meta_description(tokens))
    return _each_once(_pairs(words if len(words) >= MIN_DESCRIPTION else words[:0]))


def _words_below_heading(measured: Measured) -> Floats:
    before, above = measured.page.words_before, heading_above(measured.headline.level)
    distance = np.log1p(np.maximum(before - before[above], 0.0)) if len(above) else before
    return np.where(above >= 0, distance, FAR)


def _rank_of_heading_above(measured: Measured) -> Floats:
    level = measured.headline.level
    above = heading_above(level)
    return np.where(above >= 0, NO_LEVEL - level[above], 0.0) if len(above) else np.zeros(0)


def _repetitions(page: Page) -> Floats:
    """float64[n]: how many blocks of the page have the same text."""
    which = groups(page.text_hashes)
    repetitions: Floats = np.bincount(which)[which].astype(np.float64)
    return repetitions


def _is_one_of(codes: NDArray[np.uint16], characters: str) -> Bools:
    return _table_of(characters)[codes]


@cache
def _table_of(characters: str) -> Bools:
    """bool[65536]: which codes are those of *characters*."""
    table = np.zeros(LAST_CODE + 1, np.bool_)
    table[[ord(character) for character in characters]] = True
    return table


def _parent_feature(tag: str) -> Feature:
    return Feature(f"is_{tag}", lambda m: m.page.is_parent(tag))


def _ancestor_feature(tag: str) -> Feature:
    return Feature(f"in_{tag}", lambda m: m.ancestors[tag])


FEATURES: tuple[Feature, ...] = (
    # The block's text
    Feature("words", lambda m: np.log1p(m.words)),
    Feature("letters", lambda m: np.log1p(m.letters)),
    Feature("word_length", lambda m: m.letters / m.words),
    Feature("link_share", lambda m: m.page.blocks.linked_words / m.words),
    Feature("all_linked", lambda m: m.page.blocks.linked_words == m.words),
    Feature("capital_share", lambda m: m.share(_UPPER[m.first_codes])),
    Feature("digit_share", lambda m: m.share(_DIGIT[m.first_codes])),
    Feature("sentence_ends", lambda m: np.log1p(m.sentence_ends)),
    Feature("sentence_end_share", lambda m: m.sentence_ends / m.words),
    Feature("commas", lambda m: np.log1p(m.count_of(COMMAS))),
    Feature("quotes", lambda m: np.log1p(m.count_of(QUOTES))),
    Feature("symbol_share", lambda m: m.share(~m.page.tokens.is_word[m.page.texts.token])),
    Feature("ends_sentence", lambda m: _is_one_of(m.last_code, CLOSERS)),
    Feature("ends_with_colon", lambda m: _is_one_of(m.last_code, ":")),
    Feature("starts_with_capital", lambda m: _UPPER[m.first_code]),
    Feature("repetitions", lambda m: np.log(_repetitions(m.page))),
    # The elements around it
    *(_parent_feature(tag) for tag in PARENTS),
    *(_ancestor_feature(tag) for tag in ANCESTORS),
    Feature("depth", lambda m: (m.page.blocks.ancestors >= 0).sum(axis=0) / 10.0),
    Feature("hidden", lambda m: m.page.hidden),
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
    Feature("below_headline", lambda m: m.headline.is_above()),
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
