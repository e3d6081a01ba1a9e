"""The block classifier: from Naive Bayes evidence and features to a probability for each block.

Naive Bayes takes its families as independent, which they are not: together they are far too
certain. So each family's evidence is pooled over a block; a weighted sum of these is the block's
score, which shows where on the page the article is (`features.fill_containers`); and a small
network weighs all of it with the block's other features: one hidden layer of rectified linear
units.

The classifier is trained once, on pages whose evidence came from the counts of other sites
(`research.training`). The counts go on learning in a crawl; the classifier does not.

Its inputs are named and ordered, by `block_inputs`: their names are stored with every classifier,
and one that was trained with other inputs is rejected (`models.format`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import blake2b
from math import exp, gcd
from operator import mul
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.families import MAX_LINKS, SIZES
from scrapy_mss.blocks.features import (
    CONTAINER_NAMES,
    FEATURES,
    LOG1P_TABLE,
    Columns,
    container_features,
    evidence_mass,
    feature_tables,
    of_heading_above,
    places_of,
    product,
)
from scrapy_mss.blocks.opinions import OPINION_COLUMNS, opinion_features, opinion_tables
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import MULTIPLIERS, buckets_of_ids
from scrapy_mss.core.naive_bayes import (
    DIGEST_BITS,
    MAX_EXPONENT,
    NaiveBayes,
    logistic,
    portions,
)
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tokens import Floats

Matrix: TypeAlias = NDArray[np.float32]
Numbers: TypeAlias = NDArray[np.float32] | NDArray[np.float64]  # which are taken as float32

CLIP = 4.0  # deviations from the mean: one value in ten thousand, if they are normal
ROWS_AT_ONCE = 2**11  # rows; what is computed of them takes three megabytes
MAX_WORK = 2**19 - 1  # multiplications of a product; OpenBLAS wakes its threads from 2**19 on
UNITS = 96  # that are computed at once: all of the bundled model, whose rows are read once then
LANES = 16  # numbers in the widest register: a tile has as many rows, or twice as many, and so on


@dataclass(frozen=True, eq=False)
class Network:
    """Weights; the last row of ``hidden`` and the last of ``output`` are the biases.

    Inputs are standardized to mean 0 and deviation 1 and clipped far out, so that a page unlike all
    others gives no number that the network was never trained with.
    """

    mean: Matrix  # float32[n_inputs]
    scale: Matrix  # float32[n_inputs]
    hidden: Matrix  # float32[n_inputs+1, n_hidden]
    output: Matrix  # float32[n_hidden+1]

    def log_odds(self, inputs: Numbers) -> Matrix:
        """float32[n] for float[n, n_inputs]; of a long page for some rows after the others."""
        log_odds = np.empty(len(inputs), np.float32)
        for some in portions(len(inputs), ROWS_AT_ONCE):
            sums = self._sums(self.standardized(inputs[some]))
            log_odds[some] = _weighted_units(sums, self.hidden[-1], self.output)
        return log_odds

    @np.errstate(all="ignore")  # as `product` has it
    def _sums(self, standardized: Matrix) -> Matrix:
        """float32[n, n_hidden]: the weighted sums of *standardized* inputs, without the biases.

        In tiles so small that BLAS does not wake its threads for them: waking takes longer than
        the work, and on a busy machine two hundred times as long. numpy goes from one to the next.
        """
        (n, n_inputs), (height, width), weights = standardized.shape, self.tile, self._tiles
        sums, whole = np.empty((n, self.hidden.shape[1]), np.float32), n - n % height
        for first, last, tall in ((0, whole, height), (whole, n, n - whole)):
            if first < last:
                tiles = standardized[first:last].reshape(-1, 1, tall, n_inputs)
                out = sums[first:last].reshape(-1, tall, len(weights), width)
                np.matmul(tiles, weights, out=out.swapaxes(1, 2))
        return sums

    @lazy
    def _tiles(self) -> Matrix:
        """The weights of the inputs, for some hidden units after the others."""
        tiles = _aligned(self.hidden[:-1]).reshape(len(self.hidden) - 1, -1, self.tile[1])
        return tiles.swapaxes(0, 1)

    @lazy
    def tile(self) -> tuple[int, int]:
        """For how many rows how many hidden units are computed at once, a divisor of theirs."""
        most = max(1, MAX_WORK // (len(self.hidden) - 1))
        width = gcd(self.hidden.shape[1], UNITS) if most >= UNITS else 1
        height = most // width
        return max(height // LANES * LANES, min(height, LANES)), width

    def standardized(self, inputs: Numbers) -> Matrix:
        """*inputs* with mean 0 and deviation 1, clipped; each is contiguous."""
        rows = np.ascontiguousarray(inputs.T, np.float64)
        return _standardize(rows, self.mean, self.scale, CLIP).T


def _aligned(weights: Matrix) -> Matrix:
    """A copy that begins at a whole register: from anywhere else a product takes a fifth longer."""
    copy = np.empty(weights.size + LANES, np.float32)
    first = -copy.ctypes.data // copy.itemsize % LANES
    aligned = copy[first : first + weights.size].reshape(weights.shape)
    aligned[:] = weights
    return aligned


@accelerated()
def _standardize(rows: Floats, mean: Matrix, scale: Matrix, most: float) -> Matrix:
    """The *rows*, less the *mean* of each, times the *scale*, and clipped."""
    values = rows.astype(np.float32)
    values -= mean[:, np.newaxis]
    values *= scale[:, np.newaxis]
    return np.clip(values, -most, most, out=values)


@accelerated()
def _weighted_units(sums: Matrix, bias: Matrix, weights: Matrix) -> Matrix:
    """float32[n]: the weighted *sums* of inputs, as rectified linear units with *weights*, summed.

    The second half is added to the first, and so on, in the place of the sums; and the last weight
    to the whole. Not a product by BLAS, which wakes its threads for a far smaller matrix with a
    vector.
    """
    sums += bias
    np.maximum(sums, 0.0, out=sums)
    sums *= weights[:-1]
    rest = sums.shape[1]
    while rest > 1:
        half = rest - rest // 2
        sums[:, : rest // 2] += sums[:, half:rest]
        rest = half
    sums[:, 0] += weights[-1]
    return sums[:, 0]


MAX_LOG_ODDS = 8.0  # of one family's evidence: what is beyond is as certain as e**8 to 1
NEIGHBOUR_OFFSETS = (-2, -1, 1, 2)
NEIGHBOUR_FEATURES = ("score", "words", "link_share", "heading_rank", "ends_sentence")
_NEIGHBOURS = tuple(f"{name}[{by:+d}]" for name in NEIGHBOUR_FEATURES for by in NEIGHBOUR_OFFSETS)


class Pooling(NamedTuple):
    """A row of a block's evidence: its name, and the family whose values are pooled for it."""

    name: str
    family: str


