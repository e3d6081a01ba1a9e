from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks import classifier as module
from scrapy_mss.blocks.classifier import (
    CLIP,
    LANES,
    MAX_LOG_ODDS,
    MAX_WORK,
    NEIGHBOUR_FEATURES,
    NEIGHBOUR_OFFSETS,
    POOLINGS,
    UNITS,
    BlockClassifier,
    Network,
    Networks,
    block_evidence,
    block_inputs,
    block_scores,
)
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.features import EPSILON, FEATURES, product
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import CONFIDENCE_FEATURES, page_feature_names
from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.core.naive_bayes import NaiveBayes, logistic
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.models.files import bundled_model
from scrapy_mss.models.profiles import DEFAULT
from tests.helpers.classifiers import counts_of, input_names, random_classifier, random_network
from tests.helpers.compiled import both
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_ancestors, block_runs


@pytest.fixture(scope="module")
def bayes() -> NaiveBayes[Page]:
    return counts_of(range(3))


@pytest.fixture(scope="module")
def classifier() -> BlockClassifier:
    return random_classifier()


def values_at(bayes: NaiveBayes[Page], page: Page, name: str) -> dict[int, list[float]]:
    """The log-odds of all values of one family by their first token, by the formula."""
    (family,) = (family for family in bayes.families if family.name == name)
    n_out, n_in = bayes.tokens.tolist()
    found = defaultdict(list)
    bucket, start, _ = family.values(page, family.bits)
    for row, at in zip(bayes.counts[name][bucket].tolist(), start.tolist(), strict=True):
        doubtful = [count + family.smoothing for count in row]
        odds = log(doubtful[1] / doubtful[0]) - log((n_in + 1) / (n_out + 1))
        found[at].append(odds if any(row) else 0.0)
    return found


@given(PAGES)
@examples(2)
def test_evidence_of_a_block_is_pooled_over_its_tokens_and_its_ancestors(
    bayes: NaiveBayes[Page], source: str
) -> None:
    page = Page.of(source)
    words, shapes, class_words = (
        values_at(bayes, page, name) for name in ("unigram", "shape", "class_words")
    )
    ancestors = block_ancestors(page.tokens)

    evidence = dict(zip([p.name for p in POOLINGS], block_evidence(page, bayes), strict=True))

    for number, run in enumerate(block_runs(page.tokens)):
        above = [value for at in ancestors[run[0]][:LEVELS] for value in class_words[at]]
        expected = {
            "unigram": sum(words[at][0] for at in run) / len(run),
            "shape": shapes[run[0]][0],
            "class_words_sum": sum(above),
            "class_words_min": min([0.0, *above]),
            "class_words_max": max([0.0, *above]),
        }
        found = {name: evidence[name][number] for name in expected}
        clipped = {n: min(MAX_LOG_ODDS, max(-MAX_LOG_ODDS, v)) for n, v in expected.items()}
        assert found == pytest.approx(clipped)


@pytest.mark.parametrize("is_inside", [True, False])
def test_evidence_is_limited(*, is_inside: bool) -> None:
    words = " ".join(f"a{letter}" for letter in "abcdefghijkl")
    page = Page.of(f'<div class="{words}"><p>{"one " * 500}</p></div><p>{"two " * 500}</p>')
    inside = np.zeros(len(page.tokens), np.bool_)
    inside[page.blocks.of_token == 0] = True
    bayes = new_counts(DEFAULT.families)
    for _ in range(20):
        bayes.learn(page, inside == is_inside)

    evidence = dict(zip([p.name for p in POOLINGS], block_evidence(page, bayes), strict=True))

    expected = MAX_LOG_ODDS if is_inside else -MAX_LOG_ODDS
    assert evidence["class_words_sum"][0] == expected


def test_a_score_is_the_weighted_sum_of_evidence() -> None:
    evidence = np.array([[1.0, 2.0], [3.0, -4.0]])

    assert block_scores(evidence, np.array([2, 0.5, -1], np.float32)).tolist() == [2.5, 1.0]


def evidence_for(page: Page) -> tuple[Floats, Floats]:
    """Evidence and scores that are different for each block."""
    n = len(page.blocks)
    evidence = np.arange(float(len(POOLINGS) * n)).reshape(len(POOLINGS), n)
    return evidence, np.linspace(-1, 1, n)


