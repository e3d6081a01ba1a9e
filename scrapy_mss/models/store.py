"""A model in a store: the sum of all that crawls have learned, as a base and the later deltas.

    head     the generation, which is the number of deltas so far, that of the base, that of the
             base before it, and which crawls have added the deltas since that one
    base N   the sum of the deltas up to a generation, in the form of a model file
    delta N  what a checkpoint has added

Counts are additive, so a checkpoint appends what it has learned, and reads the deltas that others
have appended since it last did. When there are many, or they are as long as the base, the crawl
that notices this stores their sum as the new base. The deltas since the old one stay, for crawls
that have not read them yet.

Crawls with different versions of this library share the deltas: each counts the families that it
computes in the same way, and carries the others into a new base (`Model.other_families`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from functools import cache, partial
from secrets import token_hex
from typing import Final, NamedTuple

from scrapy_mss.models.files import warn_of_restarts
from scrapy_mss.models.format import ModelError, from_bytes, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import Profile
from scrapy_mss.storage.tables import MODEL, Change, Key, Row, Rows, Store, minute_now

logger = logging.getLogger(__name__)

SMALLEST_LOG: Final = 2**23  # bytes of deltas that are not worth a new base
MAX_DELTAS: Final = 64  # since the base: each takes a new crawl some 20 ms to add
ATTEMPTS: Final = 10  # to read what others replace meanwhile

HEAD: Final = MODEL.key("head")


class Head(NamedTuple):
    """Which deltas there are."""

    generation: int = 0  # the number of the last one
    base: int = 0  # the last one that is in the base
    first: int = 0  # the last one that is gone
    log_bytes: int = 0  # of the deltas since the base
    base_bytes: int = 0
    authors: tuple[str, ...] = ()  # of the deltas after the first, in their order

    def by_others(self, known: int, author: str) -> list[int]:
        """The numbers of the deltas after the *known* ones that are not by this *author*."""
        numbered = enumerate(self.authors, self.first + 1)
        return [number for number, each in numbered if number > known and each != author]


class StoredModel:
    """The model in a *store*, for a *profile*; one thread at a time uses it."""

    def __init__(self, store: Store, profile: Profile) -> None:
        self.profile = profile
        self._store = store
        self._author = token_hex(4)
        self._known = 0  # the generation up to which all is known
        self._head = Head()  # of the last change

    @property
    def name(self) -> str:
        return self._store.name

    def load(self) -> Model:
        """The sum of all deltas; an empty model where there are none."""
        model, self._known = self._loaded()
        warn_of_restarts(self.name, model)
        return model

    def add(self, learned: Model) -> None:
        """Add what was *learned*, by itself, and make sure that it is stored."""
        self._store.write([self.adding(lambda: learned)])
        self._rebase_if_due()
        self._store.close()

    def adding(self, learned: Callable[[], Model]) -> Change:
        """What adds what was *learned*; its outcome is what others have added, or None."""
        delta = cache(lambda: to_bytes(learned()))
        return Change([HEAD], partial(self._with, delta), self._of_others)

    def _with(self, delta: Callable[[], bytes], found: Rows) -> dict[Key, Row | None]:
        head = self._head_in(found)
        self._head = head._replace(
            generation=head.generation + 1,
            log_bytes=head.log_bytes + len(delta()),
            authors=(*head.authors, self._author),
        )
        row = Row(delta(), minute_now())
        return {HEAD: _row(self._head), _delta(self._head.generation): row}

    def _of_others(self) -> Model | None:
        """What others have added since this was last asked; a new base, where one is due."""
        head = self._head
        numbers = head.by_others(self._known, self._author)
        if self._known < head.first:
            numbers = []
            logger.warning(
                "scrapy-mss: %s: what other crawls have learned since the last checkpoint is read "
                "when the next crawl begins",
                self.name,
            )
        found = self._store.get(map(_delta, numbers))
        # Until its writing is answered, a delta may come to have a later number.
        self._known = head.generation - 1
        others = Model(self.profile)
        self._sum(others, found, numbers)
        self._rebase_if_due()
        return others if numbers else None

    def _rebase_if_due(self) -> None:
        """Store a new base if there are many deltas; where that fails, others do it later."""
        head = self._head
        is_long = head.log_bytes > max(SMALLEST_LOG, head.base_bytes)
        if not is_long and head.generation - head.base <= MAX_DELTAS:
            return
        try:
            self._store.write([self._rebasing()])
        except (ModelError, OSError) as error:
            logger.warning("scrapy-mss: %s: the deltas cannot be added up: %s", self.name, error)

    def _rebasing(self) -> Change:
        model, generation = self._loaded()
        data = to_bytes(model)

        def writes(found: Rows) -> dict[Key, Row | None]:
            head = self._head_in(found)
            if head.base >= generation:  # another crawl was first
                return {}
            authors = head.authors[head.base - head.first :]
            later = Head(head.generation, generation, head.base, 0, len(data), authors)
            gone = {_delta(number): None for number in range(head.first + 1, head.base + 1)}
            return {
                **gone,
                _base(head.base): None,
                _base(generation): Row(data, minute_now()),
                HEAD: _row(later),
            }

        return Change([HEAD], writes)

    def _loaded(self) -> tuple[Model, int]:
        """The sum of all deltas, and the generation of the last."""
        keys, found = list[Key](), dict[Key, bytes]()
        for _ in range(ATTEMPTS):
            head = self._head_in(self._store.get([HEAD]))
            numbers = range(head.base + 1, head.generation + 1)
            keys = [*map(_delta, numbers), *([_base(head.base)] if head.base else [])]
            found = self._store.get(keys)
            if len(found) == len(keys):
                base = found.get(_base(head.base))
                model = Model(self.profile) if base is None else self._model_in(base)
                self._sum(model, found, numbers)
                return model, head.generation
        raise ModelError(
            f"{self.name}: expected {len(keys)} parts of the model, got {len(found)}. "
            "Name another store, or remove this one"
        )

    def _sum(self, model: Model, found: Rows, numbers: Sequence[int]) -> None:
        try:
            for number in numbers:
                if _delta(number) in found:
                    delta = self._model_in(found[_delta(number)])
                    model.merge(delta.learned)
        except OverflowError as error:
            raise ModelError(f"{self.name}: {error}") from error

    def _head_in(self, found: Rows) -> Head:
        try:
            *numbers, authors = json.loads(found[HEAD]) if HEAD in found else Head()
            generation, base, first, log_bytes, base_bytes = map(int, numbers)
            return Head(generation, base, first, log_bytes, base_bytes, tuple(authors))
        except (OverflowError, RecursionError, TypeError, ValueError) as error:
            raise ModelError(
                f"{self.name}: expected the numbers of deltas, got {found[HEAD][:50]!r}. Name "
                "another store, or remove this one"
            ) from error

    def _model_in(self, data: bytes) -> Model:
        try:
            model = from_bytes(data)
        except ModelError as error:
            raise ModelError(f"{self.name}: {error}") from None
        if model.profile.families != self.profile.families:
            raise ModelError(
                f"{self.name}: the model is for the profile {model.profile.name!r}, not for "
                f"{self.profile.name!r}. Name another store"
            )
        return model


def _delta(number: int) -> Key:
    return MODEL.key(f"delta {number}")


def _base(number: int) -> Key:
    return MODEL.key(f"base {number}")


def _row(head: Head) -> Row:
    return Row(json.dumps(head).encode(), minute_now())
