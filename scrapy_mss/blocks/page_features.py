"""Features of a whole page, by which the page classifier tells an article from other pages.

They are one ordered table, ``PAGE_FEATURES``, in groups: what was kept of the page's TEXT, the
MARKUP that articles of today have, what the page DECLARES, CUES in its source, and its ADDRESS.
Pages of today declare what they are, in data for search engines. Those of sites that declare
nothing, old ones above all, must not be lost for that, nor for old markup: they are decided by
their text and their address. A page whose address is unknown is decided without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from itertools import compress
from math import log, log1p

import numpy as np

from scrapy_mss.blocks.classifier import INPUTS, BlockInputs
from scrapy_mss.blocks.features import ancestor_mass
from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import OPEN, Bools, Floats
from scrapy_mss.pages.addresses import PageUrl
from scrapy_mss.pages.declarations import (
    AUTHOR_CUES,
    FORUM_CUES,
    FORUM_TYPES,
    PRICE_CUES,
    SHOP_TYPES,
    Declarations,
)

BODY_LEVEL = 1  # the ancestor that contains an article's paragraphs if one element does
MASS_IN_BODY = ancestor_mass(BODY_LEVEL)
SCORE = "score"
MEANS = ("is_li", "is_pre", "in_article", MASS_IN_BODY, SCORE)  # inputs of blocks

UNDECLARED = "nothing_declared"
_SUMMED = (*MEANS, *(f"opinion_{opinion.name}" for opinion in OPINIONS))
_SUMMED_ROWS = np.array([INPUTS.index(name) for name in _SUMMED])
_FIRST_SHARE = INPUTS.index(f"share_of_{OPINIONS[0].name}")
_SHARES = slice(_FIRST_SHARE, _FIRST_SHARE + len(OPINIONS))
_TIME = TAG_NUMBERS["time"]


class Origin(Enum):
    """What a feature is read from; by those that are DECLARED a page declares something or not."""

    TEXT = "text"
    MARKUP = "markup"
    DECLARED = "declared"
    CUES = "cues"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class PageFeature:
    """A row of the table: a name, its origin, and what it is of a page."""

    name: str
    origin: Origin
    of: Callable[[ReadPage], float]


@dataclass(frozen=True, eq=False)
class ReadPage:
    """A page, what is known of its blocks, and which of them were kept."""

    page: Page
    inputs: BlockInputs
    probability: Floats
    kept: Bools
    threshold: float  # half of the expected F1 of the best choice of blocks

    @lazy
    def marks(self) -> bytes:
        """Whether each block was kept, a byte for each."""
        return self.kept.tobytes()

    @lazy
    def n_words(self) -> float:
        """The words that were kept, at least 1."""
        return max(self.sums[-1], 1.0)

    # What tells a list of stories from a story: its dates, and opinions that do not agree. Fronts,
    # sections and pages of tags have running text too: teasers, several of one template, many with
    # a date. Where there is no article, each opinion finds another one, and few what was kept.

    @lazy
    def times(self) -> int:
        """How many `<time>` there are between the first and the last of the kept blocks."""
        marks, blocks, tokens = self.marks, self.page.blocks, self.page.tokens
        if True not in marks:
            return 0
        span = slice(blocks.first[marks.find(True)], blocks.last[marks.rfind(True)] + 1)
        tags = tokens.tag[span]
        if _TIME not in tags.tobytes():
            return 0
        return int(np.count_nonzero((tags == _TIME) & (tokens.kind[span] == OPEN)))

    @lazy
    def agreements(self) -> list[float]:
        """The F1, by words, of what was kept and of what each opinion keeps that keeps anything."""
        if not len(self.kept):
            return []
        shares = self.inputs.columns.rows[_SHARES, 0].tolist()
        sizes = [round(share * self.page.total_words) for share in shares]  # which are whole
        rows = zip(self.sums[len(MEANS) : -2], sizes, strict=True)
        return [2.0 * shared / (self.n_words + size) for shared, size in rows if size]

    @lazy
    def address(self) -> PageUrl:
        """The address, if it says anything: a number alone is what articles have, and all else."""
        url = PageUrl(self.page.web_url)
        return PageUrl("") if url.says_nothing else url

    @property
    def declarations(self) -> Declarations:
        return self.page.declarations

    @lazy
    def sums(self) -> list[float]:
        """The sums over the words that were kept: of ``_SUMMED``, of the probability, and of 1."""
        values = np.empty((len(_SUMMED) + 2, len(self.kept)))
        self.inputs.columns.rows.take(_SUMMED_ROWS, axis=0, out=values[:-2], mode="clip")
        values[-2], values[-1] = self.probability, 1.0
        values *= self.page.words * self.kept
        sums: list[float] = np.add.reduce(values, axis=1).tolist()
        return sums

    @lazy
    def means(self) -> dict[str, float]:
        """The mean of each of ``MEANS`` over the words that were kept."""
        return {name: of / self.n_words for name, of in zip(MEANS, self.sums, strict=False)}

    def again(self, probability: Floats, kept: Bools, threshold: float) -> ReadPage:
        """The same by another *probability* (float64[n]), of which the *threshold* is."""
        read = ReadPage(self.page, self.inputs, probability, kept, threshold)
        if read.marks == self.marks:  # as on most pages: all is the same but for one sum
            likely = float(np.add.reduce(probability * (self.page.words * kept)))
            known = {"sums": [*self.sums[:-2], likely, self.sums[-1]]}
            vars(read).update(vars(self) | vars(read) | known)
        else:
            vars(read).update(address=self.address, unread=self.unread)
        return read

    @lazy
    def unread(self) -> list[float]:
        """The features that the page has however it is read."""
        return [feature.of(self) for feature in PAGE_FEATURES[_N_READ:]]

    def in_common(self, name: str) -> float:
        """What all blocks have in the column *name*; 0 without a block."""
        return float(self.inputs.columns[name][0]) if len(self.kept) else 0.0

    def is_graph(self, kind: str) -> float:
        return float(kind in self.declarations.graph_types)

    def mentions(self, types: frozenset[str]) -> float:
        return float(self.declarations.mention(types))

    def cues(self, cues: tuple[str, ...]) -> float:
        """The logarithm of how often *cues* occur in the source."""
        return log1p(sum(len(self.declarations.places[cue]) for cue in cues))


def _words_per_block(read: ReadPage) -> float:
    return log1p(read.n_words / max(read.marks.count(True), 1))


def _has_other_types(read: ReadPage) -> float:
    return float(bool(read.declarations.own_types) and not read.declarations.has_article_type)


def _has_other_graph_types(read: ReadPage) -> float:
    return float(not read.declarations.graph_types <= {"article", "website"})


PAGE_FEATURES: tuple[PageFeature, ...] = (
    # What was kept, and of what
    PageFeature("words", Origin.TEXT, lambda r: log1p(r.n_words)),
    PageFeature("words_per_block", Origin.TEXT, _words_per_block),
    PageFeature("kept_share", Origin.TEXT, lambda r: r.n_words / max(r.page.total_words, 1.0)),
    PageFeature("in_list_items", Origin.TEXT, lambda r: r.means["is_li"]),
    PageFeature("is_code", Origin.TEXT, lambda r: r.means["is_pre"]),
    PageFeature("times", Origin.TEXT, lambda r: log1p(r.times)),
    # How certain it is
    PageFeature("score", Origin.TEXT, lambda r: r.means[SCORE]),
    PageFeature("mean_probability", Origin.TEXT, lambda r: r.sums[-2] / r.n_words),
    PageFeature("expected_f1", Origin.TEXT, lambda r: 2.0 * r.threshold),
    PageFeature("mass_in_body", Origin.TEXT, lambda r: r.means[MASS_IN_BODY]),
    PageFeature("least_agreement", Origin.TEXT, lambda r: min(r.agreements, default=0.0)),
    # Markup of today
    PageFeature("in_article", Origin.MARKUP, lambda r: r.means["in_article"]),
    PageFeature("headline", Origin.MARKUP, lambda r: r.in_common("headline_title_overlap")),
    # Statements
    PageFeature("article_type", Origin.DECLARED, lambda r: float(r.declarations.has_article_type)),
    PageFeature("other_type", Origin.DECLARED, _has_other_types),
    PageFeature("shop_type", Origin.DECLARED, lambda r: r.mentions(SHOP_TYPES)),
    PageFeature("forum_type", Origin.DECLARED, lambda r: r.mentions(FORUM_TYPES)),
    PageFeature("graph_article", Origin.DECLARED, lambda r: r.is_graph("article")),
    PageFeature("graph_website", Origin.DECLARED, lambda r: r.is_graph("website")),
    PageFeature("graph_other", Origin.DECLARED, _has_other_graph_types),
    # Words of the source
    PageFeature("author_cues", Origin.CUES, lambda r: r.cues(AUTHOR_CUES)),
    PageFeature("price_cues", Origin.CUES, lambda r: r.cues(PRICE_CUES)),
    PageFeature("forum_cues", Origin.CUES, lambda r: r.cues(FORUM_CUES)),
    # The address
    PageFeature("address", Origin.ADDRESS, lambda r: float(r.address.is_known)),
    PageFeature("date", Origin.ADDRESS, lambda r: float(r.address.has_date)),
    PageFeature("digits", Origin.ADDRESS, lambda r: float(r.address.digits)),
    PageFeature("slug", Origin.ADDRESS, lambda r: log1p(r.address.slug_words)),
    PageFeature("is_root", Origin.ADDRESS, lambda r: float(r.address.is_root)),
    PageFeature("is_list", Origin.ADDRESS, lambda r: float(r.address.is_list)),
)
_N_READ = [each.name for each in PAGE_FEATURES].index("headline")  # that change with a reading
_IS_DECLARED = [feature.origin is Origin.DECLARED for feature in PAGE_FEATURES]
_IS_OF_TODAY = np.array([f.origin not in {Origin.TEXT, Origin.ADDRESS} for f in PAGE_FEATURES])
_IS_OF_ADDRESS = np.array([feature.origin is Origin.ADDRESS for feature in PAGE_FEATURES])


def page_feature_names() -> tuple[str, ...]:
    """The names of the page classifier's inputs, in their order."""
    return (*(feature.name for feature in PAGE_FEATURES), UNDECLARED)


