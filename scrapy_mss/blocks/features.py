"""Features of a text block, whatever its words mean: length, links, punctuation, place, context.

They are one ordered table, ``GROUPS``: each row has the names of features that are computed
together, and a function that fills their rows. The names are part of every stored classifier, so
that none can be moved or renamed without a file of other features being recognized as such
(`models.inputs`).

The features hold for any language: what is counted is punctuation, capitals, digits and lengths.
Counts are taken as logarithms, so that long pages are not out of proportion. Where a constant has
no other reason beside it, it was chosen once on `articles_wcxb` and never tuned: the network
weighs what comes out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.columns import Columns, Group, columns_of, names_of
from scrapy_mss.blocks.lazy import lazy
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.shared_words import each_once, pairs, shared_pairs, shared_words
from scrapy_mss.blocks.text_counts import CLASSES, TextCounts, text_counts
from scrapy_mss.core.hashing import groups
from scrapy_mss.markup.attributes import meta_description
from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import word_ids
from scrapy_mss.markup.tokens import WORD, Floats, TokenIds, Tokens

# Features of a text that are the logarithm of a count, and those that are a count for each word.
LOGARITHMS = {
    "words": "words",
    "letters": "letters",
    "sentence_ends": "sentence_end",
    "commas": "comma",
    "quotes": "quote",
}
SHARES = {
    "word_length": "letters",
    "link_share": "linked_words",
    "capital_share": "capital",
    "digit_share": "digit",
    "sentence_end_share": "sentence_end",
    "symbol_share": "symbol",
}
TEXT = (
    *("words", "letters", "word_length", "link_share", "all_linked", "capital_share"),
    *("digit_share", "sentence_ends", "sentence_end_share", "commas", "quotes", "symbol_share"),
    *("ends_sentence", "ends_with_colon", "starts_with_capital", "repetitions"),
)
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
_AROUND = _PARENT_NUMBERS.tobytes(), bytes(TAG_NUMBERS[name] for name in ANCESTORS)
_HEADING_LEVELS = np.zeros(256, np.int64)
_HEADING_LEVELS[[TAG_NUMBERS[name] for name in HEADINGS]] = range(1, len(HEADINGS) + 1)
_HEADING_RANKS = np.array([0.0, *(NO_LEVEL - level for level in range(1, len(HEADINGS) + 1))])


def block_features(page: Page) -> Columns:
    """All features of a page's blocks, in the order of the table."""
    return columns_of(GROUPS, Measured(page), len(page.blocks))


@dataclass(frozen=True, eq=False)
class Measured:
    """What several features of a page's blocks are computed from, each once."""

    page: Page

    @lazy
    def words(self) -> Floats:
        """float64[n]: the words of each block, at least 1."""
        return np.maximum(self.page.words, 1.0)

    @lazy
    def texts(self) -> TextCounts:
        """What is counted of each block's words and symbols."""
        return text_counts(self.page)

    @lazy
    def heading_above(self) -> NDArray[np.int64]:
        """int64[n]: the nearest heading before each block, -1 if there is none."""
        return heading_above(self.headline.level)

    def of_heading_above(self, values: Floats, without: float = 0.0) -> Floats:
        """float64[n]: of *values* (one a block) that of the heading above, or *without* one."""
        above = self.heading_above
        return np.where(above >= 0, values[above], without) if len(above) else values

    @lazy
    def headline(self) -> Headline:
        return Headline.of(self.page)

    @lazy
    def description(self) -> Description:
        return Description.of(self.page)


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
        is_candidate = ~page.in_title & (
            is_main | (is_lower & (overlap > MIN_OVERLAP_HEADING)) | (overlap > MIN_OVERLAP_LINE)
        )
        if not np.count_nonzero(is_candidate):
            return cls(overlap, level, -1)
        rank = overlap + H1_BONUS * is_main + HEADING_BONUS * is_lower
        return cls(overlap, level, int(np.where(is_candidate, rank, -1.0).argmax()))

    def words_from(self, page: Page) -> Floats:
        """float64[n]: the logarithm of the words from the headline, negative before it."""
        distance = page.words_before - page.words_before[self.block]
        logarithm: Floats = np.copysign(np.log1p(np.abs(distance)), distance)
        return logarithm

    def later_headings(self) -> Floats:
        """float64[n]: the logarithm of how many headings of its level follow, up to each block."""
        level = self.level[self.block]
        if not level:
            return np.zeros(len(self.level))
        same = np.equal(self.level, level).cumsum()
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
        described = _description_pairs(page.tokens)
        if not len(described):
            nothing = np.zeros(len(page.blocks))
            return cls(nothing, nothing, 0)
        hits = shared_pairs(page.texts, described)
        shown, is_long = ~page.in_title, page.words > MAX_SHARED_BY_CHANCE
        return cls(
            recall=np.minimum(1.0, hits / len(described)) * shown,
            precision=hits / np.maximum(page.words - 1, 1) * (is_long & shown),
            n_pairs=len(described),
        )

    def sides(self) -> Floats:
        """float64[n]: 1 from the first described block on, -1 before it, 0 if there is none."""
        described = (self.recall > MIN_DESCRIBING).nonzero()[0]
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
    words, title = page.words, _title_words(page)
    hits = shared_words(page.texts, title)
    is_short = (words > 1) & (words <= MAX_HEADLINE) & ~page.in_title
    completeness = np.minimum(1.0, hits / max(1, min(len(title), FULL_TITLE)))
    return np.where(is_short, hits / np.maximum(words, 1) * completeness, 0.0)


