"""Announced addresses that did not come out: a few examples of each fate, as a row per site.

A row also has the keys of the addresses that were lost last. Each crawl asks for some of them
again, every hour perhaps, and as a loss they are to count once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from scrapy_mss.storage.tables import LOSSES, Change, Key, Row, Rows, Store

EXAMPLES: Final = 3  # of a fate: somebody looks at each
MAX_KEYS: Final = 300  # of a site; a crawl asks for some two hundred
LONGEST_URL: Final = 500  # characters

Examples: TypeAlias = dict[str, dict[str, int]]  # addresses by the name of their fate, and when


@dataclass(slots=True)
class Losses:
    """Those of a site, the latest last."""

    examples: Examples = field(default_factory=dict)
    keys: dict[int, None] = field(default_factory=dict)

    def add(self, fate: str, url: str, minute: int) -> None:
        if len(url) <= LONGEST_URL:
            self.update(Losses({fate: {url: minute}}))

    def remove(self, fate: str, url: str, key: int) -> None:
        self.examples.get(fate, {}).pop(url, None)
        self.keys.pop(key, None)

    def update(self, later: Losses) -> None:
        for fate, urls in later.examples.items():
            known = {url: at for url, at in self.examples.get(fate, {}).items() if url not in urls}
            self.examples[fate] = dict([*known.items(), *urls.items()][-EXAMPLES:])
        keys = [key for key in self.keys if key not in later.keys]
        self.keys = dict.fromkeys([*keys, *later.keys][-MAX_KEYS:])


LossesOfSites: TypeAlias = dict[str, Losses]


class LossStore:
    """The losses of sites in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, sites: Iterable[str]) -> LossesOfSites:
        names = {LOSSES.key(site): site for site in sites}
        found = self._store.get(names, patient=False)
        return {names[row]: _losses(value) for row, value in found.items()}


def adding(losses: Mapping[str, Losses], minute: int) -> Change:
    """The change that adds *losses* in this *minute*."""
    return Change([LOSSES.key(site) for site in losses], partial(_with, losses, minute))


def _with(losses: Mapping[str, Losses], minute: int, found: Rows) -> dict[Key, Row | None]:
    rows: dict[Key, Row | None] = {}
    for site, later in losses.items():
        row = LOSSES.key(site)
        total = _losses(found.get(row, b"{}"))
        total.update(later)
        written = {"examples": total.examples, "keys": [*total.keys]}
        rows[row] = Row(json.dumps(written).encode(), minute)
    return rows


def _losses(value: bytes) -> Losses:
    """The losses in a row; none if it is damaged."""
    try:
        read = json.loads(value)
        examples = {
            str(fate): {str(url): int(at) for url, at in urls.items()}
            for fate, urls in read.get("examples", {}).items()
        }
        return Losses(examples, dict.fromkeys(map(int, read.get("keys", ()))))
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError):
        return Losses()
