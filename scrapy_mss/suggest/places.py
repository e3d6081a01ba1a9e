"""Where the article is, by the vote of the pages.

    containers    the elements with much of what the model keeps, and the kinds of their children
    places        each selector of these: a span on each page; equal spans are one place
    around        the place that agrees best; what is text there remains for the model to say
    alternatives  the same again for the pages on which the best place matches nothing

The words of all pages are concatenated: a selection is a mask over them. Its agreement on a page is
F1 of what a model that reads the page on its own keeps there, with what the model keeps that knows
the other pages, less a small penalty for long selectors, since these overfit the pages from which
they were made. No page decides alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import log2
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.tokens import Bools, Counts, Floats, Indices
from scrapy_mss.suggest.readings import SitePage
from scrapy_mss.suggest.selectors import Candidate, candidates, compounds, elements_of, usable
from scrapy_mss.wrappers.selectors import Element, Selector, css

MIN_SHARE: Final = 0.3  # of what the model keeps on a page, that a container has
MAX_CONTAINERS: Final = 24  # of a page, from the innermost
MAX_OF_CONTAINER: Final = 10  # selectors of each
MAX_CHILDREN: Final = 200  # of a container, whose kinds are looked at
MAX_KINDS: Final = 4  # of children
# The cost of naming the children in the place of the container: it ends the text where a last
# paragraph of another kind, a list or a table, would still be part of it.
OF_CHILDREN: Final = 12.0
OF_MANY: Final = 20.0  # the cost of selecting twice as many elements of a page
MIN_PROPOSERS: Final = 2  # pages that have a place; what one page has may be its own
MAX_SELECTORS: Final = 500  # that are tried
MAX_REMEMBERED: Final = 4096  # selections; a search tries some hundred selectors
MAX_ALTERNATIVES: Final = 3

# The agreement on a page that nothing is selected on: the model reads it, and well. A rule that
# gives half of a text is worse than one that does not match, but it should match the site's pages.
MISSED: Final = 0.8
MIN_AGREEMENT: Final = 0.93  # on pages held out: below it, the model alone is better
COST_OF_PART: Final = 0.0005  # of agreement, for each unit of cost of a selector
OF_SPAN: Final = 0.1  # the weight of the agreement of all words of a place: the closest is best

# Elements of text: what selects them alone ends with the last paragraph.
TEXT_TAGS: Final = frozenset({"p", "div", "section", "font", "span"})
# Elements that may be text wherever they are: many of them are no kind of place.
PLAIN_TAGS: Final = frozenset(
    "a abbr b big blockquote br center cite code dd div dl dt em font h2 h3 h4 h5 h6 i li ol p pre "
    "q s section small span strong sub sup table tbody td th tr tt u ul".split()
)


@dataclass(frozen=True, slots=True)
class ArticlePlace:
    """Where the article is.

    ``agreement`` is that with the model, 0 to 1, to be expected on a page of the site. Of a place
    that is not ``is_good``, the model alone is better.
    """

    around: tuple[Selector, ...]
    agreement: float
    is_good: bool = True


class _Votes:
    """The *pages* that vote on a rule, and their words.

    ``target`` (bool[n_words]) are those that the model keeps, ``alone`` those that it keeps of a
    page whose site it does not know.
    """

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self.pages = pages
        sizes = [len(page.target) for page in pages]
        self._starts: Counts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        self.target: Bools = np.concatenate([page.target for page in pages])
        self.alone: Bools = np.concatenate([page.alone for page in pages])
        self._page_of: Indices = np.repeat(np.arange(len(pages)), sizes)
        self._n_target = self.per_page(self.target)
        self.select: Callable[[Selector], list[list[Element]]] = lru_cache(MAX_REMEMBERED)(
            lambda selector: [elements_of(selector, page.root) for page in pages]
        )

    def per_page(self, values: Bools) -> Counts:
        """int64[n_pages]: how many of *values* (bool[n_words]) are true on each page."""
        counts: Counts = np.add.reduceat(values, self._starts[:-1], dtype=np.int64)
        return counts

    def span(self, selector: Selector) -> Bools:
        """bool[n_words]: from the first element of each page to the end of its last one."""
        mask = np.zeros(len(self.target), np.bool_)
        selected = zip(self.pages, self._starts.tolist(), self.select(selector), strict=False)
        for page, offset, nodes in selected:
            runs = [page.elements[node] for node in nodes if node in page.elements]
            if runs:
                end = max(end for _, end in runs)
                mask[offset + min(start for start, _ in runs) : offset + end] = True
        return mask

    def merged(self, first: Bools, other: Bools) -> Bools:
        """*first*, and *other* on the pages on which that selects nothing."""
        return np.where((self.per_page(first) > 0)[self._page_of], first, other)

    def agreement(self, selected: Bools) -> Floats:
        """float64[n_pages]: F1 of the *selected* words (bool[n_words]) with the target."""
        hits, n_selected = self.per_page(selected & self.target), self.per_page(selected)
        f1 = 2 * hits / np.maximum(n_selected + self._n_target, 1)
        scores: Floats = np.where(n_selected > 0, f1, MISSED)
        return scores


class _PlaceCandidate(NamedTuple):
    """A selector, and what is selected with it and the alternatives before it.

    ``agreement`` is that on each page by the votes of the others.
    """

    score: float
    selector: Selector
    selected: Bools
    agreement: Floats


def best_place(pages: Sequence[SitePage]) -> ArticlePlace | None:
    """The place that agrees best with the model on *pages*; None if no element has enough of it."""
    votes = _Votes(pages)
    selected, missed = np.zeros(len(votes.target), np.bool_), np.ones(len(pages), np.bool_)
    agreement: Floats = np.full(len(pages), MISSED)
    around: list[Selector] = []
    while missed.any() and len(around) < MAX_ALTERNATIVES:
        found = max(_candidates(votes, missed, selected), key=lambda each: each.score, default=None)
        if found is None:
            break
        of_missed = float(found.agreement[missed].mean())
        if of_missed < MIN_AGREEMENT:
            if not around:
                return ArticlePlace((found.selector,), of_missed, is_good=False)
            break
        around.append(found.selector)
        selected, agreement = found.selected, np.where(missed, found.agreement, agreement)
        missed = votes.per_page(selected) == 0
    return ArticlePlace(tuple(around), float(agreement.mean())) if around else None


def _candidates(votes: _Votes, missed: Bools, selected: Bools) -> Iterator[_PlaceCandidate]:
    """The places that may hold the articles of the pages that are *missed*, each once."""
    proposers: dict[str, set[int]] = defaultdict(set)
    costs: dict[str, float] = {}
    for number in np.flatnonzero(missed).tolist():
        for named in _container_selectors(votes.pages[number]):
            costs[named.text] = named.cost
            proposers[named.text].add(number)
    least = min(MIN_PROPOSERS, len(missed))
    able = [(cost, text) for text, cost in costs.items() if len(proposers[text]) >= least]
    seen: set[bytes] = set()
    for cost, text in sorted(able)[:MAX_SELECTORS]:
        selector = usable(text, "around")
        if selector is None:
            continue
        span = votes.merged(selected, votes.span(selector))
        key = np.packbits(span).tobytes()
        if key in seen:
            continue
        seen.add(key)
        agreement = votes.agreement(span & votes.alone)
        if len(missed) > 1 and len(proposers[text]) == 1:  # without it nobody would find the place
            agreement[list(proposers[text])] = MISSED
        total = cost + OF_MANY * _doublings(votes, selector)
        of_span = votes.agreement(span).mean()
        score = agreement.mean() + OF_SPAN * of_span - COST_OF_PART * total
        yield _PlaceCandidate(float(score), selector, span, agreement)


def _doublings(votes: _Votes, selector: Selector) -> float:
    """How often the selected elements double from one a page: many are a kind, and no place.

    Of the children of a container, it is the container that counts.
    """
    around, _, last = selector.text.rpartition(" ")
    if around.endswith(" >") or (around and last in PLAIN_TAGS):
        selector = css(around.removesuffix(" >"))
    counts = [len(nodes) for nodes in votes.select(selector) if nodes]
    return fmean(map(log2, counts)) if counts else 0.0


def _container_selectors(page: SitePage) -> Iterator[Candidate]:
    """Selectors of the containers of *page*, and of the kinds of their children."""
    for element in _containers(page):
        own = candidates(element)[:MAX_OF_CONTAINER]
        yield from own
        for child in _kinds_of_children(page, element):
            for outer in own[:2]:
                yield Candidate(outer.cost + OF_CHILDREN, f"{outer.text} > {child}")


def _containers(page: SitePage) -> list[Element]:
    """The elements with enough of what the model keeps, from the innermost."""
    through = np.append(0, page.target.cumsum())
    least = MIN_SHARE * through[-1]
    found = [
        element
        for element, (start, end) in page.elements.items()
        if through[end] - through[start] >= least and element.tag != "html"
    ]
    return found[::-1][:MAX_CONTAINERS]


def _kinds_of_children(page: SitePage, element: Element) -> list[str]:
    """The names of children with what the model keeps: tags and classes."""
    kinds: dict[str, None] = {}
    for child in islice(element.iterchildren("*"), MAX_CHILDREN):
        start, end = page.elements.get(child, (0, 0))
        if page.target[start:end].any():
            if child.tag in TEXT_TAGS:
                kinds[str(child.tag)] = None
            kinds.update((each.text, None) for each in compounds(child)[:1])
    return list(kinds)[:MAX_KINDS]
