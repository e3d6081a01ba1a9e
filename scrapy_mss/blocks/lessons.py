"""What labelled pages teach beyond the classifier: corrections of its log-odds, where proven.

For each labelled site, sums of weights and residuals (label less probability) of its blocks are
kept, by their places (`blocks.places`): whole numbers, which can be added in any order. From these
sums alone follow

- the correction, a sum of terms for these. The log-loss curves by 1/4 at most (Böhning 1992), so a
  least-squares step on the sums never raises the loss that it was fitted to;
- and its worth: by the same bound, the least that sites gain from a correction fitted to other
  sites. It is used with the weight for which that is greatest, and not at all where the gain may be
  chance.

So the labels of a few sites are not taken for the rules of a language, and after labels that teach
nothing the classifier reads as before. What holds for sites of one script says nothing of another.
What the counts of a crawl add to the bundled ones is proved in the same way, on the first page of
each site, which none of them is of.

For the other pages of a labelled site, coefficients of traits are learned (`blocks.traits`), and
used if the labelled pages were read better with them, each before it was learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from hashlib import blake2b
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.places import LIKELY, N_PLACES, BlocksRead, terms
from scrapy_mss.blocks.scripts import NAMES
from scrapy_mss.blocks.traits import (
    CURVATURE,
    FIRST_TRAIT,
    TRAIT_BITS,
    Coefficients,
)
from scrapy_mss.core.naive_bayes import DIGEST_BITS, log_odds, logistic
from scrapy_mss.markup.tokens import Bools, Floats, Indices, TokenIds
from scrapy_mss.pages.addresses import site_of

# Raised when places, scripts or traits change (tests/blocks/test_families.py), so that what is
# stored of others is not used: it is part of `Model.reader`.
VERSION: Final = 3

UNIT: Final = 2**20  # what the blocks of a page weigh together
# Chosen on `sites_ctf` and `sites_daniel`, and verified on others: research/notes/learning.md.
PRIOR_PAGES: Final = 0.2  # that speak for no correction
MOST: Final = 3.0  # log-odds of a correction
FEWEST_SITES, FEWEST_PAGES = 4, 6
MAX_PAGES_OF_SITE: Final = 20  # that a site counts as, at most, for others
MAX_FOLDS: Final = 10
SURE: Final = 1.0  # standard errors that the mean gain of sites is above 0
LIKELY_GAIN: Final = 0.5  # of them, that the gain of a site's own pages is
MAX_SITES: Final = 256
MAX_ROWS: Final = 2**20  # 24 bytes each; of a site with ten labelled pages some seven hundred
MAX_TRAITS: Final = 2**13  # of a site: a quarter of those that weigh least goes at once
MAX_SUM: Final = 2**54  # what sixteen billion pages weigh; more is cut, so no sum of two overflows
GROWTH: Final = 1.1  # a correction is fitted again when there are so many times the pages

# The bits of a row's key: site | script | place, or site | trait
_SITE_BITS, _SCRIPT_BITS, _PLACE_BITS = 40, 7, 17
_SITE_SHIFT, _SCRIPT_SHIFT = np.uint64(TRAIT_BITS), np.uint64(_PLACE_BITS)
_PLACE_MASK, _SCRIPT_MASK = np.uint64(2**_PLACE_BITS - 1), np.uint64(2**_SCRIPT_BITS - 1)
_TRAIT_MASK = np.uint64(2**TRAIT_BITS - 1)
_COUNTS = 2**_PLACE_BITS - 1  # in the row of this place: what the counts of crawls were worth
# In these rows of a site: what traits were worth on its labelled pages before they were learned,
# squares of gains, the F1 of their words without traits and with them, and pages and gains.
_SPREAD, _SCORED, _TRIED = range(FIRST_TRAIT - 3, FIRST_TRAIT)
N_SUMS: Final = 2
_WEIGHT, _RESIDUAL = range(N_SUMS)
"""The columns of places: of the blocks there their weight, and their residual by the classifier
alone; of traits: their curvature and moment."""

Sums = NDArray[np.int64]


def site_number(url: str) -> int:
    """The number of the site of *url*; 0 for none."""
    site = site_of(url)
    digest = blake2b(site.encode("utf-8", "surrogatepass"), digest_size=_SITE_BITS // 8)
    return int.from_bytes(digest.digest(), "little") if site else 0


class SiteSums(NamedTuple):
    """The sums of a site in one script, in pages: a row a place."""

    place: Indices
    weight: Floats
    residual: Floats

    @property
    def pages(self) -> float:
        """How many pages they are of."""
        return float(self.weight.sum())

    def normal_equations(self) -> Floats:
        """float64[n, n+1]: the curvature and the slope of the coefficients of a fit to them."""
        columns, n = terms()
        columns = columns[:, self.place].astype(np.intp)
        weights = np.broadcast_to(CURVATURE * self.weight, columns.shape).ravel()
        curvature = np.zeros(n * n)
        for column in columns:  # one at a time: all pairs of them take 160 MB for a full table
            curvature += np.bincount((column * n + columns).ravel(), weights, n * n)
        slopes = np.broadcast_to(self.residual, columns.shape)
        slope = np.bincount(columns.ravel(), slopes.ravel(), n)
        return np.column_stack((curvature.reshape(n, n), slope))

    def gain(self, correction: Floats) -> tuple[float, float]:
        """The slope and the curvature of what these pages gain by *correction*."""
        here = correction[self.place]
        return float(self.residual @ here), CURVATURE * float((self.weight * here) @ here)


def fitted(equations: Floats) -> Floats:
    """float64[N_PLACES]: log-odds within `MOST`, where `PRIOR_PAGES` speak for none.

    *equations* are `SiteSums.normal_equations`, which add up to those of several sites.
    """
    (columns, n), slope = terms(), equations[:, -1]
    # The coefficients of what no page has are 0. A site has few others, and its small system is
    # solved by one thread: several would wait for one another where other processes are busy.
    known = np.flatnonzero(equations.diagonal() + np.abs(slope))
    curvature = equations[np.ix_(known, known)] + PRIOR_PAGES * np.eye(len(known))
    coefficients = np.zeros(n)
    coefficients[known] = np.linalg.solve(curvature, slope[known])
    bounded: Floats = np.clip(coefficients[columns].sum(axis=0), -MOST, MOST)
    return bounded


class Gain(NamedTuple):
    """What pages gain from a correction with weight a, at least: a slope - a² curvature / 2."""

    slope: Floats  # float64[n], for each of n sites
    curvature: Floats

    def of(self, weight: float) -> Floats:
        """float64[n]: what each gains with this *weight*."""
        gains: Floats = weight * self.slope - weight**2 / 2 * self.curvature
        return gains

    @property
    def weight(self) -> float:
        """The weight, up to 1, for which the sum is greatest; 0 if it is no gain."""
        slope, curvature = float(self.slope.sum()), float(self.curvature.sum())
        return min(max(slope, 0.0) / curvature, 1.0) if curvature > 0 else 0.0

    @property
    def proven_weight(self) -> float:
        """The same; 0 where the gain may be chance."""
        weight, n = self.weight, len(self.slope)
        gains = self.of(weight)
        error = float(gains.std(ddof=1)) / n**0.5 if n > 1 else np.inf
        return weight if weight and gains.mean() > SURE * error else 0.0


class ScriptLesson(NamedTuple):
    """What the labelled sites in a script teach of others in it.

    ``correction`` is float64[N_PLACES], with its ``weight``; None if it is no proven gain.
    ``gain`` is what a page of a site gains at least by those of others, in log-likelihood of its
    mean block. ``counts_weight`` is that of what the counts of crawls add.
    """

    sites: int
    correction: Floats | None = None
    weight: float = 0.0
    gain: float = 0.0
    counts_weight: float = 0.0


UNTAUGHT: Final = ScriptLesson(0)


class SiteLesson(NamedTuple):
    """What the labelled pages of a site teach of its others, by reading each before it is learned.

    ``gain`` is what traits give a page, in log-likelihood of its mean block, and ``f1`` and
    ``f1_with_traits`` are those of the words in its likely blocks.
    """

    pages: float
    gain: float
    f1: float
    f1_with_traits: float
    is_used: bool


def described(lesson: SiteLesson) -> str:
    """The *lesson* in words."""
    use = "used" if lesson.is_used else "not used"
    f1 = f"{lesson.f1:.3f} without what earlier ones taught, {lesson.f1_with_traits:.3f} with it"
    return f"{lesson.pages:,.0f} pages, F1 {f1}; {use}"


class Taught(NamedTuple):
    """What labelled pages tell of the blocks of a page, as log-odds to be added."""

    by_others: Floats  # float64[n]: by the labels of other sites
    by_site: Floats | None  # float64[n]: by those of its own
    counts_weight: float  # of what the counts of crawls add


@dataclass(eq=False)
class Lessons:
    """The sums of all labelled sites: rows in the order of their ``keys``, each key once.

    ``keys`` is uint64[n], ``sums`` int64[n, N_SUMS].
    """

    keys: TokenIds = field(default_factory=lambda: np.zeros(0, np.uint64))
    sums: Sums = field(default_factory=lambda: np.zeros((0, N_SUMS), np.int64))
    reader: int = 0  # the digest of the classifier whose residuals they are
    _checked: Sums | None = field(default=None, init=False)  # by `_fit_if_due`
    _fitted_pages: float = field(default=-1.0, init=False)
    _of_script: Mapping[int, ScriptLesson] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Check the rows, which a file may have, or another process may have sent."""
        if self.keys.ndim != 1 or self.sums.shape != (len(self.keys), N_SUMS):
            raise ValueError(f"lessons of {self.keys.shape} keys with sums of {self.sums.shape}")
        if not (self.keys[1:] > self.keys[:-1]).all():
            raise ValueError("lessons whose keys are not in ascending order")
        place = self.keys & _PLACE_MASK
        script = self.keys >> _SCRIPT_SHIFT & _SCRIPT_MASK
        of_script = ((place < N_PLACES) | (place == _COUNTS)) & (script < len(NAMES))
        if not (of_script | self._of_traits).all():
            raise ValueError("lessons of places or scripts that there are not")
        if (self.sums[:, _WEIGHT] < 0).any() or (self.sums != _within_bounds(self.sums)).any():
            raise ValueError(f"lessons with sums beyond {MAX_SUM}, or weights below 0")
        if not 0 <= self.reader < 2**DIGEST_BITS:
            raise ValueError(f"lessons by a classifier with the digest {self.reader}")

    def __len__(self) -> int:
        return len(self.keys)

    def of_page(self, inside: Bools, readings: Readings) -> Lessons:
        """What a page adds whose blocks are *inside* the article (bool[n_blocks]) or not."""
        read = readings.alone
        page, alone, site = read.page, read.probability, site_number(read.page.url)
        if not site or not len(alone):
            return Lessons()
        weight = np.sqrt(np.maximum(page.words, 1.0))
        share = UNIT * weight / weight.sum()
        residual = inside - alone
        filled, at = np.unique(read.places, return_inverse=True)
        sums = np.array([np.bincount(at, each) for each in (share, share * residual)])
        script = read.script << _PLACE_BITS
        rows = [(script + filled, sums)]
        if readings.counted is not None:
            effect = log_odds(readings.counted) - log_odds(alone)
            slope, curvature = share @ (residual * effect), CURVATURE * (share @ effect**2)
            rows.append((np.array([script + _COUNTS]), np.array([[curvature], [slope]])))
        of_block, known = read.traits, self._coefficients(site, readings.reader)
        without, correction = readings.with_others, readings.by_site
        if correction is None:
            correction = known.correction(of_block)
        scored = [_f1(page, inside, each) for each in (without, corrected(without, correction))]
        gain = share @ _gain(inside, without, correction)
        tried = np.array([[gain**2 / UNIT, UNIT * scored[0], UNIT], [0.0, UNIT * scored[1], gain]])
        rows.append((np.array([_SPREAD, _SCORED, _TRIED]), tried))
        more = known.learned(of_block, inside, without, weight / weight.mean())
        rows.append((more.trait.astype(np.intp), UNIT * np.array([more.curvature, more.moment])))
        keys = np.concatenate([each for each, _ in rows]).astype(np.uint64)
        keys |= np.uint64(site) << _SITE_SHIFT
        added = np.concatenate([each for _, each in rows], axis=1).T
        return Lessons(keys, _within_bounds(np.rint(added)).astype(np.int64), readings.reader)

    @classmethod
    def total(cls, parts: Iterable[Lessons]) -> Lessons:
        """What the pages of all *parts* teach."""
        whole = cls()
        for each in parts:
            whole.add(each)
        return whole

    def add(self, other: Lessons) -> None:
        """Take in what the pages of *other* teach, in place of what another classifier has read.

        A later release has another classifier; what its crawls add to a store is to count.
        """
        if not len(other):
            return
        if other.reader == self.reader:
            self.keys, self.sums = _bounded(*_added(self, other))
        else:
            self.keys, self.sums, self.reader = other.keys, other.sums, other.reader
            self._fitted_pages = -1.0

    def scaled(self, share: float) -> Lessons:
        """The same with a *share* of their weight."""
        return Lessons(self.keys, np.rint(share * self.sums).astype(np.int64), self.reader)

    @property
    def pages(self) -> float:
        """How many pages they are of."""
        of_sites = np.flatnonzero(self.keys & _TRAIT_MASK == _TRIED)
        return float(self.sums[of_sites, _WEIGHT].sum()) / UNIT

    @property
    def _of_traits(self) -> Bools:
        """bool[n]: the rows of traits, and of what they were worth."""
        of_traits: Bools = self.keys & _TRAIT_MASK >= _SPREAD
        return of_traits

    def knows(self, url: str) -> bool:
        """Whether a page of the site of *url* was learned."""
        rows = _rows_of(site_number(url), self.keys)
        return bool(rows.stop > rows.start)

    def taught(self, read: BlocksRead) -> Taught | None:
        """What is known of the blocks of a page, as they are *read* alone; None if nothing."""
        n, url = len(read.probability), read.page.url
        if not len(self) or not n:
            return None
        of_script = self.of_script(read.script) if self._teaches_others() else UNTAUGHT
        by_others, counts_weight = of_script.correction, of_script.counts_weight
        lesson, by_site = self.of_site(url), None
        if lesson is not None and lesson.is_used:
            by_site = self._coefficients(site_number(url), self.reader).correction(read.traits)
        if by_others is None and by_site is None and not counts_weight:
            return None
        here = np.zeros(n) if by_others is None else by_others[read.places]
        return Taught(here, by_site, counts_weight)

    def _teaches_others(self) -> bool:
        """Whether sites in any script do: the pages of a crawl without need not tell theirs."""
        self._fit_if_due()
        known = self._of_script.values()
        return any(each.correction is not None or each.counts_weight for each in known)

    def of_script(self, script: int) -> ScriptLesson:
        """What sites teach of pages in *script*."""
        self._fit_if_due()
        return self._of_script.get(script, UNTAUGHT)

    @property
    def by_script(self) -> dict[str, ScriptLesson]:
        """What the sites in each script teach, by its name."""
        self._fit_if_due()
        return {NAMES[script]: each for script, each in sorted(self._of_script.items())}

    def of_site(self, url: str) -> SiteLesson | None:
        """What labelled pages of the site of *url* were worth; None if there is none."""
        rows = _rows_of(site_number(url), self.keys, _SPREAD, _TRIED)
        if rows.stop - rows.start != len((_SPREAD, _SCORED, _TRIED)):
            return None
        (squares, _), (f1, f1_with_traits), (pages, gain) = (self.sums[rows] / UNIT).tolist()
        if not pages:
            return None
        error = max(squares - gain**2 / pages, 0.0) ** 0.5  # of the gain of all pages, about
        is_used = pages >= FEWEST_PAGES and gain > LIKELY_GAIN * error
        return SiteLesson(pages, gain / pages, f1 / pages, f1_with_traits / pages, is_used)

    def _coefficients(self, site: int, reader: int) -> Coefficients:
        """Those of *site* by the classifier *reader*, whatever they are worth."""
        rows = _rows_of(site, self.keys, FIRST_TRAIT) if reader == self.reader else slice(0, 0)
        return Coefficients(self.keys[rows] & _TRAIT_MASK, *(self.sums[rows].T / UNIT))

    def _fit_if_due(self) -> None:
        if self._checked is self.sums:
            return
        sums, pages = self.sums, self.pages
        if pages >= GROWTH * self._fitted_pages:
            self._of_script = self._fitted()
            self._fitted_pages = pages
        self._checked = sums  # last: until then other threads that read a page fit it, too

    def _fitted(self) -> dict[int, ScriptLesson]:
        """What the sites in each script teach, by its number."""
        of_places, scripts = np.flatnonzero(~self._of_traits), dict[int, list[Indices]]()
        group = self.keys[of_places] >> _SCRIPT_SHIFT
        starts = np.unique(group, return_index=True)[1]
        for rows in np.split(of_places, starts)[1:]:
            script = self.keys[rows[0]] >> _SCRIPT_SHIFT & _SCRIPT_MASK
            scripts.setdefault(int(script), []).append(rows)
        return {script: self._by_sites(rows) for script, rows in scripts.items()}

    def _by_sites(self, rows: Sequence[Indices]) -> ScriptLesson:
        """What the sites whose sums are in these *rows* teach, weighted by its proven gain."""
        tables = [table for each in rows if (table := self._capped(each)).pages]
        if len(tables) < FEWEST_SITES:
            return ScriptLesson(len(tables))
        n_folds = min(len(tables), MAX_FOLDS)
        folds = [
            reduce(np.add, map(SiteSums.normal_equations, tables[fold::n_folds]))
            for fold in range(n_folds)
        ]
        total = reduce(np.add, folds)
        gains = np.zeros((len(tables), 2))
        for number, fold in enumerate(folds):
            correction = fitted(total - fold)
            gains[number::n_folds] = [table.gain(correction) for table in tables[number::n_folds]]
        gain, counts_weight = Gain(*gains.T), self._proven_counts(rows)
        weight = gain.proven_weight
        if not weight:
            return ScriptLesson(len(tables), counts_weight=counts_weight)
        correction = weight * fitted(total)
        of_a_page = float(gain.of(weight).sum()) / sum(table.pages for table in tables)
        return ScriptLesson(len(tables), correction, weight, of_a_page, counts_weight)

    def _proven_counts(self, rows: Iterable[Indices]) -> float:
        """The weight of what counts add, by the first pages of the sites in these *rows*."""
        last = np.array([each[-1] for each in rows])
        tested = last[self.keys[last] & _PLACE_MASK == _COUNTS]
        curvature, slope = self.sums[tested].T.astype(float)
        return Gain(slope, curvature).proven_weight if len(tested) >= FEWEST_SITES else 0.0

    def _capped(self, rows: Indices) -> SiteSums:
        """The sums of a site, as of no more pages than a site may count as."""
        place = (self.keys[rows] & _PLACE_MASK).astype(np.intp)
        is_place = place != _COUNTS
        weight, residual = self.sums[rows][is_place].T / UNIT
        share = min(MAX_PAGES_OF_SITE / max(float(weight.sum()), 1.0), 1.0)
        return SiteSums(place[is_place], share * weight, share * residual)


