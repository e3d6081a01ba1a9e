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
from scrapy_mss.blocks.stop_words import is_stop_word
from scrapy_mss.markup.elements import Counts, Indices, prefix_sums
from scrapy_mss.markup.tags import tag_numbers
from scrapy_mss.markup.tokens import Bools, Floats

PARAGRAPH_LETTERS = 25  # that a paragraph has at least, as in Readability
LONG_LINE = 60  # letters, from which a line is text even if no sentence ends it; names are shorter
MAX_LINKED = 1 / 3  # of a paragraph's words; what has more leads elsewhere
MOST = 0.5  # of the page's prose: an element that has it is beside nothing, whatever its name
FEW = 0.2  # of the page's prose: if no more is left, class words lead astray on this page

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

    @cached_property
    def containers(self) -> Containers:
        return Containers.of(self.page)

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
    def tags(self) -> Counts:
        """int64[n]: the tags in each block and between it and the block before."""
        blocks = self.page.blocks
        before = prefix_sums(self.page.tokens.is_tag)[blocks.last + 1]
        return np.diff(before, prepend=0)

    @cached_property
    def stop_words(self) -> Floats:
        """float64[n]: how many of the commonest words each block has."""
        tokens = self.page.tokens
        stops = tokens.is_word & is_stop_word(tokens.token_id)
        return self.page.blocks.count(stops).astype(np.float64)

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
    def roles(self) -> Counts:
        """int64[n_roles, m]: how many class words of each element have each role."""
        return role_counts(self.page.attributes)

    @cached_property
    def beside(self) -> Bools:
        """bool[m]: the elements that are not the text, by tag, class words, or not being shown."""
        containers, total = self.containers, self.prose.sum()
        by_tag = _IS_BESIDE[containers.tag]
        by_name = (self.roles[Role.BESIDE] > 0) & ~_IS_NAMELESS[containers.tag]
        is_small = containers.total(self.prose) < MOST * total
        beside: Bools = self.never | (by_tag | by_name | self.page.attributes.hidden) & is_small
        if self.prose[~containers.inside(beside)].sum() >= FEW * total:
            return beside
        nameless: Bools = self.never | by_tag & is_small
        return nameless

    @cached_property
    def inside_beside(self) -> Bools:
        """bool[n]: the blocks inside elements that are beside the text."""
        return self.containers.inside(self.beside)

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
    def own_container(self) -> Indices:
        """intp[n]: at which level around each block the element is that holds paragraphs."""
        levels: Indices = _IS_PARAGRAPH[self.page.ancestor_tags[0]].astype(np.intp)
        return levels

    def container(self, level: int) -> Indices:
        """intp[n]: the element *level* levels beyond the one that holds each block's paragraph."""
        around = self.containers.around
        levels = np.minimum(self.own_container + level, len(around) - 1)
        rows: Indices = around[levels, np.arange(len(self))]
        return rows