POOLINGS = (
    Pooling("unigram", "unigram"),
    Pooling("shape", "shape"),
    Pooling("class_words_sum", "class_words"),
    Pooling("class_words_min", "class_words"),
    Pooling("class_words_max", "class_words"),
)
_EVIDENCE = tuple(f"evidence_{pooling.name}" for pooling in POOLINGS)


@accelerated(lambda: (SIZES, MAX_LINKS, np.array(MULTIPLIERS), MAX_LOG_ODDS), "BlockEvidence")
def block_evidence(page: Page, bayes: NaiveBayes[Page]) -> Floats:
    """The log-odds of each block by each row of ``POOLINGS``: float64[n_poolings, n_blocks].

    The mean of each block's words and symbols; sum, least and greatest of the class words of its
    ancestors, and of 0. They are added in their order by element, and then by block.
    """
    text, element, containers = page.blocks.text, page.attributes.element, page.containers
    families = {family.name: family for family in bayes.families}
    unigram, shape, class_words = (families[name] for name in ("unigram", "shape", "class_words"))
    rows = np.empty((len(POOLINGS), len(page.blocks)))
    buckets = buckets_of_ids(page.tokens.token_id[text], unigram.bits)
    of_texts, _ = bayes.log_ratio(unigram, buckets)
    sums = np.bincount(page.blocks.of_token[text], of_texts, rows.shape[1])
    rows[0] = sums / page.blocks.n_texts
    rows[1], _ = bayes.log_ratio(shape, shape.values(page, shape.bits).bucket)
    of_words, _ = bayes.log_ratio(class_words, class_words.values(page, class_words.bits).bucket)
    for row, reduce in zip(rows[-3:], (np.add, np.minimum, np.maximum), strict=True):
        of_elements = np.zeros(len(containers) + 1)
        reduce.at(of_elements, element, of_words)
        reduce.reduce(of_elements[containers.around], out=row)
    np.maximum(rows, -MAX_LOG_ODDS, out=rows)
    return np.minimum(rows, MAX_LOG_ODDS, out=rows)


