"""Features of a text block, whatever its words mean: length, links, punctuation, place, context.

``FEATURES`` is the ordered table of them: of each, a name, and what it is of the blocks of a page.
The names are part of every stored classifier, so that none can be moved or renamed without a file
of other features being recognized as such (`models.format`).

The features hold for any language: what is counted is punctuation, capitals, digits and lengths.
Counts are taken as logarithms, so that long pages are not out of proportion. Where a constant has
no other reason beside it, it was chosen once on `articles_wcxb` and never tuned: the network
weighs what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scrapy_mss.blocks import headline
from scrapy_mss.blocks.headline import HEADING_LEVELS
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.texts import BITS
from scrapy_mss.core.hashing import mix
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Counts, Floats, Indices

Number = TypeVar("Number", np.float32, np.float64)


# The logarithms of small counts, which the compiled part looks up in a fifth of the time.
LOG1P_TABLE = np.log1p(np.arange(2.0**14))


class Columns(Mapping[str, Floats]):
    """float64[n] by name; ``rows`` are all of them, float64[n_names, n], in their ``places``."""

    def __init__(self, places: Mapping[str, int], rows: Floats) -> None:
        self.places = places
        self.rows = rows

    def __getitem__(self, name: str) -> Floats:
        row: Floats = self.rows[self.places[name]]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def fill(self, values: Mapping[str, ArrayLike]) -> None:
        """Fill in *values*, one a block or one for all, by their names."""
        for name, value in values.items():
            self[name][:] = value


def places_of(names: Iterable[str]) -> dict[str, int]:
    """The place of each of *names* among them."""
    return {name: place for place, name in enumerate(names)}


@np.errstate(all="ignore")
def product(left: NDArray[Number], right: NDArray[Number]) -> NDArray[Number]:
    """``left @ right`` of two arrays of one type, without spurious warnings.

    The libraries behind numpy compute on whole registers, beyond the ends of an array too, and
    what lies there may raise a flag that numpy reports as an overflow or an invalid value, now and
    then, on one processor and not on another. The product is right; where warnings are errors, the
    warning would cost a page.
    """
    result: NDArray[Number] = np.matmul(left, right)
    return result


PARENTS = ("p", "li", "div", "td", "blockquote", "figcaption", "section", "pre", "dd")
ANCESTORS = (
    *("article", "main", "aside", "nav", "footer", "header", "form", "table", "ul", "ol"),
    *("figure", "blockquote", "section", "dl", "details", "button", "select", "noscript"),
)
NO_LEVEL = 7.0  # a heading counts 7 - level, so that the main heading counts most and no heading 0
MAX_MAIN_HEADINGS = 4.0  # a page with more is a list of stories
FAR = 9.0  # log of the words to a heading that is not there
MAX_SHARED_BY_CHANCE = 4  # words of a headline that a description may share by chance
MIN_DESCRIBING = 0.5  # of the description, in a block that is the described text

Feature = Callable[[Page], ArrayLike]


def _logarithm(name: str) -> Feature:
    """The logarithm of how many words and symbols of a class there are."""
    return lambda page: np.log1p(page.text_counts.of(name))


def _share(name: str) -> Feature:
    """How many words and symbols of a class there are for each word."""
    return lambda page: page.text_counts.of(name) / page.words


def _parent(name: str) -> Feature:
    return lambda page: page.innermost_tags == TAG_NUMBERS[name]


def _ancestor(name: str) -> Feature:
    return lambda page: (page.ancestor_tags == TAG_NUMBERS[name]).any(axis=0)


def _repetitions(page: Page) -> Floats:
    _, which, counts = np.unique(page.text_hashes, return_inverse=True, return_counts=True)
    return np.log(counts[which])


def _words_from_headline(page: Page) -> Floats:
    """The logarithm of the words between a block and the headline, negative before that."""
    at = page.headline.block
    if at < 0:
        return np.zeros(len(page.words))
    distance = np.log1p(np.abs(page.words_before - page.words_before[at]))
    signed: Floats = np.where(np.arange(len(distance)) < at, -distance, distance)
    return signed


def _heading_ranks(page: Page) -> Floats:
    return np.where(page.heading_level > 0, NO_LEVEL - page.heading_level, 0.0)


def _words_below_heading(page: Page) -> Floats:
    between = page.words_before - of_heading_above(page, page.words_before)
    return np.where(page.heading_above >= 0, np.log1p(between), FAR)


def of_heading_above(page: Page, values: Floats) -> Floats:
    """float64[n]: of *values* (one a block) that of the heading above, 0 without one."""
    return np.where(page.heading_above >= 0, values[page.heading_above], 0.0)


# The page's description of itself, by how many of its pairs of words each block has.


def _recall(page: Page) -> Floats:
    hits, n_pairs = page.text_counts.of("description_pairs"), len(page.description_pairs)
    return np.minimum(1.0, hits / max(n_pairs, 1)) * ~page.in_title


def _precision(page: Page) -> Floats:
    hits, n_pairs = page.text_counts.of("description_pairs"), np.maximum(page.words - 1, 1)
    return hits / n_pairs * ((page.words > MAX_SHARED_BY_CHANCE) & ~page.in_title)


def _side_of_description(page: Page) -> Floats:
    """1 from the first block on that is the described text, -1 before; 0 if there is none."""
    describing = _recall(page) > MIN_DESCRIBING
    sides = np.where(np.logical_or.accumulate(describing), 1.0, -1.0)
    return sides if describing.any() else np.zeros(len(sides))


FEATURES: dict[str, Feature] = {
    # The text
    "words": lambda page: np.log1p(page.words),
    "letters": _logarithm("letters"),
    "word_length": _share("letters"),
    "link_share": lambda page: page.blocks.linked_words / page.words,
    "all_linked": lambda page: page.blocks.linked_words == page.words,
    "capital_share": _share("capital"),
    "digit_share": _share("digit"),
    "sentence_ends": _logarithm("sentence_end"),
    "sentence_end_share": _share("sentence_end"),
    "commas": _logarithm("comma"),
    "quotes": _logarithm("quote"),
    "symbol_share": _share("symbol"),
    "ends_sentence": lambda page: page.text_counts.last & BITS["closer"] > 0,
    "ends_with_colon": lambda page: page.text_counts.last & BITS["colon"] > 0,
    "starts_with_capital": lambda page: page.text_counts.first & BITS["capital"] > 0,
    "repetitions": _repetitions,
    # The elements around it: the innermost one, all of them, how many, and whether one hides it
    **{f"is_{name}": _parent(name) for name in PARENTS},
    **{f"in_{name}": _ancestor(name) for name in ANCESTORS},
    "depth": lambda page: (page.blocks.ancestors >= 0).sum(axis=0) / 10.0,
    "hidden": lambda page: page.hidden,
    # Its place in the page
    "position": lambda page: page.words_before / max(page.total_words, 1.0),
    "rank": lambda page: np.arange(len(page.blocks)) / max(len(page.blocks), 1),
    "words_before": lambda page: np.log1p(page.words_before),
    "words_after": lambda page: np.log1p(page.total_words - page.words_before - page.words),
    "page_words": lambda page: np.log1p(page.total_words),
    # How much of the title is in it, and where the headline is
    "title_overlap": lambda page: page.headline.overlap,
    "headline_title_overlap": lambda page: page.headline.own_overlap,
    "words_from_headline": _words_from_headline,
    "below_headline": lambda page: page.headline.below,
    "later_headings": lambda page: np.log1p(page.headline.later_headings),
    # Which heading it is, and which one it is below
    "heading_rank": _heading_ranks,
    "words_below_heading": _words_below_heading,
    "rank_of_heading_above": lambda page: of_heading_above(page, _heading_ranks(page)),
    "main_headings": lambda page: np.minimum((page.heading_level == 1).cumsum(), MAX_MAIN_HEADINGS),
    # The description
    "description_recall": _recall,
    "description_precision": _precision,
    "below_description": _side_of_description,
    "has_description": lambda page: bool(page.description_pairs),
}


# Where on the page the evidence is: how much of it each block's containers have. The text of an
# article is together, in one element of the page or in elements of one name. A block that is
# certain speaks for the blocks in the same kind of container, whatever the names are: so each page
# tells the container of its own article from those of comments and teasers. Only evidence for the
# article counts, weighed by words and as a share of the page's whole.

PATH_LENGTH = 5  # tags of a block's path, innermost first
KEY_LEVELS = 3  # ancestors whose key is compared with those of other blocks
ELEMENT_LEVELS = 5  # ancestors whose own content is looked at
PER_WORDS = 100  # a density is a share of the evidence for so many words
EPSILON = 1e-9  # words of evidence on a page without any

_OF_KEYS = ("blocks", "words", "link_share")  # of elements with the same tag and class words

# What comes before and after, what is in elements with the same tag and class words, some levels
# out, in each of the block's own ancestors, and on the same path of tags; and the sizes of those.
CONTAINER_NAMES = (
    *("mass_before", "mass_after"),
    *(f"same_key_{k}_{name}" for k in range(KEY_LEVELS) for name in ("mass", "density")),
    *(f"ancestor_{k}_{name}" for k in range(ELEMENT_LEVELS) for name in ("mass", "density")),
    "same_path_mass",
    *(f"same_key_{k}_{name}" for k in range(KEY_LEVELS) for name in _OF_KEYS),
)


def ancestor_mass(level: int) -> str:
    """The feature that is the share of the evidence inside each block's ancestor at *level*."""
    return f"ancestor_{level}_mass"


