"""What a store holds: tables of rows, which are forgotten when nobody has used them for long.

A row is bytes under a key, with the minute of its last use. All that is known of rows is in the
part of the library that writes them; each adds to its rows by a `Change`, which reads them and says
what to write. All changes of a checkpoint are made at once or not at all, and no other crawl comes
between reading and writing. So the tables of a store agree with one another, whatever is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import time
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

DAY: Final = 24 * 60  # minutes
FORMAT: Final = 1  # of the store: what tables are, and how a row is kept


class StoreError(OSError):
    """The store cannot be used; the message says why and what to do."""


MAX_SITES: Final = 10_000  # that are known; those that were used longest ago are forgotten


def minute_now() -> int:
    """The minute that it is, as rows have it: since 1970."""
    return int(time() // 60)


class Table(NamedTuple):
    """A table, and which rows are forgotten: by the days since their last use, and by their number.

    Only the rows of a table with a number can be listed.
    """

    name: str
    days: int
    most: int | None = None

    def key(self, key: str | bytes) -> Key:
        """The row with this key."""
        return self, key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key


Key: TypeAlias = tuple[Table, bytes]
FOREVER: Final = 100 * 365  # days

MAX_UNSURE_SITES: Final = 1000
MAX_UNSURE_PAGES: Final = 5  # of a site: somebody looks at each

SEEN: Final = Table("seen", 400)
PARAGRAPHS: Final = Table("paragraphs", 45)  # crawls once a month find what has changed
LISTS: Final = Table("lists", 400, 100_000)  # some two hundred of each of five hundred sites
STORIES: Final = Table("stories", 8)  # a day longer than they are asked for
STORY_KEYS: Final = Table("story_keys", 8)
SITES: Final = Table("sites", FOREVER, MAX_SITES)
QUALITY: Final = Table("quality", 366, MAX_SITES)
QUALITY_DAYS: Final = Table("quality_days", 366)  # one looks for last year's figures
LOSSES: Final = Table("losses", 35, MAX_SITES)  # the report is on four weeks
UNSURE: Final = Table("unsure", 366, MAX_UNSURE_SITES)  # 150 MB at five pages of 30 KB
# Those of forgotten sites are the first to be forgotten.
UNSURE_PAGES: Final = Table("unsure_pages", 366, MAX_UNSURE_PAGES * MAX_UNSURE_SITES)
MODEL: Final = Table("model", FOREVER)
TABLES: Final = (
    SEEN,
    PARAGRAPHS,
    LISTS,
    STORIES,
    STORY_KEYS,
    SITES,
    QUALITY,
    QUALITY_DAYS,
    LOSSES,
    UNSURE,
    UNSURE_PAGES,
    MODEL,
)


class Row(NamedTuple):
    """What is written under a key, and the minute, since 1970, in which it was used last."""

    value: bytes
    used: int


Rows: TypeAlias = Mapping[Key, bytes]  # of the keys that exist
Writes: TypeAlias = Mapping[Key, Row | None]  # a row that is None is deleted


class Change(NamedTuple):
    """What is to be written, given the rows under the keys that it *reads*.

    *writes* may be called more than once: what it returns depends on what was found alone. What
    *after* returns once all is written is the outcome of the change.
    """

    reads: Sequence[Key]
    writes: Callable[[Rows], Writes]
    after: Callable[[], Any] = lambda: None


class Store(Protocol):
    """Where everything is kept that crawls learn and remember."""

    @property
    def name(self) -> str:
        """Its name in messages, without passwords."""

    def check(self) -> None:
        """Raise a `StoreError` if it cannot be used."""

    def get(self, keys: Iterable[Key], *, patient: bool = True) -> dict[Key, bytes]:
        """The rows of the *keys* that exist; the event loop is not *patient*: it waits briefly."""

    def used_since(self, table: Table, minute: int) -> dict[bytes, int]:
        """The keys of a *table* used since a *minute*, and when; the latest first."""

    def write(self, changes: Sequence[Change]) -> None:
        """Make all *changes* in one transaction; if this raises, none."""

    def forget(self, now: int) -> None:
        """Delete rows that by the minute *now* are too old, or too many for their table."""

    def end(self) -> None:
        """Limit waiting to a few seconds from now on: the crawl is ending."""

    def close(self) -> None:
        """Complete all writes; if this raises, some of them may be lost."""


def writes_of(changes: Sequence[Change], rows: Rows) -> dict[Key, Row | None]:
    """What all *changes* write, each applied to the result of those before it."""
    found, writes = dict(rows), dict[Key, Row | None]()
    for change in changes:
        of_change = change.writes({key: found[key] for key in change.reads if key in found})
        writes.update(of_change)
        for key, row in of_change.items():
            if row is None:
                found.pop(key, None)
            else:
                found[key] = row.value
    return writes
