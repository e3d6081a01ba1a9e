"""Kills writers of a model file at random moments.

    python writer.py MODEL KILLS

A writer adds a page to the file again and again and says so after each; a pipe holds what it said.
After each kill the file must hold all pages that were said to be added, and at most one more.
Writers are forked, so that a kill costs no start of Python.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore, read_model
from tests.plugin.models import learned

MOST = 4  # additions that a kill waits for; it comes in the middle of the next one


def write_forever(store: FileStore, page: Model, said: int) -> None:
    while True:
        store.add(page)
        os.write(said, b".")


def killed(store: FileStore, page: Model, number: int, seconds: float) -> int:
    """How many pages a writer has said to have added, killed so many *seconds* after a *number*.

    Time alone would say little of how far it is, where other programs run beside it.
    """
    heard, said = os.pipe()
    pid = os.fork()
    if not pid:
        write_forever(store, page, said)
    os.close(said)
    for _ in range(number):
        assert os.read(heard, 1), "the writer has failed"
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(heard, "rb") as pipe:
        return number + len(pipe.read())


def seconds_of(store: FileStore, page: Model) -> float:
    """What an addition takes just now."""
    began = time.monotonic()
    store.add(page)
    return time.monotonic() - began


def main(path: str, kills: str) -> None:
    store, page, chance = FileStore(path, DEFAULT), learned([1]), random.Random(1)
    longest = seconds_of(store, page)
    pages, interrupted = 1, 0
    for _ in range(int(kills)):
        said = killed(store, page, chance.randrange(MOST), chance.uniform(0, longest))
        now = read_model(path).bayes.pages if Path(path).exists() else 0
        assert pages + said <= now <= pages + said + 1, (pages, said, now)
        interrupted += now > pages + said or not said
        pages = now
    print(pages, interrupted)


if __name__ == "__main__":
    main(*sys.argv[1:])
