"""What crawls have seen, in an SQLite database that several of them can share.

An article is a row of numbers under the key of its address: some 60 bytes, so ten million take
less than a gigabyte. While it may be read again, it also has the hashes of its page's paragraphs,
about a kilobyte. A list, such as a feed, has the validators with which a server reports that it
has not changed. Rows that no crawl has met for a long time are dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from scrapy_mss.seen.files import SeenFile

PARAGRAPHS_DAYS: Final = 45  # since the page was read: crawls once a month find what has changed
DAY: Final = 24 * 60  # minutes
MAX_LISTS: Final = 100_000  # validators: some two hundred lists of each of five hundred sites


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


class ArticleStore(Protocol):
    """Where it is kept which articles and lists were seen. One thread at a time uses it."""

    def another(self) -> ArticleStore:
        """The same store for another thread."""

    def articles(self, keys: Iterable[int]) -> dict[int, Seen]:
        """The articles with the *keys* of their addresses, of those that were seen."""

    def paragraphs(self, key: int) -> bytes:
        """The paragraphs of the article with the *key* of its address; empty if there are none."""

    def list(self, url: str) -> SeenList | None:
        """The list at *url*."""

    def add(self, articles: Mapping[int, Seen]) -> None:
        """Add *articles* by key; where this raises, they can be added again."""

    def add_lists(self, lists: Mapping[str, SeenList], minute: int) -> None:
        """Add *lists* by address."""

    def forget(self, now: int, before: int) -> int:
        """Forget articles that no crawl has met since *before*; how many these were.

        *now* is when paragraphs become too old.
        """

    def close(self) -> None:
        """Close what is open."""


class SeenStore(SeenFile):
    """The articles and the lists in the file of what crawls have seen."""

    def another(self) -> SeenStore:
        """The same store, with a connection for another thread."""
        return SeenStore(self.path)

    def articles(self, keys: Iterable[int]) -> dict[int, Seen]:
        """The articles with the *keys* of their addresses, of those that were seen."""
        found = {key: self.article(key) for key in keys}
        return {key: seen for key, seen in found.items() if seen is not None}

    def article(self, key: int) -> Seen | None:
        """The article with the *key* of its address."""
        with self._errors():
            row = self._opened().execute(
                "SELECT text, title, revision, listed, checked, met FROM articles WHERE key = ?",
                (key,),
            )
            found = row.fetchone()
        return None if found is None else Seen(*found)

    def paragraphs(self, key: int) -> bytes:
        """The paragraphs of the article with the *key* of its address; empty if there are none."""
        with self._errors():
            query = "SELECT paragraphs FROM paragraphs WHERE key = ?"
            found = self._opened().execute(query, (key,)).fetchone()
        return b"" if found is None else bytes(found[0])

    def list(self, url: str) -> SeenList | None:
        """The list at *url*."""
        with self._errors():
            query = "SELECT etag, modified, lists FROM lists WHERE url = ?"
            found = self._opened().execute(query, (url,)).fetchone()
        if found is None:
            return None
        etag, modified, lists = found
        return SeenList(etag, modified, tuple(tuple(each) for each in json.loads(lists)))

    def add(self, articles: Mapping[int, Seen]) -> None:
        """Add *articles* by key, in one transaction; where this raises, none was added."""
        with self._errors(), self._transaction() as connection:
            connection.executemany(
                "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "text = excluded.text, title = excluded.title, "
                "revision = max(revision, excluded.revision), "
                "listed = max(listed, excluded.listed), checked = excluded.checked, "
                "met = max(met, excluded.met) WHERE excluded.checked >= checked",
                ((key, *seen[:-1]) for key, seen in sorted(articles.items())),
            )
            connection.executemany(
                "INSERT INTO paragraphs VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "checked = excluded.checked, paragraphs = excluded.paragraphs "
                "WHERE excluded.checked >= checked",
                (
                    (key, seen.checked, seen.paragraphs)
                    for key, seen in sorted(articles.items())
                    if seen.paragraphs
                ),
            )

    def add_lists(self, lists: Mapping[str, SeenList], minute: int) -> None:
        """Add *lists* by address."""
        rows = [
            (url, each.etag, each.modified, json.dumps(each.lists), minute)
            for url, each in sorted(lists.items())
        ]
        with self._errors(), self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO lists VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute(
                "DELETE FROM lists WHERE url IN "
                "(SELECT url FROM lists ORDER BY met DESC, url LIMIT -1 OFFSET ?)",
                (MAX_LISTS,),
            )

    def forget(self, now: int, before: int) -> int:
        """Forget articles that no crawl has met since *before*; how many these were.

        *now* is when paragraphs become too old.
        """
        with self._errors(), self._transaction() as connection:
            done = connection.execute("DELETE FROM articles WHERE met < ?", (before,))
            connection.execute("DELETE FROM lists WHERE met < ?", (before,))
            too_old = now - PARAGRAPHS_DAYS * DAY
            connection.execute("DELETE FROM paragraphs WHERE checked < ?", (too_old,))
            return done.rowcount

    def __len__(self) -> int:
        """The number of addresses."""
        with self._errors():
            (count,) = self._opened().execute("SELECT count(*) FROM articles").fetchone()
        return int(count)
