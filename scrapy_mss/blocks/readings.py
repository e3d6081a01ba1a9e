"""What opinions about a page are formed from: blocks as paragraphs, elements by names and content.

Nothing here comes from counts that were learned. What looks like a paragraph and which elements are
beside the text, by their tag or class words, is found by rules that hold for any page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scrapy_mss.blocks.class_roles import Role, role_counts
from scrapy_mss.blocks.columns import Columns
from scrapy_mss.blocks.containers import Containers
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.stop_words import count_stop_words
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tags import tag_numbers
from scrapy_mss.markup.tokens import Bools, Bytes, Counts, Floats, Indices

PARAGRAPH_LETTERS = 25  # that a paragraph has at least, as in Readability
LONG_LINE = 60  # letters, from which a line is text even if no sentence ends it; names are shorter
MAX_LINKED = 1 / 3  # of a paragraph's words; what has more leads elsewhere
MOST = 0.5  # of the page's prose: an element that has it is beside nothing, whatever its name
MIN_LINKED = 0.5  # of a block's words: a block with more is no text
FEW = 0.2  # of the page's prose: if no more is left, class words lead astray on this page
STOP_WORD_PRICE = 0.3  # of a word, in words that have as many stop words as the page's prose
LEAST_STOP_SHARE = 0.05  # of the words of prose; with fewer, the language has no stop words here
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


# What a tag says of its element, as bits; the compiled part has the same.
_NEVER, _BESIDE, _NAMELESS, _ITEM, _PARAGRAPH = (1 << bit for bit in range(5))
_TAGS = {
    _NEVER: NEVER_TAGS,
    _BESIDE: BESIDE_TAGS,
    _NAMELESS: NAMELESS_TAGS,
    _ITEM: PARAGRAPH_TAGS - {"p"},
    _PARAGRAPH: PARAGRAPH_TAGS,
}


def _tag_roles() -> Bytes:
    """uint8[256]: the roles of a tag by its number."""
    roles = np.zeros(256, np.uint8)
    for role, names in _TAGS.items():
        roles[list(tag_numbers(names))] |= role
    return roles


_ROLES = _tag_roles()


class Found(NamedTuple):
    """What is found of a page's blocks and elements by their tags, names and content."""

    prose: Floats  # float64[n]: the letters of each block that looks like a paragraph, else 0
    beside: Bools  # bool[m]: what is not the text, by tag, class words, or not being shown
    inside_beside: Bools  # bool[n]: the blocks inside of that
    own_container: Indices  # intp[n]: the element that holds each block's paragraph
    is_text: Bools  # bool[n]: the lines of a text, but those beside it and linked ones
    sums: Floats  # float64[5, m]: all that is summed inside each element


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

    @property
    def words(self) -> Floats:
        """float64[n]: the words of each block."""
        return self.page.words

    @lazy
    def counts(self) -> Floats:
        """float64[2, n]: the letters and the commas of each block."""
        return np.expm1(self.columns.some(("letters", "commas")))

    @lazy
    def letters(self) -> Floats:
        """float64[n]: the characters of each block's words."""
        letters: Floats = self.counts[0]
        return letters

    @property
    def commas(self) -> Floats:
        """float64[n]: the commas of each block."""
        commas: Floats = self.counts[1]
        return commas

    @lazy
    def is_long(self) -> Bools:
        """bool[n]: the blocks that are as long as a paragraph."""
        return np.greater_equal(self.letters, PARAGRAPH_LETTERS)

    @lazy
    def link_share(self) -> Floats:
        """float64[n]: the share of each block's words that are linked."""
        return self.columns["link_share"]

    @lazy
    def unlinked(self) -> Floats:
        """float64[n]: 1 for a block without links, -1 for one that is all links."""
        return 1 - 2 * self.link_share

    @lazy
    def is_unlinked(self) -> Bools:
        """bool[n]: the blocks that may be text by their links."""
        return self.link_share < MIN_LINKED

    @lazy
    def stop_words(self) -> Counts:
        """int64[n]: how many of the commonest words each block has."""
        return count_stop_words(self.page.texts)

    @lazy
    def _found(self) -> Found:
        return Found(*_read(self))

    @property
    def prose(self) -> Floats:
        """float64[n]: the letters of each block that looks like a paragraph, 0 for the others."""
        return self._found.prose

    @property
    def prose_of_text(self) -> Floats:
        """float64[n]: the prose of each block that is not beside the text."""
        return self.prose * ~self.inside_beside

    @lazy
    def roles(self) -> Counts:
        """int64[n_roles, m]: how many class words of each element have each role."""
        return role_counts(self.page.attributes)

    @property
    def names_beside(self) -> Counts:
        """int64[m]: how many class words of each element say that it is beside the text."""
        names: Counts = self.roles[Role.BESIDE]
        return names

    @property
    def beside(self) -> Bools:
        """bool[m]: the elements that are not the text, by tag, class words, or not being shown."""
        return self._found.beside

    @property
    def inside_beside(self) -> Bools:
        """bool[n]: the blocks inside elements that are beside the text."""
        return self._found.inside_beside

    @property
    def is_text(self) -> Bools:
        """bool[n]: the lines of a text, without what is beside it and without linked ones."""
        return self._found.is_text

    @property
    def own_container(self) -> Indices:
        """intp[n]: the element that holds each block's paragraph."""
        return self._found.own_container

    def values(self, words_per_tag: float) -> Floats:
        """float64[n]: the words of each block, linked ones against it, less its tags' price."""
        return self.words * self.unlinked - words_per_tag * self.page.blocks.tags

    @property
    def letters_inside(self) -> Floats:
        """float64[2, m]: the letters in each element, and those that are linked."""
        return self._found.sums[:2]

    @property
    def prose_inside(self) -> Floats:
        """float64[m]: the prose of the text in each element."""
        prose: Floats = self._found.sums[2]
        return prose

    @property
    def density_inside(self) -> Floats:
        """float64[m]: the words of each element, less its linked ones and the price of its tags."""
        density: Floats = self._found.sums[3]
        return density

    @property
    def stop_words_inside(self) -> Floats:
        """float64[m]: the stop words of each element, as words, less the price of its words."""
        stop_words: Floats = self._found.sums[4]
        return stop_words


