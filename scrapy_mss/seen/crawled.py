"""What one crawl has seen, and what it knows from earlier ones.

An article counts as seen when its item has left the pipelines, and a checkpoint stores it. After a
crawl is killed, what it saw since its last checkpoint comes again. The state of a
list, such as a feed, is stored only if the crawl has ended normally and has downloaded everything
that the list names, because an unchanged list is not read again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import Final, NamedTuple

from scrapy_mss.seen.checkpoints import Checkpoints
from scrapy_mss.seen.keys import address_key, text_key, title_key
from scrapy_mss.seen.store import ArticleStore, Seen, SeenList

logger = logging.getLogger(__name__)

DAY: Final = 24 * 60  # minutes
MET_AGAIN: Final = 7 * DAY
NO_REVISION: Final = 0  # of what is no article


class Addresses(NamedTuple):
    """The addresses that an article is known by."""

    own: tuple[str, ...]  # where it is, and whence it was redirected
    canonical: str = ""  # what the page declares, if that can be believed


class Times(NamedTuple):
    """How long what is kept, in minutes."""

    recheck: int  # an article without a date is read again after so long
    keep: int = 0  # what no crawl has met for so long is forgotten; 0 keeps all

    @property
    def met_again(self) -> int:
        """An address that is met is noted once in so long."""
        return min(MET_AGAIN, self.keep // 2) if self.keep else MET_AGAIN


class Verdict(NamedTuple):
    """What an article is beside what was seen of it."""

    is_new: bool  # an article, or a revision of one, that has not been seen
    revision: int  # 1 for a new article
    changed: tuple[str, ...]  # the fields in which it differs from the revision before


class SeenArticles:
    """The articles that a crawl has seen, with those of earlier crawls."""

    def __init__(self, store: ArticleStore, times: Times, now: Callable[[], int]) -> None:
        self._store = store
        self._writer = store.another()  # for the thread that writes
        self._checkpoints: Checkpoints[dict[int, Seen]] = Checkpoints(self._writer.add)
        self._times = times
        self._now = now
        self._unsaved: dict[int, Seen] = {}
        self._lists: dict[str, tuple[str, SeenList]] = {}
        self._incomplete: set[str] = set()
        self._ended: Future[None] | None = None
        self.failures = 0

    def is_due(self, url: str, listed: int = 0) -> bool:
        """Whether the page at *url* is to be read; *listed* as in `due`."""
        return self.due([(url, listed)])[0]

    def due(self, listed: Sequence[tuple[str, int]]) -> Sequence[bool]:
        """Whether each page is to be read: it is new, or may have changed.

        *listed* has their addresses, each with the date, in minutes since 1970, that a feed or
        sitemap gives for it, or 0. The store is asked once for all of them.
        """
        keys = [address_key(url) for url, _ in listed]
        seen = self._seen_all(keys)
        return [
            self._is_due(key, seen.get(key), date)
            for key, (_, date) in zip(keys, listed, strict=True)
        ]

    def _is_due(self, key: int, seen: Seen | None, listed: int) -> bool:
        if seen is None:
            return True
        now = self._now()
        if now - seen.met >= self._times.met_again:
            self._unsaved[key] = seen._replace(met=now)
        if min(listed, now) > seen.listed > 0:
            return True
        # Dates of one list are compared with one another, not with our clock.
        is_dated = bool(listed and seen.listed)
        return not is_dated and now - seen.checked >= self._times.recheck

    def judge(self, addresses: Addresses, title: str | None, text: str | None) -> Verdict:
        """What an article is beside what was seen of it.

        Under its own address it is compared; where the page says that it is another one's copy,
        and that was seen in the same words, it is that.
        """
        seen = next(filter(None, map(self._article, addresses.own)), None)
        if seen is not None:
            keys = {"title": (seen.title, title_key(title)), "text": (seen.text, text_key(text))}
            changed = tuple(name for name, (before, after) in keys.items() if before != after)
            return Verdict(bool(changed), seen.revision + bool(changed), changed)
        copied = self._article(addresses.canonical) if addresses.canonical else None
        if copied is not None and copied.text == text_key(text):
            return Verdict(is_new=False, revision=copied.revision, changed=())
        return Verdict(is_new=True, revision=1, changed=())

    def add(
        self, addresses: Addresses, title: str | None, text: str | None, listed: int = 0
    ) -> None:
        """Note that an article has been seen."""
        now = self._now()
        revision = self.judge(addresses, title, text).revision
        listed = min(listed, now)
        seen = Seen(text_key(text), title_key(title), revision, listed, now, now)
        self._note(addresses.own, seen)
        if addresses.canonical and self._article(addresses.canonical) is None:
            self._note((addresses.canonical,), seen)

    def add_other(self, url: str, listed: int = 0) -> None:
        """Note that what is at *url* was read and is no article; it is due again like one."""
        if self._article(url) is None:
            now = self._now()
            self._note((url,), Seen(0, 0, NO_REVISION, min(listed, now), now, now))

    def _article(self, url: str) -> Seen | None:
        """What was seen of the article at *url*."""
        seen = self._seen(address_key(url))
        return seen if seen is not None and seen.revision != NO_REVISION else None

    def _note(self, urls: Iterable[str], seen: Seen) -> None:
        for key in {address_key(url) for url in urls}:
            before = self._seen(key)
            listed = max(before.listed if before else 0, seen.listed)
            self._unsaved[key] = seen._replace(listed=listed)

    def list(self, url: str) -> SeenList | None:
        """The list at *url*, as an earlier crawl has seen it."""
        try:
            return self._store.list(url)
        except OSError as error:
            self._failed(error)
            return None

    def add_list(self, url: str, site: str, seen: SeenList) -> None:
        """Note the state of the list at *url*, of *site*, for the end of the crawl."""
        self._lists[url] = site, seen

    def add_named(self, url: str, kind: str, named: Iterable[str]) -> None:
        """Note that the list at *url* names others, of some *kind*."""
        if url in self._lists:
            site, seen = self._lists[url]
            lists = (*seen.lists, *((kind, each) for each in named))
            self._lists[url] = site, seen._replace(lists=lists)

    def leave_incomplete(self, site: str) -> None:
        """Note that not all that the lists of *site* name was downloaded."""
        self._incomplete.add(site)

    def checkpoint(self) -> None:
        """Begin to store what was seen, unless that is still under way.

        A thread does it, as it may have to wait for another crawl. What cannot be stored is tried
        again with the next checkpoint.
        """
        if self._checkpoints.is_busy:
            return
        self.wait()
        if self._unsaved:
            self._checkpoints.begin(self._unsaved)
            self._unsaved = {}

    def wait(self) -> None:
        """Wait for the checkpoint that is under way."""
        failed = self._checkpoints.settle()
        if failed is not None:
            batch, error = failed
            self._failed(error)
            self._unsaved = batch | self._unsaved

    @property
    def write(self) -> Future[None]:
        """The checkpoint that is being written, or one that is done."""
        return self._checkpoints.write

    def end(self, *, finished: bool) -> Future[None]:
        """Begin to store the lists of sites that are complete, after a crawl that has *finished*.

        A checkpoint is to be written before. `close` waits for it.
        """
        self.wait()
        now = self._now()
        complete = finished and not self._unsaved
        lists = {
            url: seen
            for url, (site, seen) in self._lists.items()
            if complete and site not in self._incomplete
        }
        self._lists = {}
        self._ended = self._checkpoints.after(partial(self._end, lists, now))
        return self._ended

    def _end(self, lists: dict[str, SeenList], now: int) -> None:
        if lists:
            self._writer.add_lists(lists, now)
        if self._times.keep:
            self._writer.forget_before(now - self._times.keep)

    def close(self, *, finished: bool) -> None:
        """Store all; after a crawl that has *finished*, the lists of sites that are complete."""
        with ExitStack() as closing:
            for part in (self._store, self._writer, self._checkpoints):
                closing.callback(part.close)
            self.wait()
            if self._ended is None:
                self.checkpoint()
            ended = self._ended or self.end(finished=finished)
            error = ended.exception()
            if error is not None:
                self._failed(error)

    @property
    def lost(self) -> int:
        """How many articles could not be stored, once this is closed."""
        return len(self._unsaved)

    def _seen(self, key: int) -> Seen | None:
        return self._seen_all([key]).get(key)

    def _seen_all(self, keys: Sequence[int]) -> dict[int, Seen]:
        """What was seen of the articles with these *keys*, of those that were seen."""
        found: dict[int, Seen] = {}
        for recent in (self._checkpoints.in_flight or {}, self._unsaved):  # the later one is right
            found |= {key: recent[key] for key in keys if key in recent}
        asked = [key for key in keys if key not in found]
        try:
            return found | self._store.articles(asked) if asked else found
        except OSError as error:
            self._failed(error)
            return found

    def _failed(self, error: BaseException) -> None:
        """Log the first failure of the store; further ones are only counted."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: what was seen cannot be stored or read: %s. The crawl continues, and "
                "articles may come again; further failures are only counted",
                error,
            )
