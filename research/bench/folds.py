"""Cross-validation by site: pages of one site share a template, so they stay on one side.

Strategy: sites go to folds greedily, the largest first, each to the fold with the fewest pages.
Equal sizes are ordered by a hash of the site's name. The split depends on sites and page counts
alone: not on the order of the pages, the process, or the machine.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence


def assign(sites: Sequence[str], folds: int) -> list[int]:
    """The fold, 0 … folds-1, of each page, given the site of each page."""
    sizes = [0] * folds
    chosen: dict[str, int] = {}
    for site, pages in sorted(Counter(sites).items(), key=_order):
        fold = sizes.index(min(sizes))
        chosen[site] = fold
        sizes[fold] += pages
    return [chosen[site] for site in sites]


def _order(item: tuple[str, int]) -> tuple[int, bytes]:
    site, pages = item
    return -pages, hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest()
