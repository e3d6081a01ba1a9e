"""The texts of the last days, by their sketches, as rows of a store.

A text is a row with its sketch, some 400 bytes, and its address is in the rows of the keys by which
texts that share passages find it. The row of an original is used again with each text of its story,
so that its revisions are recognized while the story goes on.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, islice
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.seen.sketches import Numbers, keys_of
from scrapy_mss.seen.store import packed
from scrapy_mss.storage.tables import STORIES, STORY_KEYS, Change, Key, Row, Rows, Store

PER_KEY: Final = 50  # texts that are asked for by a key; what more have is a phrase of a site
MAX_CANDIDATES: Final = 32  # texts that are compared, those that share most keys

_TOLD: Final = struct.Struct("<qqBI")
_STORY_KEY: Final = struct.Struct("<I")


class EmittedText(NamedTuple):
    """A text that was emitted."""

    addresses: tuple[int, ...]  # where, as keys
    story: int
    original: int  # the first address of the text that was emitted first
    is_copy: bool  # of one that was emitted before at another address
    minute: int  # since 1970
    sketch: Numbers | None  # None if it is too short, or as good as one that has been added


class StoryStore:
    """The texts of stories in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def at(self, addresses: Sequence[int]) -> list[EmittedText]:
        """What was emitted last at each of the *addresses*."""
        rows = {STORIES.key(packed(each)): each for each in addresses}
        found = self._store.get(rows, patient=False)
        emitted = (_emitted(address, found[row]) for row, address in rows.items() if row in found)
        return [each for each in emitted if each is not None]

    def sharing(self, keys: Sequence[int]) -> list[EmittedText]:
        """Texts that share most of the *keys* of a sketch."""
        rows = [STORY_KEYS.key(_STORY_KEY.pack(key)) for key in keys]
        found = self._store.get(rows, patient=False).values()
        shared = Counter(chain.from_iterable(map(_addresses, found)))
        return self.at([address for address, _ in shared.most_common(MAX_CANDIDATES)])


def adding(texts: Iterable[EmittedText]) -> Change:
    """What adds *texts*, the latest last."""
    emitted = list(texts)
    addresses = {each for text in emitted for each in (*text.addresses, text.original)}
    keys = {key for text in emitted for key in keys_of(text.sketch)}
    reads = [STORIES.key(packed(each)) for each in sorted(addresses)]
    reads += [STORY_KEYS.key(_STORY_KEY.pack(key)) for key in sorted(keys)]
    return Change(reads, partial(_with_texts, emitted))


def _with_texts(texts: Sequence[EmittedText], found: Rows) -> dict[Key, Row | None]:
    rows: dict[Key, Row] = {}

    def value(row: Key) -> bytes:
        return rows[row].value if row in rows else found.get(row, b"")

    for emitted in texts:
        original = STORIES.key(packed(emitted.original))
        if value(original):  # its story goes on
            rows[original] = Row(value(original), emitted.minute)
        first = emitted.addresses[0]
        head = _TOLD.pack(emitted.story, emitted.original, emitted.is_copy, emitted.minute)
        for address in emitted.addresses:
            row = STORIES.key(packed(address))
            if address == first and emitted.sketch is not None:
                sketch = emitted.sketch.astype("<u4").tobytes()
            else:
                sketch = _sketch_in(value(row))
            rows[row] = Row(head + sketch, emitted.minute)
        for key in keys_of(emitted.sketch):
            row = STORY_KEYS.key(_STORY_KEY.pack(key))
            known = [each for each in _addresses(value(row)) if each != first]
            latest = (*known, first)[-PER_KEY:]
            rows[row] = Row(np.array(latest, "<i8").tobytes(), emitted.minute)
    return dict(rows)


def _sketch_in(value: bytes) -> bytes:
    """The sketch in the row of a text, by which it is still found; none if that is damaged."""
    sketch = value[_TOLD.size :]
    return b"" if len(sketch) % 4 else sketch


def _emitted(address: int, value: bytes) -> EmittedText | None:
    """The text in a row; None if that is damaged."""
    if len(value) < _TOLD.size or (len(value) - _TOLD.size) % 4:
        return None
    story, original, is_copy, minute = _TOLD.unpack_from(value)
    sketch = np.frombuffer(value, "<u4", offset=_TOLD.size) if len(value) > _TOLD.size else None
    return EmittedText((address,), story, original, bool(is_copy), minute, sketch)


def _addresses(value: bytes) -> list[int]:
    """The addresses in the row of a key."""
    found: list[int] = np.frombuffer(value[: len(value) // 8 * 8], "<i8").tolist()
    return found


class RecentTexts:
    """The texts that are not in the store yet, asked like it."""

    def __init__(self, texts: Iterable[EmittedText] = ()) -> None:
        self.texts: dict[int, EmittedText] = {}  # by their first address, in the order of time
        self._at: dict[int, int] = {}  # the first address of the text at an address
        self._sharing: dict[int, dict[int, None]] = {}  # the first addresses by key
        for emitted in texts:
            self.put(emitted)

    def put(self, emitted: EmittedText) -> None:
        """Add a text, in the place of one that was emitted at its first address."""
        first = emitted.addresses[0]
        before = self.remove(first)
        if emitted.sketch is None and before is not None:
            emitted = emitted._replace(sketch=before.sketch)
        self.texts[first] = emitted
        self._at.update(dict.fromkeys(emitted.addresses, first))
        for key in keys_of(emitted.sketch):
            self._sharing.setdefault(key, {})[first] = None

    def remove(self, first: int) -> EmittedText | None:
        """Remove the text whose first address this is."""
        emitted = self.texts.pop(first, None)
        if emitted is None:
            return None
        for address in emitted.addresses:
            if self._at.get(address) == first:
                del self._at[address]
        for key in keys_of(emitted.sketch):
            of_key = self._sharing[key]
            del of_key[first]
            if not of_key:
                del self._sharing[key]
        return emitted

    def at(self, addresses: Sequence[int]) -> list[EmittedText]:
        """What was emitted last at each of the *addresses*."""
        return [self.texts[self._at[each]] for each in addresses if each in self._at]

    def sharing(self, keys: Sequence[int]) -> list[EmittedText]:
        """Texts that share most of the *keys* of a sketch."""
        latest = (islice(reversed(self._sharing.get(key, {})), PER_KEY) for key in keys)
        shared = Counter(chain.from_iterable(latest))
        best = sorted(shared, key=lambda first: -shared[first])[:MAX_CANDIDATES]
        return [self.texts[first] for first in best]
