"""Where the article is, and what is certainly not part of it, by the vote of the pages.

    containers   the elements with much of what the model keeps, and the kinds of their children
    bodies       each selector of these: a span on each page; those with equal spans are one place
    leave out    for the best places: greedily, what the model drops there and gains most
    alternatives the same again for the pages on which the best matches nothing
    read         the rule leaves it to the model what is text there: only what a model that reads
                 a page on its own would keep remains excluded

The agreement is the mean over pages of F1 with the model, less a small penalty per selector: a rule
of many parts overfits the pages from which it was made. No page decides alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log2
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.tokens import Bools, Floats, Indices
from scrapy_mss.suggest.agreement import MISSED, Ballot, Outs, f1
from scrapy_mss.suggest.readings import SitePage
from scrapy_mss.suggest.selectors import Candidate, candidates, compounds
from scrapy_mss.wrappers.errors import WrapperError
from scrapy_mss.wrappers.rules import check_selector
from scrapy_mss.wrappers.selectors import Element, Selector, css

LEAST_SHARE: Final = 0.3  # of what the model keeps on a page, that a container has
MAX_CONTAINERS: Final = 24  # of a page, from the innermost
MAX_OF_CONTAINER: Final = 10  # selectors of each
MAX_CHILDREN: Final = 200  # of a container, whose kinds are looked at
MAX_KINDS: Final = 4  # of children
# The cost of naming the children in the place of the container: it ends the text where a last
# paragraph of another kind, a list or a table, would still be part of it.
OF_CHILDREN: Final = 12.0
OF_MANY: Final = 20.0  # the cost of selecting twice as many elements of a page
LEAST_PROPOSERS: Final = 2  # pages that have a body; what one page has may be its own
MAX_BODIES: Final = 500  # selectors that are tried
MAX_PLACES: Final = 8  # for which is searched what to leave out
MAX_LEFT_OUT: Final = 12  # selectors in `exclude`
MAX_OUT: Final = 400  # selectors that are tried for it
# Of all these together: boxes in one another have each other's. A word takes some 50 bytes.
MAX_OUT_WORDS: Final = 4_000_000
MAX_OF_OUT: Final = 8  # selectors of an element that may be left out
MAX_ALIKE: Final = 5  # elements of one name on a page, whose surroundings may differ
MAX_ALTERNATIVES: Final = 3

LEAST_WORTH: Final = 0.93  # on pages held out: below it, the model alone is better
LEAST_GAIN: Final = 0.001  # of agreement, by a selector that is left out
LEAST_GAIN_READ: Final = 0.004  # the same, where the model drops what it takes for no text itself
COST_OF_PART: Final = 0.0005  # of agreement, for each unit of cost of a selector
MOST_LOST: Final = 0.1  # of the words that are left out, that the model keeps
TEXT_SHARE: Final = 0.5  # of an element's words, below which it may be left out

# Elements of text: what selects them alone ends with the last paragraph.
TEXT_TAGS: Final = frozenset({"p", "div", "section", "font", "span"})
# Elements that may be text wherever they are: left out by their own name, or not at all.
PLAIN_TAGS: Final = frozenset(
    "a abbr b big blockquote br center cite code dd div dl dt em font h2 h3 h4 h5 h6 i li ol p pre "
    "q s section small span strong sub sup table tbody td th tr tt u ul".split()
)


@dataclass(frozen=True, slots=True)
class Body:
    """Where the article is, and what is left out of it.

    ``worth`` is the agreement with the model, 0 to 1, to be expected on a page of the site.
    """

    body: tuple[Selector, ...]
    exclude: tuple[Selector, ...]
    worth: float


class _Place(NamedTuple):
    """A selector and what it selects; *promise* is what leaving out can make of it.

    *proposers* (bool[n_pages]) are the pages in which an element gave the selector.
    """

    promise: float
    cost: float
    selector: Selector
    span: Bools
    proposers: Bools


def best_body(pages: Sequence[SitePage]) -> Body | None:
    """The body that most pages agree on; None if nothing selects what the model keeps."""
    ballot = Ballot(pages)
    selected = np.zeros(len(ballot), np.bool_)
    missed = np.ones(len(pages), np.bool_)
    body: list[Selector] = []
    exclude: list[Selector] = []
    worth = 0.0
    while missed.any() and len(body) < MAX_ALTERNATIVES:
        found = _best(ballot, missed, selected, exclude)
        if found is None:
            break
        place, exclude, worth = found
        body.append(place.selector)
        selected = _merged(ballot, selected, place.span)
        missed = ballot.per_page(selected) == 0
    if not body:
        return None
    exclude, worth = _read_by_model(pages, body)
    return Body(tuple(body), tuple(exclude), worth)


def _read_by_model(
    pages: Sequence[SitePage], body: Sequence[Selector]
) -> tuple[list[Selector], float]:
    """What to leave out where the model says what in *body* is text, and what that is worth."""
    ballot, span = Ballot(pages, alone=True), np.zeros(0, np.bool_)
    for selector in body:
        found = ballot.span(selector)
        span = _merged(ballot, span, found) if len(span) else found
    trial = _Trial(ballot, _outs(ballot, span), span, ())
    everyone = np.ones(len(pages), np.bool_)
    return trial.leave_out(everyone)[0], float(trial.held_out(everyone).mean())


def _merged(ballot: Ballot, first: Bools, other: Bools) -> Bools:
    """*first*, and *other* on the pages on which that selects nothing."""
    sizes = np.diff(ballot.starts)
    has_first = np.repeat(ballot.per_page(first) > 0, sizes)
    return np.where(has_first, first, other)


def _best(
    ballot: Ballot, missed: Bools, selected: Bools, exclude: Sequence[Selector]
) -> tuple[_Place, list[Selector], float] | None:
    """The next alternative, for the pages that are *missed*, with all that is then left out.

    With them comes what that is worth on pages held out.
    """
    places = _places(ballot, missed)
    if not places:
        return None
    spans = [_merged(ballot, selected, place.span) for place in places]
    outs = _outs(ballot, np.logical_or.reduce(spans))
    rated = []
    for place, span in zip(places, spans, strict=True):
        trial = _Trial(ballot, outs, span, exclude)
        worth = trial.held_out(place.proposers)
        rated.append((float(worth.mean()) - COST_OF_PART * place.cost, place, trial, worth))
    _, place, trial, worth = max(rated, key=lambda row: row[0])
    if worth[missed].mean() < LEAST_WORTH:
        return None
    everyone = np.ones(len(missed), np.bool_)
    return place, trial.leave_out(everyone)[0], float(worth.mean())


def _places(ballot: Ballot, missed: Bools) -> list[_Place]:
    """The places that hold most of the articles of the pages that are *missed*, best first."""
    proposers: dict[str, set[int]] = defaultdict(set)
    costs: dict[str, float] = {}
    for number in np.flatnonzero(missed).tolist():
        for candidate in _bodies(ballot.pages[number]):
            costs[candidate.text] = candidate.cost
            proposers[candidate.text].add(number)
    least = min(LEAST_PROPOSERS, len(missed))
    able = [(cost, text) for text, cost in costs.items() if len(proposers[text]) >= least]
    places: dict[bytes, _Place] = {}
    for cost, text in sorted(able)[:MAX_BODIES]:
        selector = usable(text, "body")
        if selector is None:
            continue
        by = np.isin(np.arange(len(missed)), list(proposers[text]))
        span = ballot.span(selector)
        hits = ballot.per_page(span & ballot.target)[missed]
        of_target = ballot.n_target[missed]
        kept = np.maximum(ballot.per_page(span)[missed], 1)
        # Of what it selects too much, half may be left out: between both extremes.
        promise = (f1(hits, hits, of_target) + f1(hits, kept, of_target)).mean() / 2
        in_all = cost + OF_MANY * _doublings(ballot, selector)
        place = _Place(float(promise), in_all, selector, span, by)
        places.setdefault(np.packbits(span).tobytes(), place)
    ranked = sorted(places.values(), key=lambda each: each.cost * COST_OF_PART - each.promise)
    return [each for each in ranked if each.promise > 0][:MAX_PLACES]


def _doublings(ballot: Ballot, selector: Selector) -> float:
    """How often the selected elements double from one a page: many are a kind, and no place.

    Of the children of a container, it is the container that counts.
    """
    around, _, last = selector.text.rpartition(" ")
    if around.endswith(" >") or (around and last in PLAIN_TAGS):
        selector = css(around.removesuffix(" >"))
    counts = [len(nodes) for nodes in ballot.select(selector) if nodes]
    return fmean(map(log2, counts)) if counts else 0.0


def usable(text: str, role: str) -> Selector | None:
    """The CSS selector *text*, if a wrapper can have it in the field *role*."""
    try:
        selector = css(text)
        check_selector(role, selector)
    except WrapperError:
        return None
    return selector


def _bodies(page: SitePage) -> Iterator[Candidate]:
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
    least = LEAST_SHARE * through[-1]
    found = [
        element
        for element, (start, end) in page.elements.items()
        if through[end] - through[start] >= least and element.tag != "html"
    ]
    return found[::-1][:MAX_CONTAINERS]


def _kinds_of_children(page: SitePage, element: Element) -> list[str]:
    """What the children are called that have what the model keeps: by tag, and by class."""
    kinds: dict[str, None] = {}
    for child in islice(element.iterchildren("*"), MAX_CHILDREN):
        start, end = page.elements.get(child, (0, 0))
        if page.target[start:end].any():
            if child.tag in TEXT_TAGS:
                kinds[str(child.tag)] = None
            kinds.update((each.text, None) for each in compounds(child)[:1])
    return list(kinds)[:MAX_KINDS]


class _Out(NamedTuple):
    """A selector of what may be left out, and the words that it selects."""

    cost: float
    selector: Selector
    words: Indices


class _Trial:
    """A *span*, and what may be left out of it besides what is *given*."""

    def __init__(
        self,
        ballot: Ballot,
        outs: Sequence[_Out],
        span: Bools,
        given: Sequence[Selector],
    ) -> None:
        self._ballot = ballot
        self._least = LEAST_GAIN_READ if ballot.is_read else LEAST_GAIN
        self._outs = outs
        self._given = given
        self._kept = span & ballot.able
        for selector in given:
            self._kept &= ~ballot.inside(selector)
        self._able = Outs(ballot, [each.words for each in outs])
        self._costs = np.array([each.cost for each in outs]) * COST_OF_PART

    def leave_out(self, voting: Bools) -> tuple[list[Selector], Floats]:
        """What to leave out by the pages *voting* (bool[n_pages]), and the worth on each page.

        That is the agreement, less the costs of the selectors.
        """
        chosen, kept = list(self._given), self._kept.copy()
        now, cost = self._ballot.agreement(kept), 0.0
        while self._outs and len(chosen) < MAX_LEFT_OUT:
            agreements = self._able.agreements(kept)
            scores = agreements[:, voting].mean(axis=1)
            best = int((scores - self._costs).argmax())
            if scores[best] - now[voting].mean() < self._least:
                break
            now, cost = agreements[best], cost + float(self._costs[best])
            kept[self._outs[best].words] = False
            chosen.append(self._outs[best].selector)
        return chosen, now - cost

    def held_out(self, proposers: Bools) -> Floats:
        """float64[n_pages]: the worth on each page by the votes of the others.

        What one page alone has *proposed* would not have been found without it.
        """
        n_pages = len(proposers)
        if n_pages == 1:
            return self.leave_out(np.ones(1, np.bool_))[1]
        worths = np.full(n_pages, MISSED)
        for held in range(n_pages):
            voting = np.arange(n_pages) != held
            if (proposers & voting).any():
                worths[held] = self.leave_out(voting)[1][held]
        return worths


def _outs(ballot: Ballot, span: Bools) -> list[_Out]:
    """What may be left out of *span*: selectors that hardly select what the model keeps."""
    weights: dict[str, int] = defaultdict(int)
    costs: dict[str, float] = {}
    for page, start in zip(ballot.pages, ballot.starts.tolist(), strict=False):
        in_span = span[start : start + len(page.target)]
        for element, n_words in _unwanted(page, in_span):
            for each in _out_candidates(element):
                weights[each.text] += n_words
                costs[each.text] = each.cost
    found: dict[bytes, _Out] = {}
    left = MAX_OUT_WORDS
    for text in sorted(weights, key=lambda text: (-weights[text], costs[text]))[:MAX_OUT]:
        selector = usable(text, "exclude")
        if selector is None:
            continue
        words = np.flatnonzero(ballot.inside(selector) & span & ballot.able)
        if 0 < len(words) <= left and ballot.target[words].mean() <= MOST_LOST:
            out = _Out(costs[text], selector, words)
            key = words.tobytes()
            left -= 0 if key in found else len(words)
            found[key] = min(found.get(key, out), out, key=lambda each: each.cost)
    return list(found.values())


def _out_candidates(element: Element) -> list[Candidate]:
    """Selectors of *element* that say what it is: a link in the text may be text."""
    found = candidates(element)[:MAX_OF_OUT]
    last = ((each, each.text.rpartition(" ")[2]) for each in found)
    return [each for each, part in last if part not in PLAIN_TAGS and not part.startswith("a[")]


def _unwanted(page: SitePage, in_span: Bools) -> Iterator[tuple[Element, int]]:
    """The elements in the span of whose words the model keeps hardly any, with their words.

    Of those that are named alike, the first ones.
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
