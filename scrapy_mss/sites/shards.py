"""Assigns sites to crawls by rendezvous hashing.

A site belongs to the shard with the highest hash of shard and site name. Adding one shard to *n*
takes one in *n* + 1 of the sites from each of the others and moves nothing else. The hash is the
same on every machine and in every process. All pages of a site belong to one crawl, which alone has
to respect the site's rate limit.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

MAX_SHARDS: Final = 1000  # each costs a microsecond for each new site
CACHED: Final = 4096  # sites; a crawl asks for the same few again and again


class Shard(NamedTuple):
    """One of *total* shards, which are numbered from 1 on."""

    number: int
    total: int

    @classmethod
    def of(cls, text: str) -> Shard:
        number, _, count = text.partition("/")
        if number.isdecimal() and count.isdecimal():
            shard = cls(int(number), int(count))
            if 1 <= shard.number <= shard.total <= MAX_SHARDS:
                return shard
        raise ValueError(f"expected a shard such as '3/8', got {text!r}")

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def takes(self, site: str) -> bool:
        """Whether *site*, a registered domain, is of this shard; what has none is of each."""
        return not site or shard_of(site, self.total) == self.number


@lru_cache(CACHED)
def shard_of(site: str, count: int) -> int:
    """The number of the shard that takes *site*, of *count*."""
    return max(range(1, count + 1), key=lambda number: (_weight(site, number), number))


def _weight(site: str, number: int) -> bytes:
    return blake2b(f"{number} {site}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
