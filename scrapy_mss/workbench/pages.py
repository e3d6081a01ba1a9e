"""The pages from which rules are made, by host, with limits per host and in total.

A rule is for a host, or on request for all hosts of a domain: subdomains usually have layouts
of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.wrappers.rules import UrlParts

MAX_SITES: Final = 2_000
MAX_CHARACTERS: Final = 500_000_000  # of all pages, in memory


@dataclass(slots=True)
class Pages:
    """At most *most* pages by site, each address once; ``left_out`` counts those beyond a bound."""

    most: int
    by_site: dict[str, list[StoredPage]] = field(default_factory=dict)
    left_out: int = 0
    _seen: set[str] = field(default_factory=set)
    _characters: int = 0

    def add(self, pages: Iterable[StoredPage]) -> None:
        """Keep *pages*, those of one host together."""
        for page in pages:
            parts = UrlParts.of(page.url)
            site = parts.host if parts else ""
            if not site or page.url in self._seen:
                continue
            if self._is_full(site, page):
                self.left_out += 1
                continue
            self._seen.add(page.url)
            self._characters += len(page.html)
            self.by_site.setdefault(site, []).append(page)

    def _is_full(self, site: str, page: StoredPage) -> bool:
        of_site = self.by_site.get(site)
        if of_site is None and len(self.by_site) >= MAX_SITES:
            return True
        has_most = of_site is not None and len(of_site) >= self.most
        return has_most or self._characters + len(page.html) > MAX_CHARACTERS
