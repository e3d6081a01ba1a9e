"""What labelled pages teach beyond the classifier: corrections of its log-odds, where proven.

The *place* of a block is its length, its distances from the first and the last block that the
classifier takes for the article, its tag, whether it is in a container like that of most of the
article, whether it ends a sentence, and how sure the classifier is. For each labelled site, sums
of weights and residuals (label less probability) by place are kept: whole numbers, which can be
added in any order. From these sums alone follow

- the correction, a sum of terms for these. The log-loss curves by 1/4 at most
  (Böhning 1992), so a least-squares step on the sums never raises the loss that it was fitted to;
- and its worth: by the same bound, the least that sites gain from a correction fitted to other
  sites, or one half of a site's pages from the other half. It is used with the weight for which
  that is greatest, and not at all where the gain may be chance.

So the labels of two sites are not taken for the rules of a language, and after labels that teach
nothing the classifier reads as before. What holds for sites of one script says nothing of another.
What the counts of a crawl add to the bundled ones is proved in the same way, on the first page of
each site, which none of them is of.
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
from scrapy_mss.blocks.texts import CLOSERS
from scrapy_mss.core.hashing import numbered
from scrapy_mss.core.naive_bayes import DIGEST_BITS, log_odds, logistic
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Bools, Bytes, Floats, Indices, TokenIds
from scrapy_mss.pages.addresses import site_of

# Raised when places or scripts change (tests/blocks/test_families.py), so that what is stored of
# others is not used: it is part of `Model.reader`.
VERSION: Final = 1

# The axes of a place: where on each another class begins.
LENGTHS: Final = (3, 8, 16, 32, 64)  # words
DISTANCES: Final = (-8, -2, -1, 0, 1, 2, 4, 9)  # blocks
TAGS: Final = (
    *("p", "h1 h2 h3 h4 h5 h6", "li dt dd", "div section article main", "td th table tr"),
    *("figcaption figure caption", "blockquote pre", "a span"),
)
ODDS: Final = (-2, 0, 2)  # log-odds by the classifier
# Before them: whether it is in the container with most of the article, and ends a sentence.
AXES: Final = (
    *(len(LENGTHS) + 1, len(DISTANCES) + 1, len(DISTANCES) + 1, len(TAGS) + 1),
    *(2, 2, len(ODDS) + 1),
)
N_PLACES: Final = int(np.prod(AXES))
TERMS: Final = (  # axes, alone and in pairs
    *((0,), (1,), (2,), (3,), (0, 1), (0, 2), (0, 3)),
    *((4,), (0, 4), (1, 4), (2, 4), (5,), (0, 5), (1, 5), (2, 5)),
    *((6,), (0, 6)),
)

# Where letters of another script begin. What has several scripts, as Japanese, is by its first.
LATIN, GREEK, CYRILLIC, HEBREW, ARABIC, INDIC, THAI, HANGUL, KANA, HAN = range(1, 11)
NAMES: Final = "other latin greek cyrillic hebrew arabic indic thai korean japanese chinese".split()
SCRIPTS: Final = (
    *((0x41, LATIN), (0x370, GREEK), (0x400, CYRILLIC), (0x530, 0), (0x590, HEBREW)),
    *((0x600, ARABIC), (0x780, 0), (0x900, INDIC), (0xE00, THAI), (0xE80, 0), (0x1100, HANGUL)),
    *((0x1200, 0), (0x1E00, LATIN), (0x1F00, GREEK), (0x2000, 0), (0x3040, KANA), (0x3100, 0)),
    *((0x3400, HAN), (0xA000, 0), (0xAC00, HANGUL), (0xD7B0, 0)),
)
SCRIPT_SAMPLE: Final = 200  # words, of which the first characters count
KANA_WEIGHT: Final = 4  # of Japanese text, half is Chinese characters

UNIT: Final = 2**20  # what the blocks of a page weigh together
CURVATURE: Final = 0.25
LIKELY: Final = 0.5  # probability from which on a block counts as the article's
# Chosen on `sites_ctf` and `sites_daniel`, and verified on others: research/notes/learning.md.
PRIOR_PAGES_OF_SITES, PRIOR_PAGES_OF_SITE = 0.2, 0.02  # that speak for no correction
MAX_OF_SITES, MAX_OF_SITE = 3.0, 4.0  # log-odds
FEWEST_SITES, FEWEST_PAGES = 4, 4
MAX_PAGES_OF_SITE: Final = 20  # that a site counts as, at most, for others
MAX_FOLDS: Final = 10
SURE: Final = 1.0  # standard errors that the mean gain of sites is above 0
MAX_SITES: Final = 256
MAX_ROWS: Final = 2**20  # 32 bytes each; of a site with ten labelled pages some hundreds
MAX_SUM: Final = 2**54  # what sixteen billion pages weigh; more is cut, so no sum of two overflows
GROWTH: Final = 1.1  # a correction is fitted again when there are so many times the pages
MAX_CACHED: Final = 1024  # corrections of sites, some 6 KB each

# The bits of a row's key: site | script | half of the site's pages | place
_SITE_BITS, _SCRIPT_BITS, _PLACE_BITS = 40, 4, 20
_SITE_SHIFT, _SCRIPT_SHIFT = np.uint64(_SCRIPT_BITS + _PLACE_BITS), np.uint64(_PLACE_BITS)
_PLACE_MASK, _SCRIPT_MASK = np.uint64(2**_PLACE_BITS - 1), np.uint64(2**_SCRIPT_BITS - 1)
_COUNTS = 2**_PLACE_BITS - 1  # in the row of this place: what the counts of crawls were worth
N_SUMS: Final = 3
_WEIGHT, _RESIDUAL, _RESIDUAL_WITH_OTHERS = range(N_SUMS)
"""The columns: of the blocks there their weight, their residual by the classifier alone, and that
with all that others tell, other sites and the memory of the site."""

Sums = NDArray[np.int64]


def _tag_classes() -> Bytes:
    classes = np.zeros(256, np.uint8)
    for number, names in enumerate(TAGS, 1):
        classes[[TAG_NUMBERS[name] for name in names.split()]] = number
    return classes


_TAG_CLASSES = _tag_classes()
_BOUNDS = np.array([0, *(start for start, _ in SCRIPTS)])
_SCRIPT_AT = np.array([0, *(script for _, script in SCRIPTS)])


def places(page: Page, probability: Floats) -> Indices:
    """intp[n]: the place of each block, by the *probability* (float64[n]) of all."""
    kept = np.flatnonzero(probability > LIKELY)
    first, last = (kept[0], kept[-1]) if len(kept) else (0, len(probability) - 1)
    at = np.arange(len(probability))
    axes = (
        np.digitize(page.blocks.words, LENGTHS),
        np.digitize(at - first, DISTANCES),
        np.digitize(last - at, DISTANCES),
        _TAG_CLASSES[page.ancestor_tags[0]],
        _in_main_container(page, probability),
        _ends_sentence(page),
        np.digitize(log_odds(probability), ODDS),
    )
    return np.ravel_multi_index(axes, AXES)


def _in_main_container(page: Page, probability: Floats) -> Indices:
    """intp[n]: 1 for the blocks in containers like that with most of the likely words."""
    container = numbered(page.container_keys)
    main = np.bincount(container, page.words * probability).argmax()
    is_in_main: Indices = (container == main).astype(np.intp)
    return is_in_main


def _ends_sentence(page: Page) -> Indices:
    """intp[n]: 1 for the blocks whose last word or symbol ends a sentence."""
    tokens, texts = page.tokens, page.texts
    last = tokens.clean_start[texts.token[texts.first + texts.size - 1]].tolist()
    return np.array([tokens.clean[at] in CLOSERS for at in last], np.intp)


def script_of(page: Page, probability: Floats) -> int:
    """The script of what is likely the article; 0 for one that is not told apart."""
    tokens, texts = page.tokens, page.texts
    likely = texts.token[np.repeat(probability > LIKELY, texts.size)]
    words = likely[:SCRIPT_SAMPLE] if len(likely) else texts.token[:SCRIPT_SAMPLE]
    first = "".join([tokens.clean[start] for start in tokens.clean_start[words].tolist()])
    letters = np.frombuffer(first.encode("utf-32-le", "surrogatepass"), np.uint32)
    found = np.bincount(_SCRIPT_AT[_BOUNDS.searchsorted(letters, "right") - 1], minlength=HAN + 1)
    found[0] = 0
    if found[HAN]:
        found[KANA] *= KANA_WEIGHT
    return int(found.argmax())


def site_number(url: str) -> int:
    """The number of the site of *url*; 0 for none."""
    site = site_of(url)
    digest = blake2b(site.encode("utf-8", "surrogatepass"), digest_size=_SITE_BITS // 8)
    return int.from_bytes(digest.digest(), "little") if site else 0


def _strides() -> tuple[Indices, Indices, int]:
    """The first coefficient of each term, its strides along the axes, and how many there are."""
    starts, strides, n = [], np.zeros((len(TERMS), len(AXES)), np.intp), 0
    for number, term in enumerate(TERMS):
        starts.append([n])
        size = 1
        for axis in term:
            strides[number, axis] = size
            size *= AXES[axis]
        n += size
    return np.array(starts), strides, n


_STARTS, _STRIDES, N_COEFFICIENTS = _strides()


def terms_of(place: Indices) -> Indices:
    """intp[n_terms, n]: the number of the coefficient of each term at each *place*."""
    found: Indices = _STARTS + _STRIDES @ np.array(np.unravel_index(place, AXES))
    return found


class Correction(NamedTuple):
    """Log-odds by place, within *most* on either side, and with a *weight*."""

    coefficients: Floats  # float64[N_COEFFICIENTS]
    most: float
    weight: float = 1.0

    def of(self, terms: Indices) -> Floats:
        """float64[n]: the log-odds at places with the coefficients *terms*."""
        fitted = self.coefficients[terms].sum(axis=0)
        bounded: Floats = self.weight * np.clip(fitted, -self.most, self.most)
        return bounded


class Normal(NamedTuple):
    """The normal equations of a least-squares fit: curvature and slope of the coefficients."""

    curvature: Floats  # float64[n, n]
    slope: Floats  # float64[n]

    @classmethod
    def of(cls, place: Indices, weight: Floats, residual: Floats) -> Normal:
        """Those of the sums at the places *place*, in pages."""
        columns, n = terms_of(place), N_COEFFICIENTS
        at = columns[:, np.newaxis] * n + columns
        weights = np.broadcast_to(CURVATURE * weight, at.shape)
        curvature: Floats = np.bincount(at.ravel(), weights.ravel(), n * n).astype(float)
        slopes = np.broadcast_to(residual, columns.shape)
        slope: Floats = np.bincount(columns.ravel(), slopes.ravel(), n).astype(float)
        return cls(curvature.reshape(n, n), slope)

    def plus(self, other: Normal, sign: int = 1) -> Normal:
        """Both added, or, with a *sign* of -1, the *other* taken away."""
        curvature: Floats = self.curvature + sign * other.curvature
        slope: Floats = self.slope + sign * other.slope
        return Normal(curvature, slope)

    def correction(self, prior: float, most: float) -> Correction:
        """Log-odds within *most*, where *prior* pages speak for none."""
        # The coefficients of what no page has are 0. A site has few others, and its small system is
        # solved by one thread: several would wait for one another where other processes are busy.
        known = np.flatnonzero(self.curvature.diagonal() + np.abs(self.slope))
        curvature = self.curvature[np.ix_(known, known)] + prior * np.eye(len(known))
        fitted = np.zeros(N_COEFFICIENTS)
        fitted[known] = np.linalg.solve(curvature, self.slope[known])
        return Correction(fitted, most)


class Gain(NamedTuple):
    """What pages gain from a correction with weight a, at least: a slope - a² curvature / 2."""

    slope: Floats  # float64[n], for each of n sites, or halves of one
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

    ``correction`` is None if it is no proven gain. ``gain`` is what a page of a site gains at least
    by those of others, in log-likelihood of its mean block. ``counts_weight`` is that of what the
    counts of crawls add.
    """

    sites: int
    correction: Correction | None = None
    gain: float = 0.0
    counts_weight: float = 0.0

    @property
    def weight(self) -> float:
        """The weight of the correction; 0 without one."""
        return 0.0 if self.correction is None else self.correction.weight


