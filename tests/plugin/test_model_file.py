"""The model file: killed crawls, several crawls at once, files that cannot be used."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import scrapy

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection, span_labels
from scrapy_mss.crawl.learner import Learner
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.bundled import with_bundled
from scrapy_mss.models.examples import example_of
from scrapy_mss.models.format import DIGEST_SIZE, MAGIC, to_bytes
from scrapy_mss.models.learned_pages import LearnedPages
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PAPER
from scrapy_mss.models.store import Addition, FileStore, read_model, write_atomically
from tests.plugin.crawling import ADDON, QUIET, Crawl, Job, crawl, environment
from tests.plugin.models import assert_same_counts, learned
from tests.plugin.site import RULES, Site, wrapped

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


def settled(learner: Learner) -> None:
    """Wait for the checkpoint that is being written."""
    assert learner._write is not None
    learner._write.exception(LIMIT)


def test_a_checkpoint_that_fails_keeps_its_counts_and_is_tried_again(tmp_path: Path) -> None:
    blocked = tmp_path / "folder"
    blocked.write_text("a file where the folder should be")
    learner = Learner(FileStore(blocked / "model", DEFAULT))

    for number in range(3):
        teach(learner, number)
        learner.checkpoint()
        settled(learner)
    blocked.unlink()
    teach(learner, 3)
    learner.checkpoint()
    learner.close()

    assert learner.failures == 3
    assert learner.checkpoints == 1
    assert_same_counts(read_model(blocked / "model"), counts_after(range(4)))
    assert learner.pages == 4
    assert_same_counts(learner.model, with_bundled(counts_after(range(4))))


def test_checkpoints_that_fail_for_one_reason_are_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A server may be away for hours."""
    blocked = tmp_path / "folder"
    learner = Learner(FileStore(blocked / "model", DEFAULT))

    for numbers in (range(3), range(3, 6)):
        blocked.write_text("a file where the folder should be")
        for number in numbers:
            teach(learner, number)
            learner.checkpoint()
            settled(learner)
        learner._collect()
        blocked.unlink()
        teach(learner, 10 + numbers[0])
        learner.checkpoint()
        settled(learner)
        learner._collect()
        (blocked / "model").unlink()
        for left in blocked.iterdir():
            left.unlink()
        blocked.rmdir()
    learner.close()

    assert learner.failures == 6
    assert caplog.text.count("a checkpoint failed") == 2


@pytest.mark.parametrize("error", [NotImplementedError("no locks here"), MemoryError()])
def test_learning_goes_on_whatever_a_checkpoint_fails_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))

    def failing(*_: object) -> Model:
        raise error

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "add", failing)
        learner.checkpoint()
        settled(learner)
    teach(learner, 1)
    learner.close()

    assert learner.failures == 1
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(2)))


def test_counts_that_memory_fails_to_take_back_are_taken_back_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))

    def failing(*_: object) -> Model:
        raise MemoryError

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "add", failing)
        patch.setattr(LearnedPages, "merge", failing)
        learner.checkpoint()
        settled(learner)
        teach(learner, 1)
    learner.close()

    assert learner.failures == 2
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(2)))


def test_a_checkpoint_that_failed_is_not_tried_again_at_each_page(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = Learner(FileStore(tmp_path / "folder" / "model", DEFAULT))
    for number in range(2):
        teach(learner, number)

    learner.checkpoint()
    settled(learner)
    teach(learner, 2)

    assert learner.unsaved_pages == 1
    learner.close()


def test_what_is_lost_at_the_end_is_known(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = Learner(FileStore(tmp_path / "folder" / "model", DEFAULT))
    teach(learner, 1)

    learner.close()

    assert learner.lost == 1


def test_a_file_that_is_damaged_while_the_crawl_runs_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "model"
    learner = Learner(FileStore(path, DEFAULT))
    path.write_bytes(b"somebody else's")
    teach(learner, 1)

    learner.checkpoint()
    settled(learner)
    path.unlink()
    learner.close()

    assert learner.failures == 1
    assert_same_counts(read_model(path), counts_after(range(1, 2)))


def test_what_is_learned_while_a_checkpoint_is_written_is_in_the_next(tmp_path: Path) -> None:
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))

    for number in range(12):
        teach(learner, number)
        learner.checkpoint()
    learner.close()

    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(12)))
    assert learner.pages == 12
    assert_same_counts(learner.model, with_bundled(counts_after(range(12))))


