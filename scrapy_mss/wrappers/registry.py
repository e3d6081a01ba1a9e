"""The wrapper for a URL, found by its host in a few look-ups, however many wrappers there are.

Of several that match, the one with the highest priority is used, then the one with the most
specific host, then the most specific URL pattern, then the one that was given first. Among equal
priorities the log says, once for each pair, what decided and how to decide otherwise.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timezone
from heapq import nsmallest
from typing import NamedTuple

from scrapy_mss.wrappers.ftr import ImportReport
from scrapy_mss.wrappers.rules import UrlParts, Wrapper

logger = logging.getLogger(__name__)

Table = dict[str, list[tuple[int, Wrapper]]]


class _Match(NamedTuple):
    """A wrapper that matches; matches sort by their first two fields, the best first."""

    rank: tuple[int, int, int]  # priority, specificity of host and of URL; all negated
    order: int
    wrapper: Wrapper


class Registry:
    """Wrappers by host; ``report`` is about those of third-party files."""

    def __init__(
        self, wrappers: Iterable[Wrapper] = (), report: ImportReport | None = None
    ) -> None:
        self.wrappers = tuple(wrappers)
        self.report = report or ImportReport()
        self._exact: Table = defaultdict(list)
        self._wildcard: Table = defaultdict(list)
        self._logged: set[tuple[int, int]] = set()
        for order, wrapper in enumerate(self.wrappers):
            table = self._wildcard if wrapper.is_wildcard else self._exact
            table[wrapper.host].append((order, wrapper))

    def __len__(self) -> int:
        return len(self.wrappers)

    def __iter__(self) -> Iterator[Wrapper]:
        return iter(self.wrappers)

    def find(self, url: str, on: date | None = None) -> Wrapper | None:
        """The wrapper for the page at *url* as it was served *on* that day, by default today."""
        parts = UrlParts.of(url)
        if parts is None:
            return None
        day = on or datetime.now(timezone.utc).date()
        matches = []
        for host, order, wrapper in self._candidates(parts.host):
            specificity = wrapper.specificity(parts)
            if specificity is not None and wrapper.valid_on(day):
                rank = (-wrapper.priority, -host, -specificity)
                matches.append(_Match(rank, order, wrapper))
        best = nsmallest(2, matches)
        if len(best) > 1:
            self._log_conflict(*best)
        return best[0].wrapper if best else None

    def _candidates(self, host: str) -> Iterator[tuple[int, int, Wrapper]]:
        """Each wrapper for *host*, with the specificity of its host and its order."""
        for order, wrapper in self._exact.get(host, ()):
            yield len(host) + 1, order, wrapper
        _, _, parent = host.partition(".")
        while parent:
            for order, wrapper in self._wildcard.get(parent, ()):
                yield len(parent), order, wrapper
            _, _, parent = parent.partition(".")

    def _log_conflict(self, used: _Match, other: _Match) -> None:
        pair = used.order, other.order
        if used.rank[0] != other.rank[0] or pair in self._logged:
            return
        self._logged.add(pair)
        tie = used.rank == other.rank
        logger.log(
            logging.WARNING if tie else logging.INFO,
            "%s and %s match the same page; the first is used, because it is %s. To change that, "
            "give one of them a higher 'priority', or narrow its 'url' or 'valid'.",
            used.wrapper,
            other.wrapper,
            "listed first" if tie else "more specific",
        )