def _title_words(page: Page) -> TokenIds:
    """The words of the page's title, each once."""
    tokens, is_title = page.tokens, page.containers.tag == TAG_NUMBERS["title"]
    if not np.count_nonzero(is_title):
        return tokens.token_id[:0]
    start = page.attributes.start[is_title.argmax()]
    inside = slice(start, tokens.partner[start])
    return each_once(tokens.token_id[inside][tokens.kind[inside] == WORD])


def _description_pairs(tokens: Tokens) -> TokenIds:
    """The pairs of neighbouring words of the page's description, each once."""
    words = word_ids(meta_description(tokens))
    return each_once(pairs(words if len(words) >= MIN_DESCRIPTION else words[:0]))


def _fill_text(measured: Measured, rows: Floats) -> None:
    """The block's text."""
    page, texts, words = measured.page, measured.texts, measured.words
    counts = np.empty((len(_COUNTS), len(words)))
    counts[: len(CLASSES)], counts[len(CLASSES)] = texts.counts, texts.letters
    counts[-2], counts[-1] = words, page.blocks.linked_words
    rows[_LOGARITHMS] = np.log1p(counts[_OF_LOGARITHMS])
    rows[_SHARES] = counts[_OF_SHARES] / words
    rows[_ALL_LINKED] = counts[-1] == words
    rows[_ENDS_SENTENCE] = texts.ends_with("closer")
    rows[_ENDS_WITH_COLON] = texts.ends_with("colon")
    rows[_STARTS_WITH_CAPITAL] = texts.begins_with("capital")
    np.log(_repetitions(page), out=rows[_REPETITIONS])


# What is counted, and where in the rows of the group and in the counts which is.
_COUNTS = (*CLASSES, "letters", "words", "linked_words")
_LOGARITHMS = np.array([TEXT.index(name) for name in LOGARITHMS])
_OF_LOGARITHMS = np.array([_COUNTS.index(counted) for counted in LOGARITHMS.values()])
_SHARES = np.array([TEXT.index(name) for name in SHARES])
_OF_SHARES = np.array([_COUNTS.index(counted) for counted in SHARES.values()])
_ALL_LINKED = TEXT.index("all_linked")
_ENDS_SENTENCE, _ENDS_WITH_COLON = TEXT.index("ends_sentence"), TEXT.index("ends_with_colon")
_STARTS_WITH_CAPITAL, _REPETITIONS = TEXT.index("starts_with_capital"), TEXT.index("repetitions")


def _repetitions(page: Page) -> NDArray[np.int64]:
    """int64[n]: how many blocks of the page have the same text."""
    which = groups(page.text_hashes)
    return np.bincount(which)[which]


