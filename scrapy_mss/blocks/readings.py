"""What opinions about a page are formed from: blocks as paragraphs, elements by names and content.

Nothing here comes from counts that were learned. What looks like a paragraph and which elements are
beside the text, by their tag or class words, is found by rules that hold for any page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scrapy_mss.blocks.class_roles import Role, role_counts
from scrapy_mss.blocks.containers import Containers
from scrapy_mss.blocks.features import Columns
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.stop_words import count_stop_words
from scrapy_mss.markup.elements import Counts, Indices
from scrapy_mss.markup.tags import tag_numbers
from scrapy_mss.markup.tokens import Bools, Floats

PARAGRAPH_LETTERS = 25  # that a paragraph has at least, as in Readability
LONG_LINE = 60  # letters, from which a line is text even if no sentence ends it; names are shorter
MAX_LINKED = 1 / 3  # of a paragraph's words; what has more leads elsewhere
MOST = 0.5  # of the page's prose: an element that has it is beside nothing, whatever its name
MIN_LINKED = 0.5  # of a block's words: a block with more is no text
FEW = 0.2  # of the page's prose: if no more is left, class words lead astray on this page
# A tag costs as much as so many words. For an element, whose end is certain, a small price is best:
# of all lines, .2 gave F1 .940 on articles_wcxb, .3 .938, .5 .933, 1 .916.
WORDS_PER_TAG_IN_ELEMENT = 0.3

PARAGRAPH_TAGS = frozenset(
    "p pre blockquote li dd dt h1 h2 h3 h4 h5 h6 figcaption caption td th".split()
)
NEVER_TAGS = frozenset("head title template select textarea button".split())
BESIDE_TAGS = frozenset(
    "nav aside footer form header noscript figure figcaption dialog menu".split()
)
NAMELESS_TAGS = frozenset({"html", "body"})  # their class words describe the whole page


def _tag_table(names: frozenset[str]) -> Bools:
    """bool[256]: by a tag's number whether it is one of *names*."""
    table = np.zeros(256, np.bool_)
    table[list(tag_numbers(names))] = True
    return table


_IS_PARAGRAPH = _tag_table(PARAGRAPH_TAGS)
_IS_ITEM = _tag_table(PARAGRAPH_TAGS - {"p"})
_IS_NEVER = _tag_table(NEVER_TAGS)
_IS_BESIDE = _tag_table(BESIDE_TAGS)
_IS_NAMELESS = _tag_table(NAMELESS_TAGS)