class Readings(NamedTuple):
    """How each block of a labelled page is read before it is learned; probabilities: float64[n]."""

    alone: BlocksRead  # by the classifier
    with_others: Floats  # with what other sites, and the memory of its own, tell
    counted: Floats | None = None  # with the counts of crawls, if the page is its site's first
    reader: int = 0  # the digest of the classifier
    by_site: Floats | None = None  # what the labels of the site's other pages tell, if it is known


def corrected(probability: Floats, correction: Floats) -> Floats:
    """The *probability* of blocks with a *correction* of their log-odds."""
    return logistic(log_odds(probability) + correction)


def _f1(page: Page, inside: Bools, probability: Floats) -> float:
    """That of the words in blocks that are more likely *inside* than not."""
    likely = probability > LIKELY
    both = float(page.words @ likely + page.words @ inside)
    return 2 * float(page.words @ (likely & inside)) / both if both else 1.0


def _gain(inside: Bools, probability: Floats, correction: Floats) -> Floats:
    """float64[n]: the log-likelihood that the labels of the blocks gain by *correction*."""
    odds = log_odds(probability)
    gain: Floats = inside * correction
    return gain + np.logaddexp(0, odds) - np.logaddexp(0, odds + correction)


def _added(many: Lessons, few: Lessons) -> tuple[TokenIds, Sums]:
    """The rows of both, each key once. Those of a page are among the rows of one site."""
    if not len(many):
        return few.keys, few.sums
    at = many.keys.searchsorted(few.keys)
    is_known = many.keys.take(at, mode="clip") == few.keys
    before, here, after = slice(at[0]), slice(at[0], at[-1] + 1), slice(at[-1] + 1, None)
    sums = few.sums.copy()
    sums[is_known] = _within_bounds(sums[is_known] + many.sums[at[is_known]])
    to = at - at[0] + (~is_known).cumsum() - ~is_known
    stays = np.ones(len(many.keys[here]) + np.count_nonzero(~is_known), np.bool_)
    stays[to[~is_known]] = False
    keys, pairs = np.empty(len(stays), np.uint64), np.empty(len(stays), np.complex128)
    keys[stays] = many.keys[here]
    # Both sums of a row as one item: rows take numpy ten times as long.
    pairs[stays] = np.ascontiguousarray(many.sums[here]).view(np.complex128).ravel()
    joined = pairs.view(np.int64).reshape(-1, N_SUMS)
    keys[to], joined[to] = few.keys, sums
    return (
        np.concatenate((many.keys[before], keys, many.keys[after])),
        np.concatenate((many.sums[before], joined, many.sums[after])),
    )


