from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
import pytest
from hypothesis import given

from scrapy_mss.blocks import container_features as agreement
from scrapy_mss.blocks import features as measures
from scrapy_mss.blocks.classifier import (
    BESIDE,
    NEIGHBOURS,
    OF_NAMES,
    OF_TOKENS,
    SUREST,
    Judge,
    evidence_of,
    inputs_of,
    score,
)
from scrapy_mss.blocks.page_features import N_LOOKS, looks_of
from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.core.features import NAME_BITS, NAMES, name_buckets
from scrapy_mss.core.naive_bayes import LAYOUT_SMOOTHING, SMOOTHING, NaiveBayes
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.profiles import DEFAULT
from tests.helpers.classifiers import learned, random_judge
from tests.helpers.layouts import ODD, PAGES, blocks_around, runs_of
from tests.helpers.news_pages import news_page
from tests.test_hostile import LINEAR, ratios


@pytest.fixture(scope="module")
def bayes() -> NaiveBayes:
    return learned()


@pytest.fixture(scope="module")
def judge() -> Judge:
    return random_judge()


def said(bayes: NaiveBayes, family: str, bucket: int) -> float:
    """What the counts say of one feature, by the formula."""
    outside, inside = bayes.counts[family][bucket].tolist()
    if not outside + inside:
        return 0.0
    doubt = SMOOTHING if family == OF_TOKENS else LAYOUT_SMOOTHING
    all_out, all_in = bayes.tokens.tolist()
    return log((inside + doubt) / (outside + doubt)) - log((all_in + 1) / (all_out + 1))


@given(PAGES)
def test_evidence_of_a_passage_is_that_of_its_tokens_and_of_the_names_around(
    bayes: NaiveBayes, source: str
) -> None:
    tokens = tokenize(source)
    runs, around = runs_of(tokens), blocks_around(tokens)
    names = tokens.passages.names
    buckets = name_buckets(names, NAME_BITS).tolist()
    of_element: dict[int, list[float]] = {}
    for bucket, of in zip(buckets, names.of.tolist(), strict=True):
        of_element.setdefault(int(names.element[of]), []).append(said(bayes, NAMES, bucket))

    evidence = evidence_of(bayes, tokens.passages)

    for number, run in enumerate(runs):
        expected = []
        for family in bayes.families:
            row = family.buckets(tokens, family.bits)
            values = [said(bayes, family.name, int(row[at])) for at in run]
            if family.name != OF_TOKENS:
                assert len(set(values)) == 1
            expected.append(sum(values) / len(values))
        blocks = around[run[0]][:LEVELS]
        of_names = [value for block in blocks for value in of_element.get(block, [])]
        expected += [sum(of_names), min([0.0, *of_names]), max([0.0, *of_names])]
        clipped = [min(SUREST, max(-SUREST, value)) for value in expected]
        np.testing.assert_allclose(evidence[:, number], clipped, atol=1e-9)


def test_counts_without_names_give_no_evidence_of_names() -> None:
    families = tuple(name for name in DEFAULT.families if name != NAMES)
    passages = news_page(9).tokens.passages

    found, expected = (
        evidence_of(learned(2, some), passages) for some in (families, DEFAULT.families)
    )

    assert found.tolist() == expected[: len(families)].tolist()
    assert len(expected) == len(families) + len(OF_NAMES)


def test_counts_that_learned_nothing_say_nothing() -> None:
    evidence = evidence_of(NaiveBayes(DEFAULT.families), news_page(1).tokens.passages)

    assert not evidence.any()


def test_what_was_inside_speaks_for_a_passage_and_what_was_outside_against_it(
    bayes: NaiveBayes,
) -> None:
    page = news_page(50)
    passages, inside = page.tokens.passages, page.inside

    _, element, *_ = evidence_of(bayes, passages)

    kept = inside[passages.first]
    assert element[kept].min() > 0 > element[~kept].max()


def test_a_score_is_the_weighted_sum_of_evidence() -> None:
    evidence = np.array([[1.0, 2.0], [3.0, -4.0]])

    assert score(evidence, np.array([2, 0.5, -1], np.float32)).tolist() == [2.5, 1.0]