@dataclass(frozen=True, eq=False)
class Reading:
    """A page without its counts; each part is computed once, when an opinion first asks."""

    page: Page
    columns: Columns  # of `features.block_features`

    def __len__(self) -> int:
        return len(self.page.blocks)

    @property
    def containers(self) -> Containers:
        return self.page.containers

    @cached_property
    def words(self) -> Floats:
        """float64[n]: the words of each block."""
        return self.page.blocks.words.astype(np.float64)

    @cached_property
    def letters(self) -> Floats:
        """float64[n]: the characters of each block's words."""
        return np.expm1(self.columns["letters"])

    @cached_property
    def commas(self) -> Floats:
        """float64[n]: the commas of each block."""
        return np.expm1(self.columns["commas"])

    @property
    def link_share(self) -> Floats:
        """float64[n]: the share of each block's words that are linked."""
        return self.columns["link_share"]

    @cached_property
    def unlinked(self) -> Floats:
        """float64[n]: 1 for a block without links, -1 for one that is all links."""
        return 1 - 2 * self.link_share

    @cached_property
    def is_unlinked(self) -> Bools:
        """bool[n]: the blocks that may be text by their links."""
        return self.link_share < MIN_LINKED

    @cached_property
    def tags(self) -> Counts:
        """int64[n]: the tags in each block and between it and the block before."""
        last = self.page.blocks.last
        if not len(last):
            return np.zeros(0, np.int64)
        after_block_before = np.append(0, last[:-1] + 1)
        is_tag = self.page.tokens.is_tag[: last[-1] + 1]
        tags: Counts = np.add.reduceat(is_tag, after_block_before, dtype=np.int64)
        return tags

    @cached_property
    def stop_words(self) -> Floats:
        """float64[n]: how many of the commonest words each block has."""
        return count_stop_words(self.page.texts).astype(np.float64)

    @cached_property
    def never(self) -> Bools:
        """bool[m]: the elements that no reader sees as text."""
        return _IS_NEVER[self.containers.tag]

    @cached_property
    def prose(self) -> Floats:
        """float64[n]: the letters of each block that looks like a paragraph, 0 for the others."""
        is_prose = (self.letters >= PARAGRAPH_LETTERS) & (self.link_share < MAX_LINKED)
        return self.letters * (is_prose & ~self.containers.inside(self.never))

    @cached_property
    def prose_of_text(self) -> Floats:
        """float64[n]: the prose of each block that is not beside the text."""
        return self.prose * ~self.inside_beside

    @cached_property
    def roles(self) -> Counts:
        """int64[n_roles, m]: how many class words of each element have each role."""
        return role_counts(self.page.attributes)

    @cached_property
    def beside(self) -> Bools:
        """bool[m]: the elements that are not the text, by tag, class words, or not being shown."""
        return self._beside[0]

    @cached_property
    def inside_beside(self) -> Bools:
        """bool[n]: the blocks inside elements that are beside the text."""
        return self._beside[1]

    @cached_property
    def _beside(self) -> tuple[Bools, Bools]:
        """The elements beside the text, and the blocks inside them."""
        containers, total = self.containers, self.prose.sum()
        by_tag = _IS_BESIDE[containers.tag]
        by_name = (self.roles[Role.BESIDE] > 0) & ~_IS_NAMELESS[containers.tag]
        is_small = containers.total(self.prose) < MOST * total
        beside: Bools = self.never | (by_tag | by_name | self.page.attributes.hidden) & is_small
        inside = containers.inside(beside)
        if self.prose[~inside].sum() >= FEW * total:
            return beside, inside
        nameless: Bools = self.never | by_tag & is_small
        return nameless, containers.inside(nameless)

    @cached_property
    def is_line(self) -> Bools:
        """bool[n]: headings, items, cells, sentences, and what is long without being one.

        A short line in a paragraph or a bare box that is no sentence is a date, a name, a label.
        """
        is_sentence = (self.letters >= PARAGRAPH_LETTERS) & (self.columns["ends_sentence"] > 0)
        in_list = _IS_ITEM[self.page.ancestor_tags[0]]
        lines: Bools = in_list | is_sentence | (self.letters >= LONG_LINE)
        return lines

    @cached_property
    def is_text(self) -> Bools:
        """bool[n]: the lines of a text, without what is beside it and without linked ones."""
        return self.is_line & ~self.inside_beside & self.is_unlinked

    @cached_property
    def density(self) -> Floats:
        """float64[m]: the words of each element, less its linked ones and the price of its tags."""
        return self.total_of_text(self.values(WORDS_PER_TAG_IN_ELEMENT))

    def values(self, words_per_tag: float) -> Floats:
        """float64[n]: the words of each block, linked ones against it, less its tags' price."""
        return self.words * self.unlinked - words_per_tag * self.tags

    def total_of_text(self, values: Floats) -> Floats:
        """float64[m]: the sum of *values*, where what is beside the text cannot speak for it."""
        text = np.where(self.inside_beside, np.minimum(values, 0.0), values)
        return self.containers.total(text)

    @cached_property
    def own_container(self) -> Indices:
        """intp[n]: the element that holds each block's paragraph."""
        innermost, beyond = self.containers.around[:2]
        is_paragraph = _IS_PARAGRAPH[self.page.ancestor_tags[0]]
        containers: Indices = np.where(is_paragraph, beyond, innermost)
        return containers
