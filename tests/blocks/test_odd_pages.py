"""Odd and hostile pages through all steps of the block classifier: sound numbers, linear time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from scrapy_mss.blocks.classifier import MAX_LOG_ODDS, block_evidence
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import ReadPage, page_features
from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.blocks.selection import kept_tokens, select, threshold
from tests.helpers.classifiers import counts_of, input_names, random_classifier
from tests.helpers.layouts import ODD
from tests.helpers.timing import FACTOR, grows_linearly

BAYES, CLASSIFIER = counts_of(range(2)), random_classifier()


@pytest.mark.parametrize("name", ODD)
def test_every_step_gives_sound_numbers(name: str) -> None:
    page = Page.of(ODD[name])
    tokens, blocks, n = page.tokens, page.blocks, len(page.blocks)

    evidence, inputs = block_evidence(page, BAYES), CLASSIFIER.inputs(page, BAYES)
    probability = CLASSIFIER.networks.probabilities(page, inputs)
    _, span, kept, *_ = select(page, probability)
    features = page_features(
        ReadPage(page, inputs, probability, kept, threshold(page, probability))
    )

    assert blocks.ancestors.shape == (LEVELS, n)
    assert blocks.words.sum() == tokens.is_word.sum()
    assert np.all((blocks.words > 0) & (blocks.linked_words <= blocks.words))
    assert np.all(blocks.first <= blocks.last)
    assert np.abs(evidence).max(initial=0) <= MAX_LOG_ODDS
    assert inputs.matrix.shape == (n, len(input_names()))
    assert np.isfinite(inputs.matrix).all()
    assert np.all((probability >= 0) & (probability <= 1))
    assert 0 <= threshold(page, probability) <= 0.5
    assert 0 <= span.start <= span.end <= len(tokens)
    assert (kept_tokens(page, kept) & tokens.is_word).sum() == blocks.words[kept].sum()
    assert np.isfinite(features).all()
    assert 0 <= CLASSIFIER.article_probability(features) <= 1


GROWING: dict[str, Callable[[int], str]] = {
    "paragraphs": lambda n: "<div class=story><p>One two, three.</p></div>" * (n // 45),
    "nested elements": lambda n: "<div class=story>" * (n // 23) + "one" + "</div>" * (n // 23),
    "nested elements with text": lambda n: "<ul class=a>one" * (n // 20) + "</ul>" * (n // 20),
    "unclosed elements": lambda n: "<div class=story>one" * (n // 20),
    "one word": lambda n: "a" * n,
    "headings": lambda n: "<h2>one</h2><p>two</p>" * (n // 22),
    "class words": lambda n: '<div class="' + "story " * (n // 6) + '">one</div>',
    "attributes": lambda n: "<div " + "class=one " * (n // 10) + ">one</div>",
    "quotes": lambda n: "<div class='" * (n // 12) + "'>one</div>",
    "symbols": lambda n: "<p>one" + ".,;:" * (n // 4),
    "a declared type": lambda n: '<p>one<i "@type":' + " " * n + ">two",
    "declared types": lambda n: "<p>one<i " + "'@type' : [ " * (n // 12) + ">two",
    "the same paragraph": lambda n: "<p>one two three four five</p>" * (n // 30),
}


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_page(name: str) -> None:
    def run_of(source: str) -> Callable[[], float]:
        def run() -> float:
            page = Page.of(source)
            inputs = CLASSIFIER.inputs(page, BAYES)
            probability = CLASSIFIER.networks.probabilities(page, inputs)
            chosen = select(page, probability)
            kept_tokens(page, chosen.kept)
            read = ReadPage(page, inputs, probability, chosen.kept, chosen.threshold)
            return CLASSIFIER.article_probability(page_features(read))

        return run

    small, large = (run_of(GROWING[name](size)) for size in (40_000, FACTOR * 40_000))

    assert grows_linearly(small, large)
