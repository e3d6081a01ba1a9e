"""What earlier commits and other versions have stored is read, and what they count is kept.

``tests/stored`` has a model of two pages of commit 4f693a0, the last one without versions of
families.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scrapy_mss.blocks.families import FAMILIES
from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.format import from_bytes, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.storage.tables import MODEL, Store
from tests.helpers.classifiers import counts_of, random_classifier, trained
from tests.helpers.memories import NOW
from tests.helpers.model_files import with_header
from tests.helpers.stores import put

STORED = Path(__file__).parents[1] / "stored"


@pytest.fixture
def old(store: Store) -> Store:
    """A store with what an earlier version has stored."""
    put(store, MODEL.key("head"), b'[1, 0, 0, 0, 0, ["0a1b2c3d"]]', NOW)
    put(store, MODEL.key("delta 1"), (STORED / "model").read_bytes(), NOW)
    return store


def raised(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Continue as a version that computes the family *name* differently."""
    family = FAMILIES[name]
    monkeypatch.setitem(FAMILIES, name, replace(family, version=family.version + 1))


def counts_in(model: Model, name: str) -> list[list[int]]:
    """The counts of a family, filled buckets alone."""
    counts = model.bayes.counts[name]
    rows: list[list[int]] = counts[counts.any(axis=1)].tolist()
    return rows


def test_what_the_first_format_has_stored_is_read_with_all_counts(old: Store) -> None:
    expected = trained(0, 1)

    assert to_bytes(StoredModel(old, DEFAULT).load()) == to_bytes(expected)


def test_a_family_of_another_version_starts_from_zero_with_one_warning(
    old: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    raised(monkeypatch, "unigram")
    stored, learned = StoredModel(old, DEFAULT), trained(5)

    with caplog.at_level(logging.WARNING):
        before = stored.load()
    stored.add(learned)
    after = stored.load()

    (record,) = caplog.records
    assert "unigram (2 pages)" in record.getMessage()
    assert "shape" not in record.getMessage()
    assert counts_in(before, "unigram") == []
    assert counts_in(after, "unigram") == counts_in(learned, "unigram")
    assert counts_in(after, "shape") == counts_in(trained(0, 1, 5), "shape")
    assert [after.pages_of(name) for name in DEFAULT.families] == [1, 3, 3]
    assert len(after.learned_pages) == 3


def test_two_versions_share_what_both_compute_and_keep_what_one_does(
    old: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take turns with the same store, in which they also have to rewrite what is there."""
    monkeypatch.setattr("scrapy_mss.models.store.MAX_DELTAS", 1)
    earlier = StoredModel(old, DEFAULT)
    earlier.load()
    with monkeypatch.context() as upgraded:
        raised(upgraded, "unigram")
        later = StoredModel(old, DEFAULT)
        later.add(trained(2))
    earlier.add(trained(3))
    with monkeypatch.context() as upgraded:
        raised(upgraded, "unigram")
        later.add(trained(4))
        found = later.load()

    assert counts_in(found, "unigram") == counts_in(trained(2, 4), "unigram")
    assert counts_in(found, "shape") == counts_in(trained(0, 1, 2, 3, 4), "shape")
    found = earlier.load()
    assert counts_in(found, "unigram") == counts_in(trained(0, 1, 3), "unigram")
    assert counts_in(found, "shape") == counts_in(trained(0, 1, 2, 3, 4), "shape")
    assert found.bayes.pages == 5


def test_counts_of_two_versions_before_are_dropped_when_they_are_next_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, found = (STORED / "model").read_bytes(), []
    for _ in range(2):
        raised(monkeypatch, "unigram")
        model = from_bytes(data)
        model.merge(trained(7))
        data = to_bytes(model)
        found.append(list(from_bytes(data).other_families))

    assert found == [[("unigram", 1)], [("unigram", 2)]]
    assert from_bytes((STORED / "model").read_bytes()).restarted == {"unigram": 2}


def test_counts_from_before_versions_start_from_zero() -> None:
    model = from_bytes(with_header((STORED / "model").read_bytes(), fingerprint="0" * 32))

    assert model.restarted == dict.fromkeys(DEFAULT.families, 2)
    assert len(model.learned_pages) == 2


def test_a_complete_model_of_other_counts_reads_with_the_bundled_classifier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = to_bytes(Model(DEFAULT, random_classifier(), counts_of(range(2))))
    with monkeypatch.context() as upgraded:
        raised(upgraded, "shape")
        model = from_bytes(data)

    assert model.classifier is None
    assert model.unusable_classifier == "it was trained with other counts of shape"
    assert with_bundled(model).classifier is not None


def test_counts_beyond_the_greatest_stay_there(monkeypatch: pytest.MonkeyPatch) -> None:
    full = trained(0)
    full.bayes.counts["unigram"][3] = np.iinfo(np.uint32).max
    data = to_bytes(full)
    raised(monkeypatch, "unigram")

    model = from_bytes(data)
    model.merge(from_bytes(data))

    other = model.other_families["unigram", 1]
    assert other.counts[other.buckets == 3].tolist() == [[2**32 - 1] * 2]
    assert other.pages == 2
