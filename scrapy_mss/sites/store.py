"""The memories of many sites, as rows of a store.

A crawl reads a site when it first meets it, and its checkpoints add what was learned since.
Memories are additive, so crawls that share a store do not overwrite one another. Each version of
the keys by which texts are recognized has a row of its own (`format`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from scrapy_mss.sites.format import Recall, names_by_version, to_bytes
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.storage.tables import SITES, Change, Key, Row, Rows, Store


class StoredSite(NamedTuple):
    """A site in the store."""

    name: str
    used: int  # minutes since 1970
    size: int  # bytes


class SiteStore:
    """The memories of sites in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._recall = Recall(store.name)

    def load(self, site: str) -> SiteMemory:
        """What is known of *site*; an empty memory if nothing."""
        return self._memory(site, self._store.get(_rows(site), patient=False))

    def adding(
        self, learned: Mapping[str, SiteMemory], minute: int, anew: Collection[str] = ()
    ) -> Change:
        """What adds what was *learned* of each site; of those in *anew*, nothing is left before."""
        reads = [row for site in learned if site not in anew for row in _rows(site)]
        return Change(reads, partial(self._with, learned, minute))

    def sites(self) -> Iterator[StoredSite]:
        """All sites, those that were used last first."""
        prefix = f"{names_by_version()[0]}:".encode()
        for key, used in self._store.used_since(SITES, 0).items():
            if key.startswith(prefix):
                size = len(self._store.get([(SITES, key)]).get((SITES, key), b""))
                name = key.removeprefix(prefix).decode("utf-8", "surrogatepass")
                yield StoredSite(name, used, size)

    def _with(
        self, learned: Mapping[str, SiteMemory], minute: int, found: Rows
    ) -> dict[Key, Row | None]:
        return {
            _rows(site)[0]: Row(to_bytes(self._memory(site, found).plus(memory)), minute)
            for site, memory in learned.items()
        }

    def _memory(self, site: str, found: Rows) -> SiteMemory:
        return self._recall.memory(site, [found.get(row) for row in _rows(site)])


def _rows(site: str) -> list[Key]:
    """Those of *site* by version, the current one first."""
    return [SITES.key(f"{version}:{site}") for version in names_by_version()]
