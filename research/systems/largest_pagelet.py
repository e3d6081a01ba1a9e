"""Largest pagelet (Bar-Yossef and Rajagopalan, 2002): what is left without a site's templates.

A pagelet is a region of a page with a topic of its own: an element that is in no other pagelet
and has no child with three links or more. A pagelet that other pages of the site have too is a
template; the main text is the largest of the others. A page alone has no templates.

What the source leaves open or had pages of 2002 in view for:
- Regions are boxes, as tables, lists and `div` are; a paragraph with three links is none.
- An element with such a child is no pagelet, yet holds text: what stands in it and in none of
  its children is a pagelet too, and so is what stands in no box. Every token is in just one.
- The same pagelet is one with the same words, counted; numbers are all alike (so are dates),
  and a page that is there twice counts once.
- Size is words that are no links. Where all are templates, the largest of them is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from research.systems.tokenwise import TokenSystem
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import nearest_ancestors, tokenize
from scrapy_mss.markup.tokens import (
    Bools,
    Indices,
    TokenIds,
    Tokens,
    element_starts,
    linked_words,
    sum_inside,
)

LINKS: Final = 3
BOXES: Final = frozenset(
    """
    article aside blockquote body center dd details dir div dl dt fieldset footer form header html
    li main menu nav ol section table tbody td th tr ul
    """.split()
)


class LargestPagelet(TokenSystem):
    """The largest pagelet that is no template of the site."""

    def __init__(self, *, links: int = LINKS) -> None:
        self.links = links

    def kept(self, tokens: Tokens) -> Bools:
        return self._kept(tokens, np.empty(0, np.uint64))

    def extract_site(self, pages: Sequence[str]) -> list[str]:
        site = [tokenize(page) for page in pages]
        shared = templates(bags(tokens, pagelets(tokens, self.links)) for tokens in site)
        return [render(tokens, self._kept(tokens, shared)) for tokens in site]

    def _kept(self, tokens: Tokens, shared: TokenIds) -> Bools:
        pagelet = pagelets(tokens, self.links)
        if not len(tokens):
            return np.zeros(0, np.bool_)
        sizes = np.bincount(pagelet, tokens.is_word & ~linked_words(tokens))
        own = sizes * ~np.isin(bags(tokens, pagelet), shared)
        return np.equal(pagelet, np.argmax(own if own.any() else sizes))


def pagelets(tokens: Tokens, links: int = LINKS) -> Indices:
    """The number of the pagelet that each token is in; 0 is what stands in no box."""
    chosen = element_starts(tokens, BOXES)
    boxes = np.flatnonzero(chosen)
    parents = nearest_ancestors(tokens, chosen)[boxes]
    # The last place is the page's: a box that is in no other has the parent -1.
    divided = np.zeros(len(tokens) + 1, np.bool_)
    divided[parents[sum_inside(tokens, boxes, tokens.is_open("a")) >= links]] = True
    chosen[boxes] = divided[parents]
    numbered = np.append(np.cumsum(chosen, dtype=np.intp) * chosen, 0)
    return numbered[nearest_ancestors(tokens, chosen)]


def bags(tokens: Tokens, pagelet: Indices) -> TokenIds:
    """uint64[n_pagelets]: the sum of the words' symbols, which are hashes of them."""
    sums = np.zeros(int(pagelet.max(initial=-1)) + 1, np.uint64)
    np.add.at(sums, pagelet[tokens.is_word], tokens.token_id[tokens.is_word])
    return sums


def templates(pages: Iterable[TokenIds]) -> TokenIds:
    """The pagelets that two different pages have, given the bags of each page."""
    different = {tuple(bags.tolist()) for bags in pages}
    counts = Counter(bag for page in different for bag in set(page))
    return np.array([bag for bag, count in counts.items() if count > 1], np.uint64)
