"""What crawls have seen, on a Redis server shared by crawls on several machines.

    PREFIX:seen              what it is
    PREFIX:seen:at:KEY       an article: six numbers
    PREFIX:seen:of:KEY       the paragraphs of its page, while it may be read again
    PREFIX:seen:list:URL     a list, such as a feed

Updates are idempotent, so they need no key of their own. Entries that no crawl has met for a long
time expire. The event loop looks up all articles that a list names at once and waits for the
response, a network round trip. If a server does not respond, it is not asked again for a while.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from scrapy_mss.seen.files import FORMAT
from scrapy_mss.seen.store import DAY, PARAGRAPHS_DAYS, Seen, SeenList
from scrapy_mss.storage.redis_server import (
    READ_SECONDS,
    ForeignDataError,
    Patience,
    Rests,
    Server,
    insist,
)

logger = logging.getLogger(__name__)

IDENTITY: Final = f"scrapy-mss seen {FORMAT}"
LISTS_DAYS: Final = 400  # for which a list is known that no crawl has read; as MSS_SEEN_DAYS
MINUTE: Final = 60
AT_ONCE: Final = 1000  # articles that are asked for in one message, which takes a few milliseconds

_WRITE: Final = """
if not identity then redis.call('HSET', KEYS[1], 'identity', ARGV[1]) end
local function put(key, value, ends)
    redis.call('SET', key, value)
    if ends > 0 then redis.call('EXPIREAT', key, ends) end
end
"""

# KEYS: head, names. ARGV: identity, nothing, the minutes that an article is kept or 0; then for
# each its key, the six numbers of `Seen`, and its paragraphs or nothing. Numbers of 64 bits stay
# text: Lua's have 53.
_ADD: Final = f"""{_WRITE}
local kept = tonumber(ARGV[3])
for at = 4, #ARGV, 8 do
    local key = KEYS[1] .. ':at:' .. ARGV[at]
    local text, title = ARGV[at + 1], ARGV[at + 2]
    local revision, listed = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
    local checked, met = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
    local before, is_later = redis.call('GET', key), true
    local found = {{}}
    for number in string.gmatch(before or '', '%S+') do found[#found + 1] = tonumber(number) end
    if #found == 6 then  -- what is damaged is written anew
        is_later = checked >= found[5]
        revision, listed = math.max(revision, found[3]), math.max(listed, found[4])
        met = math.max(met, found[6])
    end
    if is_later then
        local times = string.format('%d %d %d %d', revision, listed, checked, met)
        put(key, text .. ' ' .. title .. ' ' .. times, kept > 0 and (met + kept) * 60 or 0)
        if #ARGV[at + 7] > 0 then
            local ends = (checked + {PARAGRAPHS_DAYS * DAY}) * 60
            put(KEYS[1] .. ':of:' .. ARGV[at], ARGV[at + 7], ends)
        end
    end
end
return 0
"""

# The same keys. ARGV: identity, nothing, when lists end; then for each its address and its state.
_ADD_LISTS: Final = f"""{_WRITE}
for at = 4, #ARGV, 2 do
    put(KEYS[1] .. ':list:' .. ARGV[at], ARGV[at + 1], tonumber(ARGV[3]))
end
return 0
"""


class RedisSeenStore:
    """The articles and lists that crawls have seen, on a server."""

    def __init__(self, named: str, kept: int, patience: Patience | None = None) -> None:
        """Keep them at the address *named*; articles for so many minutes, or for ever if 0."""
        self._named = named
        self._kept = kept
        self._patience = patience
        self._server = Server(named, patience=patience)
        self._reading = Server(named, READ_SECONDS, patience)
        self._rests = Rests(self._reading)
        self._keys = [self._server.key("seen"), self._server.key("seen", "names")]

    def another(self) -> RedisSeenStore:
        """The same store for another thread."""
        return RedisSeenStore(self._named, self._kept, self._patience)

    def check(self) -> None:
        """Stop here if the server cannot be used."""
        self._run("return 0")

    def article(self, key: int) -> Seen | None:
        """The article with the *key* of its address."""
        return self.articles([key]).get(key)

    def articles(self, keys: Iterable[int]) -> dict[int, Seen]:
        """The articles with the *keys* of their addresses, of those that were seen.

        One that is damaged was not: it is written anew once it is read.
        """
        asked, articles = list(keys), dict[int, Seen]()
        names = [f"{self._keys[0]}:at:{key}" for key in asked]
        for at in range(0, len(asked), AT_ONCE):
            some = names[at : at + AT_ONCE]
            answers = self._rests.ask(partial(_values, names=some))
            for key, name, found in zip(asked[at:], some, answers, strict=False):
                try:
                    if found is not None:
                        text, title, revision, listed, checked, met = map(int, found.split())
                        articles[key] = Seen(text, title, revision, listed, checked, met)
                except (TypeError, ValueError):
                    logger.warning("scrapy-mss: %s", self._damaged(name, "six numbers", found))
        return articles

    def paragraphs(self, key: int) -> bytes:
        """The paragraphs of the article with the *key* of its address; empty if there are none."""
        return bytes(self._get(f"{self._keys[0]}:of:{key}".encode()) or b"")

    def list(self, url: str) -> SeenList | None:
        """The list at *url*."""
        name = f"{self._keys[0]}:list:{url}"
        found = self._get(name.encode("utf-8", "surrogatepass"))
        if found is None:
            return None
        try:
            etag, modified, lists = json.loads(found)
            return SeenList(etag, modified, tuple((kind, each) for kind, each in lists))
        except (TypeError, ValueError, RecursionError):
            raise self._damaged(name, "the state of a list", found) from None

    def add(self, articles: Mapping[int, Seen]) -> None:
        """Add *articles* by key, all or, where this raises, perhaps none."""
        rows = (number for key, seen in sorted(articles.items()) for number in (key, *seen))
        self._run(_ADD, self._kept, *rows)

    def add_lists(self, lists: Mapping[str, SeenList], minute: int) -> None:
        """Add *lists* by address."""
        arguments: list[bytes | int] = [(minute + LISTS_DAYS * 24 * MINUTE) * MINUTE]
        for url, seen in sorted(lists.items()):
            arguments += [url.encode("utf-8", "surrogatepass"), json.dumps(seen).encode()]
        self._run(_ADD_LISTS, *arguments)

    def forget(self, _now: int, _before: int) -> int:
        """What no crawl has met for long has ended by itself."""
        return 0

    def close(self) -> None:
        """Close the connections."""
        self._rests.close()
        self._server.close()
        self._reading.close()

    def _get(self, key: bytes) -> Any:  # noqa: ANN401 - bytes, or None
        return self._rests.ask(lambda client: client.get(key))

    def _run(self, script: str, *arguments: bytes | int) -> Any:  # noqa: ANN401 - of the script
        asked = (IDENTITY, b"", *arguments)
        return insist(lambda: self._server.run(script, self._keys, asked))

    def _damaged(self, key: str, expected: str, found: object) -> ForeignDataError:
        return ForeignDataError(
            f"{self._server}: expected {expected} at the key {key[:100]!a}, got "
            f"{ascii(found)[:50]}. Delete the key, and what it is of comes again"
        )


def _values(client: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - of redis-py
    return client.mget(names)
