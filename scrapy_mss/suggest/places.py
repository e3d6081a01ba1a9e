"""Where the article is, and what is certainly not part of it, by the vote of the pages.

    containers    the elements with much of what the model keeps, and the kinds of their children
    places        each selector of these: a span on each page; equal spans are one place
    exclusions    for the best places: greedily, what the model drops there and gains most
    alternatives  the same again for the pages on which the best place matches nothing
    around        the rule leaves it to the model what is text there: only what a model that reads
                  a page on its own would keep remains excluded

The words of all pages are concatenated: a selection is a mask over them, and its agreement is the
mean over pages of F1 with what the model keeps, less a small penalty per selector, since a rule of
many parts overfits the pages from which it was made. No page decides alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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
MAX_SELECTORS: Final = 500  # selectors that are tried
MAX_PLACES: Final = 8  # for which exclusions are searched
MAX_REMEMBERED: Final = 4096  # selections; a search tries some hundred selectors
MAX_EXCLUDED: Final = 12  # selectors in `exclude`
MAX_EXCLUSIONS: Final = 400  # selectors that are tried for it
# Of all these together: boxes in one another have each other's. A word takes some 50 bytes.
MAX_EXCLUDED_WORDS: Final = 4_000_000
MAX_OF_EXCLUDED: Final = 8  # selectors of an element that may be excluded
MAX_ALIKE: Final = 5  # elements of one name on a page, whose surroundings may differ
MAX_ALTERNATIVES: Final = 3

# The agreement on a page that nothing is selected on: the model reads it, and well. A rule that
# gives half of a text is worse than one that does not match, but it should match the site's pages.
MISSED: Final = 0.8
MIN_AGREEMENT: Final = 0.93  # on pages held out: below it, the model alone is better
MIN_GAIN: Final = 0.001  # of agreement, by a selector of `exclude`
MIN_GAIN_ALONE: Final = 0.004  # the same, of what the model keeps if it reads a page on its own
COST_OF_PART: Final = 0.0005  # of agreement, for each unit of cost of a selector
MAX_LOST: Final = 0.1  # of the words that are excluded, that the model keeps
TEXT_SHARE: Final = 0.5  # of an element's words, below which it may be excluded

# Elements of text: what selects them alone ends with the last paragraph.
TEXT_TAGS: Final = frozenset({"p", "div", "section", "font", "span"})
# Elements that may be text wherever they are: excluded by their own name, or not at all.
PLAIN_TAGS: Final = frozenset(
    "a abbr b big blockquote br center cite code dd div dl dt em font h2 h3 h4 h5 h6 i li ol p pre "
    "q s section small span strong sub sup table tbody td th tr tt u ul".split()
)


@dataclass(frozen=True, slots=True)
class ArticlePlace:
    """Where the article is, and what is excluded there.

    ``agreement`` is that with the model, 0 to 1, to be expected on a page of the site. Of a place
    that is not ``is_good``, the model alone is better.
    """

    around: tuple[Selector, ...]
    exclude: tuple[Selector, ...]
    agreement: float
    is_good: bool = True


class _Votes:
    """The *pages* that vote on a rule, and their words.

    ``able`` (bool[n_words]) are the words that the rule can give: with *alone* those that the model
    keeps if it does not know the other pages, as where the rule says only where the article is.
    """

    def __init__(self, pages: Sequence[SitePage], *, alone: bool = False) -> None:
        self.pages = pages
        self.least_gain = MIN_GAIN_ALONE if alone else MIN_GAIN
        sizes = [len(page.target) for page in pages]
        self.starts: Counts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        self.target: Bools = np.concatenate([page.target for page in pages])
        everything = np.ones(len(self.target), np.bool_)
        self.able: Bools = np.concatenate([page.alone for page in pages]) if alone else everything
        self.page_of: Indices = np.repeat(np.arange(len(pages)), sizes)
        self.n_target = self.per_page(self.target)
        self.select: Callable[[Selector], list[list[Element]]] = lru_cache(MAX_REMEMBERED)(
            lambda selector: [elements_of(selector, page.root) for page in pages]
        )

    def per_page(self, values: Bools) -> Counts:
        """int64[n_pages]: how many of *values* (bool[n_words]) are true on each page."""
        counts: Counts = np.add.reduceat(values, self.starts[:-1], dtype=np.int64)
        return counts

    def agreement(self, hits: Counts | Floats, selected: Counts | Floats) -> Floats:
        """F1 of so many *hits* in the *selected* words of each page (last axis)."""
        scores: Floats = np.where(selected > 0, _f1(hits, selected, self.n_target), MISSED)
        return scores

    def span(self, selector: Selector) -> Bools:
        """bool[n_words]: from the first element of each page to the end of its last one."""
        return self._mask(
            [(min(row)[0], max(end for _, end in row))] if row else []
            for row in self._runs(selector)
        )

    def inside(self, selector: Selector) -> Bools:
        """bool[n_words]: the words in what *selector* selects."""
        return self._mask(self._runs(selector))

    def merged(self, first: Bools, other: Bools) -> Bools:
        """*first*, and *other* on the pages on which that selects nothing."""
        return np.where((self.per_page(first) > 0)[self.page_of], first, other)

    def _runs(self, selector: Selector) -> Iterator[list[tuple[int, int]]]:
        for page, nodes in zip(self.pages, self.select(selector), strict=True):
            yield [page.elements[node] for node in nodes if node in page.elements]

    def _mask(self, rows: Iterable[list[tuple[int, int]]]) -> Bools:
        mask = np.zeros(len(self.target), np.bool_)
        for offset, row in zip(self.starts.tolist(), rows, strict=False):
            for start, end in row:
                mask[offset + start : offset + end] = True
        return mask


def _f1(hits: Counts | Floats, selected: Counts | Floats, wanted: Counts) -> Floats:
    scores: Floats = 2 * hits / np.maximum(selected + wanted, 1)
    return scores


class _PlaceCandidate(NamedTuple):
    """A selector and what it selects; *promise* is the agreement that exclusions can bring it to.

    *proposers* (bool[n_pages]) are the pages in which an element gave the selector.
    """

    promise: float
    cost: float
    selector: Selector
    span: Bools
    proposers: Bools


def best_place(pages: Sequence[SitePage]) -> ArticlePlace | None:
    """The place that agrees best with the model on *pages*; None if no element has enough of it."""
    votes = _Votes(pages)
    everyone = np.ones(len(pages), np.bool_)
    selected, missed = np.zeros(len(votes.target), np.bool_), everyone
    around: list[Selector] = []
    exclude: list[Selector] = []
    while missed.any() and len(around) < MAX_ALTERNATIVES:
        found = _best(votes, missed, selected, exclude)
        if found is None:
            break
        candidate, search, agreement = found
        if agreement < MIN_AGREEMENT:
            if not around:
                return ArticlePlace((candidate.selector,), (), agreement, is_good=False)
            break
        exclude = search.exclude(everyone)[0]
        around.append(candidate.selector)
        selected = votes.merged(selected, candidate.span)
        missed = votes.per_page(selected) == 0
    if not around:
        return None
    # The model decides what is text there, and drops most of the rest by itself.
    votes = _Votes(pages, alone=True)
    search = _ExclusionSearch(votes, _exclusions(votes, selected), selected, ())
    chosen, agreement = search.exclude(everyone)[0], search.held_out(everyone).mean()
    return ArticlePlace(tuple(around), tuple(chosen), float(agreement))


def _best(
    votes: _Votes, missed: Bools, selected: Bools, exclude: Sequence[Selector]
) -> tuple[_PlaceCandidate, _ExclusionSearch, float] | None:
    """The next alternative, for the pages that are *missed*, and what may be excluded with it.

    Last is the agreement on pages held out of those that are *missed*.
    """
    found = _candidates(votes, missed)
    if not found:
        return None
    spans = [votes.merged(selected, candidate.span) for candidate in found]
    exclusions = _exclusions(votes, np.logical_or.reduce(spans))
    rated = []
    for candidate, span in zip(found, spans, strict=True):
        search = _ExclusionSearch(votes, exclusions, span, exclude)
        agreements = search.held_out(candidate.proposers)
        score = float(agreements.mean()) - COST_OF_PART * candidate.cost
        rated.append((score, candidate, search, agreements))
    _, best, search, agreements = max(rated, key=lambda row: row[0])
    return best, search, float(agreements[missed].mean())


def _candidates(votes: _Votes, missed: Bools) -> list[_PlaceCandidate]:
    """The places that hold most of the articles of the pages that are *missed*, best first."""
    proposers: dict[str, set[int]] = defaultdict(set)
    costs: dict[str, float] = {}
    for number in np.flatnonzero(missed).tolist():
        for named in _container_selectors(votes.pages[number]):
            costs[named.text] = named.cost
            proposers[named.text].add(number)
    least = min(MIN_PROPOSERS, len(missed))
    able = [(cost, text) for text, cost in costs.items() if len(proposers[text]) >= least]
    found: dict[bytes, _PlaceCandidate] = {}
    for cost, text in sorted(able)[:MAX_SELECTORS]:
        selector = usable(text, "around")
        if selector is None:
            continue
        by = np.isin(np.arange(len(missed)), list(proposers[text]))
        span = votes.span(selector)
        hits = votes.per_page(span & votes.target)[missed]
        of_target = votes.n_target[missed]
        kept = np.maximum(votes.per_page(span)[missed], 1)
        # Of what it selects too much, half may be excluded: between both extremes.
        promise = (_f1(hits, hits, of_target) + _f1(hits, kept, of_target)).mean() / 2
        total = cost + OF_MANY * _doublings(votes, selector)
        candidate = _PlaceCandidate(float(promise), total, selector, span, by)
        found.setdefault(np.packbits(span).tobytes(), candidate)
    ranked = sorted(found.values(), key=lambda each: each.cost * COST_OF_PART - each.promise)
    return [each for each in ranked if each.promise > 0][:MAX_PLACES]


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


class _Exclusion(NamedTuple):
    """A selector of what may be excluded, and the words that it selects."""

    cost: float
    selector: Selector
    words: Indices


class _ExclusionSearch:
    """Chooses among *exclusions* for a *span*, besides what is *given*.

    Exclusions are lists of words, mostly short; all are tried in one pass over their words.
    """

    def __init__(
        self,
        votes: _Votes,
        exclusions: Sequence[_Exclusion],
        span: Bools,
        given: Sequence[Selector],
    ) -> None:
        self._votes, self._exclusions, self._given = votes, exclusions, given
        self._kept = span & votes.able
        for selector in given:
            self._kept &= ~votes.inside(selector)
        self._costs = np.array([each.cost for each in exclusions]) * COST_OF_PART
        self._words = np.concatenate([np.zeros(0, np.intp), *(each.words for each in exclusions)])
        rows = np.repeat(np.arange(len(exclusions)), [len(each.words) for each in exclusions])
        self._cell = rows * len(votes.pages) + votes.page_of[self._words]

    def exclude(self, voting: Bools) -> tuple[list[Selector], Floats]:
        """What to exclude by the pages *voting* (bool[n_pages]), and the score on each page.

        That is the agreement, less the costs of the selectors.
        """
        votes, chosen, kept = self._votes, list(self._given), self._kept.copy()
        now = votes.agreement(votes.per_page(kept & votes.target), votes.per_page(kept))
        cost = 0.0
        while self._exclusions and len(chosen) < MAX_EXCLUDED:
            agreements = self._agreements(kept)
            scores = agreements[:, voting].mean(axis=1)
            best = int((scores - self._costs).argmax())
            if scores[best] - now[voting].mean() < votes.least_gain:
                break
            now, cost = agreements[best], cost + float(self._costs[best])
            kept[self._exclusions[best].words] = False
            chosen.append(self._exclusions[best].selector)
        return chosen, now - cost

    def held_out(self, proposers: Bools) -> Floats:
        """float64[n_pages]: the score on each page by the votes of the others.

        What one page alone has *proposed* would not have been found without it.
        """
        n_pages = len(proposers)
        if n_pages == 1:
            return self.exclude(np.ones(1, np.bool_))[1]
        scores = np.full(n_pages, MISSED)
        for held in range(n_pages):
            voting = np.arange(n_pages) != held
            if (proposers & voting).any():
                scores[held] = self.exclude(voting)[1][held]
        return scores

    def _agreements(self, kept: Bools) -> Floats:
        """float64[n_exclusions, n_pages]: that of what is *kept* (bool[n_words]) without each."""
        votes, here = self._votes, kept[self._words]
        n_lost = self._counts(here & votes.target[self._words])
        hits = votes.per_page(kept & votes.target) - n_lost
        return votes.agreement(hits, votes.per_page(kept) - self._counts(here))

    def _counts(self, values: Bools) -> Floats:
        """float64[n_exclusions, n_pages]: how many of *values* (bool[words]) are true."""
        shape = len(self._exclusions), len(self._votes.pages)
        counts = np.bincount(self._cell, values.astype(np.float64), shape[0] * shape[1])
        return counts.astype(np.float64).reshape(shape)


def _exclusions(votes: _Votes, span: Bools) -> list[_Exclusion]:
    """What may be excluded from *span*: selectors that hardly select what the model keeps."""
    weights: dict[str, int] = defaultdict(int)
    costs: dict[str, float] = {}
    for page, start in zip(votes.pages, votes.starts.tolist(), strict=False):
        in_span = span[start : start + len(page.target)]
        for element, n_words in _unwanted(page, in_span):
            for each in _specific_candidates(element):
                weights[each.text] += n_words
                costs[each.text] = each.cost
    found: dict[bytes, _Exclusion] = {}
    left = MAX_EXCLUDED_WORDS
    for text in sorted(weights, key=lambda text: (-weights[text], costs[text]))[:MAX_EXCLUSIONS]:
        selector = usable(text, "exclude")
        if selector is None:
            continue
        words = np.flatnonzero(votes.inside(selector) & span & votes.able)
        if 0 < len(words) <= left and votes.target[words].mean() <= MAX_LOST:
            exclusion = _Exclusion(costs[text], selector, words)
            key = words.tobytes()
            left -= 0 if key in found else len(words)
            found[key] = min(found.get(key, exclusion), exclusion, key=lambda each: each.cost)
    return list(found.values())


def _specific_candidates(element: Element) -> list[Candidate]:
    """Selectors of *element* that say what it is: a link in the text may be text."""
    found = candidates(element)[:MAX_OF_EXCLUDED]
    last = ((each, each.text.rpartition(" ")[2]) for each in found)
    return [each for each, part in last if part not in PLAIN_TAGS and not part.startswith("a[")]


def _unwanted(page: SitePage, in_span: Bools) -> Iterator[tuple[Element, int]]:
    """The elements in the span of whose words the model keeps hardly any, with their words.

    Of those with equal names, the first ones.
    """
    through = np.append(0, page.target.cumsum())
    words = np.append(0, in_span.cumsum())
    seen: Counter[tuple[Candidate, ...]] = Counter()
    for element, (start, end) in page.elements.items():
        size = end - start
        if not size or words[end] - words[start] < size:
            continue
        if through[end] - through[start] < TEXT_SHARE * size:
            names = compounds(element)
            seen[names] += 1
            if seen[names] <= MAX_ALIKE:
                yield element, size
