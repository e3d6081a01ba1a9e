"""A model that workers read while it learns: what they read is a whole state, by its name."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import pytest

from scrapy_mss.crawl import shared_model
from scrapy_mss.crawl.shared_model import SharedModel, SharedModelReader
from scrapy_mss.crawl.table_changes import BLOCK, TableChanges
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from tests.plugin.models import labelled, learned

pytestmark = pytest.mark.any_scrapy("shared memory and processes; there is no crawl")

N_STATES = 12


@pytest.fixture
def model() -> Model:
    return Model(DEFAULT)


@pytest.fixture
def shared(model: Model) -> Iterator[SharedModel]:
    made = SharedModel(model)
    yield made
    made.close()


@pytest.fixture
def reader(shared: SharedModel) -> SharedModelReader:
    return SharedModelReader(Model(DEFAULT), shared.fileno())


def counts_of(model: Model) -> bytes:
    """A digest of all that *model* counts."""
    found = blake2b(model.bayes.tokens.tobytes())
    for counts in model.bayes.counts.values():
        found.update(counts.tobytes())
    return found.digest()


def learn(shared: SharedModel, model: Model, number: int) -> None:
    observation = model.bayes.observe(*labelled(number))
    with shared.changing(observation):
        model.bayes.add(observation)


def test_a_reader_has_each_state_by_its_name(
    shared: SharedModel, model: Model, reader: SharedModelReader
) -> None:
    for number in range(3):
        state = reader.state()
        assert state.identifier == learned(range(number)).identifier
        assert counts_of(state.model) == counts_of(learned(range(number)))
        learn(shared, model, number)


def test_a_reader_that_missed_some_states_has_the_newest(
    shared: SharedModel, model: Model, reader: SharedModelReader
) -> None:
    for n_learned, n_missed in ((1, 1), (4, 3), (9, 5)):
        for number in range(n_learned - n_missed, n_learned):
            learn(shared, model, number)

        assert counts_of(reader.state().model) == counts_of(learned(range(n_learned)))


def test_a_model_that_becomes_another_one_is_read_whole(
    shared: SharedModel, model: Model, reader: SharedModelReader
) -> None:
    learn(shared, model, 0)
    reader.state()

    with shared.changing():
        model.bayes.copy_from(learned(range(5, 8)).bayes)

    assert counts_of(reader.state().model) == counts_of(learned(range(5, 8)))


def test_what_has_not_changed_is_not_copied(
    shared: SharedModel, model: Model, reader: SharedModelReader
) -> None:
    before = reader.state().model.bayes.counts["unigram"]
    bucket, _ = model.bayes.observe(*labelled(0)).counts["unigram"]
    (untouched, *_) = set(range(len(before) // BLOCK)) - set((bucket // BLOCK).tolist())
    before[untouched * BLOCK] = 7  # of the reader's own copy

    learn(shared, model, 0)

    after = reader.state().model.bayes.counts["unigram"]
    assert after[untouched * BLOCK].tolist() == [7, 7]


def test_a_state_that_is_at_hand_is_not_copied_again(
    shared: SharedModel, model: Model, reader: SharedModelReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(shared, model, 1)
    state = reader.state()
    monkeypatch.setattr(TableChanges, "copy", lambda *_: 1 / 0)

    assert reader.state() is state


def test_a_reader_waits_for_the_end_of_a_change(
    shared: SharedModel, model: Model, reader: SharedModelReader
) -> None:
    names: list[str] = []
    thread = threading.Thread(target=lambda: names.append(reader.state().identifier))

    with shared.changing():
        thread.start()
        model.learn(*labelled(0))
        time.sleep(0.05)
        early = list(names)
    thread.join()

    assert early == []
    assert names == [learned(range(1)).identifier]


def test_a_copy_that_a_change_overtakes_is_made_again(
    shared: SharedModel, model: Model, reader: SharedModelReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = TableChanges.copy
    changes = iter([0, 1])

    def overtaken(tables: TableChanges, *what: Any) -> None:
        copied(tables, *what)
        for number in changes:
            learn(shared, model, number)
            return

    monkeypatch.setattr(TableChanges, "copy", overtaken)

    state = reader.state()

    assert next(changes, None) is None
    assert state.identifier == learned(range(2)).identifier
    assert counts_of(state.model) == counts_of(learned(range(2)))


def test_every_state_that_is_read_during_changes_is_whole(
    shared: SharedModel, model: Model, reader: SharedModelReader
) -> None:
    last = learned(range(N_STATES)).identifier
    read: dict[str, bytes] = {}

    def watch() -> None:
        while last not in read:
            state = reader.state()
            read[state.identifier] = counts_of(state.model)

    thread = threading.Thread(target=watch)
    thread.start()
    for number in range(N_STATES):
        learn(shared, model, number)
    thread.join()

    whole = {each.identifier: counts_of(each) for each in map(learned, map(range, range(13)))}
    assert len(whole) == N_STATES + 1
    assert read == {name: whole[name] for name in read}


def test_a_reader_gives_up_on_a_change_that_never_ends(
    shared: SharedModel, reader: SharedModelReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the crawl is killed in the middle of one: its workers must not wait for ever."""
    monkeypatch.setattr(shared_model, "LONGEST_CHANGE", 0.05)

    with shared.changing(), pytest.raises(TimeoutError):
        reader.state()


def test_an_error_in_a_change_ends_the_change(
    shared: SharedModel, reader: SharedModelReader
) -> None:
    with pytest.raises(ZeroDivisionError), shared.changing():
        raise ZeroDivisionError

    assert reader.state().identifier == learned(range(0)).identifier


def test_a_change_that_cannot_be_noted_ends_too(
    shared: SharedModel, reader: SharedModelReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(TableChanges, "note", failing)
        with pytest.raises(MemoryError), shared.changing():
            raise AssertionError("nothing changes that is not noted")

    assert reader.state().identifier == learned(range(0)).identifier


def test_a_closed_one_leaves_the_model_its_counts(model: Model) -> None:
    shared = SharedModel(model)
    learn(shared, model, 0)

    shared.close()

    assert counts_of(model) == counts_of(learned(range(1)))