def test_what_others_have_added_is_learned_with_the_next_checkpoint(tmp_path: Path) -> None:
    one, other = (Learner(FileStore(tmp_path / "model", DEFAULT)) for _ in range(2))
    teach(other, 1)
    other.close()

    teach(one, 0)
    one.close()

    assert one.pages == 2
    assert_same_counts(one.model, with_bundled(counts_after(range(2))))


def test_a_checkpoint_counts_once_whatever_fails_after_its_rename(tmp_path: Path) -> None:
    """A folder where a killed writer's file should be cannot be swept away."""
    (tmp_path / ".model.1-aa").mkdir()
    os.utime(tmp_path / ".model.1-aa", (1, 1))
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))

    for number in range(4):
        teach(learner, number)
        learner.checkpoint()
        settled(learner)
    learner.close()

    assert (learner.checkpoints, learner.failures) == (4, 0)
    assert learner.pages == 4
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(4)))


def test_a_page_is_learned_once_by_all_crawls_of_a_file(tmp_path: Path) -> None:
    """In one crawl, unsaved, in flight and saved; and in the next one."""
    first = Learner(FileStore(tmp_path / "model", DEFAULT))
    teach(first, 0)
    again = [taught(first, 0)]
    first.checkpoint()
    again.append(taught(first, 0))
    settled(first)
    again.append(taught(first, 0))
    first.close()
    second = Learner(FileStore(tmp_path / "model", DEFAULT))
    again.append(taught(second, 0))
    second.close()

    assert again == [Rejection.ALREADY_LEARNED] * 4
    assert first.pages == second.pages == 1
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(1)))


def test_a_page_of_a_checkpoint_that_failed_stays_known(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = Learner(FileStore(tmp_path / "folder" / "model", DEFAULT))
    teach(learner, 0)
    learner.checkpoint()
    settled(learner)

    assert taught(learner, 0) is Rejection.ALREADY_LEARNED
    (tmp_path / "folder").unlink()
    learner.close()

    assert len(read_model(tmp_path / "folder" / "model").learned_pages) == 1


def test_the_text_of_another_address_is_another_page(tmp_path: Path) -> None:
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))

    first, second = (learned_of(learner, 0, address_of(n)) for n in range(2))
    learner.close()

    assert first is second is None
    assert learner.pages == 2


def test_a_page_that_two_crawls_learn_at_once_counts_twice_and_is_counted(tmp_path: Path) -> None:
    one, other = (Learner(FileStore(tmp_path / "model", DEFAULT)) for _ in range(2))
    for number in range(3):
        teach(one, number)
    for number in range(1, 5):
        teach(other, number)

    one.close()
    other.close()

    assert (one.n_twice, other.n_twice) == (0, 2)
    stored = read_model(tmp_path / "model")
    assert stored.bayes.pages == 7
    assert len(stored.learned_pages) == 5


def test_what_another_crawl_has_added_is_not_learned_again(tmp_path: Path) -> None:
    one, other = (Learner(FileStore(tmp_path / "model", DEFAULT)) for _ in range(2))
    teach(other, 1)
    other.close()
    teach(one, 0)
    one.checkpoint()
    settled(one)

    assert taught(one, 1) is Rejection.ALREADY_LEARNED
    one.close()
    assert one.pages == 2


