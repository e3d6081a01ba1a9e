"""What crawls have seen, as rows of a store.

An article is a row of numbers under the key of its address: some 60 bytes, so ten million take
less than a gigabyte. While it may be read again, it also has the hashes of its page's paragraphs,
about a kilobyte. A list, such as a feed, has the validators with which a server reports that it
has not changed.
"""

from __future__ import annotations

import json
import logging
import struct
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final, NamedTuple

from scrapy_mss.storage.tables import LISTS, PARAGRAPHS, SEEN, Change, Key, Row, Rows, Store

logger = logging.getLogger(__name__)

_SEEN: Final = struct.Struct("<qqIIII")
_KEY: Final = struct.Struct("<q")


class Seen(NamedTuple):
    """An article as it was seen last. Times are minutes since 1970."""

    text: int  # the key of its text; of a page without an article that of its paragraphs, or 0
    title: int  # and of its title
    revision: int  # 1 at first
    listed: int  # the date that a feed or sitemap gave for it; 0 if none
    checked: int  # when it was read
    met: int  # when its address was met
    paragraphs: bytes = b""  # of its page, as `Paragraphs` writes them; empty if they are unchanged


class SeenList(NamedTuple):
    """A list as it was seen last: what its server is asked by, and the lists that it names.

    A list that has not changed is not read again, and those that it names may have changed.
    """

    etag: str = ""
    modified: str = ""  # Last-Modified, as it was given
    lists: tuple[tuple[str, str], ...] = ()  # the kind and the address of each


class SeenStore:
    """The articles and the lists that crawls have seen, in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def articles(self, keys: Iterable[int]) -> dict[int, Seen]:
        """The articles with the *keys* of their addresses, of those that were seen.

        One that is damaged was not: it is written anew once it is read.
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
        """The list at *url*."""
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


def adding(articles: Mapping[int, Seen]) -> Change:
    """What adds *articles* by key."""
    return Change(
        [SEEN.key(packed(key)) for key in articles], partial(_with_articles, dict(articles))
    )


def adding_lists(lists: Mapping[str, SeenList], minute: int) -> Change:
    """What adds *lists* by address."""
    rows = {LISTS.key(url): Row(json.dumps(each).encode(), minute) for url, each in lists.items()}
    return Change((), lambda _found: rows)


def packed(key: int) -> bytes:
    """A signed number of 64 bits as the key of a row."""
    return _KEY.pack(key)


def _with_articles(articles: Mapping[int, Seen], found: Rows) -> dict[Key, Row | None]:
    """The rows of *articles* that no other crawl has read later."""
    rows: dict[Key, Row | None] = {}
    for key, seen in articles.items():
        row, name = SEEN.key(packed(key)), packed(key)
        before = _seen(found[row]) if row in found else None
        if before is not None and before.checked > seen.checked:
            continue
        latest = seen if before is None else _latest(before, seen)
        rows[row] = Row(_SEEN.pack(*latest[:-1]), latest.met)
        if seen.paragraphs:
            rows[PARAGRAPHS.key(name)] = Row(seen.paragraphs, seen.checked)
    return rows


def _latest(before: Seen, seen: Seen) -> Seen:
    """What is known of an article that was *seen* after another crawl had."""
    revision, listed = max(before.revision, seen.revision), max(before.listed, seen.listed)
    return seen._replace(revision=revision, listed=listed, met=max(before.met, seen.met))


def _seen(value: bytes) -> Seen | None:
    """The article in a row; None if that is damaged."""
    return Seen(*_SEEN.unpack(value)) if len(value) == _SEEN.size else None
