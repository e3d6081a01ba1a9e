"""Copies of a model that follow what it learns."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_mss.crawl import wire
from scrapy_mss.crawl.wire import NOTHING, ModelChanges, follow
from scrapy_mss.models.files import bundled_model
from scrapy_mss.models.model import Example, Model, example_of
from scrapy_mss.models.profiles import DEFAULT
from tests.plugin.models import assert_same_counts, labelled, learned

pytestmark = pytest.mark.any_scrapy("messages between processes; there is no crawl")


class Copy:
    """A copy of the model of *changes*, as a worker has one."""

    def __init__(self, changes: ModelChanges) -> None:
        self.model, self._changes, self._generation = Model(DEFAULT), changes, NOTHING
        self.received = deque[int](maxlen=1)  # bytes of the last message

    def follow(self) -> Model:
        sent, self._generation = self._changes.since(self._generation)
        follow(self.model, sent)
        self.received.append(sum(map(len, sent)))
        return self.model


def learn(changes: ModelChanges, model: Model, number: int) -> None:
    made = example(number, model)
    with changes.changing(made):
        model.learned.add(made, 0)


def example(number: int, model: Model) -> Example:
    made = example_of(*labelled(number), model)
    assert isinstance(made, Example)
    return made


@settings(max_examples=8)  # each of them makes tables of millions of buckets
@given(st.lists(st.sampled_from(["learn", "become", "fail", "one", "other"]), max_size=12))
def test_a_copy_has_the_counts_and_the_name_of_the_state_that_it_was_sent(steps: list[str]) -> None:
    model = Model(DEFAULT)
    changes = ModelChanges(model)
    copies = {"one": Copy(changes), "other": Copy(changes)}
    for number, step in enumerate([*steps, "one", "other"]):
        if step == "learn":
            learn(changes, model, number)
        elif step == "become":
            with changes.changing():
                model.learned.bayes.copy_from(learned(range(number)).bayes)
        elif step == "fail":
            with (
                pytest.raises(ZeroDivisionError),
                changes.changing(example(0, model)),
            ):
                raise ZeroDivisionError
        else:
            copy = copies[step].follow()
            assert_same_counts(copy, model)
            assert copy.identifier == model.identifier


def test_a_copy_is_sent_what_it_lacks_and_no_more() -> None:
    model = bundled_model()
    model.learned.bayes.copy_from(model.bayes)
    changes = ModelChanges(model)
    copy = Copy(changes)
    copy.follow()
    (whole,) = copy.received

    copy.follow()
    assert list(copy.received) == [0]
    learn(changes, model, 50)
    copy.follow()
    assert 0 < copy.received[0] < whole / 10


def test_changes_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_BYTES", 100_000)
    model = Model(DEFAULT)
    changes = ModelChanges(model)
    late = Copy(changes)
    late.follow()
    for number in range(100):
        learn(changes, model, number)

    assert sum(map(len, changes._changes)) <= 100_000
    assert_same_counts(late.follow(), model)
