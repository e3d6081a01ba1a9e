"""What is not written yet: the same as a model that learned it, in less memory."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.crawl import training
from scrapy_mss.crawl.training import Unsaved
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.model import Example, LearnedPages, Model, example_of
from scrapy_mss.models.profiles import DEFAULT
from tests.plugin.models import assert_same_counts, labelled
from tests.plugin.site import wrapped

pytestmark = pytest.mark.any_scrapy("counts of a model; there is no crawl")

N_PAGES = 6


def example(number: int) -> Example:
    _, inside = labelled(number)
    made = example_of(tokenize(wrapped(number)), inside, f"https://a.example/{number}", MODEL)
    assert isinstance(made, Example)
    return made


MODEL = Model(DEFAULT)
EXAMPLES = [example(number) for number in range(N_PAGES)]
BATCHES = st.lists(st.lists(st.sampled_from(EXAMPLES), max_size=4), max_size=4)


def batch(examples: list[Example]) -> Unsaved:
    made = Unsaved()
    for each in examples:
        made.add(each, 0)
    return made


@given(BATCHES, st.sampled_from([1, 500, 2**15]))
def test_batches_that_follow_one_another_are_what_a_model_learns_of_them(
    batches: list[list[Example]], fewest_rows: int
) -> None:
    expected = Model(DEFAULT)
    for each in chain(*batches):
        expected.bayes.add(each.observation)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "FEWEST_ROWS", fewest_rows)
        together = Unsaved()
        for examples in batches:
            together.follow(batch(examples))

        made = together.as_model(DEFAULT)

    assert_same_counts(made, expected)
    assert together.pages == expected.bayes.pages
    assert set(made.learned_pages.arrays()[0].tolist()) == {each.key for each in chain(*batches)}


def test_what_cannot_be_taken_in_is_not_taken_in_by_half(monkeypatch: pytest.MonkeyPatch) -> None:
    first, later = batch(EXAMPLES[:2]), batch(EXAMPLES[2:])

    def failing(*_: object) -> int:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(LearnedPages, "merge", failing)
        with pytest.raises(MemoryError):
            first.follow(later)

    assert first.pages == 2
    assert_same_counts(first.as_model(DEFAULT), batch(EXAMPLES[:2]).as_model(DEFAULT))


def test_rows_are_added_up_before_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "FEWEST_ROWS", 1)
    made = Unsaved()

    for _ in range(50):
        made.add(EXAMPLES[0], 0)

    one = sum(len(bucket) for bucket, _ in EXAMPLES[0].observation.counts.values())
    assert sum(map(training._rows, made._counts)) <= 4 * one


def test_a_page_is_taken_in_even_where_no_room_is_left_to_add_rows_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(training, "FEWEST_ROWS", 1)
        patch.setattr(training, "united", failing)
        made = Unsaved()
        for each in EXAMPLES[:3]:
            made.add(each, 0)

    assert made.pages == 3
    assert_same_counts(made.as_model(DEFAULT), batch(EXAMPLES[:3]).as_model(DEFAULT))
    learned_keys = made.as_model(DEFAULT).learned_pages.arrays()[0].tolist()
    assert set(learned_keys) == {each.key for each in EXAMPLES[:3]}
