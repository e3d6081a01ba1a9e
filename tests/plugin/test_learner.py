"""Learners and their store: what fails, and what other crawls add."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection
from scrapy_mss.crawl.training import Learner
from scrapy_mss.models import model
from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.model import Example, LearnedPages, Model, example_of
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import MODEL, Change, Row
from tests.helpers.checkpoints import alone, checkpoints_of, finish, write
from tests.plugin.models import assert_same_counts, labelled, learned, store_model, stored_model
from tests.plugin.site import wrapped

pytestmark = pytest.mark.any_scrapy("learners and their store; there is no crawl")


def learner_of(named: str | Path) -> Learner:
    store = store_at(str(named))
    return alone(Learner(StoredModel(store, DEFAULT)), store)


def learn(learner: Learner, number: int) -> None:
    assert tried(learner, number) is None


def tried(learner: Learner, number: int, address: str = "") -> Rejection | None:
    """Why the page *number* was not learned, at an *address* or at its own."""
    return learner.learn(example(number, address or f"https://news.example/{number}"))


def example(number: int, address: str) -> Example:
    _, inside = labelled(number)
    made = example_of(Page.of(wrapped(number), url=address), inside, EMPTY)
    assert isinstance(made, Example)
    return made


EMPTY = Model(DEFAULT)


def test_pages_that_are_not_counted_are_learned_once_and_stored(tmp_path: Path) -> None:
    made = example(0, "https://news.example/0")
    learner = learner_of(tmp_path)

    assert learner.learn(made.trusted(0.8)) is None
    assert (learner.pages, learner.lost) == (0, 1)
    assert learner.learn(made) is Rejection.ALREADY_LEARNED
    assert learner.model.identifier != learner_of(tmp_path).model.identifier
    finish(learner)

    assert learner.lost == 0
    assert_same_counts(stored_model(tmp_path), EMPTY)
    assert learner_of(tmp_path).learn(made) is Rejection.ALREADY_LEARNED
    assert learner_of(tmp_path).model.identifier == learner.model.identifier


def test_generations_go_on_where_pages_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "PAGES_OF_A_GENERATION", 2)
    made = example(0, "https://news.example/0").trusted(0.8)

    for first in (0, 3):  # in two crawls
        learner = learner_of(tmp_path)
        for key in range(first, first + 3):
            assert learner.learn(replace(made, key=key)) is None
        finish(learner)

    assert stored_model(tmp_path).learned_pages.arrays()[1].tolist() == [0, 0, 1, 1, 2, 2]


def with_lessons(number: int, reader: int) -> Example:
    """The page *number*, with lessons by the bundled classifier or by another one."""
    _, inside = labelled(number)
    page = Page.of(wrapped(number), url=f"https://news.example/{number}")
    made = example_of(page, inside, with_bundled(Model(DEFAULT)))
    assert isinstance(made, Example)
    return replace(made, lessons=replace(made.lessons, reader=reader or made.lessons.reader))


def test_lessons_of_an_earlier_release_are_replaced_in_the_store(folder: Path) -> None:
    earlier = Model(DEFAULT)
    earlier.add(with_lessons(0, 1), 0)
    StoredModel(store_at(str(folder)), DEFAULT).add(earlier)

    for number in (1, 2):
        learner = learner_of(folder)
        learn_with_lessons = learner.learn(with_lessons(number, 0))
        finish(learner)

        assert learn_with_lessons is None
        assert stored_model(folder).lessons.reader == learner.model.reader
        assert stored_model(folder).lessons.pages == pytest.approx(number, abs=1e-3)


def test_a_crawl_uses_no_lessons_of_another_release_at_work_on_its_store(folder: Path) -> None:
    learner, other = learner_of(folder), Model(DEFAULT)
    other.add(with_lessons(0, 1), 0)
    StoredModel(store_at(str(folder)), DEFAULT).add(other)

    learner.learn(with_lessons(1, 0))
    write(learner)

    assert len(learner.model.learned.learned_pages) == 2
    assert learner.model.learned.lessons.reader == learner.model.reader
    with pytest.raises(ValueError, match="another classifier"):
        learner.learn(with_lessons(2, 1))


# A store that fails


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """That of a store, which is not there yet."""
    return tmp_path / "store"


def block(folder: Path) -> None:
    """Put a file where the *folder* of a store should be."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.touch()


