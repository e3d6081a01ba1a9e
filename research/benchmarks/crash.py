"""Kills processes that write into one store at random moments, and looks at what is there.

The store is in a folder or, with `--redis`, on a server of its own, which is killed and started
again, too, after every fourth kill of a writer.

Each round some writers, one to eight processes, write checkpoints one after the other, as crawls
do. A checkpoint has something of its own in every part of the store, and adds to what all of them
add to: the counts of the model, those of a site. It is reported when the store says that it has it.
Each writer is killed after a random time. After each kill, while others go on writing, the model is
read; after each round all parts are compared with the reports, and with one another:

    lost        checkpoints that were reported and are not there
    twice       what counts more often than it was written
    apart       checkpoints that not all parts and sums have
    unreadable  times that the model could not be read, or was not the sum of so many pages

All four must be 0; the program exits with 1 otherwise. It needs a POSIX system.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, TypeVar

import numpy as np

from research.benchmarks.redis_server import PROGRAMS, program, running
from research.benchmarks.synthetic import page as made_up_page
from research.benchmarks.victims import KEY_SHIFT, Report, Victim, goes_on, killed_in_turn
from research.command_line import at_least
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import span_labels
from scrapy_mss.models import store as model_store
from scrapy_mss.models.format import ModelError
from scrapy_mss.models.model import LearnedPages, Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.quality import store as quality
from scrapy_mss.quality.store import QualityStore, UncertainPage
from scrapy_mss.seen import articles as seen
from scrapy_mss.seen import stories
from scrapy_mss.seen.articles import SeenArticle, SeenList, SeenStore
from scrapy_mss.seen.stories import SIZE, EmittedText, StoryStore, keys_of
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import Change, Store

MAX_WRITERS: Final = 8
LONGEST: Final = 0.5  # seconds that a lone writer lives at most; a checkpoint takes a tenth of one
PAUSE: Final = 0.01  # seconds until a store that fails is tried again
KILLS_A_RESTART: Final = 4
MAX_DELTAS: Final = 8  # of the model, so that also writers that live so shortly store new bases
PAGE_BYTES: Final = 10_000
DAY: Final = 40_000  # in the year 2079, so that nothing is old
MINUTE: Final = 40_000 * 24 * 60
ALL: Final = 0  # what all writers add to, as if it were a checkpoint; their own keys are larger

Answer = TypeVar("Answer")


class Found(NamedTuple):
    """What is wrong with a store."""

    lost: int = 0
    twice: int = 0
    apart: int = 0
    unreadable: int = 0


@dataclass(slots=True)
class Outcome:
    """What a campaign has found so far."""

    kills: int = 0
    restarts: int = 0  # of the server
    loads: int = 0
    writers: int = 0
    unreadable: int = 0
    found: Found = field(default_factory=Found)
    reported: set[int] = field(default_factory=set)  # keys
    begun: list[int] = field(default_factory=list)  # keys of what may be there


@cache
def one_page() -> Model:
    """What each checkpoint adds to the model, with another key."""
    page, model = Page.of(made_up_page(PAGE_BYTES)), Model(DEFAULT)
    model.bayes.learn(page, span_labels(len(page.tokens), 10, len(page.tokens) // 2))
    return model


def learned(key: int) -> Model:
    """That page, as the one with this *key*."""
    one = one_page()
    one.learned_pages = LearnedPages()
    one.learned_pages.add(key, 0)
    return one


def site_of(key: int) -> str:
    return f"s{key}.example"


def seen_of(key: int) -> SeenArticle:
    return SeenArticle(key, key % 1000, 1, MINUTE, MINUTE, MINUTE)


def list_of(key: int) -> tuple[str, SeenList]:
    return f"http://{site_of(key)}/feed", SeenList(f'"{key}"', "", (("feed", str(key)),))


def told_of(key: int) -> EmittedText:
    sketch = np.random.default_rng(key).integers(2**32, size=SIZE, dtype=np.uint32)
    return EmittedText((key,), key, key, is_copy=False, minute=MINUTE, sketch=sketch)


def unsure_of(key: int) -> UncertainPage:
    return UncertainPage(f"http://{site_of(key)}/", 0.5, MINUTE)


def checkpoint(model: StoredModel, store: Store, key: int) -> dict[str, Change]:
    """What the checkpoint with this *key* adds to each part."""
    site, everybody = site_of(key), site_of(ALL)
    counts, memory = Counter(pages=1), SiteMemory(pages=1.0)
    return {
        "model": model.adding(lambda: learned(key)),
        "seen": seen.adding({key: seen_of(key)}),
        "lists": seen.adding_lists(dict([list_of(key)]), MINUTE),
        "stories": stories.adding([told_of(key)]),
        "sites": SiteStore(store).adding({site: memory, everybody: memory}, MINUTE),
        "quality": quality.adding({(site, DAY): counts, (everybody, DAY): counts}),
        "unsure": quality.adding_pages({site: {unsure_of(key): quality.compressed(site)}}),
    }


def write_forever(named: str, first: int, report: Report) -> None:
    """Write one checkpoint after the other, and report each."""
    model_store.MAX_DELTAS = MAX_DELTAS  # type: ignore[misc] # of this process
    store = store_at(named)
    model = StoredModel(store, DEFAULT)
    surely(model.load)
    for key in count(first):
        changes = list(checkpoint(model, store, key).values())
        surely(partial(store.write, changes))
        surely(store.close)  # a server may not have answered yet
        report(key)
        with suppress(OSError):  # what comes after it is no part of it
            for change in changes:
                change.after()


def surely(call: Callable[[], Answer]) -> Answer:
    """What *call* answers, as soon as the store lets it.

    A crawl tries it again with its next checkpoint: where it fails, nothing was written.
    """
    while True:
        try:
            return call()
        except OSError as error:
            sys.stderr.write(f"tried again: {error}\n")
            time.sleep(PAUSE)


def loaded(store: Store) -> Model:
    """The model in the store; an error where it is not the sum of pages."""
    model = StoredModel(store, DEFAULT).load()
    for name, counts in model.bayes.counts.items():
        expected = model.bayes.pages * one_page().bayes.counts[name].astype(np.int64)
        if not np.array_equal(counts, expected):
            raise ModelError(f"{store.name}: {name} is no sum of {model.bayes.pages} pages")
    return model


def shown(store: Store, keys: Sequence[int]) -> dict[str, Counter[int]]:
    """How often each part has each of the checkpoints, and all of them."""
    model, sites, places = loaded(store), SiteStore(store), {site_of(key): key for key in keys}
    places[site_of(ALL)] = ALL
    articles, pages = SeenStore(store).articles(keys), QualityStore(store).uncertain()
    days = QualityStore(store).days(places, 0)
    return {
        "model": Counter({ALL: model.bayes.pages, **_once(keys, model.learned_pages.__contains__)}),
        "seen": _once(keys, lambda key: articles.get(key) == seen_of(key)),
        "lists": _once(keys, lambda key: _has_list(SeenStore(store), key)),
        "stories": _once(keys, lambda key: _is_findable(StoryStore(store), key)),
        "sites": Counter({key: round(sites.load(site).pages) for site, key in places.items()}),
        "quality": Counter(
            {places[site]: sum(day["pages"] for day in of.values()) for site, of in days}
        ),
        "unsure": _once(keys, lambda key: site_of(key) in pages and _has_page(store, key)),
    }


def _once(keys: Sequence[int], is_there: Callable[[int], bool]) -> Counter[int]:
    return Counter(filter(is_there, keys))


def _has_list(store: SeenStore, key: int) -> bool:
    url, expected = list_of(key)
    return store.list(url) == expected


def _is_findable(store: StoryStore, key: int) -> bool:
    """Whether a text is at its address, and is found by what it shares."""
    found = store.sharing(keys_of(told_of(key).sketch))
    return bool(store.at([key])) and any(emitted.addresses == (key,) for emitted in found)


def _has_page(store: Store, key: int) -> bool:
    site = site_of(key)
    (page,) = QualityStore(store).uncertain_pages(site)
    return (page.url, page.html) == (unsure_of(key).url, site)


def compared(parts: Mapping[str, Counter[int]], reported: set[int]) -> Found:
    """What is wrong where *parts* have checkpoints so often, of which these were *reported*."""
    sums = [each.pop(ALL) for each in map(dict, parts.values()) if ALL in each]
    there = [{key for key in each if each[key] and key != ALL} for each in parts.values()]
    anywhere, everywhere = set.union(*there), set.intersection(*there)
    own = (n for each in parts.values() for key, n in each.items() if key != ALL)
    return Found(
        lost=len(reported - everywhere),
        twice=sum(max(0, n - 1) for n in own) + sum(max(0, n - len(anywhere)) for n in sums),
        apart=len(anywhere - everywhere) + sum(max(0, len(everywhere) - n) for n in sums),
    )


def one_round(
    named: str,
    chance: random.Random,
    outcome: Outcome,
    restart: Callable[[], None] | None = None,
) -> None:
    """Start some writers, kill each at a moment of its own, and look at the store."""
    numbers = range(outcome.writers + 1, outcome.writers + 1 + chance.randint(1, MAX_WRITERS))
    outcome.writers = numbers[-1]
    following = {number: number << KEY_SHIFT for number in numbers}
    one_page()  # before they are forked
    writers = [Victim.started(partial(write_forever, named, first)) for first in following.values()]
    for reported in killed_in_turn(writers, LONGEST, chance):
        outcome.kills += 1
        outcome.reported |= reported
        outcome.begun += reported
        following.update({key >> KEY_SHIFT: key + 1 for key in sorted(reported)})
        if restart is not None and outcome.kills % KILLS_A_RESTART == 0:
            restart()
            outcome.restarts += 1
        with reading(named, outcome) as store:
            loaded(store)
    outcome.begun += following.values()  # what was under way when they were killed
    with reading(named, outcome) as store:
        outcome.found = compared(shown(store, outcome.begun), outcome.reported)
    outcome.found = outcome.found._replace(unreadable=outcome.unreadable)


@contextmanager
def reading(named: str, outcome: Outcome) -> Iterator[Store]:
    """The store, to be read; an error is counted, and emitted."""
    outcome.loads += 1
    try:
        with closing(store_at(named)) as store:  # no connection is open when writers are forked
            yield store
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        outcome.unreadable += 1


def campaign(kills: int, seed: int, *, redis: bool = False) -> Outcome:
    """Round after round, until enough writers are killed or something is wrong."""
    chance, outcome = random.Random(seed), Outcome()
    with ExitStack() as stack:
        server = stack.enter_context(running()) if redis else None
        folder = stack.enter_context(TemporaryDirectory(prefix="scrapy-mss-crash-"))
        named, restart = (server.address(), server.restart) if server else (folder, None)
        while not any(outcome.found) and goes_on(kills, outcome.kills, outcome.reported):
            one_round(named, chance, outcome, restart)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=at_least(1), default=200, help="200 unless given")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    parser.add_argument("--redis", action="store_true", help="a Redis server instead of a folder")
    options = parser.parse_args()
    if options.redis and program() is None:
        parser.error(f"--redis needs one of {', '.join(PROGRAMS)}")
    done = campaign(options.kills, options.seed, redis=options.redis)
    row = {
        "kills": done.kills,
        "restarts": done.restarts,
        "added": len(done.reported),
        "loads": done.loads,
        **done.found._asdict(),
    }
    print("  ".join(row))
    print("  ".join(f"{number:{len(name)}}" for name, number in row.items()))
    return 0 if done.reported and not any(done.found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
