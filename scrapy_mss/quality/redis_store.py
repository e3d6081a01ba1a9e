"""The counts of each site and day on a Redis server shared by crawls on several machines.

    PREFIX:quality             what it is
    PREFIX:quality:names       the names of the additions of a week
    PREFIX:quality:sites       sites by the last day that was counted
    PREFIX:quality:of:SITE     the days of a site
    PREFIX:quality:of:SITE:DAY its counts on a day, which expire a year later

A checkpoint is one script, under a name that makes it count once (`redis_server.Outbox`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from scrapy_mss.quality.counts import FAILED, MAX_NAMES, PLACE, Counts, bounded
from scrapy_mss.quality.store import FORMAT, KEPT_DAYS, MAX_SITES, Days, Key
from scrapy_mss.storage.redis_server import Outbox, Patience, Server, insist

IDENTITY: Final = f"scrapy-mss counts by day {FORMAT}"
AT_ONCE: Final = 100  # sites that are asked for in one message
SECONDS_A_DAY: Final = 24 * 3600

# KEYS: head, names, sites. ARGV: identity, name; then for each site and day these two, the number
# of counts, and each count's name and number. Of the places of a day only the frequent are kept, of
# its failures the latest.
_ADD: Final = f"""
if not is_new then return 0 end
local at = 3
while at <= #ARGV do
    local site, day, fields = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local days = KEYS[1] .. ':of:' .. site
    local counts = days .. ':' .. day
    for field = at + 3, at + 1 + 2 * fields, 2 do
        redis.call('HINCRBY', counts, ARGV[field], ARGV[field + 1])
    end
    at = at + 3 + 2 * fields
    local places, failures, all = {{}}, {{}}, redis.call('HGETALL', counts)
    for pair = 1, #all, 2 do
        if string.sub(all[pair], 1, {len(PLACE)}) == '{PLACE}' then
            places[#places + 1] = {{all[pair], tonumber(all[pair + 1])}}
        elseif string.sub(all[pair], 1, {len(FAILED)}) == '{FAILED}' then
            failures[#failures + 1] = all[pair]
        end
    end
    table.sort(places, function(one, other)
        return one[2] > other[2] or (one[2] == other[2] and one[1] < other[1])
    end)
    for place = {MAX_NAMES + 1}, #places do redis.call('HDEL', counts, places[place][1]) end
    table.sort(failures, function(one, other) return one > other end)
    for at = {MAX_NAMES + 1}, #failures do redis.call('HDEL', counts, failures[at]) end
    redis.call('EXPIREAT', counts, (day + {KEPT_DAYS}) * {SECONDS_A_DAY})
    redis.call('ZADD', days, day, day)
    redis.call('ZADD', KEYS[3], 'GT', day, site)
end
return 1
"""

# KEYS: head, names, sites. ARGV: identity, nothing, the first day that is kept.
_FORGET: Final = f"""
for _, site in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    local days = KEYS[1] .. ':of:' .. site
    for _, day in ipairs(redis.call('ZRANGEBYSCORE', days, '-inf', '(' .. ARGV[3])) do
        redis.call('DEL', days .. ':' .. day)
    end
    redis.call('ZREMRANGEBYSCORE', days, '-inf', '(' .. ARGV[3])
end
local gone = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. ARGV[3])
local ranked = redis.call('ZRANGE', KEYS[3], 0, -1)
for rank = 1, #ranked - {MAX_SITES} do gone[#gone + 1] = ranked[rank] end
for _, site in ipairs(gone) do
    local days = KEYS[1] .. ':of:' .. site
    for _, day in ipairs(redis.call('ZRANGE', days, 0, -1)) do
        redis.call('DEL', days .. ':' .. day)
    end
    redis.call('DEL', days)
    redis.call('ZREM', KEYS[3], site)
end
return #gone
"""


class RedisQualityStore:
    """The counts of sites by day on a server."""

    def __init__(self, named: str, patience: Patience | None = None) -> None:
        """Keep them at the address *named*."""
        self._server = Server(named, patience=patience)
        self._outbox = Outbox(self._transmit)
        parts = (("quality",), ("quality", "names"), ("quality", "sites"))
        self._keys = [self._server.key(*each) for each in parts]

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self._server)

    def check(self) -> None:
        """Stop here if the server cannot be used."""
        insist(lambda: self._run("return 0", b""))

    def add(self, counted: Mapping[Key, Counts]) -> None:
        """Add what was counted; where this raises, nothing was added.

        Where the server does not answer, it is kept, and sent before the next addition or when the
        store is closed.
        """
        rows = [(*key, list(bounded(counts).items())) for key, counts in sorted(counted.items())]
        self._outbox.send(json.dumps(rows).encode())

    def days(self, sites: Iterable[str], since: int) -> Iterator[tuple[str, Days]]:
        """What was counted of each of the *sites* on each day *since* that one."""
        asked = list(sites)
        for at in range(0, len(asked), AT_ONCE):
            yield from self._days_of(asked[at : at + AT_ONCE], since)

    def sites(self, since: int) -> dict[str, Days]:
        """What was counted of all sites on each day *since* that one."""
        key = self._keys[2]
        named = insist(lambda: self._server.ask(lambda to: to.zrangebyscore(key, since, "+inf")))
        sites = sorted(site.decode("utf-8", "surrogatepass") for site in named)
        return dict(self.days(sites, since))

    def forget_before(self, day: int) -> None:
        """Forget earlier days, and of too many sites those that were crawled longest ago."""
        insist(lambda: self._run(_FORGET, b"", day))

    def close(self) -> None:
        """Send what is not answered yet; where this raises, it is lost."""
        try:
            self._outbox.settle()
        finally:
            self._server.close()

    def _transmit(self, name: bytes, data: bytes) -> Any:  # noqa: ANN401 - of the script
        arguments: list[str | bytes | int] = []
        for site, day, counts in json.loads(data):
            arguments += [_encoded(site), day, len(counts)]
            for counted, number in counts:
                arguments += [_encoded(counted), number]
        return self._run(_ADD, name, *arguments)

    def _run(self, script: str, *arguments: str | bytes | int) -> Any:  # noqa: ANN401 - of the script
        return self._server.run(script, self._keys, (IDENTITY, *arguments))

    def _days_of(self, sites: list[str], since: int) -> Iterator[tuple[str, Days]]:
        """The same of a few *sites*, with two messages."""
        keys = [self._keys[0].encode() + b":of:" + _encoded(site) for site in sites]
        days = self._all("zrangebyscore", [(key, since, "+inf") for key in keys])
        of_days = [
            (key + b":" + day,) for key, found in zip(keys, days, strict=True) for day in found
        ]
        counts = iter(self._all("hgetall", of_days))
        for site, found in zip(sites, days, strict=True):
            yield site, {int(day): _counts(next(counts)) for day in found}

    def _all(self, command: str, questions: list[tuple[Any, ...]]) -> list[Any]:
        """The answers to several questions in one message."""

        def ask(client: Any) -> Any:  # noqa: ANN401 - of redis-py
            pipeline = client.pipeline(transaction=False)
            for question in questions:
                getattr(pipeline, command)(*question)
            return pipeline.execute()

        answers: list[Any] = insist(lambda: self._server.ask(ask))
        return answers


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _counts(found: Mapping[bytes, bytes]) -> Counts:
    named = {name.decode("utf-8", "surrogatepass"): int(n) for name, n in found.items()}
    return Counter(named)
