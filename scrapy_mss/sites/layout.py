"""Notices that a site has changed its layout: nothing on its new pages is where it was.

A page agrees with a memory by the share of its expected article that is in containers which the
memory knows. On `sites_ctf` the sites agree with their own memory by .50 to 1.0 on the mean of ten
pages, and 27 of 30 sites agree with that of five years before by .10 at most; the other three have
kept their layout.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from scrapy_mss.markup.tokens import Floats
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.observation import BlockKeys

WATCHED = 10  # pages, in the memory and of late
LEAST = 0.3  # mean agreement of these, below which the layout is another one


def agreement(memory: SiteMemory, keys: BlockKeys, probability: Floats) -> float:
    """The share of the expected article in containers that *memory* knows; 1 if it knows little."""
    expected = keys.words * probability
    total = float(expected.sum())
    if memory.pages < WATCHED or not total:
        return 1.0
    known = memory.containers.find(keys.containers)[0] > 0
    return float(np.sum(expected * known) / total)


class LayoutWatch:
    """The agreement of a site's latest pages with its memory."""

    def __init__(self) -> None:
        self._latest: deque[float] = deque(maxlen=WATCHED)

    def has_changed(self, agreement_of_page: float) -> bool:
        """Whether the site has changed, now that one more page is known; then it starts anew."""
        self._latest.append(agreement_of_page)
        changed = len(self._latest) == WATCHED and sum(self._latest) < LEAST * WATCHED
        if changed:
            self._latest.clear()
        return changed
