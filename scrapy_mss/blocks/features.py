"""Features of a text block, whatever its words mean: length, links, punctuation, place, context.

They are one ordered table, ``FEATURES``, filled in groups that are computed together. The names are
part of every stored classifier, so that none can be moved or renamed without a file of other
features being recognized as such (`models.format`).

The features hold for any language: what is counted is punctuation, capitals, digits and lengths.
Counts are taken as logarithms, so that long pages are not out of proportion. Where a constant has
no other reason beside it, it was chosen once on `articles_wcxb` and never tuned: the network
weighs what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import Containers
from scrapy_mss.blocks.texts import BITS, COUNTS
from scrapy_mss.core.hashing import numbered
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Floats, Indices

Number = TypeVar("Number", np.float32, np.float64)


class Columns(Mapping[str, Floats]):
    """float64[n] by name; ``rows`` are all of them, float64[n_names, n]."""

    def __init__(self, names: tuple[str, ...], rows: Floats) -> None:
        self._places_of = _places_of(names)
        self.rows = rows

    def __getitem__(self, name: str) -> Floats:
        row: Floats = self.rows[self._places_of[name]]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._places_of)

    def __len__(self) -> int:
        return len(self._places_of)

    def run(self, first: str, n: int) -> Floats:
        """float64[k, n]: *n* rows from the one of *first* on, not to be written to."""
        begin = self._places_of[first]
        run: Floats = self.rows[begin : begin + n]
        return run

    def some(self, names: tuple[str, ...]) -> Floats:
        """float64[k, n]: a copy of the rows of *names*."""
        some: Floats = self.rows.take([self._places_of[name] for name in names], axis=0)
        return some


@lru_cache(64)
def _places_of(names: tuple[str, ...]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def product(left: NDArray[Number], right: NDArray[Number]) -> NDArray[Number]:
    """``left @ right`` of two arrays of one type, without spurious warnings.

    The libraries behind numpy compute on whole registers, beyond the ends of an array too, and
    what lies there may raise a flag that numpy reports as an overflow or an invalid value, now and
    then, on one processor and not on another. The product is right; where warnings are errors, the
    warning would cost a page.
    """
    with np.errstate(all="ignore"):
        result: NDArray[Number] = np.matmul(left, right)
    return result


LOG1P_TABLE = np.log1p(np.arange(2.0**14))


def logarithms(counts: Floats) -> Floats:
    """log1p of whole *counts*: of those of most pages by a table, in a fifth of the time."""
    if np.maximum.reduce(counts, axis=None, initial=0.0) < len(LOG1P_TABLE):
        found: Floats = LOG1P_TABLE.take(counts.astype(np.intp))
        return found
    return np.log1p(counts)


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
ENDS = {  # which end of the block is of which class
    "ends_sentence": ("last", "closer"),
    "ends_with_colon": ("last", "colon"),
    "starts_with_capital": ("first", "capital"),
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
PLACES = (
    (
        *(f"is_{tag}" for tag in PARENTS),
        *(f"in_{tag}" for tag in ANCESTORS),
        *("depth", "hidden"),
    ),
    ("position", "rank", "words_before", "words_after", "page_words"),
    (
        *("title_overlap", "headline_title_overlap"),
        *("words_from_headline", "below_headline", "later_headings"),
    ),
    ("heading_rank", "words_below_heading", "rank_of_heading_above", "main_headings"),
)
_ALL_PLACES = tuple(name for names in PLACES for name in names)
DESCRIPTION = (
    *("description_recall", "description_precision"),
    *("below_description", "has_description"),
)
FEATURES = (*TEXT, *_ALL_PLACES, *DESCRIPTION)
NO_LEVEL = 7.0  # a heading counts 7 - level, so that the main heading counts most and no heading 0
MAX_MAIN_HEADINGS = 4.0  # a page with more is a list of stories

MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE = 0.3, 0.6  # with the title, of a lower heading and of a line
MAX_HEADLINE = 40  # words
FULL_TITLE = 6  # words that a headline shares with the title to be it, however long the title is
H1_BONUS, HEADING_BONUS = 0.15, 0.05  # between candidates of nearly the same overlap

MAX_SHARED_BY_CHANCE = 4  # words of a headline that a description may share by chance
MIN_DESCRIBING = 0.5  # of the description, in a block that is the described text
FAR = 9.0  # log of the words to a heading that is not there

PATH_LENGTH = 5  # tags of a block's path, innermost first
KEY_LEVELS = 3  # ancestors whose key is compared with those of other blocks
ELEMENT_LEVELS = 5  # ancestors whose own content is looked at
PER_WORDS = 100  # a density is a share of the evidence for so many words
EPSILON = 1e-9  # words of evidence on a page without any

# The row of a tag right around a block, and of one anywhere around it; that after them for others.
_PARENT_ROWS, _ANCESTOR_ROWS = np.full((2, 256), len(PARENTS) + len(ANCESTORS), np.uint8)
_PARENT_ROWS[[TAG_NUMBERS[name] for name in PARENTS]] = range(len(PARENTS))
_ANCESTOR_ROWS[[TAG_NUMBERS[name] for name in ANCESTORS]] = range(
    len(PARENTS), len(PARENTS) + len(ANCESTORS)
)
_HEADING_LEVELS = np.zeros(256, np.int64)
_HEADING_LEVELS[[TAG_NUMBERS[name] for name in HEADINGS]] = range(1, len(HEADINGS) + 1)
_HEADING_RANKS = np.array([0.0, *(NO_LEVEL - level for level in range(1, len(HEADINGS) + 1))])


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """The block that repeats the page's title; ``block`` is -1 where there is none."""

    overlap: Floats  # float64[n]: how much of a short block's text is in the page's title, 0 to 1
    level: NDArray[np.int64]  # int64[n]: of a heading 1 to 6, 0 for every other block
    block: int

    @classmethod
    def of(cls, page: Page) -> Headline:
        """By how many words of the title each block has."""
        level = heading_levels(page)
        overlap, is_main, is_lower = _title_overlap(page), level == 1, level > 1
        is_candidate = ~page.in_title & (
            is_main | (is_lower & (overlap > MIN_OVERLAP_HEADING)) | (overlap > MIN_OVERLAP_LINE)
        )
        if not np.count_nonzero(is_candidate):
            return cls(overlap, level, -1)
        rank = overlap + H1_BONUS * is_main + HEADING_BONUS * is_lower
        return cls(overlap, level, int(np.where(is_candidate, rank, -1.0).argmax()))

    def later_headings(self) -> Floats:
        """float64[n]: how many headings of its level follow, up to each block."""
        level = self.level[self.block]
        if not level:
            return np.zeros(len(self.level))
        same = np.equal(self.level, level).cumsum(dtype=np.float64)
        later: Floats = np.maximum(same - same[self.block], 0.0)
        return later

    @property
    def own_overlap(self) -> float:
        return float(self.overlap[self.block]) if self.block >= 0 else 0.0