def _fill_around(measured: Measured, rows: Floats) -> None:
    """Which elements are around the block, how many, and whether one hides it.

    Whether each of ``PARENTS`` is the innermost, and each of ``ANCESTORS`` is there at all.
    """
    page, compiled, depth = measured.page, compiled_part(), rows[-2]
    if compiled is None:
        _fill_around_in_python(page, rows[:-1])
    else:
        tags, ancestors = page.ancestor_tags.tobytes(), page.blocks.ancestors.tobytes()
        compiled.blocks.fill_around(tags, ancestors, _AROUND, rows[:-1])
    depth /= 10.0
    rows[-1] = page.hidden


def _fill_around_in_python(page: Page, rows: Floats) -> None:
    n_parents = len(PARENTS)
    rows[:n_parents] = page.ancestor_tags[0] == _PARENT_NUMBERS
    around = np.bitwise_or.reduce(_ANCESTOR_BITS[page.ancestor_tags], axis=0)
    rows[n_parents:-1] = (around & _EACH_ANCESTOR_BIT) > 0
    rows[-1] = (page.blocks.ancestors >= 0).sum(axis=0)


def _fill_position(measured: Measured, rows: Floats) -> None:
    """The block's position in the page."""
    page, total = measured.page, measured.page.total_words
    position, rank, _, after, of_page = rows
    before_and_after = rows[2:4]
    np.divide(page.words_before, max(total, 1.0), out=position)
    np.divide(np.arange(len(rank)), max(len(rank), 1), out=rank)
    np.subtract(total, page.words_before, out=after)
    np.subtract(after, page.words, out=after)
    before_and_after[0] = page.words_before
    np.log1p(before_and_after, out=before_and_after)
    of_page[:] = np.log1p(total)


def _fill_headline(measured: Measured, rows: Floats) -> None:
    """How much of the title is in the block, and where the headline is."""
    page, headline = measured.page, measured.headline
    overlap, own_overlap, words_from, below, later = rows
    overlap[:] = headline.overlap
    own_overlap[:] = headline.own_overlap
    rows[2:] = 0.0
    if headline.block >= 0:
        words_from[:] = headline.words_from(page)
        below[headline.block + 1 :] = 1.0
        later[:] = headline.later_headings()


def _fill_headings(measured: Measured, rows: Floats) -> None:
    """Which heading the block is, and which one it is below."""
    page, level, above = measured.page, measured.headline.level, measured.heading_above
    rank, words_below, rank_above, main_headings = rows
    rank[:] = _HEADING_RANKS[level]
    if len(level):
        distance = np.maximum(page.words_before - page.words_before[above], 0.0)
        words_below[:] = np.where(above >= 0, np.log1p(distance), FAR)
    rank_above[:] = measured.of_heading_above(rank)
    np.minimum(np.equal(level, 1).cumsum(), MAX_MAIN_HEADINGS, out=main_headings)


def _fill_description(measured: Measured, rows: Floats) -> None:
    """The page's description of itself."""
    described = measured.description
    rows[0], rows[1], rows[2] = described.recall, described.precision, described.sides()
    rows[3] = described.n_pairs > 0


GROUPS: tuple[Group[Measured], ...] = (
    Group(TEXT, _fill_text),
    Group(
        (
            *(f"is_{tag}" for tag in PARENTS),
            *(f"in_{tag}" for tag in ANCESTORS),
            *("depth", "hidden"),
        ),
        _fill_around,
    ),
    Group(("position", "rank", "words_before", "words_after", "page_words"), _fill_position),
    Group(
        (
            *("title_overlap", "headline_title_overlap"),
            *("words_from_headline", "below_headline", "later_headings"),
        ),
        _fill_headline,
    ),
    Group(
        ("heading_rank", "words_below_heading", "rank_of_heading_above", "main_headings"),
        _fill_headings,
    ),
    Group(
        (
            *("description_recall", "description_precision"),
            *("below_description", "has_description"),
        ),
        _fill_description,
    ),
)
FEATURES = names_of(GROUPS)