UNTAUGHT: Final = ScriptLesson(0)


class Taught(NamedTuple):
    """What labelled pages tell of the blocks of a page, as log-odds to be added."""

    by_others: Floats  # float64[n]: by the labels of other sites
    by_site: Floats | None  # float64[n]: by those of its own
    counts_weight: float  # of what the counts of crawls add


class Table(NamedTuple):
    """The sums of a site in one script, in pages: a row a place."""

    place: Indices
    weight: Floats
    residual: Floats

    @property
    def pages(self) -> float:
        """How many pages they are of."""
        return float(self.weight.sum())

    @property
    def normal(self) -> Normal:
        """The normal equations of a fit to them."""
        return Normal.of(*self)

    def gain(self, correction: Correction) -> tuple[float, float]:
        """The slope and the curvature of what these pages gain by *correction*."""
        here = correction.of(terms_of(self.place))
        return float(self.residual @ here), CURVATURE * float((self.weight * here) @ here)


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
    _of_site: dict[int, tuple[float, Correction | None]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Check the rows, which a file may have, or another process may have sent."""
        if self.keys.ndim != 1 or self.sums.shape != (len(self.keys), N_SUMS):
            raise ValueError(f"lessons of {self.keys.shape} keys with sums of {self.sums.shape}")
        if not (self.keys[1:] > self.keys[:-1]).all():
            raise ValueError("lessons whose keys are not in ascending order")
        place = self.keys & _PLACE_MASK
        script = self.keys >> _SCRIPT_SHIFT & _SCRIPT_MASK
        if not ((place < 2 * N_PLACES) | (place == _COUNTS)).all() or (script >= len(NAMES)).any():
            raise ValueError("lessons of places or scripts that there are not")
        if (self.sums[:, _WEIGHT] < 0).any() or (self.sums != _within_bounds(self.sums)).any():
            raise ValueError(f"lessons with sums beyond {MAX_SUM}, or weights below 0")
        if not 0 <= self.reader < 2**DIGEST_BITS:
            raise ValueError(f"lessons by a classifier with the digest {self.reader}")

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of_page(cls, page: Page, inside: Bools, half: int, readings: Readings) -> Lessons:
        """What *page* teaches whose blocks are *inside* the article (bool[n_blocks]) or not.

        *half*, 0 or 1, is that of its site which it belongs to.
        """
        site, alone = site_number(page.url), readings.alone
        if not site or not len(alone):
            return cls()
        weight = np.sqrt(np.maximum(page.words, 1.0))
        weight *= UNIT / weight.sum()
        values = np.stack((np.ones(len(alone)), inside - alone, inside - readings.with_others))
        filled, at = np.unique(places(page, alone), return_inverse=True)
        sums = np.array([np.bincount(at, weight * each) for each in values]).T
        rows = [(filled + half * N_PLACES, np.rint(sums).astype(np.int64))]
        if readings.counted is not None:
            effect = log_odds(readings.counted) - log_odds(alone)
            slope, curvature = weight @ (values[1] * effect), CURVATURE * (weight @ effect**2)
            rows.append((np.array([_COUNTS]), np.rint([[curvature, slope, 0.0]]).astype(np.int64)))
        above = np.uint64(site) << _SITE_SHIFT
        above |= np.uint64(script_of(page, alone)) << _SCRIPT_SHIFT
        keys = np.concatenate([above | place.astype(np.uint64) for place, _ in rows])
        return cls(keys, np.concatenate([each for _, each in rows]), readings.reader)

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
            self._fitted_pages, self._of_site = -1.0, {}

    def scaled(self, share: float) -> Lessons:
        """The same with a *share* of their weight."""
        return Lessons(self.keys, np.rint(share * self.sums).astype(np.int64), self.reader)

    @property
    def pages(self) -> float:
        """How many pages they are of."""
        return float(self.sums[self.keys & _PLACE_MASK != _COUNTS, _WEIGHT].sum()) / UNIT

    def knows(self, url: str) -> bool:
        """Whether a page of the site of *url* was learned."""
        site = np.uint64(site_number(url))
        first = int(self.keys.searchsorted(site << _SITE_SHIFT))
        return first < len(self) and self.keys[first] >> _SITE_SHIFT == site

    def taught(self, page: Page, alone: Floats) -> Taught | None:
        """What is known of the blocks of *page*, whose probability is *alone*; None if nothing."""
        if not len(self) or not len(alone):
            return None
        script = script_of(page, alone)
        of_script = self.of_script(script)
        by_others, counts_weight = of_script.correction, of_script.counts_weight
        by_site = self.of_site(site_number(page.url))
        if by_others is None and by_site is None and not counts_weight:
            return None
        terms = terms_of(places(page, alone))
        return Taught(
            np.zeros(len(alone)) if by_others is None else by_others.of(terms),
            None if by_site is None else by_site.of(terms),
            counts_weight,
        )

    def of_script(self, script: int) -> ScriptLesson:
        """What sites teach of pages in *script*."""
        self._fit_if_due()
        return self._of_script.get(script, UNTAUGHT)

    @property
    def by_script(self) -> dict[str, ScriptLesson]:
        """What the sites in each script teach, by its name."""
        self._fit_if_due()
        return {NAMES[script]: each for script, each in sorted(self._of_script.items())}

    def of_site(self, site: int) -> Correction | None:
        """The correction of pages of *site* by its own labels, if it has one."""
        low, high = (
            self.keys.searchsorted(np.array([site, site + 1], np.uint64) << _SITE_SHIFT)
            if site
            else (0, 0)
        )
        if low == high:
            return None
        tables = [self._table(slice(low, high), _RESIDUAL_WITH_OTHERS, half) for half in (0, 1)]
        pages = sum(table.pages for table in tables)
        if pages < FEWEST_PAGES:
            return None
        fitted_pages, correction = self._of_site.get(site, (0.0, None))
        if pages >= GROWTH * fitted_pages:
            correction = _own_correction(*tables)
            if len(self._of_site) >= MAX_CACHED:
                del self._of_site[next(iter(self._of_site))]
            self._of_site[site] = pages, correction
        return correction

    def _fit_if_due(self) -> None:
        if self._checked is self.sums:
            return
        self._checked, pages = self.sums, self.pages
        if pages < GROWTH * self._fitted_pages:
            return
        self._fitted_pages = pages
        group = self.keys >> _SCRIPT_SHIFT
        first = np.flatnonzero(np.diff(group, prepend=~group[:1]))
        scripts: dict[int, list[slice]] = {}
        bounds = [*first.tolist(), len(group)]
        for low, high in pairwise(bounds):
            scripts.setdefault(int(group[low]) & 2**_SCRIPT_BITS - 1, []).append(slice(low, high))
        self._of_script = {script: self._by_sites(rows) for script, rows in scripts.items()}

    def _by_sites(self, rows: Sequence[slice]) -> ScriptLesson:
        """What the sites whose sums are in these *rows* teach, weighted by its proven gain."""
        tables = [table for each in rows if (table := self._capped(each)).pages]
        if len(tables) < FEWEST_SITES:
            return ScriptLesson(len(tables))
        n_folds = min(len(tables), MAX_FOLDS)
        folds = [_sum(table.normal for table in tables[fold::n_folds]) for fold in range(n_folds)]
        total = _sum(folds)
        gains = np.zeros((len(tables), 2))
        for number, fold in enumerate(folds):
            correction = total.plus(fold, -1).correction(PRIOR_PAGES_OF_SITES, MAX_OF_SITES)
            gains[number::n_folds] = [table.gain(correction) for table in tables[number::n_folds]]
        gain, counts_weight = Gain(*gains.T), self._proven_counts(rows)
        weight = gain.proven_weight
        if not weight:
            return ScriptLesson(len(tables), counts_weight=counts_weight)
        correction = total.correction(PRIOR_PAGES_OF_SITES, MAX_OF_SITES)._replace(weight=weight)
        of_a_page = float(gain.of(weight).sum()) / sum(table.pages for table in tables)
        return ScriptLesson(len(tables), correction, of_a_page, counts_weight)

    def _proven_counts(self, rows: Iterable[slice]) -> float:
        """The weight of what counts add, by the first pages of the sites in these *rows*."""
        last = [each.stop - 1 for each in rows]
        tested = [row for row in last if self.keys[row] & _PLACE_MASK == _COUNTS]
        curvature, slope = self.sums[tested, :2].T.astype(float)
        return Gain(slope, curvature).proven_weight if len(tested) >= FEWEST_SITES else 0.0

    def _capped(self, rows: slice) -> Table:
        """The sums of a site, as of no more pages than a site may count as."""
        table = self._table(rows, _RESIDUAL)
        share = min(MAX_PAGES_OF_SITE / max(table.pages, 1.0), 1.0)
        return Table(table.place, share * table.weight, share * table.residual)

    def _table(self, rows: slice, residual: int, half: int | None = None) -> Table:
        """The sums in *rows*, of both halves or of one, with the *residual* that is asked for."""
        place = (self.keys[rows] & _PLACE_MASK).astype(np.intp)
        chosen = place != _COUNTS if half is None else place // N_PLACES == half
        sums = self.sums[rows][chosen] / UNIT
        return Table(place[chosen] % N_PLACES, sums[:, _WEIGHT], sums[:, residual])


class Readings(NamedTuple):
    """The probability of each block of a labelled page, before it is learned: float64[n] each."""

    alone: Floats  # by the classifier
    with_others: Floats  # with what other sites, and the memory of its own, tell
    counted: Floats | None = None  # with the counts of crawls, if the page is its site's first
    reader: int = 0  # the digest of the classifier


def corrected(probability: Floats, correction: Floats) -> Floats:
    """The *probability* of blocks with a *correction* of their log-odds."""
    return logistic(log_odds(probability) + correction)


def _own_correction(*halves: Table) -> Correction | None:
    """The correction by the pages of one site, weighted by what either half gains by the other."""
    normals = [table.normal for table in halves]
    gains = [
        table.gain(other.correction(PRIOR_PAGES_OF_SITE, MAX_OF_SITE))
        for table, other in zip(halves, normals[::-1], strict=True)
    ]
    weight = Gain(*np.array(gains).T).weight
    if not weight:
        return None
    own = _sum(normals).correction(PRIOR_PAGES_OF_SITE, MAX_OF_SITE)
    return own._replace(weight=weight)


def _sum(normals: Iterable[Normal]) -> Normal:
    return reduce(Normal.plus, normals)


def _added(*parts: Lessons) -> tuple[TokenIds, Sums]:
    """The rows of all *parts*, each key once."""
    keys = np.concatenate([each.keys for each in parts])
    sums = np.concatenate([each.sums for each in parts])
    order = keys.argsort(kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
    return keys[order][first], _within_bounds(np.add.reduceat(sums[order], first))


def _within_bounds(sums: Sums) -> Sums:
    bounded: Sums = np.clip(sums, -MAX_SUM, MAX_SUM)
    return bounded


def _bounded(keys: TokenIds, sums: Sums) -> tuple[TokenIds, Sums]:
    """The rows of the sites with most pages, of as many as there is room for."""
    sites, of_row = np.unique(keys >> _SITE_SHIFT, return_inverse=True)
    if len(sites) <= MAX_SITES and len(keys) <= MAX_ROWS:
        return keys, sums
    by_pages = np.lexsort((sites, np.bincount(of_row, sums[:, _WEIGHT])))[::-1]
    n_rows = np.bincount(of_row)[by_pages].cumsum()
    stays = np.zeros(len(sites), np.bool_)
    stays[by_pages[:MAX_SITES][n_rows[:MAX_SITES] <= MAX_ROWS]] = True
    return keys[stays[of_row]], sums[stays[of_row]]
