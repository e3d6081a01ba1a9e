"""The pages on which the model was least certain, a few per site, in an SQLite database.

These are the pages to inspect, in order to label them or to fix a rule. Each is added with its HTML
when it is read, replacing a more certain one, so that a killed crawl loses only those of its last
moments. Crawls can share the file.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import LARGEST_PAGE
from scrapy_mss.storage.sqlite_files import (
    ForeignFileError,
    Form,
    connect,
    explained,
    prepare,
    transaction,
)

FORMAT: Final = 1
APPLICATION_ID: Final = 0x6D737375  # "mssu", by which SQLite files are told apart
WAIT_SECONDS: Final = 10.0  # for another crawl
MAX_SITES: Final = 1000  # those with the latest pages: 150 MB at five pages of 30 KB, compressed

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    site TEXT NOT NULL,
    url TEXT NOT NULL,
    sureness REAL NOT NULL,
    minute INTEGER NOT NULL,
    html BLOB NOT NULL,
    PRIMARY KEY (site, url)
);
CREATE INDEX IF NOT EXISTS by_minute ON pages (minute);
"""
_FORM = Form("unsure pages of scrapy-mss", APPLICATION_ID, FORMAT, _SCHEMA)


class UnsureStoreError(OSError):
    """The file cannot be used; the message says why and what to do."""


class UnsurePage(NamedTuple):
    """A page that was read in a *minute* since 1970, and how sure its reading was, from 0 to 1."""

    url: str
    sureness: float
    minute: int


class UnsureStore:
    """A file with the least sure pages of sites."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use the file *path*, which need not exist yet."""
        self.path = Path(path)

    def check(self) -> None:
        """Stop here if there is a file that cannot be used."""
        if self.path.exists():
            with self._connection():
                pass

    def add(self, site: str, page: UnsurePage, html: str, at_most: int) -> None:
        """Add a page of *site*, or replace what it was before; the least sure ones are kept."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        body = zlib.compress(html.encode("utf-8", "surrogatepass"))
        with self._connection() as connection, transaction(connection):
            connection.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)", (site, *page, body)
            )
            connection.execute(
                "DELETE FROM pages WHERE site = ? AND url IN (SELECT url FROM pages "
                "WHERE site = ? ORDER BY sureness, url LIMIT -1 OFFSET ?)",
                (site, site, at_most),
            )

    def remove(self, site: str, url: str) -> None:
        """Remove a page that somebody has seen to."""
        if self.path.exists():
            with self._connection() as connection:
                connection.execute("DELETE FROM pages WHERE site = ? AND url = ?", (site, url))

    def pages(self) -> dict[str, list[UnsurePage]]:
        """The pages of each site, the least sure one first."""
        found: dict[str, list[UnsurePage]] = {}
        if self.path.exists():
            query = "SELECT site, url, sureness, minute FROM pages ORDER BY site, sureness, url"
            with self._connection() as connection:
                for site, *page in connection.execute(query):
                    found.setdefault(site, []).append(UnsurePage(*page))
        return found

    def stored(self, site: str) -> Iterator[StoredPage]:
        """The pages of *site* with their HTML, the least sure one first."""
        if self.path.exists():
            query = "SELECT url, html FROM pages WHERE site = ? ORDER BY sureness, url"
            with self._connection() as connection:
                rows = connection.execute(query, (site,)).fetchall()
            for url, body in rows:
                yield StoredPage(url, self._unpacked(url, body))

    def forget_sites(self) -> None:
        """Of too many sites, forget those whose latest page is the oldest."""
        if self.path.exists():
            with self._connection() as connection:
                connection.execute(
                    "DELETE FROM pages WHERE site IN (SELECT site FROM pages GROUP BY site "
                    "ORDER BY max(minute) DESC, site LIMIT -1 OFFSET ?)",
                    (MAX_SITES,),
                )

    def _unpacked(self, url: str, body: bytes) -> str:
        try:
            html = zlib.decompressobj().decompress(body, LARGEST_PAGE)
            return html.decode("utf-8", "surrogatepass")
        except (TypeError, UnicodeDecodeError, zlib.error) as error:
            raise UnsureStoreError(f"{self.path}: the page {url!r}: {error}. {_REMOVE}") from error

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connect(self.path, WAIT_SECONDS)) as connection:
                prepare(connection, _FORM)
                # After a crash of the machine, not of the crawl, the last pages may be lost.
                connection.execute("PRAGMA synchronous = NORMAL")
                yield connection
        except ForeignFileError as error:
            raise UnsureStoreError(
                f"{self.path}: {error}. Name another file in MSS_UNSURE_FILE"
            ) from error
        except sqlite3.Error as error:
            raise UnsureStoreError(explained(self.path, error, _REMOVE)) from error


_REMOVE = "Remove the file, and pages are collected anew"
