"""The memories of sites on a Redis server shared by crawls on several machines.

    PREFIX:sites          what it is
    PREFIX:sites:names    the names of the additions of a week
    PREFIX:sites:used     sites by the minute in which they were used last
    PREFIX:sites:of:SITE  the memory of a site, in the form that files have it

Later versions of the keys by which texts are recognized have their number in the names: sites_2.

Memories are added here and not on the server, which does not know their format. A script writes all
sums of a checkpoint if the stored values are unchanged, and nothing otherwise; in that case the
crawl reads what others have written and adds to it (optimistic locking). Each addition has a name
that makes it count once (`redis_server.Outbox`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha1
from typing import Any, Final, NamedTuple

from scrapy_mss.sites.format import (
    FIRST_KEYS,
    Recall,
    names_by_version,
    to_bytes,
)
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import FORMAT, MAX_SITES
from scrapy_mss.storage.redis_server import READ_SECONDS, Argument, Outbox, Patience, Rests, Server
from scrapy_mss.storage.server_address import ServerError

ATTEMPTS: Final = 100  # of an addition; each that fails is one of another crawl that did not

# KEYS: head, names, used. ARGV: identity, name, the minute; then for each site its name, the digest
# of the memory that was added to or nothing, and the sum. Answers with 0 if another crawl was
# first.
_ADD: Final = f"""
if not is_new then return 1 end
for at = 4, #ARGV, 3 do
    local memory = redis.call('GET', KEYS[1] .. ':of:' .. ARGV[at])
    if (memory and redis.sha1hex(memory) or '') ~= ARGV[at + 1] then
        redis.call('ZREM', KEYS[2], ARGV[2])
        return 0
    end
end
for at = 4, #ARGV, 3 do
    redis.call('SET', KEYS[1] .. ':of:' .. ARGV[at], ARGV[at + 2])
    redis.call('ZADD', KEYS[3], 'GT', ARGV[3], ARGV[at])
end
local n_excess = redis.call('ZCARD', KEYS[3]) - {MAX_SITES}
if n_excess > 0 then
    local gone = redis.call('ZPOPMIN', KEYS[3], n_excess)
    for at = 1, #gone, 2 do redis.call('DEL', KEYS[1] .. ':of:' .. gone[at]) end
end
return 1
"""


class _Addition(NamedTuple):
    """What is added to each site, in which minute, and of which sites nothing is left before."""

    learned: Mapping[str, SiteMemory]
    minute: int
    anew: frozenset[str]


class RedisSiteStore:
    """The memories of sites on a server."""

    def __init__(self, named: str, patience: Patience | None = None) -> None:
        """Keep them at the address *named*."""
        self._server = Server(named, patience=patience)
        self._outbox: Outbox[_Addition] = Outbox(self._transmit)
        self._reading = Server(named, READ_SECONDS, patience)
        self._rests = Rests(self._reading)
        self._heads = [self._server.key(name) for name in names_by_version()]
        self._keys = [self._heads[0], f"{self._heads[0]}:names", f"{self._heads[0]}:used"]
        self._identity = f"scrapy-mss sites {FORMAT} {FIRST_KEYS}"
        self._recall = Recall(str(self._server))

    def load(self, site: str) -> SiteMemory:
        """What is known of *site*; an empty memory if nothing."""
        stored = self._rests.ask(lambda client: client.mget(self._of(site)))
        return self._recall.memory(site, stored)

    def add(
        self, learned: Mapping[str, SiteMemory], minute: int, anew: Collection[str] = ()
    ) -> None:
        """Add what was *learned* of each site; of those in *anew*, forget what was there.

        Where this raises, nothing was added. Where the server does not answer, it is kept, and sent
        before the next addition or when the store is closed.
        """
        self._outbox.send(_Addition(learned, minute, frozenset(anew)))

    def close(self) -> None:
        """Send what is not answered yet; where this raises, it is lost."""
        try:
            self._outbox.settle()
        finally:
            self._rests.close()
            self._server.close()
            self._reading.close()

    def _transmit(self, name: bytes, addition: _Addition) -> Any:  # noqa: ANN401 - of the script
        for _ in range(ATTEMPTS):
            rows: list[Argument] = []
            for site, memory in sorted(addition.learned.items()):
                stored = self._stored(site)
                digest = b"" if stored[0] is None else sha1(stored[0]).hexdigest().encode()  # noqa: S324 - the server's
                before = (
                    SiteMemory() if site in addition.anew else self._recall.memory(site, stored)
                )
                rows += [_encoded(site), digest, to_bytes(before.plus(memory))]
            arguments: list[Argument] = [self._identity, name, addition.minute, *rows]
            if self._server.run(_ADD, self._keys, arguments):
                return True
        raise ServerError(f"{self._server}: other crawls changed the same sites {ATTEMPTS} times")

    def _stored(self, site: str) -> list[bytes | None]:
        stored: list[bytes | None] = self._server.ask(lambda client: client.mget(self._of(site)))
        return stored

    def _of(self, site: str) -> list[bytes]:
        """The keys of *site*, by version."""
        return [head.encode() + b":of:" + _encoded(site) for head in self._heads]


def _encoded(site: str) -> bytes:
    return site.encode("utf-8", "surrogatepass")