def test_a_crawl_that_is_alone_goes_on_from_the_model_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bundled model, which takes as much memory as all that is learned, is not read again."""
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))
    monkeypatch.setattr("scrapy_mss.crawl.learner.bundled_part_of", lambda _: 1 / 0)

    for number in range(3):
        teach(learner, number)
        learner.checkpoint()
        settled(learner)
    learner.close()

    assert (learner.checkpoints, learner.failures) == (3, 0)
    assert_same_counts(learner.model, with_bundled(counts_after(range(3))))


def test_what_others_add_is_taken_over_after_a_checkpoint_that_could_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))
    FileStore(tmp_path / "model", DEFAULT).add(counts_after(range(10, 12)))

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr("scrapy_mss.crawl.learner.bundled_part_of", lambda _: 1 / 0)
        learner.checkpoint()
        settled(learner)
    teach(learner, 1)
    learner.close()

    assert ["cannot go on from what other crawls" in text for text in caplog.messages] == [True]
    everything = counts_after(range(2))
    everything.merge(counts_after(range(10, 12)))
    assert_same_counts(learner.model, with_bundled(everything))


def test_a_learner_finishes_while_its_event_loop_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))
    add, ticking = FileStore.add, threading.Event()

    def waiting(store: FileStore, model: Model) -> Addition:
        assert ticking.wait(LIMIT)
        return add(store, model)

    monkeypatch.setattr(FileStore, "add", waiting)
    teach(learner, 0)

    async def finished() -> None:
        finishing = asyncio.create_task(learner.finish())
        await asyncio.sleep(0)
        ticking.set()
        await finishing

    asyncio.run(finished())
    learner.close()

    assert (learner.checkpoints, learner.failures) == (1, 0)
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(1)))


def test_a_last_checkpoint_that_fails_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    learner = Learner(FileStore(tmp_path / "folder" / "model", DEFAULT))
    teach(learner, 0)

    asyncio.run(learner.finish())
    learner.close()

    assert (learner.checkpoints, learner.failures) == (0, 1)


def test_a_last_checkpoint_that_fails_is_told_by_us_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    learner = Learner(FileStore(tmp_path / "file" / "model", DEFAULT))
    teach(learner, 1)
    (tmp_path / "file").touch()

    asyncio.run(learner.finish())
    learner.close()
    gc.collect()  # asyncio tells of an error that nobody asked for when its future is gone

    assert [each.name for each in caplog.records if each.name == "asyncio"] == []


def test_why_the_last_checkpoint_may_be_lost_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A server may have answered nothing, and its store has kept what it was to add."""

    def silent(_store: FileStore) -> None:
        raise OSError("no answer from the server")

    monkeypatch.setattr(FileStore, "close", silent)
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))
    teach(learner, 0)

    learner.close()

    assert (learner.failures, learner.lost) == (1, 1)
    assert "may not be stored: OSError: no answer from the server" in caplog.text


def test_learning_goes_on_beside_a_crawl_that_fills_the_file(tmp_path: Path) -> None:
    """Its counts leave room for ours, but none for those of the bundled model."""
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))
    full = Model(DEFAULT)
    for counts in full.bayes.counts.values():
        counts[:] = 2**32 - 2**16
    FileStore(tmp_path / "model", DEFAULT).add(full)

    teach(learner, 0)
    learner.checkpoint()
    settled(learner)
    teach(learner, 1)
    learner.close()

    assert (learner.checkpoints, learner.failures) == (2, 0)
    assert read_model(tmp_path / "model").bayes.pages == 2
    assert_same_counts(learner.model, with_bundled(counts_after(range(2))))


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_a_checkpoint_that_cannot_begin_keeps_its_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))

    def failing(*_: object) -> Model:
        raise error

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr(ThreadPoolExecutor, "submit", failing)
        learner.checkpoint()
    teach(learner, 1)
    learner.close()

    assert learner.failures == 1
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(2)))


def test_a_checkpoint_whose_thread_cannot_start_is_not_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An executor queues a call before it starts a thread, and the next thread would make it."""
    learner = Learner(FileStore(tmp_path / "model", DEFAULT))

    def failing(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    teach(learner, 0)
    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", failing)
        learner.checkpoint()
    teach(learner, 1)
    learner.close()

    assert (learner.checkpoints, learner.failures) == (1, 1)
    assert_same_counts(read_model(tmp_path / "model"), counts_after(range(2)))


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


def script(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(body)
    return str(path)


SPIDER = """
import os, signal
import scrapy
from tests.plugin.crawling import QUIET
from tests.plugin.site import RULES

class Paused(scrapy.Spider):
    name = "paused"
    custom_settings = {
        **QUIET,
        "ADDONS": {"scrapy_mss.Addon": 500},
        "MSS_WRAPPERS": RULES,
        "MSS_CHECKPOINT_PAGES": 10,
        "CONCURRENT_REQUESTS": 1,
    }
    count = 0

    async def start(self):
        for number in range(int(self.pages)):
            yield scrapy.Request(f"{self.base}/{number}")

    def parse(self, response):
        self.count += 1
        if self.count == int(self.at):
            os.kill(os.getpid(), int(self.signal))