def evidence_mass(page: Page, score: Floats) -> tuple[Floats, float]:
    """Each block's share of the page's evidence for the article, and how much there is."""
    mass = np.maximum(score, 0.0) * page.words
    total = float(np.add.reduce(mass)) + EPSILON
    return mass / total, total


def container_features(page: Page, mass: Floats) -> dict[str, Floats]:
    """Where *mass* (float64[n], each block's share) is, and the sizes of what it is in."""
    through = mass.cumsum()
    found = {"mass_before": through - mass, "mass_after": 1.0 - through}
    paths = mix([*page.ancestor_tags[:PATH_LENGTH].astype(np.uint64)])
    path = np.unique(paths, return_inverse=True)[1]
    found["same_path_mass"] = _sums(path, mass)
    for level in range(KEY_LEVELS):
        key = np.unique(page.ancestor_keys[level], return_inverse=True)[1]
        n_words, n_linked = (_sums(key, of) for of in (page.words, page.blocks.linked_words))
        found[f"same_key_{level}_blocks"] = np.log1p(_sums(key, np.ones(len(key))))
        found[f"same_key_{level}_words"] = np.log1p(n_words)
        found[f"same_key_{level}_link_share"] = n_linked / n_words
        share = _sums(key, mass)
        found[f"same_key_{level}_mass"] = share
        found[f"same_key_{level}_density"] = share / n_words * PER_WORDS
    for level in range(ELEMENT_LEVELS):
        n_words = _inside(page, page.words, page.total_words, level)
        share = _inside(page, mass, 1.0, level)
        found[ancestor_mass(level)] = share
        found[f"ancestor_{level}_density"] = share / np.maximum(n_words, 1.0) * PER_WORDS
    return found


