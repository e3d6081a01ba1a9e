"""The model file as learners write it: what fails, what others add, writers that are killed."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection, span_labels
from scrapy_mss.crawl.learner import Learner
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.bundled import with_bundled
from scrapy_mss.models.examples import example_of
from scrapy_mss.models.learned_pages import LearnedPages
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore, read_model
from tests.helpers.checkpoints import alone, checkpoints_of, finish, write
from tests.plugin.crawling import environment
from tests.plugin.models import assert_same_counts
from tests.plugin.site import wrapped

pytestmark = pytest.mark.any_scrapy("learners and their file; there is no crawl")

WRITER = Path(__file__).with_name("writer.py")
KILLS = 20
LIMIT = 120.0  # seconds


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


# A learner and its file


def teach(learner: Learner, number: int) -> None:
    assert taught(learner, number) is None


def taught(learner: Learner, number: int) -> Rejection | None:
    return learned_of(learner, number, address_of(number))


def learned_of(learner: Learner, number: int, address: str) -> Rejection | None:
    tokens = tokenize(wrapped(number))
    example = example_of(tokens, inside_of(number), address, learner.model)
    return example if isinstance(example, Rejection) else learner.learn(example)


def address_of(number: int) -> str:
    return f"https://news.example/{number}"


def inside_of(number: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    html = wrapped(number)
    before = len(tokenize(html[: html.index("<p>")]))
    behind = len(tokenize(html[html.index('<div class="box">') :]))
    return span_labels(len(tokenize(html)), before, len(tokenize(html)) - behind)


def counts_after(numbers: range) -> Model:
    model = Model(DEFAULT)
    for number in numbers:
        model.learn(Page.of(wrapped(number)), inside_of(number))
    return model


def test_a_checkpoint_that_fails_keeps_its_counts_and_is_tried_again(tmp_path: Path) -> None:
    blocked = tmp_path / "folder"
    blocked.write_text("a file where the folder should be")
    learner = alone(Learner(FileStore(blocked / "model", DEFAULT)))

    for number in range(3):
        teach(learner, number)
        write(learner)
    blocked.unlink()
    teach(learner, 3)
    learner.checkpoint()
    finish(learner)

    assert learner.failures == 3
    assert learner.n_checkpoints == 1
    assert_same_counts(read_model(blocked / "model"), counts_after(range(4)))
    assert learner.pages == 4
    assert_same_counts(learner.model, with_bundled(counts_after(range(4))))


def test_checkpoints_that_fail_for_one_reason_are_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A server may be away for hours."""
    blocked = tmp_path / "folder"
    learner = alone(Learner(FileStore(blocked / "model", DEFAULT)))

    for numbers in (range(3), range(3, 6)):
        blocked.write_text("a file where the folder should be")
        for number in numbers:
            teach(learner, number)
            write(learner)
        blocked.unlink()
        teach(learner, 10 + numbers[0])
        write(learner)
        (blocked / "model").unlink()
        for left in blocked.iterdir():
            left.unlink()
        blocked.rmdir()
    finish(learner)

    assert learner.failures == 6
    assert caplog.text.count("a checkpoint failed") == 2


@pytest.mark.parametrize("error", [NotImplementedError("no locks here"), MemoryError()])
def test_learning_goes_on_whatever_a_checkpoint_fails_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))

    def failing(*_: object) -> Model:
        raise error

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "add", failing)
        write(learner)
    teach(learner, 1)
    finish(learner)

    assert learner.failures == 1
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(2)))


def test_counts_that_memory_fails_to_take_back_are_taken_back_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))

    def failing(*_: object) -> Model:
        raise MemoryError

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "add", failing)
        patch.setattr(LearnedPages, "merge", failing)
        write(learner)
        teach(learner, 1)
    finish(learner)

    assert learner.failures == 2
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(2)))


