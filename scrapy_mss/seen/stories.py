"""Detects articles that tell the same story: copies, cut and edited, of an earlier text.

The story of a text is that of the earliest text of which it is a copy, and is named by a hash of
that text's words, so that two crawls that meet the same text first give it the same name. Later
texts are copies of a copy only if they are copies of a known one, so that stories do not merge
in small steps: a text is compared with the texts of a window of days, not with their chain.

The story of an article is remembered beyond that window, so that a late revision of an original
does not become a copy of its copies: its record is kept while a text of its story is in the window.

A text counts as told when its item has left the pipelines. Until then it is pending: others are
its copies, but if it is lost, they were not seen.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import Final, NamedTuple, Protocol

from scrapy_mss.seen.checkpoints import Checkpoints
from scrapy_mss.seen.keys import text_key
from scrapy_mss.seen.sketches import Numbers, keys_of, likeness, sketch
from scrapy_mss.seen.story_store import RecentTexts, StoryStore, Told

logger = logging.getLogger(__name__)

MAX_UNDER_WAY: Final = 10_000  # items that other pipelines hold, or replace: the oldest are let go
CHECKPOINT_TEXTS: Final = 5_000  # after so many, whatever the interval: 4 KB each
MAX_UNSAVED: Final = 20_000  # that a file which fails has not taken: the oldest are let go


class _Texts(Protocol):
    """Where texts that were told can be asked for."""

    def at(self, addresses: Sequence[int], /) -> list[Told]: ...

    def sharing(self, keys: Sequence[int], /) -> list[Told]: ...


class Judged(NamedTuple):
    """A text beside what was told."""

    told: Told
    waits_for: int | None = None  # the address of what it is a copy of, while that may be lost

    @property
    def story(self) -> str:
        """The name of its story."""
        return f"{self.told.story & (2**64 - 1):016x}"


class Stories:
    """The stories of a crawl, with those of earlier crawls, and of others at the same time."""

    def __init__(self, store: StoryStore, window: int, now: Callable[[], int]) -> None:
        """Compare with texts of the last *window* minutes."""
        self._store = store
        self._writer = StoryStore(store.path)  # a connection for the thread that writes
        self._checkpoints: Checkpoints[RecentTexts] = Checkpoints(self._write)
        self._window = window
        self._now = now
        self._unsaved = RecentTexts()
        self._under_way = RecentTexts()
        self._items: Counter[int] = Counter()  # under way, by the first address of their texts
        self._forgotten: Future[None] | None = None
        self._n_dropped = 0
        self.failures = 0

    def judge(self, addresses: Sequence[int], text: str) -> Judged:
        """What the *text* at some *addresses* is beside those that were told.

        At an address of its own it is the same story in whatever words, and no copy if it was none.
        """
        numbers = sketch(text)
        own = self._at(addresses)
        like = [] if numbers is None else list(self._like(numbers, addresses))
        first = min(like, key=lambda each: (each.minute, each.story), default=None)
        known = own or first
        story = known.story if known else text_key(text)
        is_copy = first is not None and (own is None or own.is_copy)
        found = [*like, own] if own and own.minute >= self._since else like
        is_found = any(self._is_same(numbers, each) for each in found)
        told = Told(tuple(addresses), story, is_copy, self._now(), None if is_found else numbers)
        return Judged(told, self._under_way_of(like) if is_copy else None)

    def begin(self, told: Told) -> None:
        """Note that the item of a text is on its way."""
        self._under_way.put(told)
        self._items[told.addresses[0]] += 1
        if len(self._under_way.texts) > MAX_UNDER_WAY:
            self._let_go(next(iter(self._under_way.texts)))

    def end(self, addresses: Sequence[int], *, is_told: bool) -> None:
        """Note that an item of what is at *addresses* has left the pipelines, or is lost.

        What is there is lost only with the last of its items, and is told with the first.
        """
        first = addresses[0]
        told = self._under_way.texts.get(first)
        if told is None:
            return
        self._items[first] -= 1
        if is_told or not self._items[first]:
            self._let_go(first)
        if is_told:
            self.add(told)

    def is_under_way(self, address: int) -> bool:
        """Whether an item of what is at *address* is still on its way."""
        return address in self._items

    def _let_go(self, first: int) -> None:
        self._under_way.remove(first)
        del self._items[first]

    def add(self, told: Told) -> None:
        """Note that a text was told."""
        self._unsaved.put(told)
        if len(self._unsaved.texts) % CHECKPOINT_TEXTS == 0:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Begin to store what was told, unless that is still under way."""
        if self._checkpoints.is_busy:
            return
        self.wait()
        if self._unsaved.texts:
            self._checkpoints.begin(self._unsaved)
            self._unsaved = RecentTexts()

    def wait(self) -> None:
        """Wait for the checkpoint that is under way; what was not stored is tried again."""
        failed = self._checkpoints.settle()
        if failed is not None:
            batch, error = failed
            self._failed(error)
            texts = [*batch.texts.values(), *self._unsaved.texts.values()]
            self._unsaved = RecentTexts(texts[-MAX_UNSAVED:])
            self._n_dropped += len({each.addresses[0] for each in texts}) - len(self._unsaved.texts)

    @property
    def write(self) -> Future[None]:
        """The checkpoint that is being written, or one that is done."""
        return self._checkpoints.write

    def forget(self) -> Future[None]:
        """Begin to forget what is older than the window; `close` waits for it.

        That takes up to twenty seconds. A checkpoint is to be written before.
        """
        self.wait()
        self._forgotten = self._checkpoints.after(partial(self._forget_before, self._since))
        return self._forgotten

    def _forget_before(self, minute: int) -> None:
        self._writer.forget_before(minute)

    def close(self) -> None:
        """Store all that is not stored yet, and forget what is older than the window."""
        with ExitStack() as closing:
            for part in (self._store, self._writer, self._checkpoints):
                closing.callback(part.close)
            self.wait()
            if self._forgotten is None:
                self.checkpoint()
            error = (self._forgotten or self.forget()).exception()
            if error is not None:  # what was told is stored all the same
                self._failed(error)

    @property
    def lost(self) -> int:
        """How many texts could not be stored, once this is closed."""
        return self._n_dropped + len(self._unsaved.texts)

    def _write(self, batch: RecentTexts) -> None:
        self._writer.add(batch.texts.values())

    def _places(self) -> Iterator[_Texts]:
        """Where texts are, the latest first."""
        yield self._under_way
        yield self._unsaved
        if self._checkpoints.in_flight is not None:
            yield self._checkpoints.in_flight
        yield self._store

    @property
    def _since(self) -> int:
        """The first minute of the window."""
        return self._now() - self._window

    def _at(self, addresses: Sequence[int]) -> Told | None:
        """What was told last at one of the *addresses*, however long ago."""
        found = chain.from_iterable(self._asked(place.at, addresses) for place in self._places())
        return next(found, None)

    def _like(self, numbers: Numbers, addresses: Sequence[int]) -> Iterator[Told]:
        """The texts at other addresses that one with these *numbers* is a copy of."""
        since, seen = self._since, set(addresses)
        for place in self._places():
            for told in self._asked(place.sharing, keys_of(numbers)):
                is_other = told.minute >= since and seen.isdisjoint(told.addresses)
                if is_other and told.sketch is not None and likeness(numbers, told.sketch).is_copy:
                    yield told

    def _asked(self, ask: Callable[[Sequence[int]], list[Told]], of: Sequence[int]) -> list[Told]:
        """What *ask* answers; nothing where the file fails."""
        try:
            return ask(of)
        except OSError as error:
            self._failed(error)
            return []

    def _is_same(self, numbers: Numbers | None, told: Told) -> bool:
        if numbers is None or told.sketch is None or told.addresses[0] in self._under_way.texts:
            return False
        return likeness(numbers, told.sketch).is_same

    def _under_way_of(self, like: Sequence[Told]) -> int | None:
        """The address of one of these texts, if all of them may still be lost."""
        addresses = [each.addresses[0] for each in like]
        if all(each in self._under_way.texts for each in addresses):
            return addresses[0]
        return None

    def _failed(self, error: BaseException) -> None:
        """Log the first failure of the store; further ones are only counted."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: stories cannot be stored or read: %s. The crawl "
                "continues, and copies may be missed; further failures are only counted",
                error,
            )
