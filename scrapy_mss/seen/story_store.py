"""The texts of the last days, by their sketches, in the file of what crawls have seen.

A text is a row with its sketch, some 400 bytes, and a row for each key by which texts that
share passages find it: 800 bytes in all. Texts are added in chronological order, so the
oldest come first. They are removed by their keys, which are in the sketch. An original is kept
longer while its story continues, so that its revisions are recognized.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import ClassVar, Final, NamedTuple

import numpy as np

from scrapy_mss.seen.files import SeenFile
from scrapy_mss.seen.sketches import KEYS, Numbers, keys_of

MAX_TEXTS: Final = 2_000_000  # in the file: 1.6 GB; the oldest are forgotten beyond that
PER_KEY: Final = 50  # texts that are asked for by a key; what more have is a phrase of a site
MAX_CANDIDATES: Final = 32  # texts that are compared, those that share most keys
CHUNK: Final = 1_000  # texts that are forgotten while others wait: a fifth of a second
MAX_CHUNKS: Final = 100  # at the end of a crawl; what is left is old, and is not asked any more

_COLUMNS = "address, story, is_copy, minute, sketch"
_OF_A_KEY = "SELECT * FROM (SELECT text FROM story_keys WHERE key = ? ORDER BY text DESC LIMIT ?)"
# Rows by number, and which of them are forgotten: old ones, but for what an address was told as
# first-hand, while its story goes on.
_OLDEST = """
SELECT id, minute, sketch, minute < :minute AND (
    is_copy
    OR EXISTS (SELECT 1 FROM story_texts AS later WHERE later.address = old.address
               AND later.id > old.id)
    OR NOT EXISTS (SELECT 1 FROM story_texts AS other WHERE other.story = old.story
                   AND other.minute >= :minute)
) FROM story_texts AS old WHERE id > :after ORDER BY id LIMIT :chunk
"""
_SHARING = " UNION ALL ".join([_OF_A_KEY] * KEYS)


class Told(NamedTuple):
    """A text that was told."""

    addresses: tuple[int, ...]  # where, as keys
    story: int
    is_copy: bool  # of one that was told before at another address
    minute: int  # since 1970
    sketch: Numbers | None  # None if it is too short, or as good as one that has been added


class StoryStore(SeenFile):
    """The texts of stories in the file of what crawls have seen."""

    TABLES: ClassVar[str] = """
    CREATE TABLE IF NOT EXISTS story_texts (
        id INTEGER PRIMARY KEY,
        address INTEGER NOT NULL,
        story INTEGER NOT NULL,
        is_copy INTEGER NOT NULL,
        minute INTEGER NOT NULL,
        sketch BLOB
    );
    CREATE INDEX IF NOT EXISTS story_addresses ON story_texts (address);
    CREATE INDEX IF NOT EXISTS story_minutes ON story_texts (story, minute);
    CREATE TABLE IF NOT EXISTS story_keys (
        key INTEGER NOT NULL,
        text INTEGER NOT NULL,
        PRIMARY KEY (key, text)
    ) WITHOUT ROWID;
    """

    def at(self, addresses: Sequence[int]) -> list[Told]:
        """What was told last at each of the *addresses*."""
        query = (
            f"SELECT {_COLUMNS} FROM story_texts "  # noqa: S608 - our own names
            "WHERE address = ? ORDER BY id DESC LIMIT 1"
        )
        with self._errors():
            connection = self._opened()
            rows = [connection.execute(query, (each,)).fetchone() for each in addresses]
        return [_told(row) for row in rows if row is not None]

    def sharing(self, keys: Sequence[int]) -> list[Told]:
        """Texts that share most of the *keys* of a sketch; there are `KEYS` of these."""
        with self._errors():
            connection = self._opened()
            asked = [value for key in keys for value in (key, PER_KEY)]
            shared = Counter(text for (text,) in connection.execute(_SHARING, asked))
            best = sorted(shared, key=lambda text: (-shared[text], -text))[:MAX_CANDIDATES]
            query = (
                f"SELECT {_COLUMNS} FROM story_texts "  # noqa: S608 - our own names
                f"WHERE id IN ({','.join('?' * len(best))})"
            )
            return [_told(row) for row in connection.execute(query, best)]

    def add(self, texts: Iterable[Told]) -> None:
        """Add *texts* in one transaction; where this raises, none was added."""
        with self._errors(), self._transaction() as connection:
            (last,) = connection.execute("SELECT max(id) FROM story_texts").fetchone()
            number, rows, keys = last or 0, [], []
            for told in texts:
                sketch = told.sketch
                for address in told.addresses:
                    number += 1
                    blob = None if sketch is None else sketch.astype("<u4").tobytes()
                    rows.append((number, address, told.story, told.is_copy, told.minute, blob))
                    keys += [(key, number) for key in keys_of(sketch)]
                    sketch = None  # once, however many addresses
            connection.executemany("INSERT INTO story_texts VALUES (?, ?, ?, ?, ?, ?)", rows)
            connection.executemany("INSERT INTO story_keys VALUES (?, ?)", sorted(keys))

    def forget_before(self, minute: int) -> int:
        """Forget the texts from before *minute*, and those beyond the bound; how many these were.

        Originals are kept while a text of their story is not from before it. Other crawls get their
        turn after each thousand.
        """
        forgotten, after = 0, 0
        for _ in range(MAX_CHUNKS):
            count, last = self._forget_some(minute, after)
            forgotten += count
            if last is None:
                break
            after = last
        return forgotten

    def _forget_some(self, minute: int, after: int) -> tuple[int, int | None]:
        """Of the next texts *after* a number; how many, and the last number, None at the end."""
        with self._errors(), self._transaction() as connection:
            (last,) = connection.execute("SELECT max(id) FROM story_texts").fetchone()
            asked = {"minute": minute, "after": after, "chunk": CHUNK}
            oldest = connection.execute(_OLDEST, asked).fetchall()
            bound = (last or 0) - MAX_TEXTS
            gone = [
                (number, blob) for number, _, blob, is_over in oldest if is_over or number <= bound
            ]
            is_end = all(told >= minute and number > bound for number, told, *_ in oldest)
            keys = [
                (key, number)
                for number, blob in gone
                if blob is not None
                for key in keys_of(np.frombuffer(blob, "<u4"))
            ]
            connection.executemany(
                "DELETE FROM story_keys WHERE key = ? AND text = ?", sorted(keys)
            )
            connection.executemany(
                "DELETE FROM story_texts WHERE id = ?", ((number,) for number, _ in gone)
            )
            return len(gone), None if is_end else oldest[-1][0]

    def __len__(self) -> int:
        """The number of texts, at all their addresses."""
        with self._errors():
            (count,) = self._opened().execute("SELECT count(*) FROM story_texts").fetchone()
        return int(count)


def _told(row: tuple[int, int, int, int, bytes | None]) -> Told:
    address, story, is_copy, minute, blob = row
    sketch = np.frombuffer(blob, "<u4") if blob and len(blob) % 4 == 0 else None
    return Told((address,), story, bool(is_copy), minute, sketch)


class RecentTexts:
    """The texts that are not in the file yet, asked like the file."""

    def __init__(self, texts: Iterable[Told] = ()) -> None:
        self.texts: dict[int, Told] = {}  # by their first address, in the order of time
        self._at: dict[int, int] = {}  # the first address of the text at an address
        self._sharing: dict[int, dict[int, None]] = {}  # the first addresses by key
        for told in texts:
            self.put(told)

    def put(self, told: Told) -> None:
        """Add a text, in the place of one that was told at its first address."""
        first = told.addresses[0]
        before = self.remove(first)
        if told.sketch is None and before is not None:
            told = told._replace(sketch=before.sketch)
        self.texts[first] = told
        self._at.update(dict.fromkeys(told.addresses, first))
        for key in keys_of(told.sketch):
            self._sharing.setdefault(key, {})[first] = None

    def remove(self, first: int) -> Told | None:
        """Remove the text whose first address this is."""
        told = self.texts.pop(first, None)
        if told is None:
            return None
        for address in told.addresses:
            if self._at.get(address) == first:
                del self._at[address]
        for key in keys_of(told.sketch):
            of_key = self._sharing[key]
            del of_key[first]
            if not of_key:
                del self._sharing[key]
        return told

    def at(self, addresses: Sequence[int]) -> list[Told]:
        """What was told last at each of the *addresses*."""
        return [self.texts[self._at[each]] for each in addresses if each in self._at]

    def sharing(self, keys: Sequence[int]) -> list[Told]:
        """Texts that share most of the *keys* of a sketch."""
        latest = (islice(reversed(self._sharing.get(key, {})), PER_KEY) for key in keys)
        shared = Counter(chain.from_iterable(latest))
        best = sorted(shared, key=lambda first: -shared[first])[:MAX_CANDIDATES]
        return [self.texts[first] for first in best]