_LIMITS = (
    *(PARAGRAPH_LETTERS, LONG_LINE, MAX_LINKED, MIN_LINKED, MOST, FEW),
    *(WORDS_PER_TAG_IN_ELEMENT, LEAST_STOP_SHARE, STOP_WORD_PRICE),
)


@accelerated(lambda: (_ROLES, _LIMITS), "Reader")
def _read(reading: Reading) -> tuple[Floats, Bools, Bools, Indices, Bools, Floats]:
    """The columns of `Found`."""
    page, containers = reading.page, reading.containers
    roles, own_roles = _ROLES[containers.tag], _ROLES[page.ancestor_tags[0]]
    is_prose = reading.is_long & (reading.link_share < MAX_LINKED)
    prose = reading.letters * (is_prose & ~containers.inside(roles & _NEVER > 0))
    beside, inside_beside = _beside(reading, roles, prose)
    is_sentence = reading.is_long & (reading.columns["ends_sentence"] > 0)
    # A short line in a paragraph or a bare box that is no sentence is a date, a name, a label.
    is_line = (own_roles & _ITEM > 0) | is_sentence | (reading.letters >= LONG_LINE)
    innermost, beyond = containers.around[:2]
    return (
        prose,
        beside,
        inside_beside,
        np.where(own_roles & _PARAGRAPH > 0, beyond, innermost),
        is_line & ~inside_beside & reading.is_unlinked,
        _sums_inside(reading, prose, inside_beside),
    )


def _beside(reading: Reading, roles: Bytes, prose: Floats) -> tuple[Bools, Bools]:
    """The elements beside the text, and the blocks inside them.

    By tags alone where class words would leave next to nothing of the page's prose.
    """
    containers, total = reading.containers, float(np.add.reduce(prose))
    has_little = containers.total(prose) < MOST * total
    by_tag = roles & _BESIDE > 0
    by_name = (reading.names_beside > 0) & (roles & _NAMELESS == 0)
    by_name |= reading.page.attributes.hidden
    beside = (roles & _NEVER > 0) | ((by_tag | by_name) & has_little)
    inside = containers.inside(beside)
    if np.add.reduce(prose[~inside]) < FEW * total:
        beside = (roles & _NEVER > 0) | (by_tag & has_little)
        inside = containers.inside(beside)
    return beside, inside


def _sums_inside(reading: Reading, prose: Floats, beside: Bools) -> Floats:
    """float64[5, m]: all that is summed inside each element, at once.

    What is *beside* the text cannot speak for an element around it.
    """
    is_prose = prose > 0
    stops, words = reading.stop_words, reading.words
    share = np.add.reduce(stops[is_prose]) / max(np.add.reduce(words[is_prose]), 1.0)
    as_words = stops / max(share, LEAST_STOP_SHARE)
    of_blocks = np.empty((5, len(reading)))
    of_blocks[0], of_blocks[1] = reading.letters, reading.letters * reading.link_share
    of_blocks[2] = prose * ~beside
    of_blocks[3] = reading.values(WORDS_PER_TAG_IN_ELEMENT)
    of_blocks[4] = as_words * reading.unlinked - STOP_WORD_PRICE * words
    np.minimum(of_blocks[3:], 0.0, out=of_blocks[3:], where=beside)
    return reading.containers.totals(of_blocks)
