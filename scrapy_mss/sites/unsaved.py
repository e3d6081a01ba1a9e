"""What a crawl has learned about sites and not stored yet."""

from __future__ import annotations

from collections.abc import Iterator

from scrapy_mss.sites.memory import SiteMemory

MAX_WAITING = 1000  # sites that could not be written; some 30 KB each
ADDED_AT_ONCE = 32  # pages of a site, some 30 KB


class Batch:
    """What was learned of each site; those in ``anew`` have changed their layout before that.

    Pages of a site are added up a few at a time: adding one alone takes as long.
    """

    def __init__(self) -> None:
        self.anew: set[str] = set()
        self._learned: dict[str, list[SiteMemory]] = {}

    def __contains__(self, site: str) -> bool:
        return site in self._learned

    def __len__(self) -> int:
        return len(self._learned)

    def __iter__(self) -> Iterator[str]:
        return iter(self._learned)

    def add(self, site: str, memory: SiteMemory) -> None:
        """Add what was learned of *site*."""
        learned = self._learned.setdefault(site, [])
        learned.append(memory)
        if len(learned) >= ADDED_AT_ONCE:
            learned[:] = [SiteMemory.total(learned)]

    def reset(self, site: str) -> None:
        """Forget *site*, here and, once this is written, in the store."""
        self.anew.add(site)
        self._learned[site] = []

    def drop(self, site: str) -> None:
        """Give up what was learned of *site*."""
        self._learned.pop(site, None)

    def of(self, site: str) -> SiteMemory:
        """What was learned of *site*."""
        return SiteMemory.total(self._learned.get(site, []))

    def learned(self) -> dict[str, SiteMemory]:
        """What was learned of each site."""
        return {site: self.of(site) for site in self._learned}

    def follow(self, later: Batch) -> None:
        """Add a *later* batch."""
        for site, memory in later.learned().items():
            if site in later.anew:
                self.reset(site)
            self.add(site, memory)