@given(PAGES)
def test_the_network_is_shown_all_measures_and_those_of_the_passages_beside(source: str) -> None:
    passages = tokenize(source).passages
    n = len(passages)
    evidence = np.arange(2.0 * n).reshape(2, n)
    scores = np.linspace(-1, 1, n)
    looks = measures.columns(passages)
    last = measures.last_heading(passages)

    inputs = inputs_of(passages, evidence, scores)

    assert inputs.dtype == np.float32
    expected = []
    for i in range(n):
        row = [column[i] for column in looks.values()]
        row += [evidence[0, i], evidence[1, i], scores[i], scores[last[i]] if last[i] >= 0 else 0]
        row += [column[i] for column in agreement.columns(passages, scores).values()]
        for column in [scores, *(looks[name] for name in BESIDE)]:
            row += [column[i + by] if 0 <= i + by < n else 0 for by in NEIGHBOURS]
        expected.append(row)
    if n:
        np.testing.assert_allclose(inputs, expected, rtol=1e-6)
    assert len(inputs) == n


@given(PAGES)
def test_probabilities_are_between_0_and_1_and_the_same_each_time(
    bayes: NaiveBayes, judge: Judge, source: str
) -> None:
    passages = tokenize(source).passages

    found = judge.probabilities(evidence_of(bayes, passages), passages)

    assert found.shape == (len(passages),)
    assert np.all((found >= 0) & (found <= 1))
    again = tokenize(source).passages
    assert judge.probabilities(evidence_of(bayes, again), again).tolist() == found.tolist()


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_are_judged(name: str, bayes: NaiveBayes, judge: Judge) -> None:
    passages = tokenize(ODD[name]).passages

    evidence = evidence_of(bayes, passages)
    found = judge.probabilities(evidence, passages)
    looks = looks_of(passages, judge.score(evidence), found, found > 0.5)

    assert np.isfinite(evidence).all()
    assert np.abs(evidence).max(initial=0) <= SUREST
    assert np.all((found >= 0) & (found <= 1))
    assert looks.shape == (N_LOOKS,)
    assert np.isfinite(looks).all()
    assert 0 <= judge.article(looks) <= 1


def test_a_judge_decides_by_the_weighted_sum_of_looks(judge: Judge) -> None:
    looks = np.linspace(-1, 1, N_LOOKS)
    odds = sum(a * float(b) for a, b in zip(looks, judge.decision, strict=False))

    found = judge.article(looks)

    assert found == pytest.approx(1 / (1 + np.exp(-odds - float(judge.decision[-1]))))


GROWING: dict[str, Callable[[int], str]] = {
    "paragraphs": lambda n: "<div class=story><p>One two, three.</p></div>" * (n // 45),
    "boxes": lambda n: "<div class=story>" * (n // 23) + "one" + "</div>" * (n // 23),
    "boxes with text": lambda n: "<div class=story>one" * (n // 26) + "</div>" * (n // 26),
    "unclosed boxes": lambda n: "<div class=story>one" * (n // 20),
    "one word": lambda n: "a" * n,
    "headings": lambda n: "<h2>one</h2><p>two</p>" * (n // 22),
    "names": lambda n: '<div class="' + "story " * (n // 6) + '">one</div>',
    "attributes": lambda n: "<div " + "class=one " * (n // 10) + ">one</div>",
    "quotes": lambda n: "<div class='" * (n // 12) + "'>one</div>",
    "signs": lambda n: "<p>one" + ".,;:" * (n // 4),
    "types": lambda n: '<p>one<i "@type":' + " " * n + ">two",
    "many types": lambda n: "<p>one<i " + "'@type' : [ " * (n // 12) + ">two",
}


@pytest.mark.parametrize("name", GROWING)
def test_a_page_four_times_as_long_takes_four_times_as_long_to_judge(
    name: str, bayes: NaiveBayes, judge: Judge
) -> None:
    def judged(source: str) -> Callable[[], float]:
        def run() -> float:
            passages = tokenize(source).passages
            evidence = evidence_of(bayes, passages)
            found = judge.probabilities(evidence, passages)
            return judge.article(looks_of(passages, judge.score(evidence), found, found > 0.5))

        return run

    small, large = judged(GROWING[name](40_000)), judged(GROWING[name](160_000))

    assert any(ratio < LINEAR for ratio in ratios(large, small))