def _inside(page: Page, values: Floats, outside: float, level: int) -> Floats:
    """float64[n]: the sum of *values* in each block's ancestor at *level*; *outside* of all."""
    sums = np.concatenate((page.containers.total(values), [outside]))
    inside: Floats = sums.take(page.containers.around[level])
    return inside


def _sums(group: Indices, values: Floats | Counts) -> Floats:
    """float64[n]: for each block the sum of *values* over the blocks with its number."""
    sums: Floats = np.bincount(group, values).astype(float)[group]
    return sums


# What the compiled part has to know: by the number of a tag, the places of `is_` and of `in_` among
# their features, that after them for all other tags; and numbers, which it has names for.
_NUMBERS = (
    *(headline.MIN_OVERLAP_HEADING, headline.MIN_OVERLAP_LINE, headline.MAX_HEADLINE),
    *(headline.FULL_TITLE, headline.H1_BONUS, headline.HEADING_BONUS, MAX_MAIN_HEADINGS, NO_LEVEL),
    *(TAG_NUMBERS["title"], MAX_SHARED_BY_CHANCE, MIN_DESCRIBING, FAR, PER_WORDS, EPSILON),
)


def feature_tables() -> tuple[object, ...]:
    """What the compiled part knows of tags, and the numbers."""
    n_parents, n_both = len(PARENTS), len(PARENTS) + len(ANCESTORS)
    parents, ancestors = np.full((2, 256), n_both, np.uint8)
    parents[[TAG_NUMBERS[name] for name in PARENTS]] = range(n_parents)
    ancestors[[TAG_NUMBERS[name] for name in ANCESTORS]] = range(n_parents, n_both)
    return parents, ancestors, HEADING_LEVELS.astype(np.uint8), np.array(_NUMBERS, np.float64)
