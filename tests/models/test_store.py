"""A model in a store is the sum of what crawls have learned, however they take turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_mss.models import store as model_store
from scrapy_mss.models.format import ModelError, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PAPER
from scrapy_mss.models.store import StoredModel
from scrapy_mss.storage.tables import MODEL, Change, Store, StoreError, writes_of
from tests.helpers.classifiers import trained
from tests.helpers.stores import put


def kept(store: Store) -> bytes:
    """What a crawl that begins now finds there."""
    return to_bytes(StoredModel(store, DEFAULT).load())


def written(store: Store, model: StoredModel, *numbers: int) -> Change:
    """The change by which *model* has added these pages."""
    change = model.adding(partial(trained, *numbers))
    store.write([change])
    return change


def known_by(model: Model) -> list[bytes]:
    """All that *model* has learned, which is quicker to tell than what would be stored of it."""
    counts = (array.tobytes() for array in model.bayes.counts.values())
    pages = (array.tobytes() for array in model.learned_pages.arrays())
    return [model.identifier.encode(), *counts, *pages]


def n_deltas(store: Store, most: int = 200) -> int:
    return len(store.get([MODEL.key(f"delta {number}") for number in range(most)]))


TURNS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(0, 9), min_size=1, max_size=2, unique=True)),
    max_size=10,
)


@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(turns=TURNS, most=st.integers(0, 4))
def test_each_crawl_comes_to_know_what_all_have_learned(
    new_store: Callable[[], Store],
    monkeypatch: pytest.MonkeyPatch,
    turns: list[tuple[int, list[int]]],
    most: int,
) -> None:
    monkeypatch.setattr(model_store, "MAX_DELTAS", most)
    store, total = new_store(), Model(DEFAULT)
    crawls = [StoredModel(store, DEFAULT) for _ in range(3)]
    live = [crawl.load() for crawl in crawls]
    n_missed = [0] * len(crawls)  # deltas since a crawl has last looked
    for number, pages in turns:
        learned = trained(*pages)
        change = written(store, crawls[number], *pages)
        live[number].merge(learned)
        total.merge(learned)
        others = change.after()
        if others is not None:
            live[number].merge(others)
        if n_missed[number] <= most:
            assert known_by(live[number]) == known_by(total)
        live[number] = crawls[number].load()
        n_missed = [missed + 1 for missed in n_missed]
        n_missed[number] = 0

    assert kept(store) == to_bytes(total)
    assert n_deltas(store) <= 2 * (most + 1)


def test_a_crawl_that_is_far_behind_says_so_and_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(model_store, "MAX_DELTAS", 1)
    late, other = StoredModel(store, DEFAULT), StoredModel(store, DEFAULT)
    late.load()
    for number in range(8):
        other.add(trained(number))

    change = written(store, late, 9)

    assert change.after() is None
    assert "is read when the next crawl begins" in caplog.text
    assert kept(store) == to_bytes(trained(*range(8), 9))


def test_what_the_server_has_not_answered_is_not_called_added(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unanswered(_store: Store) -> None:
        raise StoreError("no answer")

    monkeypatch.setattr(type(store), "close", unanswered)

    with pytest.raises(StoreError, match="no answer"):
        StoredModel(store, DEFAULT).add(trained(1))


def test_a_part_that_is_damaged_or_gone_is_named(store: Store) -> None:
    model = StoredModel(store, DEFAULT)
    model.add(trained(1))
    put(store, MODEL.key("delta 1"), to_bytes(trained(1))[:-1], 0)
    with pytest.raises(ModelError, match="the model is damaged") as caught:
        model.load()
    assert store.name in str(caught.value)

    put(store, MODEL.key("head"), b"[7, 3, 0, 0, 0, []]", 0)
    with pytest.raises(ModelError, match="expected 5 parts of the model, got 0"):
        model.load()


@pytest.mark.parametrize(
    "damage", [b"", b"null", b"{}", b"[1, 2]", b'[1, 0, 0, "x", 0, []]', b"\xff", b"[" * 9999]
)
def test_a_damaged_head_is_named_and_nothing_is_written(store: Store, damage: bytes) -> None:
    put(store, MODEL.key("head"), damage, 0)
    model = StoredModel(store, DEFAULT)

    for use in (model.load, lambda: model.add(trained(1))):
        with pytest.raises(ModelError, match="expected the numbers of deltas") as caught:
            use()
        assert store.name in str(caught.value)

    assert n_deltas(store) == 0


class Unanswered:
    """A *store* that makes a write with the next one, as after an answer that is lost."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: list[Change] = []
        self.is_away = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of the store
        return getattr(self._store, name)

    def write(self, changes: Sequence[Change]) -> None:
        if self.is_away:
            writes_of(changes, self._store.get(key for each in changes for key in each.reads))
            self._pending = list(changes)
            return
        for each in filter(None, (self._pending, changes)):
            self._store.write(each)
        self._pending = []


def test_a_delta_that_comes_late_and_so_has_another_number_is_still_ours(store: Store) -> None:
    late = Unanswered(store)
    ours, other = StoredModel(late, DEFAULT), StoredModel(store, DEFAULT)
    live = ours.load()
    for number, is_away in enumerate([True, False, False]):
        late.is_away = is_away
        live.merge(trained(number))
        others = written(late, ours, number).after()
        if others is not None:
            live.merge(others)
        if is_away:
            other.add(trained(7))

    assert to_bytes(live) == kept(store) == to_bytes(trained(0, 1, 2, 7))


def test_a_base_that_cannot_be_stored_costs_nobody_what_was_learned(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(model_store, "MAX_DELTAS", 1)
    ours, other = StoredModel(store, DEFAULT), StoredModel(store, DEFAULT)
    ours.load()
    monkeypatch.setattr(StoredModel, "_rebasing", failing)
    for number in range(3):
        other.add(trained(number))
    others = written(store, ours, 9).after()

    assert others is not None
    assert to_bytes(others) == to_bytes(trained(0, 1, 2))
    assert "the deltas cannot be added up: full" in caplog.text
    assert kept(store) == to_bytes(trained(0, 1, 2, 9))


def failing(_model: StoredModel) -> Change:
    raise StoreError("full")


def test_deltas_of_others_that_are_damaged_do_not_make_ours_count_twice(store: Store) -> None:
    ours = StoredModel(store, DEFAULT)
    ours.load()
    StoredModel(store, DEFAULT).add(trained(5))
    put(store, MODEL.key("delta 1"), b"no model", 0)
    change = written(store, ours, 1)

    with pytest.raises(ValueError, match="model"):
        change.after()

    assert n_deltas(store) == 2
    assert change.after() is None


def test_what_is_of_other_features_or_too_much_is_refused(store: Store) -> None:
    full = trained(1)
    full.bayes.counts["unigram"][:] = 2**32 - 1
    StoredModel(store, DEFAULT).add(full)
    StoredModel(store, DEFAULT).add(trained(1))

    with pytest.raises(ModelError, match=r"prefix=test|store\.db"):
        StoredModel(store, DEFAULT).load()
    with pytest.raises(ModelError, match="for the profile 'default', not for 'paper'"):
        StoredModel(store, PAPER).load()
