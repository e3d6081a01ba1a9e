"""Kills writers of the stores beside the model at random moments, and counts what is then wrong.

Each store is in a file or, with `--redis`, on a server of its own, which is killed and started
again, too, after every fourth kill of a writer.

Each round some writers, one to eight processes, add to the store, one thing after the other, each
things of its own, and report each when the store says that it has it. What is counted is added to
something that all of them count, too, in the same addition. After each round the store is compared
with the reports:

    lost   what was reported as added and is not there
    twice  what is counted more than once
    wrong  what is there in part: in the sum of all or on its own, or with other numbers

All three must be 0; the program exits with 1 otherwise. It needs a POSIX system.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from scrapy_mss.quality.redis_store import RedisQualityStore
from scrapy_mss.seen.redis_store import RedisSeenStore
from scrapy_mss.sites.redis_store import RedisSiteStore
from scrapy_mss.storage.redis_server import LostConnectionError

from research.benchmarks.redis_server import PROGRAMS, program, running
from research.benchmarks.victims import KEY_SHIFT, Report, Victim, goes_on, killed_in_turn
from research.command_line import at_least
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.seen.sketches import SIZE, keys_of
from scrapy_mss.seen.store import Seen, SeenList, SeenStore
from scrapy_mss.seen.story_store import StoryStore, Told
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore

MAX_WRITERS: Final = 8
LONGEST: Final = 0.3  # seconds that a lone writer lives at most
PAUSE: Final = 0.01  # seconds until a server that is away is tried again
KILLS_A_RESTART: Final = 4
DAY: Final = 40_000  # in the year 2079, so that nothing is old
MINUTE: Final = 40_000 * 24 * 60
SHARED: Final = "all.example"  # what all writers add to

Answer = TypeVar("Answer")
Named = Callable[[str], Any]


class Wrong(NamedTuple):
    """What is wrong with a store."""

    lost: int = 0
    twice: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """A store: how to open it, to add what has a key, and to compare it with what was reported."""

    file: Named
    server: Named | None
    add: Callable[[Any, int], object]
    compared: Callable[[Any, set[int], set[int]], Wrong]  # reported, and what may be there


@dataclass(slots=True)
class Outcome:
    """What a campaign has found so far."""

    kills: int = 0
    restarts: int = 0  # of the server
    found: Wrong = field(default_factory=Wrong)
    reported: set[int] = field(default_factory=set)  # keys
    begun: Counter[int] = field(default_factory=Counter)  # how many things each writer has begun

    @staticmethod
    def key_of(writer: int, number: int) -> int:
        return (writer << KEY_SHIFT) + number

    def first_of(self, writer: int) -> int:
        """The key of the first thing that a *writer* has not begun yet."""
        return self.key_of(writer, self.begun[writer])

    def all_begun(self) -> set[int]:
        """The keys of all that may be there."""
        return {self.key_of(w, n) for w, count in self.begun.items() for n in range(count)}


def surely(call: Callable[[], Answer]) -> Answer:
    """What *call* answers, as soon as the server is there, or a file is not in use.

    A crawl tries such an addition again with its next checkpoint: where it fails, nothing was
    added.
    """
    while True:
        try:
            return call()
        except LostConnectionError:
            time.sleep(PAUSE)
        except OSError as error:
            sys.stderr.write(f"tried again: {error}\n")
            time.sleep(PAUSE)


def site_of(key: int) -> str:
    return f"s{key}.example"


def add_quality(store: Any, key: int) -> None:
    counts = Counter(pages=1)
    _settled(store, lambda: store.add({(site_of(key), DAY): counts, (SHARED, DAY): counts}))


def add_site(store: Any, key: int) -> None:
    memory = SiteMemory(pages=1.0)
    _settled(store, lambda: store.add({site_of(key): memory, SHARED: memory}, MINUTE))


def _settled(store: Any, add: Callable[[], object]) -> None:
    """Return when the server has answered; what it has not is sent again under its name."""
    surely(add)
    outbox = getattr(store, "_outbox", None)
    if outbox is not None:
        surely(outbox.settle)


def seen_of(key: int) -> Seen:
    return Seen(key, key % 1000, 1, MINUTE, MINUTE, MINUTE)


def list_of(key: int) -> tuple[str, SeenList]:
    return f"http://{site_of(key)}/feed", SeenList(f'"{key}"', "", (("feed", str(key)),))


def add_seen(store: Any, key: int) -> None:
    """An article, and a list with its ETag; to send either twice changes nothing."""
    surely(lambda: store.add({key: seen_of(key)}))
    url, seen = list_of(key)
    surely(lambda: store.add_lists({url: seen}, MINUTE))


def told_of(key: int) -> Told:
    sketch = np.random.default_rng(key).integers(2**32, size=SIZE, dtype=np.uint32)
    return Told((key,), key, is_copy=False, minute=MINUTE, sketch=sketch)


def add_story(store: StoryStore, key: int) -> None:
    surely(lambda: store.add([told_of(key)]))


def compare_quality(store: Any, reported: set[int], begun: set[int]) -> Wrong:
    days = dict(surely(lambda: list(store.days([*map(site_of, begun), SHARED], 0))))
    counts = {site: sum(day["pages"] for day in each.values()) for site, each in days.items()}
    return _counted(counts, reported, begun)


def compare_sites(store: Any, reported: set[int], begun: set[int]) -> Wrong:
    sites = [*map(site_of, begun), SHARED]
    pages = {site: surely(partial(store.load, site)).pages for site in sites}
    return _counted(pages, reported, begun)


def _counted(counts: Mapping[str, float], reported: set[int], begun: set[int]) -> Wrong:
    each = [counts.get(site_of(key), 0) for key in begun]
    return Wrong(
        lost=sum(not counts.get(site_of(key)) for key in reported),
        twice=int(sum(max(0, count - 1) for count in each)),
        wrong=int(sum(each) != counts.get(SHARED, 0)),
    )


def compare_seen(store: Any, reported: set[int], _: set[int]) -> Wrong:
    articles = surely(lambda: store.articles(reported))
    lists = {key: surely(partial(store.list, list_of(key)[0])) for key in reported}
    known = [key for key in reported if key in articles and lists[key] is not None]
    right = sum((articles[key], lists[key]) == (seen_of(key), list_of(key)[1]) for key in known)
    return Wrong(lost=len(reported) - len(known), wrong=len(known) - right)


def compare_stories(store: StoryStore, reported: set[int], begun: set[int]) -> Wrong:
    there = [key for key in begun if store.at([key])]
    findable = sum(any(told.addresses == (key,) for told in _sharing(store, key)) for key in there)
    return Wrong(len(reported.difference(there)), len(store) - len(there), len(there) - findable)


def _sharing(store: StoryStore, key: int) -> Iterable[Told]:
    sketch = told_of(key).sketch
    assert sketch is not None
    return store.sharing(keys_of(sketch))


KINDS: Final[Mapping[str, Kind]] = {
    "quality": Kind(QualityStore, RedisQualityStore, add_quality, compare_quality),
    "sites": Kind(lambda name: SiteStore(Path(name)), RedisSiteStore, add_site, compare_sites),
    "seen": Kind(SeenStore, lambda name: RedisSeenStore(name, 0), add_seen, compare_seen),
    "stories": Kind(StoryStore, None, add_story, compare_stories),
}


def write_forever(kind: Kind, name: Callable[[], Any], first: int, report: Report) -> None:
    """Add one thing after the other to a store, and report each."""
    store, key = name(), first
    while True:
        kind.add(store, key)
        report(key)
        key += 1


def one_round(
    kind: Kind, opened: Callable[[], Any], chance: random.Random, outcome: Outcome
) -> Iterator[None]:
    """Start some writers and kill each at a moment of its own; whoever iterates may restart."""
    victims = [
        Victim.started(partial(write_forever, kind, opened, outcome.first_of(writer)))
        for writer in range(chance.randint(1, MAX_WRITERS))
    ]
    for reported in killed_in_turn(victims, LONGEST, chance):
        outcome.kills += 1
        outcome.reported |= reported
        yield
    for key in sorted(outcome.reported):
        writer = key >> KEY_SHIFT
        outcome.begun[writer] = max(outcome.begun[writer], key + 1 - outcome.key_of(writer, 0))
    for writer in range(len(victims)):
        outcome.begun[writer] += 1  # what was under way when it was killed: it may be there


def campaign(kind: Kind, options: argparse.Namespace) -> Outcome:
    """Round after round, until enough writers are killed or something is wrong."""
    chance, outcome = random.Random(options.seed), Outcome()
    with ExitStack() as stack:
        server = stack.enter_context(running()) if options.redis else None
        if server is not None and kind.server is not None:
            opened = partial(kind.server, server.address())
        else:
            folder = stack.enter_context(TemporaryDirectory(prefix="scrapy-mss-crash-"))
            opened = partial(kind.file, f"{folder}/store")
        while not any(outcome.found) and goes_on(options.kills, outcome.kills, outcome.reported):
            for _ in one_round(kind, opened, chance, outcome):
                if server is not None and outcome.kills % KILLS_A_RESTART == 0:
                    server.restart()
                    outcome.restarts += 1
            store = opened()
            outcome.found = kind.compared(store, outcome.reported, outcome.all_begun())
            store.close()
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", action="append", choices=KINDS, help="all unless given")
    parser.add_argument("--kills", type=at_least(1), default=200, help="of each; 200 unless given")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    parser.add_argument("--redis", action="store_true", help="a Redis server instead of a file")
    options = parser.parse_args()
    if options.redis and program() is None:
        parser.error(f"--redis needs one of {', '.join(PROGRAMS)}")
    print("store    kills  restarts  added  lost  twice  wrong", flush=True)
    is_good = True
    for name in options.store or KINDS:
        if options.redis and KINDS[name].server is None:
            continue
        done = campaign(KINDS[name], options)
        is_good &= bool(done.reported) and not any(done.found)
        print(
            f"{name:7}  {done.kills:5}  {done.restarts:8}  {len(done.reported):5}  "
            f"{done.found.lost:4}  {done.found.twice:5}  {done.found.wrong:5}",
            flush=True,
        )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
