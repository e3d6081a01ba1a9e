"""What is known of a site, as lines to print: mostly numbers; texts and names are not stored."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scrapy_mss.sites.address_counts import BROWSER, AddressCounts
from scrapy_mss.sites.evidence import MIN_PAGES
from scrapy_mss.sites.memory import MINUTES_A_DAY, KeyedCounts, SiteMemory

COMMON, FREQUENT = 0.5, 0.1  # shares of pages
SHOWN = 10  # shapes of addresses
OUT_OF_USE = 7 * MINUTES_A_DAY  # minutes before the latest page
CLEAR = 0.8  # the mean vote from which, and below the rest of which, a container is of one kind


def report(memory: SiteMemory) -> Iterator[tuple[str, str]]:
    """A name and a text for each line; all counts are as they are weighed today."""
    pages = memory.pages
    yield (
        "pages",
        f"{pages:,.1f} with an article, {memory.labelled_pages:,.1f} of them labelled by a wrapper",
    )
    if pages < MIN_PAGES:
        yield "used", f"not yet: sites are known from {MIN_PAGES:.0f} pages on"
    share = memory.texts.rows[:, 0] / max(pages, 1.0)
    common, frequent = (int((share >= least).sum()) for least in (COMMON, FREQUENT))
    yield (
        "texts",
        f"{len(share):,}: {common:,} on half of the pages or more, {frequent:,} on a tenth or more",
    )
    yield from _containers(memory.containers)
    yield from _addresses(memory.addresses)


def _containers(containers: KeyedCounts) -> Iterator[tuple[str, str]]:
    """How many there are of each kind, and how many of articles are out of use."""
    seen, votes = containers.rows[:, 0], containers.rows[:, 1]
    often = seen >= MIN_PAGES
    mean = votes[often] / seen[often]
    of_articles, of_others = mean >= CLEAR, mean <= 1 - CLEAR
    both = int(np.sum(~of_articles & ~of_others))
    kinds = (
        f"{of_articles.sum():,} of articles, {of_others.sum():,} of other text, {both:,} of both"
    )
    yield "containers", f"{len(seen):,}; on {MIN_PAGES:.0f} pages or more: {kinds}"
    if of_articles.any():
        latest = int(containers.seen.max())
        stale = int(np.sum(latest - containers.seen[often][of_articles] > OUT_OF_USE))
        share = stale / int(of_articles.sum())
        yield "drift", f"{share:.0%} of those of articles were not seen in the site's last week"


def _addresses(addresses: AddressCounts) -> Iterator[tuple[str, str]]:
    """The shapes that most pages had, and which share of these were articles."""
    yield "addresses", f"{len(addresses):,} shapes"
    most = sorted(addresses, key=lambda item: (-item[1].pages, item[0]))[:SHOWN]
    for shape, seen in most:
        share, of_browser = seen.articles / seen.pages, shape.startswith(BROWSER)
        found = "shown by a browser alone" if of_browser else "articles"
        name = shape.removeprefix(BROWSER)
        yield "", f"{name}: {seen.pages:,.1f} pages, {share:.0%} of them {found}"
