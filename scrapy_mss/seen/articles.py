"""The articles and lists that crawls have seen: as rows of a store, and in one crawl.

An article is a row of numbers under the key of its address: some 60 bytes, so ten million take
less than a gigabyte. While it may be read again, it also has the hashes of its page's paragraphs,
about a kilobyte. It has changed if its page has (`scrapy_mss.seen.paragraphs`), however it is read.

An article counts as seen when its item has left the pipelines, and a checkpoint stores it. After a
crawl is killed, what it saw since its last checkpoint comes again. The state of a list, such as a
feed, is stored only if the crawl has ended normally and has downloaded everything that the list
names, because an unchanged list is not read again.
"""

from __future__ import annotations

import json
import logging
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from scrapy_mss.seen.keys import address_key, packed, text_key, title_key
from scrapy_mss.seen.paragraphs import (
    Paragraphs,
    added_sentences,
    n_removed_sentences,
    with_sentences,
)
from scrapy_mss.storage.checkpoints import CheckpointPart
from scrapy_mss.storage.tables import DAY, LISTS, PARAGRAPHS, SEEN, Change, Key, Row, Rows, Store

logger = logging.getLogger(__name__)

MET_AGAIN: Final = 7 * DAY  # an address that lists name is noted as in use once in so long
WALL_AGAIN: Final = 60  # minutes, doubled up to
WALLS_BETWEEN: Final = 0.25  # of the time between rechecks: lists name most for a day or so
NO_REVISION: Final = 0  # of a page without an article
MAX_UNSAVED: Final = 100_000  # that a failing store has not taken: some 1 KB each, with paragraphs

_SEEN: Final = struct.Struct("<qqIIII")


class SeenArticle(NamedTuple):
    """An article as it was seen last. Times are minutes since 1970."""

    text: int  # the key of its text; of a page without an article that of its paragraphs, or 0
    title: int  # and of its title
    revision: int  # 1 at first
    listed: int  # the date that a feed or sitemap gave for it; 0 if none
    checked: int  # when it was read
    met: int  # when its address was met
    paragraphs: bytes = b""  # of its page, as `Paragraphs` writes them; empty if they are unchanged


class SeenList(NamedTuple):
    """A list as it was seen last: its validators for conditional requests, and the lists in it.

    A list that has not changed is not read again, and those that it names may have changed.
    """

    etag: str = ""
    modified: str = ""  # Last-Modified, as it was given
    lists: tuple[tuple[str, str], ...] = ()  # the kind and the address of each


