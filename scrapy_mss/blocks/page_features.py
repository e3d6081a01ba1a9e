"""Features of a whole page, by which the page classifier tells an article from other pages.

They are one ordered table, ``PAGE_FEATURES``, in three groups: what was kept of the page's TEXT,
what its HEADLINE is, and what the page DECLARES. Pages of today declare what they are, in data for
search engines. Those of sites that declare nothing, old ones above all, must not be lost
for that: they are decided by their text alone, with weights of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from scrapy_mss.blocks.classifier import BlockInputs
from scrapy_mss.blocks.container_features import ancestor_mass
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.selection import threshold
from scrapy_mss.markup.attributes import TYPE_CUES, declared_types
from scrapy_mss.markup.occurrences import occurrences
from scrapy_mss.markup.tokens import Bools, Floats

BODY_LEVEL = 1  # the ancestor that contains an article's paragraphs if one element does

SHOP_TYPES = frozenset({"Product", "Offer", "product", "SoftwareApplication", "LocalBusiness"})
FORUM_TYPES = frozenset({"DiscussionForumPosting", "QAPage", "Question", "Comment", "Answer"})
LIST_TYPES = frozenset({"CollectionPage", "ItemList", "SearchResultsPage", "website"})
ARTICLE_TYPES = ("article", "blogposting")  # endings: NewsArticle, ReportageNewsArticle …
DATE_CUES = ("published_time", "datePublished", "pubdate", "<time")
AUTHOR_CUES = ('"author"', "'author'", "byline", "article:author")
PRICE_CUES = ('"price"', "add-to-cart", "add_to_cart", "addtocart")
FORUM_CUES = ("forum", "thread", "reply")
ALL_CUES = (*TYPE_CUES, *DATE_CUES, *AUTHOR_CUES, *PRICE_CUES, *FORUM_CUES)

UNDECLARED = "nothing_declared"
_PREFIX = f"{UNDECLARED}:"


class Group(Enum):
    """What a feature is read from; by those that are DECLARED a page declares something or not."""

    TEXT = "text"
    HEADLINE = "headline"
    DECLARED = "declared"
    CUES = "cues"


@dataclass(frozen=True, slots=True)
class PageFeature:
    """A row of the table: a name, its group, and what it is of a page."""

    name: str
    group: Group
    of: Callable[[ReadPage], float]


@dataclass(frozen=True, eq=False)
class ReadPage:
    """A page, what is known of its blocks, and which of them were kept."""

    page: Page
    inputs: BlockInputs
    probability: Floats
    kept: Bools

    @cached_property
    def words(self) -> Floats:
        """float64[n]: the words of each kept block, 0 for the others."""
        return (self.page.blocks.words * self.kept).astype(np.float64)

    @cached_property
    def n_words(self) -> float:
        return max(float(self.words.sum()), 1.0)

    @cached_property
    def n_page_words(self) -> float:
        return max(float(self.page.blocks.words.sum()), 1.0)

    @cached_property
    def n_sentences(self) -> float:
        ends = self.inputs.columns["sentence_ends"]  # a logarithm
        return float(np.expm1(ends)[self.kept].sum())

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where in the source each of ``ALL_CUES`` occurs."""
        found = occurrences(self.page.tokens.source, ALL_CUES)
        return dict(zip(ALL_CUES, found, strict=True))

    @cached_property
    def types(self) -> set[str]:
        return declared_types(self.page.tokens.source, self.places)

    @property
    def mass_in_body(self) -> Floats:
        """float64[n]: the share of the evidence inside each block's likely body element."""
        return self.inputs.columns[ancestor_mass(BODY_LEVEL)]

    def mean(self, values: Floats) -> float:
        """The mean of *values* (one a block) over the words that were kept."""
        return float((values * self.words).sum() / self.n_words)

    def mean_of(self, name: str) -> float:
        return self.mean(self.inputs.columns[name])

    def greatest(self, name: str) -> float:
        return float(self.inputs.columns[name].max(initial=0.0))

    def declares(self, types: frozenset[str]) -> float:
        return float(not self.types.isdisjoint(types))

    def cues(self, cues: tuple[str, ...]) -> float:
        """The logarithm of how often *cues* occur in the source."""
        return float(np.log1p(sum(len(self.places[cue]) for cue in cues)))


def _link_share(read: ReadPage) -> float:
    blocks = read.page.blocks
    return read.mean(blocks.linked_words / np.maximum(blocks.words, 1))