def _within_bounds(sums: Sums) -> Sums:
    bounded: Sums = np.clip(sums, -MAX_SUM, MAX_SUM)
    return bounded


def _bounded(keys: TokenIds, sums: Sums) -> tuple[TokenIds, Sums]:
    """The rows of the sites with most pages, of as many as there is room for."""
    site = keys >> _SITE_SHIFT
    ends = [*(np.flatnonzero(site[1:] != site[:-1]) + 1).tolist(), len(keys)]
    longest = max(end - start for start, end in pairwise([0, *ends]))
    if len(ends) <= MAX_SITES and len(keys) <= MAX_ROWS and longest <= MAX_TRAITS:
        return keys, sums
    keys, sums = _with_fewer_traits(keys, sums)
    sites, of_row = np.unique(keys >> _SITE_SHIFT, return_inverse=True)
    pages = np.where(keys & _TRAIT_MASK == _TRIED, sums[:, _WEIGHT], 0)
    by_pages = np.lexsort((sites, np.bincount(of_row, pages)))[::-1]
    n_rows = np.bincount(of_row)[by_pages].cumsum()
    stays = np.zeros(len(sites), np.bool_)
    stays[by_pages[:MAX_SITES][n_rows[:MAX_SITES] <= MAX_ROWS]] = True
    return keys[stays[of_row]], sums[stays[of_row]]


def _with_fewer_traits(keys: TokenIds, sums: Sums) -> tuple[TokenIds, Sums]:
    """All rows, but of sites with too many traits not those that weigh least."""
    is_trait = keys & _TRAIT_MASK >= FIRST_TRAIT
    sites, n_traits = np.unique(keys[is_trait] >> _SITE_SHIFT, return_counts=True)
    stays = np.ones(len(keys), np.bool_)
    for site in sites[n_traits > MAX_TRAITS].tolist():
        rows = _rows_of(site, keys, FIRST_TRAIT)
        by_weight = np.argsort(np.abs(sums[rows, _RESIDUAL]), kind="stable")
        stays[rows.start + by_weight[: -3 * MAX_TRAITS // 4]] = False
    return keys[stays], sums[stays]


def _rows_of(site: int, keys: TokenIds, first: int = 0, last: int = 2**TRAIT_BITS - 1) -> slice:
    """The rows of *site* from its *first* trait, or other number, to its *last*."""
    bounds = [np.uint64(site << TRAIT_BITS | each) for each in (first, last)]
    return slice(int(keys.searchsorted(bounds[0])), int(keys.searchsorted(bounds[1], "right")))