def test_a_checkpoint_that_fails_keeps_its_counts_and_is_tried_again(folder: Path) -> None:
    """With the next one, and not at each page; its pages stay known."""
    learner = learner_of(folder)
    block(folder)

    for number in range(3):
        learn(learner, number)
        write(learner)
        assert tried(learner, number) is Rejection.ALREADY_LEARNED
        assert learner.unsaved_pages == 0
    folder.unlink()
    learn(learner, 3)
    finish(learner)

    assert (learner.failures, learner.n_checkpoints, learner.pages) == (3, 1, 4)
    assert len(stored_model(folder).learned_pages) == 4
    assert_same_counts(stored_model(folder), learned(range(4)))
    assert_same_counts(learner.model.learned, (learned(range(4))))


def raising(error: Exception) -> Callable[..., None]:
    def failing(*_: object) -> None:
        raise error

    return failing


def test_counts_that_memory_fails_to_take_back_are_taken_back_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = learner_of(folder)

    learn(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "write", raising(MemoryError()))
        patch.setattr(LearnedPages, "merge", raising(MemoryError()))
        write(learner)
        learn(learner, 1)
    finish(learner)

    assert learner.failures == 2
    assert_same_counts(stored_model(folder), learned(range(2)))


# What others add


def test_what_others_have_added_is_learned_with_the_next_checkpoint_and_not_again(
    store_name: str,
) -> None:
    one, other = learner_of(store_name), learner_of(store_name)
    learn(other, 1)
    finish(other)
    learn(one, 0)
    write(one)

    assert tried(one, 1) is Rejection.ALREADY_LEARNED
    finish(one)
    assert (one.pages, one.n_twice) == (2, 0)
    assert_same_counts(one.model, with_bundled(learned(range(2))))
    assert_same_counts(stored_model(store_name), learned(range(2)))


def test_a_page_is_learned_once_by_all_crawls_of_a_store(store_name: str) -> None:
    """In one crawl, unsaved, in flight and saved; and in the next one."""
    first = learner_of(store_name)
    learn(first, 0)
    again = [tried(first, 0)]
    first.checkpoint()
    again.append(tried(first, 0))
    assert checkpoints_of(first).settle()
    again.append(tried(first, 0))
    finish(first)
    second = learner_of(store_name)
    again.append(tried(second, 0))
    finish(second)

    assert again == [Rejection.ALREADY_LEARNED] * 4
    assert first.pages == second.pages == 1
    assert_same_counts(stored_model(store_name), learned(range(1)))


def test_a_page_that_two_crawls_learn_at_once_counts_twice_and_is_counted(store_name: str) -> None:
    one, other = learner_of(store_name), learner_of(store_name)
    for number in range(3):
        learn(one, number)
    for number in range(1, 5):
        learn(other, number)

    finish(one)
    finish(other)

    assert (one.n_twice, other.n_twice) == (0, 2)
    stored = stored_model(store_name)
    assert stored.bayes.pages == 7
    assert len(stored.learned_pages) == 5


def damage(folder: Path) -> None:
    """Have another crawl add what cannot be read."""
    store_model(folder, learned([10]))
    rows = {MODEL.key("delta 1"): Row(b"somebody else's", 30_000_000)}
    store_at(str(folder)).write([Change((), lambda _: rows)])


def test_learning_goes_on_beside_a_crawl_whose_counts_cannot_be_used(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    learner = learner_of(folder)
    damage(folder)

    learn(learner, 0)
    write(learner)
    learn(learner, 1)
    finish(learner)

    assert (learner.n_checkpoints, learner.failures, learner.lost) == (2, 0, 0)
    assert ["cannot load what other crawls learned" in text for text in caplog.messages] == [True]
    assert_same_counts(learner.model.learned, (learned(range(2))))