def heading_levels(page: Page) -> NDArray[np.int64]:
    """int64[n]: 1 to 6 for a heading, 0 for every other block."""
    levels: NDArray[np.int64] = _HEADING_LEVELS.take(page.innermost_tags)
    return levels


def heading_above(level: NDArray[np.int64]) -> Indices:
    """intp[n]: the nearest heading before each block, -1 if there is none."""
    at = np.where(level > 0, np.arange(len(level)), -1)
    return np.concatenate(([-1], np.maximum.accumulate(at)))[: len(level)]


def of_heading_above(above: Indices, values: Floats) -> Floats:
    """float64[n]: of *values* (one a block) that of the heading *above*, 0 without one."""
    return np.where(above >= 0, values[above], 0.0) if len(above) else values


def _title_overlap(page: Page) -> Floats:
    words, hits, n_title = page.words, page.text_counts.of("title_words"), len(page.title_ids)
    is_short = (words > 1) & (words <= MAX_HEADLINE) & ~page.in_title
    completeness = np.minimum(1.0, hits / max(1, min(n_title, FULL_TITLE)))
    return np.where(is_short, hits / np.maximum(words, 1) * completeness, 0.0)


def _fill_text(page: Page, rows: Floats) -> None:
    """The block's text, with counts for logarithms."""
    texts, words = page.text_counts, np.maximum(page.words, 1.0)
    counts = dict(zip(COUNTS, texts.counts, strict=True))
    counts |= {"words": words, "linked_words": page.blocks.linked_words}
    for row, name in LOGARITHMS.items():
        rows[TEXT.index(row)] = counts[name]
    for row, name in SHARES.items():
        rows[TEXT.index(row)] = counts[name] / words
    for row, (end, name) in ENDS.items():
        rows[TEXT.index(row)] = getattr(texts, end) & BITS[name] != 0
    rows[TEXT.index("all_linked")] = counts["linked_words"] == words
    which = numbered(page.text_hashes)
    rows[_REPETITIONS] = np.bincount(which)[which]


