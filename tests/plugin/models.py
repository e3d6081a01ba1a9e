"""Models by themselves: what a crawl of the site has to come to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.wrappers import label, load_wrappers
from tests.plugin.site import RULES, wrapped

ADDRESS = "http://127.0.0.1/wrapped/1"


def learned(numbers: Iterable[int]) -> Model:
    """What one model learns of the wrapped pages *numbers*, alone."""
    model = Model(DEFAULT)
    wrapper = load_wrappers(RULES).find(ADDRESS)
    assert wrapper is not None
    for number in numbers:
        html = wrapped(number)
        labelling = label(wrapper, html, tokenize(html))
        assert labelling.reason is None
        model.learn(labelling.tokens, labelling.inside)
    return model


def name_of(model: Model) -> str:
    """What items say of the state of a live *model*."""
    outside, inside = model.bayes.tokens.tolist()
    return f"{model.profile.name}@{model.bayes.pages}p{inside}-{outside}"


def assert_same_counts(one: Model, other: Model) -> None:
    """Table by table."""
    assert one.bayes.pages == other.bayes.pages
    assert one.bayes.tokens.tolist() == other.bayes.tokens.tolist()
    assert one.bayes.counts.keys() == other.bayes.counts.keys()
    for name, counts in one.bayes.counts.items():
        assert np.array_equal(counts, other.bayes.counts[name]), name