def test_no_two_inputs_have_the_same_name() -> None:
    assert len(set(input_names())) == len(input_names())
    assert len({pooling.name for pooling in POOLINGS}) == len(POOLINGS)
    assert len(set(page_feature_names())) == len(page_feature_names())


@given(PAGES)
@examples(2)
def test_inputs_are_features_evidence_what_follows_from_the_score_and_neighbours(
    source: str,
) -> None:
    page = Page.of(source)
    evidence, score = evidence_for(page)
    above = page.heading_above.tolist()
    n = len(page.blocks)

    inputs = block_inputs(page, evidence, score)

    columns = inputs.columns
    assert tuple(columns) == input_names()
    assert inputs.matrix.dtype == np.float32
    assert np.array_equal(inputs.matrix.T, np.array([*columns.values()], np.float32))
    assert set(FEATURES) < set(columns)
    for pooling, row in zip(POOLINGS, evidence, strict=True):
        assert columns[f"evidence_{pooling.name}"].tolist() == row.tolist()
    assert columns["score"].tolist() == score.tolist()
    headings = [score[h] if h >= 0 else 0.0 for h in above]
    assert columns["score_of_heading_above"].tolist() == headings
    total = (np.maximum(score, 0) * page.blocks.words).sum() + EPSILON
    assert np.expm1(columns["page_evidence"]) == pytest.approx(np.full(n, total))
    for name in NEIGHBOUR_FEATURES:
        for by in NEIGHBOUR_OFFSETS:
            # Beyond the page there is 0.
            expected = [columns[name][i + by] if 0 <= i + by < n else 0.0 for i in range(n)]
            assert columns[f"{name}[{by:+d}]"].tolist() == expected


@pytest.mark.parametrize(
    ("name", "n", "of"),
    [
        ("article_probability", len(page_feature_names()), "page_weights"),
        ("confidence", len(CONFIDENCE_FEATURES), "confidence_weights"),
    ],
)
def test_a_page_is_classified_by_the_weighted_sum_of_its_features(
    classifier: BlockClassifier, name: str, n: int, of: str
) -> None:
    features = np.linspace(-1, 1, n)
    *weights, constant = map(float, getattr(classifier, of))
    odds = sum(a * b for a, b in zip(features, weights, strict=True)) + constant

    found = getattr(classifier, name)(features)

    assert found == pytest.approx(1 / (1 + np.exp(-odds)))


def test_a_classifier_is_rebuilt_from_its_arrays(classifier: BlockClassifier) -> None:
    rebuilt = BlockClassifier.from_arrays(classifier.arrays)

    assert list(rebuilt.arrays) == list(classifier.arrays)
    assert all(rebuilt.arrays[name] is array for name, array in classifier.arrays.items())
    assert rebuilt.digest == classifier.digest


@given(st.data())
@examples(2)
def test_the_digest_changes_with_any_weight(
    classifier: BlockClassifier, data: st.DataObject
) -> None:
    arrays = {name: array.copy() for name, array in classifier.arrays.items()}
    weights = data.draw(st.sampled_from(sorted(arrays)))
    at = data.draw(st.integers(0, arrays[weights].size - 1))
    arrays[weights].flat[at] = np.nextafter(arrays[weights].flat[at], np.float32(np.inf))

    assert BlockClassifier.from_arrays(arrays).digest != classifier.digest


def test_the_digest_is_of_where_a_weight_is(classifier: BlockClassifier) -> None:
    network = classifier.networks.article
    turned = replace(network, mean=network.scale, scale=network.mean)
    networks = classifier.networks._replace(article=turned)

    assert replace(classifier, networks=networks).digest != classifier.digest
    swapped = Networks(classifier.networks.other, network)
    assert replace(classifier, networks=swapped).digest != classifier.digest


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("", "article"),
        ('<meta name="author" content="A">', "article"),
        ('<script type="application/ld+json">{"@type": "NewsArticle"}</script>', "article"),
        ('<script type="application/ld+json">{"@type": "WebSite"}</script>', "other"),
        ('<meta property="og:type" content="article">', "other"),
        ('<script>{"@type": "Product"}</script>', "other"),
    ],
)
def test_pages_that_declare_something_and_no_article_have_a_network_of_their_own(
    bayes: NaiveBayes[Page], classifier: BlockClassifier, statement: str, name: str
) -> None:
    page = Page.of(f"{statement}<p>The ferry sails again.</p>")
    inputs = classifier.inputs(page, bayes)

    found = classifier.networks.probabilities(page, inputs)

    network = getattr(classifier.networks, name)
    assert found == pytest.approx(logistic(network.log_odds(inputs.matrix).astype(np.float64)))