def _fill_around(page: Page, rows: Floats) -> None:
    """Which elements are around the block, how many, and whether one hides it.

    Whether each of ``PARENTS`` is the innermost, and each of ``ANCESTORS`` is there at all.
    """
    rows[:], blocks = 0.0, np.arange(rows.shape[1])
    rows[_PARENT_ROWS[page.ancestor_tags[0]], blocks] = 1.0
    rows[_ANCESTOR_ROWS[page.ancestor_tags], blocks] = 1.0
    rows[-2] = (page.blocks.ancestors >= 0).sum(axis=0) / 10.0
    rows[-1] = page.hidden


def _fill_position(page: Page, rows: Floats) -> None:
    """The block's position in the page."""
    total = page.total_words
    rows[0] = page.words_before / max(total, 1.0)
    rows[1] = np.arange(rows.shape[1]) / max(rows.shape[1], 1)
    rows[2] = page.words_before
    rows[3] = total - page.words_before - page.words
    rows[4] = total


def _fill_headline(page: Page, headline: Headline, rows: Floats) -> None:
    """How much of the title is in the block, and where the headline is."""
    rows[0], rows[1], rows[2:] = headline.overlap, headline.own_overlap, 0.0
    if headline.block >= 0:
        rows[2] = np.abs(page.words_before - page.words_before[headline.block])
        rows[3, headline.block + 1 :] = 1.0
        rows[4] = headline.later_headings()


def _fill_headings(page: Page, level: Indices, above: Indices, rows: Floats) -> None:
    """Which heading the block is, and which one it is below."""
    rows[0] = _HEADING_RANKS[level]
    if len(level):
        before = np.where(above >= 0, page.words_before[above], page.words_before)
        rows[1] = np.maximum(page.words_before - before, 0.0)
    rows[2] = of_heading_above(above, rows[0])
    rows[3] = np.minimum(np.equal(level, 1).cumsum(), MAX_MAIN_HEADINGS)


def _fill_description(page: Page, rows: Floats) -> None:
    """The page's description of itself, by how many of its pairs of words each block has."""
    hits, n_pairs = page.text_counts.of("description_pairs"), len(page.description_pairs)
    rows[:] = 0.0
    if not n_pairs:
        return
    recall, precision, sides, has_description = rows
    shown, is_long = ~page.in_title, page.words > MAX_SHARED_BY_CHANCE
    np.multiply(np.minimum(1.0, hits / n_pairs), shown, out=recall)
    np.multiply(hits / np.maximum(page.words - 1, 1), is_long & shown, out=precision)
    within = (recall > MIN_DESCRIBING).nonzero()[0]
    if len(within):
        sides[:] = np.where(np.arange(len(sides)) >= within[0], 1.0, -1.0)
    has_description[:] = 1.0


def fill_features(page: Page, rows: Floats) -> Indices:
    """Fill *rows* (float64[n_features, n]), in the order of ``FEATURES``.

    What comes back is intp[n], the nearest heading before each block, -1 if there is none.
    """
    _fill_text(page, rows[: len(TEXT)])
    headline, above = _fill_places(page, rows[len(TEXT) : -len(DESCRIPTION)])
    _fill_description(page, rows[-len(DESCRIPTION) :])
    rows[COUNTED] = logarithms(rows[COUNTED])
    np.log(rows[_REPETITIONS], out=rows[_REPETITIONS])
    rows[_FROM_HEADLINE, : max(headline, 0)] *= -1.0
    rows[_BELOW_HEADING, above < 0] = FAR
    return above