def _is_article_type(read: ReadPage) -> float:
    return float(any(kind.lower().endswith(ARTICLE_TYPES) for kind in read.types))


PAGE_FEATURES: tuple[PageFeature, ...] = (
    PageFeature("words", Group.TEXT, lambda r: float(np.log1p(r.n_words))),
    PageFeature("blocks", Group.TEXT, lambda r: float(np.log1p(int(r.kept.sum())))),
    PageFeature("mean_probability", Group.TEXT, lambda r: r.mean(r.probability)),
    PageFeature("max_probability", Group.TEXT, lambda r: float(r.probability.max(initial=0.0))),
    PageFeature("expected_f1", Group.TEXT, lambda r: 2.0 * threshold(r.page, r.probability)),
    PageFeature("kept_share", Group.TEXT, lambda r: r.n_words / r.n_page_words),
    PageFeature("page_words", Group.TEXT, lambda r: float(np.log1p(r.n_page_words))),
    PageFeature("link_share", Group.TEXT, _link_share),
    PageFeature(
        "words_per_block",
        Group.TEXT,
        lambda r: float(np.log1p(r.n_words / max(int(r.kept.sum()), 1))),
    ),
    PageFeature("sentences", Group.TEXT, lambda r: float(np.log1p(r.n_sentences))),
    PageFeature("sentence_share", Group.TEXT, lambda r: r.n_sentences / r.n_words),
    PageFeature("in_list_items", Group.TEXT, lambda r: r.mean_of("is_li")),
    PageFeature("ends_sentence", Group.TEXT, lambda r: r.mean_of("ends_sentence")),
    PageFeature("is_code", Group.TEXT, lambda r: r.mean_of("is_pre")),
    PageFeature("score", Group.TEXT, lambda r: r.mean(r.inputs.score)),
    PageFeature("mass_in_body", Group.TEXT, lambda r: r.mean(r.mass_in_body)),
    PageFeature("in_article", Group.HEADLINE, lambda r: r.mean_of("in_article")),
    PageFeature("headline", Group.HEADLINE, lambda r: r.greatest("headline_title_overlap")),
    PageFeature("main_headings", Group.HEADLINE, lambda r: r.greatest("main_headings")),
    PageFeature("article_type", Group.DECLARED, _is_article_type),
    PageFeature("shop_type", Group.DECLARED, lambda r: r.declares(SHOP_TYPES)),
    PageFeature("forum_type", Group.DECLARED, lambda r: r.declares(FORUM_TYPES)),
    PageFeature("list_type", Group.DECLARED, lambda r: r.declares(LIST_TYPES)),
    PageFeature("date_cues", Group.DECLARED, lambda r: r.cues(DATE_CUES)),
    PageFeature("author_cues", Group.CUES, lambda r: r.cues(AUTHOR_CUES)),
    PageFeature("price_cues", Group.CUES, lambda r: r.cues(PRICE_CUES)),
    PageFeature("forum_cues", Group.CUES, lambda r: r.cues(FORUM_CUES)),
)
_IS_TEXT = np.array([feature.group is Group.TEXT for feature in PAGE_FEATURES])
_IS_DECLARED = np.array([feature.group is Group.DECLARED for feature in PAGE_FEATURES])


def page_feature_names() -> tuple[str, ...]:
    """The names of the page classifier's inputs, in their order."""
    names = [feature.name for feature in PAGE_FEATURES]
    text = [feature.name for feature in PAGE_FEATURES if feature.group is Group.TEXT]
    return (*names, *(f"{_PREFIX}{name}" for name in text), UNDECLARED)


def page_features(read: ReadPage) -> Floats:
    """The page classifier's inputs: float64[n_page_features], as `page_feature_names` has them."""
    features = np.array([feature.of(read) for feature in PAGE_FEATURES])
    if not features[_IS_DECLARED].any():
        return as_undeclared(features)
    return np.concatenate((features, np.zeros(int(_IS_TEXT.sum()) + 1)))


def as_undeclared(features: Floats) -> Floats:
    """The inputs of the same page if it declared nothing."""
    if len(features) > len(PAGE_FEATURES) and features[-1]:
        return features
    of_text = features[: len(PAGE_FEATURES)][_IS_TEXT]
    return np.concatenate((np.zeros(len(PAGE_FEATURES)), of_text, [1.0]))
