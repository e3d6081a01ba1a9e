"""Detects articles that tell the same story: copies, cut and edited, of an earlier text.

The story of a text is that of the earliest text of which it is a copy, and is named by a hash of
that text's words, so that two crawls that meet the same text first give it the same name. Later
texts are copies of a copy only if they are copies of a known one, so that stories do not merge
in small steps: a text is compared with the texts of a window of days, not with their chain.

In a store, a text is a row with its sketch, some 400 bytes, and its address is in the rows of the
keys by which texts that share passages find it. The row of an original is used again with each text
of its story, so that a late revision of it does not become a copy of its copies.

A text counts as emitted when its item has left the pipelines. Until then it is pending: others are
its copies, but if it is lost, they were not seen.

A text is compared by a bottom-k sketch of its passages. Each passage, a few consecutive words, is
hashed to a number. The smallest numbers are a sample of the passages, drawn in the same way from
every text: the share of numbers that two texts have in common estimates the share of passages in
common, whatever was left out, added or moved. The very smallest are the keys of an index. (Broder
1997; one permutation, so that a text costs one sort instead of a hundred passes.) Numbers are
stored, so the hash is our own: no library guarantees the same values in its next release.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.seen.keys import packed, text_key
from scrapy_mss.seen.paragraphs import has_no_spaces, words_of
from scrapy_mss.storage.checkpoints import CheckpointPart
from scrapy_mss.storage.tables import DAY, STORIES, STORY_KEYS, Change, Key, Row, Rows, Store

WINDOW: Final = 7 * DAY  # minutes in which texts are compared
MAX_UNDER_WAY: Final = 10_000  # items that other pipelines hold, or replace: the oldest are let go
CHECKPOINT_TEXTS: Final = 5_000  # after so many, whatever the interval: 4 KB each
MAX_UNSAVED: Final = 20_000  # that a store which fails has not taken: the oldest are let go
PER_KEY: Final = 50  # texts that are asked for by a key; what more have is a phrase of a site
MAX_CANDIDATES: Final = 32  # texts that are compared, those that share most keys

_TEXT: Final = struct.Struct("<qqBI")
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
        rows = {STORIES.key(packed(each)): each for each in addresses}
        found = self._store.get(rows, patient=False)
        emitted = (_emitted(address, found[row]) for row, address in rows.items() if row in found)
        return [each for each in emitted if each is not None]

    def sharing(self, keys: Sequence[int]) -> list[EmittedText]:
        rows = [STORY_KEYS.key(_STORY_KEY.pack(key)) for key in keys]
        found = self._store.get(rows, patient=False).values()
        shared = Counter(chain.from_iterable(map(_addresses, found)))
        return self.at([address for address, _ in shared.most_common(MAX_CANDIDATES)])


def adding(texts: Iterable[EmittedText]) -> Change:
    """The change that adds *texts*, the latest last."""
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
        head = _TEXT.pack(emitted.story, emitted.original, emitted.is_copy, emitted.minute)
        for address in emitted.addresses:
            row = STORIES.key(packed(address))
            if address == first and emitted.sketch is not None:
                sketch = emitted.sketch.astype("<u4").tobytes()
            else:  # by what the row has, the text is still found, unless that is damaged
                sketch = value(row)[_TEXT.size :]
                sketch = b"" if len(sketch) % 4 else sketch
            rows[row] = Row(head + sketch, emitted.minute)
        for key in keys_of(emitted.sketch):
            row = STORY_KEYS.key(_STORY_KEY.pack(key))
            known = [each for each in _addresses(value(row)) if each != first]
            latest = (*known, first)[-PER_KEY:]
            rows[row] = Row(np.array(latest, "<i8").tobytes(), emitted.minute)
    return dict(rows)


def _emitted(address: int, value: bytes) -> EmittedText | None:
    if len(value) < _TEXT.size or (len(value) - _TEXT.size) % 4:
        return None
    story, original, is_copy, minute = _TEXT.unpack_from(value)
    sketch = np.frombuffer(value, "<u4", offset=_TEXT.size) if len(value) > _TEXT.size else None
    return EmittedText((address,), story, original, bool(is_copy), minute, sketch)


def _addresses(value: bytes) -> list[int]:
    found: list[int] = np.frombuffer(value[: len(value) // 8 * 8], "<i8").tolist()
    return found


class RecentTexts(dict[int, EmittedText]):
    """The texts that are not in the store yet, by their first address, the latest last.

    They answer the same queries as the store.
    """

    def __init__(self, texts: Iterable[EmittedText] = ()) -> None:
        super().__init__()
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
        self[first] = emitted
        self._at.update(dict.fromkeys(emitted.addresses, first))
        for key in keys_of(emitted.sketch):
            self._sharing.setdefault(key, {})[first] = None

    def remove(self, first: int) -> EmittedText | None:
        """Remove the text whose first address this is."""
        emitted = self.pop(first, None)
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
        return [self[self._at[each]] for each in addresses if each in self._at]

    def sharing(self, keys: Sequence[int]) -> list[EmittedText]:
        latest = (islice(reversed(self._sharing.get(key, {})), PER_KEY) for key in keys)
        shared = Counter(chain.from_iterable(latest))
        best = sorted(shared, key=lambda first: -shared[first])[:MAX_CANDIDATES]
        return [self[first] for first in best]


class StoryMatch(NamedTuple):
    """A text compared with those that were emitted."""

    emitted: EmittedText
    waits_for: int | None = None  # the address of what it is a copy of, while that may be lost

    @property
    def story(self) -> str:
        return f"{self.emitted.story & (2**64 - 1):016x}"


class Stories(CheckpointPart[RecentTexts]):
    """The stories of a crawl, of earlier ones, and of others at the same time."""

    FAILED = "stories cannot be stored or read"
    MEANWHILE = ", and copies may be missed"
    LOST = "the stories of %d texts"

    def __init__(self, store: StoryStore, now: Callable[[], int]) -> None:
        super().__init__(RecentTexts, lambda batch: adding(batch.values()))
        self._store = store
        self._now = now
        self._under_way = RecentTexts()
        self._items: Counter[int] = Counter()  # under way, by the first address of their texts

    def match(self, addresses: Sequence[int], text: str) -> StoryMatch:
        """How the *text* at some *addresses* compares with those that were emitted.

        At an address of its own it is the same story in whatever words, and no copy if it was none.
        """
        numbers = sketch(text)
        own = self._at(addresses)
        like = [] if numbers is None else list(self._like(numbers, addresses))
        first = min(like, key=lambda each: (each.minute, each.story), default=None)
        known = own or first
        story = known.story if known else text_key(text)
        original = known.original if known else addresses[0]
        is_copy = first is not None and (own is None or own.is_copy)
        found = [*like, own] if own and own.minute >= self._now() - WINDOW else like
        stored = (each.sketch for each in found if each.addresses[0] not in self._under_way)
        is_found = numbers is not None and any(
            each is not None and likeness(numbers, each).is_same for each in stored
        )
        minute, new = self._now(), None if is_found else numbers
        emitted = EmittedText(tuple(addresses), story, original, is_copy, minute, new)
        pending = [each.addresses[0] for each in like if each.addresses[0] in self._under_way]
        return StoryMatch(emitted, pending[0] if is_copy and len(pending) == len(like) else None)

    def begin(self, emitted: EmittedText) -> None:
        self._under_way.put(emitted)
        self._items[emitted.addresses[0]] += 1
        if len(self._under_way) > MAX_UNDER_WAY:
            self._let_go(next(iter(self._under_way)))

    def end(self, addresses: Sequence[int], *, is_emitted: bool) -> None:
        """Note that an item of the text at *addresses* has left the pipelines, or is lost.

        What is there is lost only with the last of its items, and is emitted with the first.
        """
        first = addresses[0]
        emitted = self._under_way.get(first)
        if emitted is None:
            return
        self._items[first] -= 1
        if is_emitted or not self._items[first]:
            self._let_go(first)
        if is_emitted:
            self.add(emitted)

    def is_under_way(self, address: int) -> bool:
        return address in self._items

    def _let_go(self, first: int) -> None:
        self._under_way.remove(first)
        del self._items[first]

    def add(self, emitted: EmittedText) -> None:
        self._unsaved.put(emitted)
        if len(self._unsaved) % CHECKPOINT_TEXTS == 0:
            self.checkpoint()

    def _joined(self, batch: RecentTexts, later: RecentTexts) -> RecentTexts:
        texts = [*batch.values(), *later.values()]
        joined = RecentTexts(texts[-MAX_UNSAVED:])
        self._n_dropped += len({each.addresses[0] for each in texts}) - len(joined)
        return joined

    def _places(self) -> tuple[RecentTexts | StoryStore, ...]:
        """Where texts are, the latest first."""
        return self._under_way, self._unsaved, self._in_flight, self._store

    def _at(self, addresses: Sequence[int]) -> EmittedText | None:
        """What was emitted last at one of the *addresses*, however long ago."""
        found = (self.asked(place.at, addresses) or () for place in self._places())
        return next(chain.from_iterable(found), None)

    def _like(self, numbers: Numbers, addresses: Sequence[int]) -> Iterator[EmittedText]:
        """The texts at other addresses that one with these *numbers* is a copy of."""
        since, seen = self._now() - WINDOW, set(addresses)
        for place in self._places():
            for emitted in self.asked(place.sharing, keys_of(numbers)) or ():
                is_other = emitted.minute >= since and seen.isdisjoint(emitted.addresses)
                if emitted.sketch is None or not is_other:
                    continue
                if likeness(numbers, emitted.sketch).is_copy:
                    yield emitted


# --- sketches ---------------------------------------------------------------------------------


Numbers = NDArray[np.uint32]

SIZE: Final = 96  # numbers of a sketch: a share of a half is known to a twentieth
KEYS: Final = 12  # of them ask the index: of texts that share a half, one in 4,000 is not found
WORDS: Final = 5  # of a passage; four are a phrase that strangers use, six halve under an edit
CHARACTERS: Final = 10  # of a passage where no spaces are between words
LONGEST: Final = 50_000  # characters that are read: nine of ten thousand articles are shorter
MIN_PASSAGES: Final = 20  # passages; what is shorter is a caption, and says little of its own

# Above what different pages of a site share, by `python -m research.studies.stories`.
OF_BOTH: Final = 0.3
OF_SHORTER: Final = 0.6
SAME: Final = 0.9

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well spread: 2**64 by the golden ratio
_HALF = np.uint64(32)


class Likeness(NamedTuple):
    """How much two texts have in common, as shares of their passages."""

    of_both: float  # Jaccard's index
    of_shorter: float

    @property
    def is_copy(self) -> bool:
        """Whether one is a copy of the other, cut and edited as papers do that."""
        return self.of_both >= OF_BOTH and self.of_shorter >= OF_SHORTER

    @property
    def is_same(self) -> bool:
        """Whether one of them is enough in the index to find the copies of both."""
        return self.of_both >= SAME


def sketch(text: str) -> Numbers | None:
    """uint32[at most SIZE], ascending: the sample of *text*; None if that is too short."""
    words, length = _words(text[:LONGEST].lower())
    count = len(words) - length + 1
    if count < MIN_PASSAGES:
        return None
    codes = np.fromiter((crc32(each.encode("utf-8", "replace")) for each in words), np.uint64)
    mixed = np.zeros(count, np.uint64)
    for position in range(length):
        mixed = (mixed + codes[position : position + count]) * _FACTOR
    mixed ^= mixed >> _HALF
    mixed *= _FACTOR
    found = np.unique((mixed >> _HALF).astype(np.uint32))[:SIZE]
    return found if len(found) >= MIN_PASSAGES else None


def _words(text: str) -> tuple[list[str], int]:
    """The words of *text*, or its characters, and how many make a passage."""
    words = words_of(text)
    if 2 * has_no_spaces(text) > sum(map(len, words)):
        return [character for word in words for character in word], CHARACTERS
    return words, WORDS


def keys_of(sketch: Numbers | None) -> list[int]:
    """The keys of the index for a sketch; [] without one."""
    keys: list[int] = [] if sketch is None else sketch[:KEYS].tolist()
    return keys


def likeness(one: Numbers, other: Numbers) -> Likeness:
    """How much the texts of two sketches have in common.

    A full sketch says nothing of numbers above its last: only those below are compared.
    """
    last = min((int(each[-1]) for each in (one, other) if len(each) == SIZE), default=2**32 - 1)
    one, other = one[one <= last], other[other <= last]
    shared = len(np.intersect1d(one, other, assume_unique=True))
    shorter = min(len(one), len(other))
    return Likeness(shared / (len(one) + len(other) - shared), shared / shorter if shorter else 0.0)