# Rows that are logarithms of counts, those that are negative before the headline and without a
# heading, and the numbers that the compiled part has names for, in its order.
COUNTED = [
    FEATURES.index(name)
    for name in (
        *LOGARITHMS,
        *("words_before", "words_after", "page_words", "words_from_headline"),
        *("later_headings", "words_below_heading"),
    )
]
_REPETITIONS = FEATURES.index("repetitions")
_FROM_HEADLINE = FEATURES.index("words_from_headline")
_BELOW_HEADING = FEATURES.index("words_below_heading")
_NUMBERS = (
    *(MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE, MAX_HEADLINE, FULL_TITLE, H1_BONUS, HEADING_BONUS),
    *(MAX_MAIN_HEADINGS, NO_LEVEL, TAG_NUMBERS["title"], MAX_SHARED_BY_CHANCE, MIN_DESCRIBING, FAR),
    *(PER_WORDS, EPSILON),
)


def feature_tables() -> tuple[object, ...]:
    """What the compiled part knows of tags, and the numbers."""
    levels = _HEADING_LEVELS.astype(np.uint8)
    return _PARENT_ROWS, _ANCESTOR_ROWS, levels, np.array(_NUMBERS, np.float64)


def _fill_places(page: Page, rows: Floats) -> tuple[int, Indices]:
    """Fill the *rows* of ``PLACES``, with counts for logarithms.

    What comes back is the headline's block, and the heading above each.
    """
    headline = Headline.of(page)
    above = heading_above(headline.level)
    around, position, of_headline, headings = np.split(rows, _BREAKS)
    _fill_around(page, around)
    _fill_position(page, position)
    _fill_headline(page, headline, of_headline)
    _fill_headings(page, headline.level, above, headings)
    return headline.block, above


_BREAKS = np.cumsum([len(names) for names in PLACES[:-1]])


# Where on the page the evidence is: how much of it each block's containers have. The text of an
# article is together, in one element of the page or in elements of one name. A block that is
# certain speaks for the blocks in the same kind of container, whatever the names are: so each page
# tells the container of its own article from those of comments and teasers. Only evidence for the
# article counts, weighed by words and as a share of the page's whole. What opinions keep is summed
# likewise.

# What is said of each mass: what comes before and after, what is in elements with the same tag and
# class words, some levels out, in each of the block's own ancestors, and on the same path of tags.
_OF_MASSES = (
    *("mass_before", "mass_after"),
    *(f"same_key_{k}_{name}" for k in range(KEY_LEVELS) for name in ("mass", "density")),
    *(f"ancestor_{k}_{name}" for k in range(ELEMENT_LEVELS) for name in ("mass", "density")),
    "same_path_mass",
)
_OF_KEYS = ("blocks", "words", "link_share")  # of elements with the same tag and class words
_SAME_KEY, _SAME_KEY_DENSITY = slice(2, 2 + 2 * KEY_LEVELS, 2), slice(3, 3 + 2 * KEY_LEVELS, 2)
_ANCESTOR = slice(2 + 2 * KEY_LEVELS, -1, 2)
_ANCESTOR_DENSITY = slice(3 + 2 * KEY_LEVELS, -1, 2)

# What tells the keys of one level from those of the others, above the bits of keys and paths.
_LEVELS = np.arange(KEY_LEVELS + 1, dtype=np.uint64)
_LEVEL_BITS = _LEVELS[:, np.newaxis] << np.uint64(8 * PATH_LENGTH)


