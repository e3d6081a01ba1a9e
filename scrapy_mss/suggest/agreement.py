"""How well rules, suggested or edited by hand, agree with the model.

Of a rule it is the agreement of the words of two texts, page by page. While one is searched for,
the words of all pages that vote are concatenated: a selection is a mask over them, and its
agreement is the mean over pages of F1 with what the model keeps. Candidates for exclusion are lists
of words, mostly short; all of them are tried in one pass over their words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from scrapy_mss.markup.tokens import CJK, Bools, Counts, Floats, Indices
from scrapy_mss.suggest.readings import SitePage
from scrapy_mss.suggest.selectors import elements_of
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.selectors import Element, Selector

# An ideograph is a word, as in the tokenizer: Chinese and Japanese write no spaces.
_WORD: Final = re.compile(rf"[^\W{CJK}]+|(?=\w)[{CJK}]")

UNKNOWN: Final = 0.5
MAX_REMEMBERED: Final = 4096  # selections; a search tries some hundred selectors
# The worth of a page that nothing is selected on: the model reads it, and well. A rule that gives
# half of a text is worse than one that passes, but it should be there for the pages of its site.
MISSED: Final = 0.8

Intervals = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PageAgreement:
    """What the rule and the model make of a page; ``agreement`` is the F1 of their words, 0 to 1.

    ``model_text`` is empty where the model takes the page for no article, ``rule_text`` where the
    rule has not ``matched``.
    """

    url: str
    matched: bool
    agreement: float
    rule_text: str
    model_text: str


def agreements(rule: Wrapper, pages: Sequence[SitePage]) -> tuple[PageAgreement, ...]:
    """How far *rule* and the model agree on each of *pages*."""
    return tuple(_agreement(rule, page) for page in pages)


def _agreement(rule: Wrapper, page: SitePage) -> PageAgreement:
    found = page.by_rule(rule)
    text = found.text if found else ""
    model_text = page.model_text
    return PageAgreement(page.url, bool(text), word_f1(text, model_text), text, model_text)


def expected(total: float, n_seen: int) -> float:
    """The mean to expect after a *total* of *n_seen*, and of one more that tells nothing."""
    return (total + UNKNOWN) / (n_seen + 1)


def word_f1(one: str, other: str) -> float:
    """F1 of the words of two texts, in any order; 1 if both have none."""
    first, second = (Counter(_WORD.findall(text.lower())) for text in (one, other))
    n_words = first.total() + second.total()
    return 2 * (first & second).total() / n_words if n_words else 1.0


class Ballot:
    """The *pages* that vote on a rule.

    ``able`` (bool[n_words]) are the words that it can give: with *alone* those that the model keeps
    which does not know the other pages, as where the rule says no more than where the article is.
    """

    def __init__(self, pages: Sequence[SitePage], *, alone: bool = False) -> None:
        self.pages = pages
        self.is_read = alone  # by the model, on the pages of the rule
        sizes = [len(page.target) for page in pages]
        self.starts: Counts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        self.target: Bools = np.concatenate([page.target for page in pages])
        everything = np.ones(len(self.target), np.bool_)
        self.able: Bools = np.concatenate([page.alone for page in pages]) if alone else everything
        self.page_of: Indices = np.repeat(np.arange(len(pages)), sizes)
        self.n_target = self.per_page(self.target)
        self.select: Callable[[Selector], tuple[tuple[Element, ...], ...]] = lru_cache(
            MAX_REMEMBERED
        )(self._select)

    def __len__(self) -> int:
        return len(self.target)

    def per_page(self, values: Bools) -> Counts:
        """int64[n_pages]: how many of *values* (bool[n_words]) are true on each page."""
        counts: Counts = np.add.reduceat(values, self.starts[:-1], dtype=np.int64)
        return counts

    def agreement(self, selected: Bools) -> Floats:
        """float64[n_pages]: F1 of what is *selected* (bool[n_words]) and what the model keeps."""
        hits, sizes = self.per_page(selected & self.target), self.per_page(selected)
        return agreement(hits, sizes, self.n_target)

    def span(self, selector: Selector) -> Bools:
        """bool[n_words]: from the first element of each page to the end of its last one."""
        return self._mask(
            [(min(row)[0], max(end for _, end in row))] if row else []
            for row in self._runs(selector)
        )

    def inside(self, selector: Selector) -> Bools:
        """bool[n_words]: the words in what *selector* selects."""
        return self._mask(self._runs(selector))

    def _runs(self, selector: Selector) -> Iterable[Intervals]:
        selections = zip(self.pages, self.select(selector), strict=True)
        for page, nodes in selections:
            yield [page.elements[node] for node in nodes if node in page.elements]

    def _select(self, selector: Selector) -> tuple[tuple[Element, ...], ...]:
        return tuple(tuple(elements_of(selector, page.root)) for page in self.pages)

    def _mask(self, rows: Iterable[Intervals]) -> Bools:
        mask = np.zeros(len(self), np.bool_)
        for offset, row in zip(self.starts.tolist(), rows, strict=False):
            for start, end in row:
                mask[offset + start : offset + end] = True
        return mask


class Outs:
    """What may be left out: for each of *masks* (bool[n_words]), the words that it selects."""

    def __init__(self, ballot: Ballot, masks: Sequence[Indices]) -> None:
        self.ballot = ballot
        self.words: Indices = np.concatenate([*masks, np.zeros(0, np.intp)])
        n_pages = len(ballot.pages)
        rows = np.repeat(np.arange(len(masks)), [len(each) for each in masks])
        self._cell = rows * n_pages + ballot.page_of[self.words]
        self._shape = len(masks), n_pages

    def agreements(self, kept: Bools) -> Floats:
        """float64[n_masks, n_pages]: that of what is *kept* (bool[n_words]) without each mask."""
        ballot, here = self.ballot, kept[self.words]
        hits = ballot.per_page(kept & ballot.target) - self._counts(
            here & ballot.target[self.words]
        )
        left = ballot.per_page(kept) - self._counts(here)
        return agreement(hits, left, ballot.n_target)

    def _counts(self, values: Bools) -> Floats:
        """float64[n_masks, n_pages]: how many of *values* (bool[words]) are true."""
        n_rows, n_pages = self._shape
        weights: Floats = values.astype(np.float64)
        counts = np.bincount(self._cell, weights, n_rows * n_pages).astype(np.float64)
        return counts.reshape(self._shape)


def agreement(hits: Counts | Floats, selected: Counts | Floats, wanted: Counts) -> Floats:
    """F1 of so many *hits*; `MISSED` where nothing is selected."""
    scores: Floats = np.where(selected > 0, f1(hits, selected, wanted), MISSED)
    return scores


def f1(hits: Counts | Floats, selected: Counts | Floats, wanted: Counts) -> Floats:
    """F1 of so many *hits*; 0 where there are none."""
    scores: Floats = 2 * hits / np.maximum(selected + wanted, 1)
    return scores