_SCORES = ("score", "score_of_heading_above", "page_evidence")
_PARTS = (FEATURES, _EVIDENCE, _SCORES, OPINION_COLUMNS, CONTAINER_NAMES, _NEIGHBOURS)
INPUTS = tuple(name for part in _PARTS for name in part)
_PLACES = places_of(INPUTS)


class BlockInputs(NamedTuple):
    """What is known of a page's blocks: ``columns`` are the network's inputs by their names."""

    score: Floats  # float64[n]: the weighted sum of the evidence
    columns: Columns

    @property
    def matrix(self) -> Matrix:
        """float32[n, n_inputs], in the order of ``columns``; each is contiguous in memory."""
        return self.columns.rows.astype(np.float32).T


def block_inputs(page: Page, evidence: Floats, score: Floats) -> BlockInputs:
    """The network's inputs for *page*, from the *evidence* of its blocks and their *score*."""
    rows = np.empty((len(INPUTS), len(score)))
    fill_inputs(page, evidence, score, rows)
    return BlockInputs(score, Columns(_PLACES, rows))


def _tables() -> tuple[object, ...]:
    """What the compiled part knows of each step, and where rows of something else begin."""
    neighbours = [INPUTS.index(name) for name in NEIGHBOUR_FEATURES]
    ends = np.cumsum([len(part) for part in _PARTS]).tolist()
    of_blocks = *feature_tables(), *opinion_tables(), LOG1P_TABLE
    return *of_blocks, neighbours, [*NEIGHBOUR_OFFSETS], ends


@accelerated(_tables, "InputFiller")
def fill_inputs(page: Page, evidence: Floats, score: Floats, rows: Floats) -> None:
    """Fill *rows* (float64[n_inputs, n]), in the order of ``INPUTS``."""
    columns, (mass, total) = Columns(_PLACES, rows), evidence_mass(page, score)
    columns.fill({name: of(page) for name, of in FEATURES.items()})
    columns.fill(dict(zip(_EVIDENCE, evidence, strict=True)))
    scores = score, of_heading_above(page, score), np.log1p(total)
    columns.fill(dict(zip(_SCORES, scores, strict=True)))
    columns.fill(opinion_features(page))
    columns.fill(container_features(page, mass))
    for name in NEIGHBOUR_FEATURES:
        for by in NEIGHBOUR_OFFSETS:
            columns[f"{name}[{by:+d}]"][:] = _shifted(columns[name], by)


def _shifted(values: Floats, by: int) -> Floats:
    """float64[n]: the value so many blocks further on, or back; beyond the page's ends 0."""
    none = np.zeros(min(abs(by), len(values)))
    return np.concatenate((values[by:], none) if by > 0 else (none, values[:by]))


