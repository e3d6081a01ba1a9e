"""What one crawl has seen, and what it knows of earlier ones.

An article counts as seen when its item has left the pipelines, and a checkpoint stores it: a crawl
that is killed gets again what it saw since its last checkpoint, and loses nothing. The state of a
list, such as a feed, is stored only when the crawl has ended well and has downloaded all that the
list names, since a list that has not changed is not read again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from scrapy_mss.seen.keys import address_key, text_key, title_key
from scrapy_mss.seen.store import Seen, SeenList, SeenStore, SeenStoreError

logger = logging.getLogger(__name__)

DAY: Final = 24 * 60  # minutes
MET_AGAIN: Final = 7 * DAY  # an address that is met is noted once in so long


class Verdict(NamedTuple):
    """What an article is beside what was seen of it."""

    is_new: bool  # an article, or a revision of one, that has not been seen
    revision: int  # 1 for a new article
    changed: tuple[str, ...]  # the fields in which it differs from the revision before


class SeenArticles:
    """The articles that a crawl has seen, with those of earlier crawls."""

    def __init__(self, store: SeenStore, recheck: int, now: Callable[[], int]) -> None:
        """*recheck* is after how many minutes an article without a date is read again."""
        self._store = store
        self._recheck = recheck
        self._now = now
        self._unsaved: dict[int, Seen] = {}
        self._lists: dict[str, tuple[str, SeenList]] = {}
        self._incomplete: set[str] = set()
        self.failures = 0

    def is_due(self, url: str, listed: int = 0) -> bool:
        """Whether the page at *url* is to be read: it is new, or may have changed.

        *listed* is the date, in minutes since 1970, that a feed or sitemap gives for it.
        """
        key = address_key(url)
        seen = self._seen(key)
        if seen is None:
            return True
        now = self._now()
        if now - seen.met >= MET_AGAIN:
            self._unsaved[key] = seen._replace(met=now)
        if listed:
            return listed > (seen.listed or seen.checked)
        return now - seen.checked >= self._recheck

    def judge(self, urls: Iterable[str], title: str | None, text: str | None) -> Verdict:
        """What the article at *urls*, which are one page, is beside what was seen of it."""
        found = (self._seen(address_key(url)) for url in urls)
        seen = max(filter(None, found), key=lambda each: each.revision, default=None)
        if seen is None:
            return Verdict(is_new=True, revision=1, changed=())
        keys = {"title": (seen.title, title_key(title)), "text": (seen.text, text_key(text))}
        changed = tuple(name for name, (before, after) in keys.items() if before != after)
        return Verdict(bool(changed), seen.revision + bool(changed), changed)

    def add(self, urls: list[str], title: str | None, text: str | None, listed: int = 0) -> None:
        """Note that the article at *urls* has been seen."""
        now = self._now()
        keys = {address_key(url) for url in urls}
        revision = self.judge(urls, title, text).revision
        before = max((each.listed for key in keys if (each := self._seen(key))), default=0)
        seen = Seen(text_key(text), title_key(title), revision, max(before, listed), now, now)
        self._unsaved.update(dict.fromkeys(keys, seen))

    def list(self, url: str) -> SeenList | None:
        """The list at *url*, as an earlier crawl has seen it."""
        try:
            return self._store.list(url)
        except SeenStoreError as error:
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
        """Store what was seen; what cannot be stored now is tried again with the next."""
        if not self._unsaved:
            return
        try:
            self._store.add(self._unsaved)
        except SeenStoreError as error:
            self._failed(error)
        else:
            self._unsaved = {}

    def close(self, keep_days: int, *, finished: bool) -> None:
        """Store all; after a crawl that has *finished*, the lists of sites that are complete."""
        self.checkpoint()
        now = self._now()
        complete = finished and not self._unsaved
        lists = {
            url: seen
            for url, (site, seen) in self._lists.items()
            if complete and site not in self._incomplete
        }
        try:
            if lists:
                self._store.add_lists(lists, now)
            if keep_days:
                self._store.forget_before(now - keep_days * DAY)
        except SeenStoreError as error:
            self._failed(error)
        self._store.close()

    def _seen(self, key: int) -> Seen | None:
        if key in self._unsaved:
            return self._unsaved[key]
        try:
            return self._store.article(key)
        except SeenStoreError as error:
            self._failed(error)
            return None

    def _failed(self, error: SeenStoreError) -> None:
        """Log the first failure of the store; further ones are only counted."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: what was seen cannot be stored or read: %s. The crawl continues, and "
                "articles may come again; further failures are only counted",
                error,
            )
