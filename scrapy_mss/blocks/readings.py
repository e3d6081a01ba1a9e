"""What opinions about a page are formed from: blocks as paragraphs, elements by names and content.

Nothing here comes from counts that were learned. What looks like a paragraph and which elements are
beside the text, by their tag or class words, is found by rules that hold for any page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.class_roles import Role, role_counts
from scrapy_mss.blocks.columns import Columns
from scrapy_mss.blocks.containers import Containers
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.stop_words import count_stop_words
from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.elements import Counts, Indices
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tags import tag_numbers
from scrapy_mss.markup.tokens import Bools, Bytes, Floats

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
_ROLES_BYTES = _ROLES.tobytes()


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
    def never(self) -> Bools:
        """bool[m]: the elements that no reader sees as text."""
        return self._have(_NEVER)

    def _have(self, role: int) -> Bools:
        """bool[m]: the elements whose tag has a *role*."""
        have: Bools = _ROLES[self.containers.tag] & role != 0
        return have

    @lazy
    def _own_roles(self) -> Bytes:
        """uint8[n]: the roles of the tag of the innermost element around each block."""
        roles: Bytes = _ROLES[self.page.ancestor_tags[0]]
        return roles

    @lazy
    def _elements(self) -> tuple[bytes, Indices, Indices]:
        """The page's elements as the compiled part has them: tags, first blocks, ends."""
        containers = self.containers
        return containers.tag.tobytes(), containers.begin, containers.end

    @lazy
    def prose(self) -> Floats:
        """float64[n]: the letters of each block that looks like a paragraph, 0 for the others."""
        compiled = compiled_part()
        if compiled is not None:
            limits = PARAGRAPH_LETTERS, MAX_LINKED
            return np.frombuffer(
                compiled.opinions.prose(
                    self.letters, self.link_share, self._elements, _ROLES_BYTES, limits
                )
            )
        is_prose = self.is_long & (self.link_share < MAX_LINKED)
        return self.letters * (is_prose & ~self.containers.inside(self.never))

    @lazy
    def prose_of_text(self) -> Floats:
        """float64[n]: the prose of each block that is not beside the text."""
        return self.prose * ~self.inside_beside

    @lazy
    def roles(self) -> Counts:
        """int64[n_roles, m]: how many class words of each element have each role."""
        return role_counts(self.page.attributes)

    @lazy
    def beside(self) -> Bools:
        """bool[m]: the elements that are not the text, by tag, class words, or not being shown."""
        return self._beside[0]

    @lazy
    def inside_beside(self) -> Bools:
        """bool[n]: the blocks inside elements that are beside the text."""
        return self._beside[1]

    @lazy
    def _beside(self) -> tuple[Bools, Bools]:
        """The elements beside the text, and the blocks inside them.

        By tags alone where class words would leave next to nothing of the page's prose.
        """
        total = float(np.add.reduce(self.prose))
        beside, inside = self._beside_by(MOST * total, names=True)
        if np.add.reduce(self.prose[~inside]) >= FEW * total:
            return beside, inside
        return self._beside_by(MOST * total, names=False)

    def _beside_by(self, least: float, *, names: bool) -> tuple[Bools, Bools]:
        """The same by tags alone, or by *names*, too; no element is with *least* of the prose."""
        containers, hidden = self.containers, self.page.attributes.hidden
        by_words, compiled = self.roles[Role.BESIDE], compiled_part()
        if compiled is not None:
            say = (by_words, hidden.tobytes()) if names else None
            found = compiled.opinions.beside(self.prose, self._elements, _ROLES_BYTES, say, least)
            beside, inside = (np.frombuffer(each, np.bool_) for each in found)
            return beside, inside
        chosen = self._have(_BESIDE)
        if names:
            chosen |= ((by_words > 0) & ~self._have(_NAMELESS)) | hidden
        chosen &= containers.total(self.prose) < least
        chosen |= self.never
        return chosen, containers.inside(chosen)

    @lazy
    def is_line(self) -> Bools:
        """bool[n]: headings, items, cells, sentences, and what is long without being one.

        A short line in a paragraph or a bare box that is no sentence is a date, a name, a label.
        """
        is_sentence = self.is_long & (self.columns["ends_sentence"] > 0)
        in_list = self._own_roles & _ITEM != 0
        lines: Bools = in_list | is_sentence | (self.letters >= LONG_LINE)
        return lines

    @lazy
    def is_text(self) -> Bools:
        """bool[n]: the lines of a text, without what is beside it and without linked ones."""
        compiled = compiled_part()
        if compiled is not None:
            columns = self.letters, self.link_share, self.columns["ends_sentence"]
            tags, limits = self.page.ancestor_tags[0], (PARAGRAPH_LETTERS, LONG_LINE, MIN_LINKED)
            lines = compiled.opinions.lines(
                (*columns, self.inside_beside.tobytes()), tags.tobytes(), _ROLES_BYTES, limits
            )
            return np.frombuffer(lines, np.bool_)
        return self.is_line & ~self.inside_beside & self.is_unlinked

    def values(self, words_per_tag: float) -> Floats:
        """float64[n]: the words of each block, linked ones against it, less its tags' price."""
        return self.words * self.unlinked - words_per_tag * self.page.blocks.tags

    def stop_word_values(self) -> Floats:
        """float64[n]: the stop words of each block, as words, less the price of its words."""
        prose = self.prose > 0
        share = np.add.reduce(self.stop_words[prose]) / max(np.add.reduce(self.words[prose]), 1.0)
        as_words = self.stop_words / max(share, LEAST_STOP_SHARE)
        values: Floats = as_words * self.unlinked - STOP_WORD_PRICE * self.words
        return values

    @lazy
    def _inside(self) -> Floats:
        """float64[5, m]: all that is summed inside each element, at once.

        What is beside the text cannot speak for an element around it.
        """
        compiled = compiled_part()
        if compiled is not None:
            columns = self.letters, self.link_share, self.prose, self.words
            counts = self.page.blocks.tags, self.stop_words
            limits = WORDS_PER_TAG_IN_ELEMENT, LEAST_STOP_SHARE, STOP_WORD_PRICE
            sums = compiled.opinions.sums_inside(
                (*columns, self.inside_beside.tobytes()), counts, self._elements, limits
            )
            return np.frombuffer(sums).reshape(5, -1)
        of_blocks = np.empty((5, len(self)))
        of_blocks[0], of_blocks[1] = self.letters, self.letters * self.link_share
        of_blocks[2] = self.prose_of_text
        of_blocks[3] = self.values(WORDS_PER_TAG_IN_ELEMENT)
        of_blocks[4] = self.stop_word_values()
        values = of_blocks[3:]
        np.minimum(values, 0.0, out=values, where=self.inside_beside)
        return self.containers.totals(of_blocks)

    @property
    def letters_inside(self) -> Floats:
        """float64[2, m]: the letters in each element, and those that are linked."""
        return self._inside[:2]

    @property
    def prose_inside(self) -> Floats:
        """float64[m]: the prose of the text in each element."""
        prose: Floats = self._inside[2]
        return prose

    @property
    def density_inside(self) -> Floats:
        """float64[m]: the words of each element, less its linked ones and the price of its tags."""
        density: Floats = self._inside[3]
        return density

    @property
    def stop_words_inside(self) -> Floats:
        """float64[m]: the stop words of each element, as words, less the price of its words."""
        stop_words: Floats = self._inside[4]
        return stop_words

    @lazy
    def own_container(self) -> Indices:
        """intp[n]: the element that holds each block's paragraph."""
        compiled, around = compiled_part(), self.containers.around
        if compiled is not None:
            tags = self.page.ancestor_tags[0].tobytes()
            found = compiled.opinions.own_elements(around, tags, _ROLES_BYTES)
            return np.frombuffer(found, np.intp)
        innermost, beyond = around[:2]
        is_paragraph = self._own_roles & _PARAGRAPH != 0
        containers: Indices = np.where(is_paragraph, beyond, innermost)
        return containers