class Networks(NamedTuple):
    """The network for articles in JSON-LD and pages that declare nothing, and that for all others.

    The other one has learned as much from other writing as from articles, so that it finds more of
    the text in unknown templates. On news, and on old pages, it would find more than that.
    """

    article: Network
    other: Network

    def of(self, page: Page) -> Network:
        """The network that reads *page*."""
        return self.other if page.declarations.declare_no_article else self.article

    def probabilities(self, page: Page, inputs: BlockInputs) -> Floats:
        """The probability that each block of *page* belongs to the article: float64[n_blocks]."""
        return logistic(self.of(page).log_odds(inputs.columns.rows.T).astype(np.float64))

    @property
    def arrays(self) -> dict[str, Matrix]:
        """All weights by their names, ``article_mean`` to ``other_output``."""
        rows = zip(NETWORKS, self, strict=True)
        return {f"{name}_{part}": getattr(each, part) for name, each in rows for part in PARTS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Matrix]) -> Networks:
        """The networks whose ``arrays`` are among these."""
        return cls(
            *(Network(**{part: arrays[f"{name}_{part}"] for part in PARTS}) for name in NETWORKS)
        )


NETWORKS = Networks._fields
PARTS = tuple(part.name for part in fields(Network))


@dataclass(frozen=True, eq=False)
class BlockClassifier:
    """Trained weights: of the evidence, the networks, the page classifier, and of confidence.

    The last of ``evidence_weights``, ``page_weights`` and ``confidence_weights`` are the constants.
    """

    evidence_weights: Matrix  # float32[n_poolings+1]
    networks: Networks
    page_weights: Matrix  # float32[n_page_features+1]
    confidence_weights: Matrix  # float32[n_confidence_features+1]

    @property
    def arrays(self) -> dict[str, Matrix]:
        """All weights by their names."""
        return {
            "evidence_weights": self.evidence_weights,
            **self.networks.arrays,
            "page_weights": self.page_weights,
            "confidence_weights": self.confidence_weights,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Matrix]) -> BlockClassifier:
        """The classifier whose ``arrays`` these are."""
        of_pages = arrays["page_weights"], arrays["confidence_weights"]
        return cls(arrays["evidence_weights"], Networks.from_arrays(arrays), *of_pages)

    @lazy
    def digest(self) -> int:
        """A hash of all weights."""
        digest = blake2b(digest_size=DIGEST_BITS // 8)
        for name, array in self.arrays.items():
            digest.update(name.encode() + array.astype("<f4").tobytes())
        return int.from_bytes(digest.digest(), "little")

    def inputs(self, page: Page, bayes: NaiveBayes[Page]) -> BlockInputs:
        """Everything that is known of the blocks of *page* by the counts of *bayes*."""
        evidence = block_evidence(page, bayes)
        return block_inputs(page, evidence, block_scores(evidence, self.evidence_weights))

    def article_probability(self, page_features: Floats) -> float:
        """The probability that a page with these features (float64[n]) is an article."""
        return _logistic_of(page_features, self.page_weights)

    def confidence(self, confidence_features: Floats) -> float:
        """The F1 to be expected of a text with these features (float64[n])."""
        return _logistic_of(confidence_features, self.confidence_weights)


def _logistic_of(features: Floats, weights: Matrix) -> float:
    """The logistic function of the weighted sum of *features*; the last weight is the constant."""
    *factors, constant = weights.tolist()
    log_odds: float = sum(map(mul, features.tolist(), factors)) + constant
    return 1.0 / (1.0 + exp(-min(max(log_odds, -MAX_EXPONENT), MAX_EXPONENT)))


def block_scores(evidence: Floats, weights: Matrix) -> Floats:
    """The weighted sum of *evidence* (float64[n_poolings, n_blocks]): float64[n_blocks]."""
    return product(weights[:-1].astype(np.float64), evidence) + float(weights[-1])