def test_a_checkpoint_that_failed_is_not_tried_again_at_each_page(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = alone(Learner(FileStore(tmp_path / "folder" / "model", DEFAULT)))
    for number in range(2):
        teach(learner, number)

    write(learner)
    teach(learner, 2)

    assert learner.unsaved_pages == 1
    finish(learner)


def test_what_is_lost_at_the_end_is_known(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = alone(Learner(FileStore(tmp_path / "folder" / "model", DEFAULT)))
    teach(learner, 1)

    finish(learner)

    assert learner.lost == 1


def test_a_file_that_is_damaged_while_the_crawl_runs_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "model"
    learner = alone(Learner(FileStore(path, DEFAULT)))
    path.write_bytes(b"somebody else's")
    teach(learner, 1)

    write(learner)
    path.unlink()
    finish(learner)

    assert learner.failures == 1
    assert_same_counts(read_model(path), counts_after(range(1, 2)))


def test_what_is_learned_while_a_checkpoint_is_written_is_in_the_next(tmp_path: Path) -> None:
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))

    for number in range(12):
        teach(learner, number)
        learner.checkpoint()
    finish(learner)

    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(12)))
    assert learner.pages == 12
    assert_same_counts(learner.model, with_bundled(counts_after(range(12))))


def test_what_others_have_added_is_learned_with_the_next_checkpoint(tmp_path: Path) -> None:
    one, other = (alone(Learner(FileStore(tmp_path / "model", DEFAULT))) for _ in range(2))
    teach(other, 1)
    finish(other)

    teach(one, 0)
    finish(one)

    assert one.pages == 2
    assert_same_counts(one.model, with_bundled(counts_after(range(2))))


def test_a_checkpoint_counts_once_whatever_fails_after_its_rename(tmp_path: Path) -> None:
    """A folder where a killed writer's file should be cannot be swept away."""
    (tmp_path / ".model.1-aa").mkdir()
    os.utime(tmp_path / ".model.1-aa", (1, 1))
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))

    for number in range(4):
        teach(learner, number)
        write(learner)
    finish(learner)

    assert (learner.n_checkpoints, learner.failures) == (4, 0)
    assert learner.pages == 4
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(4)))


def test_a_page_is_learned_once_by_all_crawls_of_a_file(tmp_path: Path) -> None:
    """In one crawl, unsaved, in flight and saved; and in the next one."""
    first = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))
    teach(first, 0)
    again = [taught(first, 0)]
    first.checkpoint()
    again.append(taught(first, 0))
    assert checkpoints_of(first).settle()
    again.append(taught(first, 0))
    finish(first)
    second = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))
    again.append(taught(second, 0))
    finish(second)

    assert again == [Rejection.ALREADY_LEARNED] * 4
    assert first.pages == second.pages == 1
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(1)))


def test_a_page_of_a_checkpoint_that_failed_stays_known(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = alone(Learner(FileStore(tmp_path / "folder" / "model", DEFAULT)))
    teach(learner, 0)
    write(learner)

    assert taught(learner, 0) is Rejection.ALREADY_LEARNED
    (tmp_path / "folder").unlink()
    finish(learner)

    assert len(read_model(tmp_path / "folder" / "model").learned_pages) == 1


def test_the_text_of_another_address_is_another_page(tmp_path: Path) -> None:
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))

    first, second = (learned_of(learner, 0, address_of(n)) for n in range(2))
    finish(learner)

    assert first is second is None
    assert learner.pages == 2


def test_a_page_that_two_crawls_learn_at_once_counts_twice_and_is_counted(tmp_path: Path) -> None:
    one, other = (alone(Learner(FileStore(tmp_path / "model", DEFAULT))) for _ in range(2))
    for number in range(3):
        teach(one, number)
    for number in range(1, 5):
        teach(other, number)

    finish(one)
    finish(other)

    assert (one.n_twice, other.n_twice) == (0, 2)
    stored = read_model(tmp_path / "model")
    assert stored.bayes.pages == 7
    assert len(stored.learned_pages) == 5


def test_what_another_crawl_has_added_is_not_learned_again(tmp_path: Path) -> None:
    one, other = (alone(Learner(FileStore(tmp_path / "model", DEFAULT))) for _ in range(2))
    teach(other, 1)
    finish(other)
    teach(one, 0)
    write(one)

    assert taught(one, 1) is Rejection.ALREADY_LEARNED
    finish(one)
    assert one.pages == 2


