"""Which wrapper is for a URL: found by host in a few look-ups, however many rules there are.

Of several that match, the first by this order is used: priority, then how much of the host and of
the address a rule fixes, then the order in which the rules were given. Where priorities are the
same it is logged, once for each pair of rules, what decided and how to decide otherwise.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timezone
from typing import NamedTuple

from scrapy_mss.wrappers.ftr import Account
from scrapy_mss.wrappers.rules import Address, Wrapper

logger = logging.getLogger(__name__)

Table = dict[str, list[tuple[int, Wrapper]]]


class _Match(NamedTuple):
    """A rule that matches; matches sort by their first two fields, smallest first."""

    rank: tuple[int, int, int]  # priority, host, address; all negative
    order: int
    wrapper: Wrapper


class Registry:
    """Wrappers by host; ``account`` tells what third-party files gave and what was left out."""

    def __init__(self, wrappers: Iterable[Wrapper] = (), account: Account | None = None) -> None:
        self.wrappers = tuple(wrappers)
        self.account = account or Account()
        self._exact: Table = defaultdict(list)
        self._below: Table = defaultdict(list)
        self._told: set[tuple[int, int]] = set()
        for numbered in enumerate(self.wrappers):
            wrapper = numbered[1]
            (self._below if wrapper.is_wildcard else self._exact)[wrapper.host].append(numbered)

    def __len__(self) -> int:
        return len(self.wrappers)

    def __iter__(self) -> Iterator[Wrapper]:
        return iter(self.wrappers)

    def find(self, url: str, on: date | None = None) -> Wrapper | None:
        """The wrapper for the page at *url* as it was served *on* that day; today if not said."""
        matches = self._matches(url, on)
        if not matches:
            return None
        if len(matches) > 1:
            self._tell(*matches[:2])
        return matches[0].wrapper

    def matching(self, url: str, on: date | None = None) -> list[Wrapper]:
        """All wrappers for the page, that which is used first."""
        return [match.wrapper for match in self._matches(url, on)]

    def _matches(self, url: str, on: date | None) -> list[_Match]:
        address = Address.of(url)
        if address is None:
            return []
        day = on or datetime.now(timezone.utc).date()
        matches = []
        for host, order, wrapper in self._candidates(address.host):
            specificity = wrapper.specificity(address)
            if specificity is not None and wrapper.valid_on(day):
                rank = (-wrapper.priority, -host, -specificity)
                matches.append(_Match(rank, order, wrapper))
        return sorted(matches)

    def _candidates(self, host: str) -> Iterator[tuple[int, int, Wrapper]]:
        """How much of the host each rule for it fixes, its order, and the rule."""
        for order, wrapper in self._exact.get(host, ()):
            yield len(host) + 1, order, wrapper
        _, _, above = host.partition(".")
        while above:
            for order, wrapper in self._below.get(above, ()):
                yield len(above), order, wrapper
            _, _, above = above.partition(".")

    def _tell(self, used: _Match, other: _Match) -> None:
        pair = used.order, other.order
        if used.rank[0] != other.rank[0] or pair in self._told:
            return
        self._told.add(pair)
        tie = used.rank == other.rank
        logger.log(
            logging.WARNING if tie else logging.INFO,
            "%s and %s match the same page; the first is used, because it is %s. To settle it "
            "otherwise give one of them a higher 'priority', or narrow its 'url' or 'valid'.",
            used.wrapper,
            other.wrapper,
            "stated before the other" if tie else "more specific",
        )
