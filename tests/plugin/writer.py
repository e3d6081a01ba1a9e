"""Kills writers of a store at random moments.

    python writer.py STORE KILLS

A writer adds a page to the model, an article that was seen and a count of quality, all in one
checkpoint, again and again, and says so after each; a pipe holds what it said. After each kill the
store must hold all checkpoints that were said to be written, at most one more, and the same number
of each part. Writers are forked, so that a kill costs no start of Python.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Final

from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.quality.store import adding as adding_quality
from scrapy_mss.seen.articles import SeenArticle, SeenStore
from scrapy_mss.seen.articles import adding as adding_seen
from scrapy_mss.sites.crawled import minute_now
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import DAY, Change, Store
from tests.plugin.models import learned

MOST: Final = 4  # checkpoints that a kill waits for; it comes in the middle of the next one
SITE: Final = "news.example"
NOW: Final = minute_now()
TODAY: Final = NOW // DAY


def changes(model: StoredModel, page: Model, number: int) -> list[Change]:
    """Those of the checkpoint with this *number*."""
    seen = SeenArticle(number, number, 1, 0, NOW, NOW, b"paragraphs")
    return [
        adding_quality({(SITE, TODAY): Counter(pages=1)}),
        model.adding(lambda: page),
        adding_seen({number: seen}),
    ]


def written(store: Store) -> int:
    """How many checkpoints there are, of which all parts agree."""
    pages = StoredModel(store, DEFAULT).load().bayes.pages
    counted = QualityStore(store).sites(0).get(SITE, {}).get(TODAY, Counter())
    seen = SeenStore(store).articles(range(pages + 2))
    assert (counted["pages"], list(seen)) == (pages, list(range(pages))), (pages, counted, seen)
    return pages


def count(named: str) -> int:
    with closing(store_at(named)) as store:
        return written(store)


def write_forever(named: str, page: Model, first: int, said: int) -> None:
    store = store_at(named)
    model = StoredModel(store, DEFAULT)
    number = first
    while True:
        of_checkpoint = changes(model, page, number)
        store.write(of_checkpoint)
        os.write(said, b".")
        for change in of_checkpoint:
            change.after()
        number += 1


def killed(write: Callable[[int], None], number: int, seconds: float) -> int:
    """How many checkpoints were said to be written, killed so many *seconds* after a *number*.

    Time alone would say little of how far it is, where other programs run beside it.
    """
    heard, said = os.pipe()
    pid = os.fork()
    if not pid:
        write(said)
    os.close(said)
    for _ in range(number):
        assert os.read(heard, 1), "the writer has failed"
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(heard, "rb") as pipe:
        return number + len(pipe.read())


def seconds_of(named: str, page: Model) -> float:
    """What a checkpoint takes just now."""
    with closing(store_at(named)) as store:
        began = time.monotonic()
        store.write(changes(StoredModel(store, DEFAULT), page, 0))
        return time.monotonic() - began


def main(named: str, kills: str) -> None:
    page, chance = learned([1]), random.Random(1)
    longest = seconds_of(named, page)
    pages, interrupted = 1, 0
    for _ in range(int(kills)):
        write = partial(write_forever, named, page, pages)
        said = killed(write, chance.randrange(MOST), chance.uniform(0, longest))
        now = count(named)
        assert pages + said <= now <= pages + said + 1, (pages, said, now)
        interrupted += now > pages + said or not said
        pages = now
    print(pages, interrupted)


if __name__ == "__main__":
    main(*sys.argv[1:])
