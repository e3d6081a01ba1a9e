"""A page as the block classifier sees it: its tokens, and what several steps derive from them.

Tokens, blocks and attributes are plain arrays that know nothing of one another. The page is what
joins them: each of its parts is computed once, when it is first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.headline import HEADING_LEVELS, Headline, title_overlap
from scrapy_mss.blocks.segmentation import Blocks, Containers, segment
from scrapy_mss.blocks.texts import TextCounts, pairs_of, text_counts
from scrapy_mss.core.hashing import MULTIPLIERS, mix
from scrapy_mss.markup.attributes import ElementAttributes, element_attributes, meta_description
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.rendering import tables_with_rows
from scrapy_mss.markup.stemming import Stem, porter
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize, word_ids
from scrapy_mss.markup.tokens import (
    KIND_MASK,
    WORD,
    Bools,
    Bytes,
    Floats,
    Indices,
    TokenIds,
    Tokens,
)
from scrapy_mss.pages.addresses import is_web_url
from scrapy_mss.pages.declarations import Declarations

CONTAINER_LEVELS = 4  # of 1 to 12 ancestors, 2 to 12 are within 1 % of the error of one another
MIN_DESCRIPTION = 4  # words: a site's name is no description of a page


@dataclass(frozen=True, eq=False)
class Page:
    """A tokenized page; what is derived from its tokens is computed when first asked for.

    ``url`` is its address, empty if that is unknown; ``requested`` is the one that was asked for,
    if that is another.
    """

    tokens: Tokens
    url: str = ""
    requested: str = ""

    @classmethod
    def of(cls, html: str, stem: Stem = porter, url: str = "", requested: str = "") -> Page:
        """The page at *url* whose source is *html*."""
        return cls(tokenize(html, stem), url, requested)

    @lazy
    def web_url(self) -> str:
        """``url`` if it is one of the web, else empty: that of a file says nothing of its page."""
        return self.url if is_web_url(self.url) else ""

    @lazy
    def blocks(self) -> Blocks:
        """The page's text blocks."""
        return segment(self.tokens)

    @lazy
    def declarations(self) -> Declarations:
        """What the page declares of itself."""
        return Declarations(self.tokens.source)

    @lazy
    def attributes(self) -> ElementAttributes:
        """Class words and visibility of the page's block elements."""
        return element_attributes(self.tokens, self.containers.start)

    @lazy
    def containers(self) -> Containers:
        """The page's block elements as runs of its blocks."""
        return self.blocks.containers

    @lazy
    def tables(self) -> tuple[Indices, Indices]:
        """The opening and the closing tags of the page's tables of rows and columns."""
        return tables_with_rows(self.tokens)

    @lazy
    def ancestor_keys(self) -> TokenIds:
        """uint64[LEVELS, n]: the tag and class words of each block's ancestors, 0 for none."""
        return self.containers.of_ancestors(self.attributes.key.astype(np.uint64))

    @lazy
    def container_keys(self) -> TokenIds:
        """uint64[n]: the kind of container of each block, by its innermost ancestors."""
        return _container_keys(self)

    @lazy
    def ancestor_tags(self) -> Bytes:
        """uint8[LEVELS, n]: the tag numbers of each block's ancestors, 0 for none."""
        return self.containers.of_ancestors(self.containers.tag)

    @lazy
    def innermost_tags(self) -> Bytes:
        """uint8[n]: the first row of `ancestor_tags`."""
        tags: Bytes = self.containers.of_ancestors(self.containers.tag, 1)[0]
        return tags

    @lazy
    def hidden(self) -> Bools:
        """bool[n]: the blocks inside elements that the page does not show."""
        return self.containers.inside(self.attributes.hidden)

    @lazy
    def words(self) -> Floats:
        """float64[n]: the words of each block."""
        return self.blocks.words.astype(np.float64)

    @lazy
    def total_words(self) -> float:
        """The words of all blocks."""
        return float(np.add.reduce(self.words))

    @lazy
    def words_before(self) -> Floats:
        """float64[n]: the words of all blocks before each block."""
        before: Floats = self.words.cumsum() - self.words
        return before

    @lazy
    def text_counts(self) -> TextCounts:
        """What is counted of the words and symbols of all blocks."""
        return text_counts(self.tokens, self.blocks, self.title_ids, self.description_pairs)

    @property
    def text_hashes(self) -> TokenIds:
        """uint64[n]: a hash of the words and symbols of each block."""
        return self.text_counts.hashes

    @lazy
    def in_title(self) -> Bools:
        """bool[n]: the blocks that are a title, which no page shows."""
        titles: Bools = np.equal(self.innermost_tags, TAG_NUMBERS["title"])
        return titles

    @lazy
    def heading_level(self) -> Indices:
        """int64[n]: 1 to 6 for a heading, 0 for every other block."""
        levels: Indices = HEADING_LEVELS.take(self.innermost_tags)
        return levels

    @lazy
    def heading_above(self) -> Indices:
        """intp[n]: the nearest heading before each block, -1 if there is none."""
        n = len(self.blocks)
        at = np.where(self.heading_level > 0, np.arange(n), -1)
        return np.append(-1, np.maximum.accumulate(at))[:n]

    @lazy
    def headline(self) -> Headline:
        """The block that repeats the page's title."""
        hits, n_title = self.text_counts.of("title_words"), len(self.title_ids)
        overlap = title_overlap(self.words, hits, n_title) * ~self.in_title
        return Headline.of(overlap, self.heading_level, ~self.in_title)

    @lazy
    def title_ids(self) -> set[int]:
        """The ids of the words of the page's first title."""
        tokens, row = self.tokens, self.containers.tag.tobytes().find(TAG_NUMBERS["title"])
        if row < 0:
            return set()
        start = self.containers.start[row]
        ids = tokens.token_id[start : tokens.partner[start]].tolist()
        return {each for each in ids if each & KIND_MASK == WORD}

    @lazy
    def description_pairs(self) -> set[int]:
        """The `pairs_of` neighbouring words of the page's description."""
        words = word_ids(meta_description(self.tokens))
        return pairs_of(words) if len(words) >= MIN_DESCRIPTION else set()

    @property
    def title(self) -> str:
        """The source of the page's first title; empty if there is none."""
        tokens, block = self.tokens, self.innermost_tags.tobytes().find(TAG_NUMBERS["title"])
        if block < 0:
            return ""
        start = int(tokens.clean_start[self.blocks.first[block]])
        return tokens.clean[start : int(tokens.clean_end[self.blocks.last[block]])]


@accelerated(lambda: (np.array(MULTIPLIERS), CONTAINER_LEVELS))
def _container_keys(page: Page) -> TokenIds:
    keys = page.attributes.key.astype(np.uint64)
    return mix([*page.containers.of_ancestors(keys, CONTAINER_LEVELS)])