"""


def runspider(folder: Path, base: str, *more: str) -> subprocess.CompletedProcess[str]:
    path = script(folder, "paused.py", SPIDER)
    given = {"base": base, "pages": "30", "at": "0", "signal": str(int(signal.SIGTERM))}
    given |= dict(
        pair.split("=", 1) for pair in more if not pair.startswith("MSS_") and "=" in pair
    )
    settings = [pair for pair in more if pair.startswith(("MSS_", "JOBDIR"))]
    arguments = [part for name, value in given.items() for part in ("-a", f"{name}={value}")]
    arguments += [part for pair in settings for part in ("-s", pair)]
    return run(folder, "-m", "scrapy", "runspider", path, *arguments)


def test_a_killed_crawl_loses_at_most_what_came_after_its_last_checkpoint(
    tmp_path: Path, site: Site
) -> None:
    """Killed at its 29th page; checkpoints come every ten and take less than nine slow pages."""
    done = runspider(
        tmp_path, site.url("/slow"), "MSS_MODEL=model", "at=29", f"signal={int(signal.SIGKILL)}"
    )

    assert done.returncode == -signal.SIGKILL
    assert_same_counts(read_model(tmp_path / "model"), learned(range(20)))


def test_a_crawl_that_is_paused_goes_on_learning_when_it_is_resumed(
    tmp_path: Path, site: Site
) -> None:
    """From slow pages, so that the downloader, where pages are learned, is not far ahead of us."""
    model = tmp_path / "job" / "mss" / "model"

    first = runspider(tmp_path, site.url("/slow"), "JOBDIR=job", "at=12")
    paused_at = read_model(model).bayes.pages
    second = runspider(tmp_path, site.url("/slow"), "JOBDIR=job")

    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert 12 <= paused_at < 30
    assert_same_counts(read_model(model), learned(range(30)))


def test_crawls_at_once_on_one_file_add_up_to_what_one_would_have_learned(
    tmp_path: Path, site: Site
) -> None:
    def share(number: int) -> float:
        folder = tmp_path / str(number)
        folder.mkdir()
        job = Job(
            arguments={"urls": site.urls("wrapped", range(number, 60, 4))},
            settings={
                **ADDON,
                "MSS_WRAPPERS": RULES,
                "MSS_MODEL": str(tmp_path / "model"),
                "MSS_CHECKPOINT_PAGES": 3,
            },
        )
        (done,) = crawl(folder, [job])
        assert done.error == ""
        assert done.mss("train/learned") == 15
        return done.mss("model/checkpoints")

    with ThreadPoolExecutor(4) as threads:
        checkpoints = list(threads.map(share, range(4)))

    assert_same_counts(read_model(tmp_path / "model"), learned(range(60)))
    assert sum(checkpoints) > 4


def test_pages_that_are_crawled_again_are_not_learned_again(tmp_path: Path, site: Site) -> None:
    def again(numbers: range) -> Crawl:
        job = Job(
            arguments={"urls": site.urls("wrapped", numbers)},
            settings={**ADDON, "MSS_WRAPPERS": RULES, "MSS_MODEL": str(tmp_path / "model")},
        )
        return crawl(tmp_path, [job])[0]

    today, tomorrow = again(range(8)), again(range(4, 12))

    assert today.mss("train/learned") == 8
    assert tomorrow.mss("train/learned") == tomorrow.mss("train/refused/already_learned") == 4
    assert tomorrow.mss("model/pages") == 12
    assert tomorrow.mss("model/twice") == 0
    assert_same_counts(read_model(tmp_path / "model"), learned(range(12)))


# Files that cannot be used


def newer(data: bytes) -> bytes:
    """The model as a later version might write it."""
    start = len(MAGIC) + 4
    (length,) = struct.unpack("<I", data[len(MAGIC) : start])
    header = json.loads(data[start : start + length]) | {"format": 99}
    head = json.dumps(header).encode()
    body = MAGIC + struct.pack("<I", len(head)) + head + data[start + length : -DIGEST_SIZE]
    return body + blake2b(body, digest_size=DIGEST_SIZE).digest()


# What is done to a sound model, what must be said of it, and what to do.
UNUSABLE: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "cut off": (lambda data: data[: len(data) // 2], "damaged", "Use a copy"),
    "altered": (lambda data: data[:-99] + b"?" + data[-98:], "damaged", "Use a copy"),
    "foreign": (lambda _: b"PK\x03\x04 a zip file", "not a scrapy-mss model", "Give the path"),
    "empty": (lambda _: b"", "not a scrapy-mss model", "Give the path"),
    "newer": (newer, "format 99", "Update scrapy-mss"),
    "other": (lambda _: to_bytes(Model(PAPER)), "profile 'paper'", "Name another file"),
}


# Scrapy 2.13 stops where a component cannot be made, and says why, but exits as if all were well.
STOPPED_AT_START = 1 if scrapy.version_info >= (2, 14) else 0


def test_a_model_that_cannot_be_used_stops_the_crawl_at_its_start(
    tmp_path: Path, site: Site, trained_once: bytes
) -> None:
    """With a message that names the file, the fault and the remedy; the file stays as it is."""

    def attempt(name: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        (folder / "my.model").write_bytes(UNUSABLE[name][0](trained_once))
        return runspider(folder, site.url("/wrapped"), "MSS_MODEL=my.model", "pages=1")

    with ThreadPoolExecutor(2) as threads:
        attempts = dict(zip(UNUSABLE, threads.map(attempt, UNUSABLE), strict=True))

    for name, done in attempts.items():
        spoil, fault, remedy = UNUSABLE[name]
        path = tmp_path / name.replace(" ", "-") / "my.model"
        assert done.returncode == STOPPED_AT_START, (name, done.stderr)
        assert all(part in done.stderr for part in ("my.model: ", fault, remedy)), done.stderr
        assert "downloader/request_count" not in done.stderr
        assert path.read_bytes() == spoil(trained_once)
        assert not path.with_name("my.model.lock").exists()


def test_a_model_that_is_no_file_stops_the_crawl_as_other_settings_do(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reasons = {
        "/dev/zero": "expected a regular file, got a device",
        str(tmp_path / "pipe"): "expected a regular file, got a named pipe",
        str(tmp_path): "Is a directory",
    }

    crawls = crawl(tmp_path, [Job(settings={**ADDON, "MSS_MODEL": path}) for path in reasons])

    for done, (path, reason) in zip(crawls, reasons.items(), strict=True):
        assert f"{path}: the model cannot be read: {reason}. Give the path" in done.error
        assert done.mss("extract/pages") == 0


def test_a_crawl_whose_model_cannot_be_written_goes_on_and_counts_it(
    tmp_path: Path, site: Site
) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    job = Job(
        arguments={"urls": site.urls("slow", range(20))},
        settings={
            **ADDON,
            "MSS_WRAPPERS": RULES,
            "MSS_MODEL": str(tmp_path / "folder" / "model"),
            "MSS_CHECKPOINT_PAGES": 5,
        },
    )

    (done,) = crawl(tmp_path, [job])

    assert len(done.items) == 20
    assert done.mss("train/learned") == done.mss("model/pages") == 20
    assert done.mss("model/checkpoints") == 0
    assert 2 <= done.mss("model/failed") <= 5
    (lost,) = done.logged("ERROR")
    assert f"the counts of 20 learned pages ({tmp_path / 'folder' / 'model'})" in lost


def test_a_write_that_is_interrupted_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "model").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", interrupted)

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "model", b"new")

    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model").read_bytes() == b"old"


def test_time_alone_brings_a_checkpoint(tmp_path: Path, site: Site) -> None:
    started = time.monotonic()
    job = Job(
        arguments={"urls": site.urls("slow", range(8))},
        settings={
            **ADDON,
            **QUIET,
            "CONCURRENT_REQUESTS": 1,
            "MSS_WRAPPERS": RULES,
            "MSS_CHECKPOINT_SECONDS": 0.1,
        },
    )

    (done,) = crawl(tmp_path, [job])

    assert time.monotonic() - started > 0.8
    assert done.mss("model/checkpoints") > 1
    assert_same_counts(read_model(tmp_path / "0.model"), learned(range(8)))
