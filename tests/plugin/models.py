"""Models by themselves: what a crawl of the site has to come to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.storage.opening import store_at
from scrapy_mss.wrappers import label, load_wrappers
from tests.plugin.site import RULES, wrapped

ADDRESS = "http://127.0.0.1/wrapped/1"


def labelled(number: int) -> tuple[Page, Bools]:
    """The wrapped page *number* as its wrapper labels it."""
    wrapper = load_wrappers(RULES).find(ADDRESS)
    assert wrapper is not None
    html = wrapped(number)
    labelling = label(wrapper, html)
    assert labelling.reason is None
    return Page(labelling.tokens), labelling.inside


def learned(numbers: Iterable[int]) -> Model:
    """What one model learns of the wrapped pages *numbers*, alone."""
    model = Model(DEFAULT)
    for number in numbers:
        model.bayes.learn(*labelled(number))
    return model


def stored_model(named: str | os.PathLike[str]) -> Model:
    """What crawls have learned into the store *named*."""
    with closing(store_at(os.fspath(named))) as store:
        return StoredModel(store, DEFAULT).load()


def store_model(named: str | os.PathLike[str], model: Model) -> None:
    """Add *model* to the store *named*."""
    with closing(store_at(os.fspath(named))) as store:
        StoredModel(store, DEFAULT).add(model)


def assert_same_counts(one: Model, other: Model) -> None:
    """Table by table."""
    assert one.bayes.pages == other.bayes.pages
    assert one.bayes.tokens.tolist() == other.bayes.tokens.tolist()
    assert one.bayes.counts.keys() == other.bayes.counts.keys()
    for name, counts in one.bayes.counts.items():
        assert np.array_equal(counts, other.bayes.counts[name]), name
