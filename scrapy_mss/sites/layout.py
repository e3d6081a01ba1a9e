"""Detects that a site has changed its layout: nothing on its new pages is where it was.

A page's agreement is the share of its containers' votes that are for known containers. One page is
enough to make a new layout known, so the pages of a window are compared with what was known
before the previous window. A change in the middle of a window is reported at the end of the next.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.markup.tokens import Bools, TokenIds
from scrapy_mss.sites.memory import SiteMemory

WATCHED = 10  # pages of a window, and of a memory that says anything
LEAST = 0.3  # mean agreement of a window, below which the layout is another one
VOTES = 1  # the column of a container's row with the sum of its votes


def agreement(known: TokenIds, page: SiteMemory) -> float:
    """The share of the votes of *page* for the containers *known* (uint64[n]); 1 without votes."""
    votes = page.containers.rows[:, VOTES]
    total = float(votes.sum())
    if not total:
        return 1.0
    return float(votes[_are_in(known, page.containers.keys)].sum()) / total


def _are_in(known: TokenIds, keys: TokenIds) -> Bools:
    """Which *keys* are *known*, all of them sorted: `np.isin` would sort them again."""
    if not len(known):
        return np.zeros(len(keys), np.bool_)
    found: Bools = known.take(known.searchsorted(keys), mode="clip") == keys
    return found


class LayoutWatch:
    """Compares a site's latest pages with what was known some pages before."""

    def __init__(self) -> None:
        self._before: TokenIds | None = None  # the containers known before the last window
        self._since: TokenIds | None = None  # and before this one
        self._agreements: list[float] = []

    def has_changed(self, known: SiteMemory, page: SiteMemory) -> bool:
        """Whether the site has changed, now that *page* is there; *known* is what was before it.

        Where it has, it is watched anew.
        """
        if self._before is None or self._since is None:
            if known.pages < WATCHED:
                return False
            self._before = self._since = known.containers.keys
        self._agreements.append(agreement(self._before, page))
        if len(self._agreements) < WATCHED:
            return False
        changed = sum(self._agreements) < LEAST * WATCHED
        self._before, self._since = self._since, known.containers.keys
        self._agreements = []
        if changed:
            self._before = self._since = None
        return changed
