"""A model's identifier: the same for the same state, another one for any other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.models.format import from_bytes, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PAPER, TRIGRAM
from tests.helpers.classifiers import counts_of, random_classifier
from tests.helpers.news_pages import news_page

NUMBERS = st.lists(st.integers(0, 3), max_size=6)


@cache
def observation_of(number: int) -> Observation:
    page = news_page(number)
    return Model(DEFAULT).bayes.observe(Page(page.tokens), page.inside)


def model_of(numbers: Sequence[int]) -> Model:
    """A model that learned these pages, in this order."""
    model = Model(DEFAULT)
    for number in numbers:
        model.bayes.add(observation_of(number))
    return model


def identifier_after(html: str, inside: Sequence[int], model: Model | None = None) -> str:
    """The identifier of a model that learned *html*, whose tokens *inside* are the article."""
    page, model = Page.of(html), model or Model(DEFAULT)
    labels = np.zeros(len(page.tokens), np.bool_)
    labels[list(inside)] = True
    model.bayes.learn(page, labels)
    return model.identifier


@given(NUMBERS, st.data())
def test_the_order_of_learned_pages_does_not_matter(
    numbers: list[int], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(numbers))

    assert model_of(shuffled).identifier == model_of(numbers).identifier


@given(NUMBERS, NUMBERS)
def test_merged_models_have_the_identifier_of_one_that_learned_all(
    numbers: list[int], others: list[int]
) -> None:
    one, other = model_of(numbers), model_of(others)

    one.bayes.merge(other.bayes)

    assert one.identifier == model_of([*numbers, *others]).identifier


@given(NUMBERS, NUMBERS)
def test_other_pages_give_another_identifier(numbers: list[int], others: list[int]) -> None:
    same = sorted(numbers) == sorted(others)

    assert (model_of(numbers).identifier == model_of(others).identifier) == same


STORY = '<div class="story"><p>One two three.</p></div>'


@pytest.mark.parametrize(
    ("html", "inside"),
    [
        (STORY.replace("three", "four"), [2, 3]),
        (STORY.replace("story", "menu"), [2, 3]),
        (STORY.replace("p>", "h2>"), [2, 3]),
        (STORY, [2, 3, 4]),
        (STORY, [3]),
        (STORY, []),
    ],
    ids=["a word", "a class word", "a tag", "one more label", "one less label", "no label"],
)
def test_any_change_of_a_page_or_its_labels_gives_another_identifier(
    html: str, inside: list[int]
) -> None:
    assert identifier_after(html, inside) != identifier_after(STORY, [2, 3])


def test_another_weight_gives_another_identifier() -> None:
    classifier = random_classifier()
    arrays = {name: array.copy() for name, array in classifier.arrays.items()}
    arrays["page_weights"][-1] += 1
    other = BlockClassifier.from_arrays(arrays)
    bayes = counts_of([1])

    identifiers = {Model(DEFAULT, c, bayes).identifier for c in (None, classifier, other)}

    assert len(identifiers) == 3


def test_learning_changes_the_identifier_of_a_model_with_a_classifier() -> None:
    model = Model(DEFAULT, random_classifier(), counts_of([1]))
    before = model.identifier

    assert identifier_after(STORY, [2], model) != before


def test_an_identifier_names_the_profile_and_the_number_of_pages() -> None:
    assert model_of([1, 2, 2]).identifier.startswith("default@3p-")
    assert Model(PAPER).identifier == "paper@0p-0000000000000000"
    assert Model(TRIGRAM).identifier != Model(PAPER).identifier


@pytest.mark.parametrize("classifier", [None, random_classifier()], ids=["counts", "complete"])
def test_a_stored_model_keeps_its_identifier(classifier: BlockClassifier | None) -> None:
    model = Model(DEFAULT, classifier, counts_of([1, 2]))

    assert from_bytes(to_bytes(model)).identifier == model.identifier