def container_names(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """The names of what `fill_containers` finds of masses, whose columns begin with *prefixes*."""
    shares = (f"{prefix}{name}" for prefix in prefixes for name in _OF_MASSES)
    sizes = (f"same_key_{k}_{name}" for k in range(KEY_LEVELS) for name in _OF_KEYS)
    return (*shares, *sizes)


def fill_containers(page: Page, masses: Floats, rows: Floats) -> None:
    """Fill *rows* with the shares of *masses* (float64[k, n]), and the sizes of what they are of.

    A mass is each block's share of something.
    """
    of_blocks = np.empty((len(masses) + 3, rows.shape[1]))
    of_blocks[:-3], of_blocks[-3] = masses, page.words
    of_blocks[-2], of_blocks[-1] = page.blocks.linked_words, 1.0
    (k, n), n_shares = masses.shape, len(masses) * len(_OF_MASSES)
    in_groups = group_sums(of_blocks, _alike(page))
    around = _inside(page.containers, of_blocks[: k + 1], [1.0] * k + [page.total_words])
    words = np.maximum(in_groups[k], 1.0)
    sizes = rows[n_shares:].reshape(KEY_LEVELS, len(_OF_KEYS), n)
    sizes[:, 0], sizes[:, 1] = logarithms(in_groups[[k + 2, k], :KEY_LEVELS])
    np.divide(in_groups[k + 1, :KEY_LEVELS], words[:KEY_LEVELS], out=sizes[:, 2])

    shares = rows[:n_shares].reshape(k, len(_OF_MASSES), n)
    running = masses.cumsum(axis=1)
    np.subtract(running, masses, out=shares[:, 0])
    np.subtract(1.0, running, out=shares[:, 1])
    shares[:, _SAME_KEY] = in_groups[:k, :KEY_LEVELS]
    np.divide(in_groups[:k, :KEY_LEVELS], words[:KEY_LEVELS], out=shares[:, _SAME_KEY_DENSITY])
    shares[:, _SAME_KEY_DENSITY] *= PER_WORDS
    shares[:, _ANCESTOR] = around[:k]
    np.divide(around[:k], np.maximum(around[k], 1.0), out=shares[:, _ANCESTOR_DENSITY])
    shares[:, _ANCESTOR_DENSITY] *= PER_WORDS
    shares[:, -1] = in_groups[:k, KEY_LEVELS]


def evidence_mass(page: Page, score: Floats) -> tuple[Floats, float]:
    """Each block's share of the page's evidence for the article, and how much there is."""
    mass = np.maximum(score, 0.0) * page.words
    total = float(np.add.reduce(mass)) + EPSILON
    return mass / total, total


def ancestor_mass(level: int) -> str:
    """The feature that is the share of the evidence inside each block's ancestor at *level*."""
    return f"ancestor_{level}_mass"


def _alike(page: Page) -> Indices:
    """intp[KEY_LEVELS+1, n]: which blocks have an ancestor of the same key, or the same tags.

    No two rows have a number in common.
    """
    keys = np.empty((KEY_LEVELS + 1, len(page.blocks)), np.uint64)
    keys[:-1] = page.ancestor_keys[:KEY_LEVELS]
    path = np.zeros((len(page.blocks), 8), np.uint8)  # a byte for each tag, innermost first
    path[:, :PATH_LENGTH] = page.ancestor_tags[:PATH_LENGTH].T
    keys[-1] = path.view(np.uint64)[:, 0]
    keys |= _LEVEL_BITS
    return numbered(keys.ravel()).reshape(keys.shape)


def _inside(containers: Containers, values: Floats, outside: list[float]) -> Floats:
    """float64[k, ELEMENT_LEVELS, n]: the sums of *values* (float64[k, n]) in blocks' ancestors.

    They are *outside*, a number for each of the values, where there is none.
    """
    inside = np.empty((len(values), len(containers) + 1))
    inside[:, :-1] = containers.totals(values)
    inside[:, -1] = outside
    return inside.take(containers.around[:ELEMENT_LEVELS], axis=1)


def group_sums(values: Floats, alike: Indices) -> Floats:
    """float64[k, g, n]: for each block the sum of *values* (float64[k, n]) over its group.

    *alike* (intp[g, n]) has a row for each way to group the blocks; the rows have no number in
    common, and all numbers together begin with 0 and leave none out.
    """
    n_groups = int(alike.max(initial=-1)) + 1
    place = alike + n_groups * np.arange(len(values))[:, np.newaxis, np.newaxis]
    weight = np.broadcast_to(values[:, np.newaxis], place.shape)
    sums: Floats = np.bincount(place.ravel(), weight.ravel())[place]
    return sums