class SeenStore:
    """The articles and the lists that crawls have seen, in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def articles(self, keys: Iterable[int]) -> dict[int, SeenArticle]:
        """The articles with the *keys* of their addresses, of those that were seen.

        One whose row is damaged counts as not seen: its row is replaced once it is read.
        """
        rows = {SEEN.key(packed(key)): key for key in keys}
        found = self._store.get(rows, patient=False).items()
        read = {rows[row]: _seen(value) for row, value in found}
        return {key: seen for key, seen in read.items() if seen is not None}

    def paragraphs(self, key: int) -> bytes:
        """The paragraphs of the article with the *key* of its address; empty if there are none."""
        row = PARAGRAPHS.key(packed(key))
        return self._store.get([row], patient=False).get(row, b"")

    def list(self, url: str) -> SeenList | None:
        row = LISTS.key(url)
        found = self._store.get([row], patient=False).get(row)
        if found is None:
            return None
        try:
            etag, modified, lists = json.loads(found)
            return SeenList(etag, modified, tuple((kind, each) for kind, each in lists))
        except (TypeError, ValueError, RecursionError):
            logger.warning("scrapy-mss: %s: the list %.200r is damaged", self._store.name, url)
            return None


def adding(articles: Mapping[int, SeenArticle]) -> Change:
    """The change that adds *articles* by key."""
    reads = [SEEN.key(packed(key)) for key in articles]
    return Change(reads, partial(_with_articles, dict(articles)))


def adding_lists(lists: Mapping[str, SeenList], minute: int) -> Change:
    """The change that adds *lists* by address."""
    rows = {LISTS.key(url): Row(json.dumps(each).encode(), minute) for url, each in lists.items()}
    return Change((), lambda _found: rows)


def _with_articles(articles: Mapping[int, SeenArticle], found: Rows) -> dict[Key, Row | None]:
    """The rows of *articles* that no other crawl has read later."""
    rows: dict[Key, Row | None] = {}
    for key, seen in articles.items():
        row = SEEN.key(packed(key))
        before = (_seen(found[row]) if row in found else None) or seen
        if before.checked > seen.checked:
            continue
        latest = seen._replace(
            revision=max(before.revision, seen.revision),
            listed=max(before.listed, seen.listed),
            met=max(before.met, seen.met),
        )
        rows[row] = Row(_SEEN.pack(*latest[:-1]), latest.met)
        if seen.paragraphs:
            rows[PARAGRAPHS.key(packed(key))] = Row(seen.paragraphs, seen.checked)
    return rows


def _seen(value: bytes) -> SeenArticle | None:
    return SeenArticle(*_SEEN.unpack(value)) if len(value) == _SEEN.size else None


class Addresses(NamedTuple):
    """The addresses that an article is known by."""

    own: tuple[str, ...]  # where it is, and from where it was redirected
    canonical: str = ""  # what the page declares, if that can be believed


class Wording(NamedTuple):
    """An article as it is compared with its last version.

    Without *paragraphs* of its page, the spider has chosen its text, whose lines are compared. A
    live blog that *has_new_entries* has changed, however short they are. What *is_fed*, by a feed
    and not by the page, is no revision of what was seen.
    """

    title: str
    text: str
    listed: int = 0  # the date that a feed or sitemap gives for it, in minutes since 1970
    paragraphs: Paragraphs | None = None
    has_new_entries: bool = False
    is_fed: bool = False


class Comparison(NamedTuple):
    """How an article compares with its last version."""

    is_new: bool  # an article, or a revision of one, that has not been seen
    changed: tuple[str, ...]  # the fields in which it differs from the revision before
    seen: SeenArticle  # what is to be remembered of it
    added: Sequence[str] = ()  # the sentences that the text has got since then
    n_removed: int | None = None  # and how many it has lost; None if that is not known


class SeenArticles(CheckpointPart[dict[int, SeenArticle]]):
    """The articles and lists that a crawl has seen, with those of earlier crawls."""

    FAILED = "what was seen cannot be stored or read"
    MEANWHILE = ", and articles may come again"
    LOST = "that %d addresses were seen"

    def __init__(self, store: SeenStore, recheck: int, now: Callable[[], int]) -> None:
        """Read an article without a date again after *recheck* minutes."""
        super().__init__(dict, adding)
        self._store = store
        self._recheck = recheck
        self._now = now
        self._lists: dict[str, tuple[str, SeenList]] = {}
        self._incomplete: set[str] = set()

    def needs_no_recheck(self, url: str, listed: int = 0) -> bool:
        """Whether an article was seen at *url* and is not due; other pages may list new ones."""
        seen = self._article(url)
        return seen is not None and not self._is_due(address_key(url), seen, listed)

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

    def _is_due(self, key: int, seen: SeenArticle | None, listed: int) -> bool:
        if seen is None:
            return True
        now = self._now()
        if now - seen.met >= MET_AGAIN:
            seen = self._unsaved[key] = seen._replace(met=now)
        if min(listed, now) > seen.listed > 0:
            return True
        # Dates of one list are compared with one another, not with our clock.
        is_dated = bool(listed and seen.listed)
        if not is_dated and now - seen.checked >= self._recheck:
            return True
        if listed and not is_dated and seen.revision != NO_REVISION:  # kept for later lists
            self._unsaved[key] = seen._replace(listed=min(listed, now))
        return False

    def compare(self, addresses: Addresses, wording: Wording) -> Comparison:
        """How an article compares with its last version.

        Under its own address it is compared. If the page was seen there without an article, and has
        not changed, it has none: what was learned meanwhile makes no article new. Where the page
        says that it is another one's copy, and that was seen in the same words, it is that.
        """
        now = self._now()
        found = wording.paragraphs or with_sentences(Paragraphs.of_text(wording.text), wording.text)
        text, title = text_key(wording.text), title_key(wording.title)
        listed = min(wording.listed, now)
        new = SeenArticle(text, title, 1, listed, now, now, found.to_bytes())
        seen = next(filter(None, map(self._article, addresses.own)), None)
        if seen is not None and wording.is_fed:
            return Comparison(False, (), seen._replace(checked=now, met=now))
        if seen is not None:
            before = Paragraphs.from_bytes(self._paragraphs(addresses.own))
            changed = _changed(seen, new, before, found)
            if wording.has_new_entries and "text" not in changed:
                changed = (*changed, "text")
            if not changed:
                same = found if before is None else found.emitted_as(before)
                new = SeenArticle(*seen[:3], listed, now, now, same.to_bytes())
            revision = seen.revision + bool(changed)
            result = Comparison(bool(changed), changed, new._replace(revision=revision))
            if before is None or "text" not in changed:
                return result
            sentences = added_sentences(wording.text, before)
            return result._replace(added=sentences, n_removed=n_removed_sentences(before, found))
        other = self._other(addresses.own, found)
        if other is not None:
            return Comparison(is_new=False, changed=(), seen=other._replace(checked=now, met=now))
        copied = self._article(addresses.canonical) if addresses.canonical else None
        if copied is not None and copied.text == text:
            return Comparison(is_new=False, changed=(), seen=new._replace(revision=copied.revision))
        return Comparison(is_new=True, changed=(), seen=new)

    def add(self, addresses: Addresses, seen: SeenArticle) -> None:
        self._note(addresses.own, seen)
        if addresses.canonical and self._article(addresses.canonical) is None:
            self._note((addresses.canonical,), seen)

    def add_redirected(self, urls: Iterable[str], target: str) -> None:
        """Note that *urls* are further addresses of the article that was seen at *target*."""
        seen = self._article(target)
        if seen is not None:
            self._note(urls, seen._replace(paragraphs=self._paragraphs((target,))))

    def emitted(self, url: str) -> bytes:
        """The paragraphs of the page at *url* when its article was emitted, if it was."""
        return self._paragraphs((url,)) if self._article(url) is not None else b""

    def _paragraphs(self, urls: Iterable[str]) -> bytes:
        for key in map(address_key, urls):
            recent = self._recent(key)
            known = recent.paragraphs if recent else b""
            found = known or self.asked(self._store.paragraphs, key)
            if found:
                return found
        return b""

    def add_other(
        self, url: str, listed: int = 0, paragraphs: bytes = b"", *, is_wall: bool = False
    ) -> None:
        """Note that the page at *url* was read and has no article; it is due again like one.

        A wall may soon be gone: whatever its date, it is due after an hour, then after as long
        again as it has stood, up to a quarter of the time that others are.
        """
        if self._article(url) is not None:
            return
        now, page = self._now(), Paragraphs.from_bytes(paragraphs)
        key = page.page_key if page is not None else 0
        seen = SeenArticle(key, 0, NO_REVISION, min(listed, now), now, now)
        if is_wall:
            first = (self._seen(address_key(url)) or seen).met
            longest = int(WALLS_BETWEEN * self._recheck)
            wait = min(max(now - first, WALL_AGAIN), longest)
            seen = seen._replace(listed=0, checked=now - self._recheck + wait, met=first)
        self._note((url,), seen)

    def _other(self, urls: Iterable[str], found: Paragraphs) -> SeenArticle | None:
        """The same page without an article, if it was seen at one of *urls*."""
        rows = self._seen_all([address_key(url) for url in urls]).values()
        same = (row for row in rows if row.revision == NO_REVISION and row.text)
        return next((row for row in same if row.text == found.page_key), None)

    def _article(self, url: str) -> SeenArticle | None:
        seen = self._seen(address_key(url))
        return seen if seen is not None and seen.revision != NO_REVISION else None

    def _note(self, urls: Iterable[str], seen: SeenArticle) -> None:
        for key in {address_key(url) for url in urls}:
            before = self._seen(key)
            listed = max(before.listed if before else 0, seen.listed)
            self._unsaved[key] = seen._replace(listed=listed)

    def _recent(self, key: int) -> SeenArticle | None:
        """What this crawl has noted of an article and may not have stored yet."""
        return self._unsaved.get(key) or self._in_flight.get(key)

    def list(self, url: str) -> SeenList | None:
        return self.asked(self._store.list, url)

    def add_list(self, url: str, site: str, seen: SeenList) -> None:
        self._lists[url] = site, seen

    def add_named(self, url: str, kind: str, named: Iterable[str]) -> None:
        if url in self._lists:
            site, seen = self._lists[url]
            lists = (*seen.lists, *((kind, each) for each in named))
            self._lists[url] = site, seen._replace(lists=lists)

    def leave_incomplete(self, site: str) -> None:
        """Note that not everything in the lists of *site* was downloaded."""
        self._incomplete.add(site)

    def _joined(
        self, batch: dict[int, SeenArticle], later: dict[int, SeenArticle]
    ) -> dict[int, SeenArticle]:
        joined = batch | later
        kept = dict(list(joined.items())[-MAX_UNSAVED:])
        self._n_dropped += len(joined) - len(kept)
        return kept

    def take_last(self, *, finished: bool) -> Change | None:
        """The change that stores the lists of complete sites, after a crawl that has *finished*."""
        lists = {
            url: seen
            for url, (site, seen) in self._lists.items()
            if finished and not self.lost and site not in self._incomplete
        }
        return adding_lists(lists, self._now()) if lists else None

    def _seen(self, key: int) -> SeenArticle | None:
        return self._seen_all([key]).get(key)

    def _seen_all(self, keys: Sequence[int]) -> dict[int, SeenArticle]:
        """The articles with these *keys*, of those that were seen."""
        found: dict[int, SeenArticle] = {}
        for recent in (self._in_flight, self._unsaved):  # the later one is right
            found |= {key: recent[key] for key in keys if key in recent}
        others = [key for key in keys if key not in found]
        return found | (self.asked(self._store.articles, others) or {}) if others else found


def _changed(
    seen: SeenArticle, now: SeenArticle, before: Paragraphs | None, found: Paragraphs
) -> tuple[str, ...]:
    """The fields in which an article differs from its last version *seen*.

    Where the paragraphs of the page *before* are not known, nothing says whether another text is
    another page or another reading; the title does not depend on what is learned.
    """
    if before is not None and found.page_key == before.page_key:
        return ()
    is_text = before is not None and seen.text != now.text and found.differs_from(before)
    fields = {"title": seen.title != now.title, "text": is_text}
    return tuple(name for name, has_changed in fields.items() if has_changed)