def test_a_crawl_that_is_alone_goes_on_from_the_model_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bundled model, which takes as much memory as all that is learned, is not read again."""
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))
    monkeypatch.setattr("scrapy_mss.crawl.learner.bundled_part_of", lambda _: 1 / 0)

    for number in range(3):
        teach(learner, number)
        write(learner)
    finish(learner)

    assert (learner.n_checkpoints, learner.failures) == (3, 0)
    assert_same_counts(learner.model, with_bundled(counts_after(range(3))))


def test_what_others_add_is_taken_over_after_a_checkpoint_that_could_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))
    FileStore(tmp_path / "model", DEFAULT).add(counts_after(range(10, 12)))

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr("scrapy_mss.crawl.learner.bundled_part_of", lambda _: 1 / 0)
        write(learner)
    teach(learner, 1)
    finish(learner)

    assert ["cannot load what other crawls learned" in text for text in caplog.messages] == [True]
    everything = counts_after(range(2))
    everything.merge(counts_after(range(10, 12)))
    assert_same_counts(learner.model, with_bundled(everything))


def test_a_last_checkpoint_that_fails_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = alone(Learner(FileStore(tmp_path / "folder" / "model", DEFAULT)))
    teach(learner, 0)

    asyncio.run(checkpoints_of(learner).finish(finished=True))
    finish(learner)

    assert (learner.n_checkpoints, learner.failures) == (0, 1)


def test_a_last_checkpoint_that_fails_is_told_by_us_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    learner = alone(Learner(FileStore(tmp_path / "file" / "model", DEFAULT)))
    teach(learner, 1)
    (tmp_path / "file").touch()

    asyncio.run(checkpoints_of(learner).finish(finished=True))
    finish(learner)
    gc.collect()  # asyncio tells of an error that nobody asked for when its future is gone

    assert [each.name for each in caplog.records if each.name == "asyncio"] == []


def test_why_the_last_checkpoint_may_be_lost_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A server may have answered nothing, and its store has kept what it was to add."""

    def silent(_store: FileStore) -> None:
        raise OSError("no answer from the server")

    monkeypatch.setattr(FileStore, "close", silent)
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))
    teach(learner, 0)

    finish(learner)

    assert (learner.failures, learner.lost) == (1, 1)
    assert "may not be stored: OSError: no answer from the server" in caplog.text


def test_learning_goes_on_beside_a_crawl_that_fills_the_file(tmp_path: Path) -> None:
    """Its counts leave room for ours, but none for those of the bundled model."""
    learner = alone(Learner(FileStore(tmp_path / "model", DEFAULT)))
    full = Model(DEFAULT)
    for counts in full.bayes.counts.values():
        counts[:] = 2**32 - 2**16
    FileStore(tmp_path / "model", DEFAULT).add(full)

    teach(learner, 0)
    write(learner)
    teach(learner, 1)
    finish(learner)

    assert (learner.n_checkpoints, learner.failures) == (2, 0)
    assert read_model(tmp_path / "model").bayes.pages == 2
    assert_same_counts(learner.model, with_bundled(counts_after(range(2))))


def test_what_killed_writers_have_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    old, fresh, foreign = (tmp_path / name for name in (".model.1-aa", ".model.2-bb", ".other.1-a"))
    for path in (old, fresh, foreign):
        path.write_bytes(b"half a model")
    for path in (old, foreign):
        os.utime(path, (1, 1))

    FileStore(tmp_path / "model", DEFAULT).add(Model(DEFAULT))

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".model.2-bb",
        ".other.1-a",
        "model",
        "model.lock",
    ]


# Processes that are killed


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    """And all that it has said to have written."""
    done = run(tmp_path, str(WRITER), "model", str(KILLS))

    assert done.returncode == 0, done.stderr
    pages, interrupted = map(int, done.stdout.split())
    assert pages >= KILLS / 2
    assert interrupted > 0
    assert read_model(tmp_path / "model").bayes.pages == pages
