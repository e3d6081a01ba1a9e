"""What a checkpoint costs that goes to a Redis server: bytes, time, and the server's own time.

Some crawls, each a process of its own, add what 500 labelled pages teach to one model, again and
again, all at the same time and without a pause: real crawls ask the server far less often. What a
crawl reads at its start is not counted.

    crawls    processes that share the model
    sent      kilobytes of a checkpoint
    received  kilobytes of what others have added, and of new bases
    ms        of processor time of the crawl, in the thread that writes checkpoints, the median
    server    ms of the server's processor, with its file, which each write is synced to
"""

from __future__ import annotations

import argparse
import random
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from queue import Queue
from statistics import median
from time import thread_time
from typing import Any, Final

from research.benchmarks.redis_server import RedisServer, running
from research.command_line import at_least
from research.datasets.sets import load
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import span_labels
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.storage.opening import store_at

PAGES: Final = 500  # of a checkpoint, as by CHECKPOINT_PAGES
CRAWLS: Final = (1, 4, 8)
LONGEST: Final = 400_000  # characters of a page
FIRST: Final = 800  # pages of the set


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.redis_cost", description=__doc__
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    parser.add_argument("--rounds", type=at_least(1), default=6, help="checkpoints of each crawl")
    options = parser.parse_args()
    pages = observations(options.data / "articles_wcxb.jsonl.xz")
    print("crawls  sent  received    ms  server", flush=True)
    for crawls in CRAWLS:
        chance = random.Random(crawls)
        deltas = [
            [delta(chance.sample(pages, PAGES), chance) for _ in range(options.rounds)]
            for _ in range(crawls)
        ]
        with running() as server:
            sent, received, cpu, times = measured(server, deltas)
        count = crawls * options.rounds
        print(
            f"{crawls:6}  {sent / count / 1e3:4.0f}  {received / count / 1e3:8.0f}  "
            f"{1e3 * median(times):4.0f}  {1e3 * cpu / count:6.1f}",
            flush=True,
        )


def observations(path: Path) -> list[Observation]:
    """What pages of a set add; half of each is taken for the article."""
    counts, found = Model(DEFAULT).bayes, []
    for labelled in load(f"jsonl:{path}").pages[:FIRST]:
        if len(labelled.html) < LONGEST:
            page = Page.of(labelled.html)
            n_tokens = len(page.tokens)
            inside = span_labels(n_tokens, n_tokens // 4, 3 * n_tokens // 4)
            found.append(counts.observe(page, inside))
    return found


def delta(pages: list[Observation], chance: random.Random) -> Model:
    """What these *pages* teach."""
    model = Model(DEFAULT)
    for page in pages:
        model.bayes.add(page)
        model.learned_pages.add(chance.getrandbits(64), 0)
    return model


def measured(
    server: RedisServer, deltas: list[list[Model]]
) -> tuple[float, float, float, list[float]]:
    """Bytes sent and received, seconds of the server, and seconds of each checkpoint."""
    context = get_context("fork")
    barrier, queue = context.Barrier(len(deltas) + 1), context.Queue()
    crawls = [context.Process(target=crawl, args=(server, each, barrier, queue)) for each in deltas]
    for each in crawls:
        each.start()
    barrier.wait()  # all have read the model
    before = usage(server)
    barrier.wait()
    times = [queue.get() for _ in range(sum(map(len, deltas)))]
    sent, received, cpu = (now - then for now, then in zip(usage(server), before, strict=True))
    for each in crawls:
        each.join()
    return sent, received, cpu, times


def crawl(server: RedisServer, deltas: list[Model], barrier: Barrier, queue: Queue[float]) -> None:
    """Add the *deltas*, and say how long each took."""
    store = StoredModel(store_at(server.address()), DEFAULT)
    store.load()
    barrier.wait()
    barrier.wait()
    for each in deltas:
        begun = thread_time()
        store.add(each)
        queue.put(thread_time() - begun)


def usage(server: RedisServer) -> tuple[float, float, float]:
    """Bytes that the server has received and sent, and its seconds of processor time."""
    from redis import Redis

    with Redis(port=server.port) as client:
        found: dict[str, Any] = client.info()
    cpu = found["used_cpu_user"] + found["used_cpu_sys"]
    return found["total_net_input_bytes"], found["total_net_output_bytes"], cpu


if __name__ == "__main__":
    main()
