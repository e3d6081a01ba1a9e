"""The model file of crawls: killed ones, several at once, files that cannot be used."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import pytest
import scrapy

from scrapy_mss.models.format import DIGEST_SIZE, MAGIC, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import PAPER
from scrapy_mss.models.store import read_model, write_atomically
from tests.plugin.crawling import ADDON, QUIET, Crawl, Job, crawl, environment
from tests.plugin.models import assert_same_counts, learned
from tests.plugin.site import RULES, Site

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
    assert 2 <= done.mss("model/failed") <= 6  # every five pages, at the end, and to be judged
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
