"""Labelled pages as the training takes them, and stripped copies of some of them.

A stripped copy is what a page would be without class words and with few tags (`stripping`): every
third page gives one, so that the classifier sees such pages and not only today's templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from research.datasets.pages import Example
from research.training.stripping import stripped
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.text_labels import label_blocks
from scrapy_mss.markup.tokens import Bools, Floats

COPIED = 3  # one page in so many gives a stripped copy
SYNTHETIC_WEIGHT = 0.5  # of a copy, as a share of a page's; chosen, not measured
OTHER_WEIGHT = 0.5  # of a page that is no article; at 1, `articles_world` left out has .006 less
MOST_WORDS = 200  # of a block, by which it counts: else a page would be its longest block
FEWEST_WORDS = 2  # are added, so that a block without words counts at all


@dataclass(frozen=True, slots=True, eq=False)
class TrainingExample:
    """A page, which of its blocks are of its text, and how much it counts."""

    page: Page
    inside: Bools  # bool[n_blocks]
    site: str
    synthetic: bool = False  # made from a page that is an example as well
    text: str = ""  # as people have it
    is_article: bool = True  # or a page of another type whose text is learned

    @property
    def site_hash(self) -> int:
        """A number that all pages of a site share: what folds are made by."""
        return crc32(self.site.encode())

    @property
    def half(self) -> int:
        """The half of the sites that the page's site is in, independent of any fold."""
        return self.site_hash // 1000 % 2

    @property
    def token_labels(self) -> Bools:
        """bool[n_tokens]: the tokens of the blocks that are inside."""
        return self.page.blocks.spread(self.inside)

    @property
    def _share(self) -> float:
        """What the page counts, as a share of what an article does."""
        if self.synthetic:
            return SYNTHETIC_WEIGHT
        return 1.0 if self.is_article else OTHER_WEIGHT

    @property
    def weights(self) -> Floats:
        """float64[n_blocks]: all articles weigh the same, a page's blocks by their words."""
        sizes = np.minimum(self.page.blocks.words, MOST_WORDS) + FEWEST_WORDS
        weights: Floats = sizes * (self._share / sizes.sum())
        return weights


def training_examples(
    examples: Iterable[Example], *, is_article: bool = True
) -> Iterator[TrainingExample]:
    """The *examples*, each followed by its stripped copy if it is an article that gives one.

    A page without a site is a site of its own; a page without a block is left out.
    """
    for place, example in enumerate(examples):
        site = example.site or str(place)
        page = Page.of(example.html, url=example.url)
        if not len(page.blocks):
            continue
        inside = label_blocks(page, example.text)
        yield TrainingExample(page, inside, site, text=example.text, is_article=is_article)
        number = crc32(example.text.encode("utf-8", "surrogatepass"))
        variant, remainder = divmod(number, COPIED)
        if remainder == 1 and is_article:
            copy = Page.of(stripped(page.tokens, variant))
            yield TrainingExample(copy, label_blocks(copy, example.text), site, synthetic=True)