def page_features(read: ReadPage) -> Floats:
    """The page classifier's inputs: float64[n_page_features], as `page_feature_names` has them."""
    values = [*(feature.of(read) for feature in PAGE_FEATURES[:_N_READ]), *read.unread]
    features = np.array([*values, 0.0])
    return features if any(compress(values, _IS_DECLARED)) else as_undeclared(features)


def as_undeclared(features: Floats) -> Floats:
    """The inputs of the same page if it declared nothing."""
    silent = features.copy()
    silent[:-1][_IS_OF_TODAY] = 0.0
    silent[-1] = 1.0
    return silent


def without_address(features: Floats) -> Floats:
    """The inputs of the same page if its address were unknown."""
    unknown = features.copy()
    unknown[:-1][_IS_OF_ADDRESS] = 0.0
    return unknown


# How good the text of a page probably is: the F1 to be expected, before anybody reads it. The
# probabilities of the blocks give the expected F1 of any choice of them, but those of a classifier
# that may be wrong about a whole page, and then about all of its blocks. So its certainty is
# weighed with what else tells of that, by a logistic regression that was fitted to the true F1 of
# pages of other sites (`research.training`).
EXPECTED_F1 = "expected_f1"
MIN_F1 = 0.001  # of an expected F1, and of what it lacks: log-odds are finite


def expected_f1(read: ReadPage) -> float:
    """The F1, by words, that is expected of the kept blocks by the probabilities of all."""
    words = read.page.words * read.probability
    both = float(np.add.reduce(words[read.kept]))
    return 2.0 * both / max(read.n_words + float(np.add.reduce(words)), 1.0)


def _log_odds(share: float) -> float:
    inside = min(max(share, MIN_F1), 1 - MIN_F1)
    return log(inside / (1 - inside))


def _mean_agreement(read: ReadPage) -> float:
    return sum(read.agreements) / max(len(read.agreements), 1)


CONFIDENCE_FEATURES: dict[str, Callable[[ReadPage], float]] = {
    EXPECTED_F1: lambda r: _log_odds(expected_f1(r)),
    "score": lambda r: r.means[SCORE],
    "agreement": _mean_agreement,
}


def confidence_features(read: ReadPage) -> Floats:
    """float64[n_confidence_features]: all rows of the table."""
    return np.array([of(read) for of in CONFIDENCE_FEATURES.values()])