N_INPUTS = 3
ROWS = st.lists(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=N_INPUTS, max_size=N_INPUTS), max_size=5
)


def log_odds_by_loops(network: Network, row: list[float]) -> float:
    standardized = [
        min(CLIP, max(-CLIP, (value - mean) * scale))
        for value, mean, scale in zip(row, network.mean, network.scale, strict=True)
    ]
    total = float(network.output[-1])
    for unit, weight in enumerate(network.output[:-1]):
        activation = float(network.hidden[-1, unit])
        for value, by in zip(standardized, network.hidden[:-1, unit], strict=True):
            activation += value * float(by)
        total += float(weight) * max(0.0, activation)
    return total


@given(ROWS, st.integers(0, 20))
@examples(2)
def test_log_odds_are_those_of_loops_over_the_weights(rows: list[list[float]], seed: int) -> None:
    network = random_network(N_INPUTS, seed=seed)
    inputs = np.array(rows, np.float32).reshape(-1, N_INPUTS)

    found = network.log_odds(inputs)

    assert found.dtype == np.float32
    expected = [log_odds_by_loops(network, row) for row in inputs.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@given(st.lists(st.lists(st.floats(), min_size=N_INPUTS, max_size=N_INPUTS), max_size=5))
@examples(5)
def test_inputs_are_standardized_alike_however_they_lie(rows: list[list[float]]) -> None:
    network = random_network(N_INPUTS)
    inputs = np.array(rows, np.float64).reshape(-1, N_INPUTS)

    with np.errstate(all="ignore"):
        as_rows, plain = both(lambda: network.standardized(inputs))
        as_columns = network.standardized(inputs.T.copy().T)  # as a page's inputs are
        short = network.standardized(inputs.astype(np.float32))

    assert plain.dtype == np.float32
    for found in (as_rows, as_columns, short):
        assert found.flags.f_contiguous
        # As numbers: one that is none has no bits of its own.
        assert np.array_equal(found, plain, equal_nan=True)


@pytest.mark.parametrize(("tiles", "more"), [(0, 0), (0, 1), (1, -1), (1, 0), (1, 1), (3, 2)])
@pytest.mark.parametrize("tile", [1, 3, 4, 5, 16])
def test_log_odds_do_not_depend_on_the_number_of_rows(
    tiles: int, more: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = random_network(N_INPUTS, n_hidden=2 * tile)
    monkeypatch.setattr(module, "MAX_WORK", tile**2 * N_INPUTS)
    monkeypatch.setattr(module, "UNITS", tile)
    assert network.tile == (tile, tile)
    n = tiles * tile + more
    inputs = np.random.default_rng(0).normal(size=(n, N_INPUTS)).astype(np.float32)

    found = network.log_odds(inputs)

    alone = [network.log_odds(inputs[i : i + 1])[0] for i in range(n)]
    np.testing.assert_allclose(found, np.array(alone, np.float32), rtol=1e-5, atol=1e-5)


def test_no_product_of_the_bundled_network_wakes_the_threads_of_blas() -> None:
    classifier = bundled_model().classifier
    assert classifier is not None

    for network in classifier.networks:
        rows, units = network.tile
        assert units == UNITS
        assert 1 < rows * units * (len(network.hidden) - 1) <= MAX_WORK < 2**19


@pytest.mark.parametrize("n_hidden", [1, 5, 64])
def test_the_weights_of_a_product_begin_at_a_whole_register(n_hidden: int) -> None:
    network = random_network(N_INPUTS, n_hidden)

    tiles = network._tiles  # noqa: SLF001 - what the product is given

    assert tiles.ctypes.data % (LANES * tiles.itemsize) == 0
    assert np.array_equal(np.hstack([*tiles]), network.hidden[:-1])


def test_a_network_of_any_size_has_tiles() -> None:
    assert random_network(MAX_WORK).tile == random_network(MAX_WORK + 1).tile == (1, 1)


def test_a_flag_of_the_processor_is_no_warning() -> None:
    # Raises the flag of an invalid value for certain; libraries raise it by accident.
    left, right = np.array([[np.inf, np.inf]]), np.array([[1.0], [-1.0]])

    with pytest.warns(RuntimeWarning, match="invalid value"):
        left @ right

    assert np.isnan(product(left, right)).all()
