"""Memories of sites, as the tests need them."""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.sites.address_counts import MAX_SHAPES, AddressCounts
from scrapy_mss.sites.memory import BlockKeys, SiteMemory, period_of

NOW = 29_500_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def page_memory(html: str, minute: int = NOW, path: str = "news/17") -> SiteMemory:
    """What one page adds; its blocks are less and less probable."""
    page = Page.of(html)
    inside = np.linspace(1.0, 0.0, len(page.blocks))
    memory = SiteMemory.of_page(BlockKeys.of(page), inside, minute)
    return memory.plus(address_memory(f"http://a.example/{path}", 1.0, minute))


def address_memory(url: str, article_probability: float, minute: int = NOW) -> SiteMemory:
    """What a page adds that is no article."""
    addresses = AddressCounts.of(url, article_probability, minute)
    return SiteMemory(period=period_of(minute), addresses=addresses)


def numbered(number: int) -> str:
    """A word for each *number*: numbers themselves are all one token."""
    return "w" + "".join(LETTERS[number // 26**k % 26] for k in range(4))


def full_memory() -> SiteMemory:
    """A memory at its bounds."""
    total = SiteMemory()
    for n in range(8):
        words = [numbered(1000 * n + k) for k in range(400)]
        total = total.plus(page_memory("".join(f"<div class={w}>{w}</div>" for w in words)))
    for n in range(2 * MAX_SHAPES):
        longest = "/".join(numbered(n) * 3 for _ in range(3))
        total = total.plus(
            page_memory("", path=f"{longest}/{'x' * 16}.shtml?{'k' * 16}={'v' * 16}")
        )
    return total
