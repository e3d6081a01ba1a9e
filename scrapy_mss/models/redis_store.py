"""A model on a Redis server: the sum of all deltas, as a base and the later deltas.

    PREFIX:model        what it is, the generation, that of the base, what was trimmed
    PREFIX:model:base   the sum of the deltas up to a generation, in the form of a model file
    PREFIX:model:log    the deltas after it, and some before, each its name and a model
    PREFIX:model:names  the names of the deltas of a week

Counts are additive, so a checkpoint appends what it has learned, under a name that makes it count
once (`redis_server.Outbox`), and reads the deltas that others have appended since it last looked.
The generation is the number of deltas so far. Each crawl keeps their sum in memory, which costs a
second set of tables. Deltas are stored as they are and not added on the server, which would block
all crawls meanwhile. When the log is as long as the base, the crawl that notices this stores its
sum as the new base. The part of the log before the old base is then dropped; crawls
that have looked since then still need not read everything.

Crawls with different versions of this library share the deltas: each counts the families that it
computes in the same way, and carries the others into a new base (`Model.other_families`).
"""

from __future__ import annotations

import logging
from typing import Any, Final, NamedTuple

from scrapy_mss.models.format import (
    FIRST_VERSIONS,
    FORMAT,
    FullModelError,
    ModelError,
    from_bytes,
    to_bytes,
)
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import Profile
from scrapy_mss.models.store import Addition, warn_of_restarts
from scrapy_mss.storage.redis_server import NAME_BYTES, Outbox, Patience, Server, insist

logger = logging.getLogger(__name__)

SMALLEST_LOG: Final = 2**20  # bytes that are not worth a new base

MOST_DELTAS: Final = 64  # since the base: each takes a new crawl some 20 ms to add

# KEYS: head, names, log, base. ARGV: identity, name or nothing, delta, the generation and the name
# of the last delta that the reader has. Answers with the generation, that of the base, the bytes
# since the base and those of it, whether the delta is new, and the deltas that the reader lacks
# without its own new one; nothing for these if that is not known.
_SINCE: Final = f"""
if is_new then
    redis.call('RPUSH', KEYS[3], ARGV[2] .. ARGV[3])
    redis.call('HINCRBY', KEYS[1], 'generation', 1)
    redis.call('HINCRBY', KEYS[1], 'since_base', #ARGV[3])
end
local function number(field) return tonumber(redis.call('HGET', KEYS[1], field) or 0) end
local at = tonumber(ARGV[4]) - number('trimmed')
local last, missing = false, false
if at == 0 then last = redis.call('HGET', KEYS[1], 'trimmed_name') or '' end
if at > 0 then
    local entry = redis.call('LINDEX', KEYS[3], at - 1)
    last = entry and string.sub(entry, 1, {NAME_BYTES})
end
if last == ARGV[5] then missing = redis.call('LRANGE', KEYS[3], at, is_new and -2 or -1) end
return {{number('generation'), number('base'), number('since_base'),
    redis.call('STRLEN', KEYS[4]), is_new and 1 or 0, missing}}
"""

# The same keys. Answers with the base, its generation and name, and the deltas after it.
_ALL: Final = """
local head = redis.call('HMGET', KEYS[1], 'base', 'base_name', 'trimmed')
local base = tonumber(head[1] or 0)
local after = redis.call('LRANGE', KEYS[3], base - tonumber(head[3] or 0), -1)
return {redis.call('GET', KEYS[4]), base, head[2] or '', after}
"""

# The same keys. ARGV: identity, nothing, the new base, the generation and the name of its last
# delta. Keeps the deltas after the old base.
_REBASE: Final = f"""
local head = redis.call('HMGET', KEYS[1], 'base', 'base_name', 'trimmed')
local base, trimmed, generation = tonumber(head[1] or 0), tonumber(head[3] or 0), tonumber(ARGV[4])
local entry = redis.call('LINDEX', KEYS[3], generation - trimmed - 1)
if generation <= base or not entry or string.sub(entry, 1, {NAME_BYTES}) ~= ARGV[5] then
    return 0
end
redis.call('SET', KEYS[4], ARGV[3])
redis.call('LTRIM', KEYS[3], base - trimmed, -1)
local since_base = 0
for _, later in ipairs(redis.call('LRANGE', KEYS[3], generation - base, -1)) do
    since_base = since_base + #later - {NAME_BYTES}
end
redis.call('HSET', KEYS[1], 'base', generation, 'base_name', ARGV[5], 'since_base', since_base,
    'trimmed', base, 'trimmed_name', head[2] or '')
return 1
"""


class _Known(NamedTuple):
    """The sum of the deltas up to one of them, which the server has under this name."""

    model: Model
    generation: int = 0
    name: bytes = b""


class _Answer(NamedTuple):
    """Of `_SINCE`, and the name that it was asked with."""

    name: bytes
    generation: int
    base: int
    since_base: int
    base_size: int
    is_new: int
    missing: list[bytes] | None


class RedisModelStore:
    """A model on a server, that crawls add to. One thread at a time may use it."""

    def __init__(self, named: str, profile: Profile, patience: Patience | None = None) -> None:
        """Keep a model for *profile* at the address *named*."""
        self.profile = profile
        self._server = Server(named, patience=patience)
        self._outbox = Outbox(self._transmit)
        parts = (("model",), ("model", "names"), ("model", "log"), ("model", "base"))
        self._keys = [self._server.key(*each) for each in parts]
        first = " ".join(FIRST_VERSIONS[profile.name])  # each delta has the versions of its counts
        self._identity = f"scrapy-mss model {FORMAT} {first}"
        self._known = _Known(Model(profile))
        self._believed: Model | None = None  # what it comes to, where the server has not said so

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self._server)

    @property
    def is_settled(self) -> bool:
        """Whether all that was added is known to be on the server."""
        return self._outbox.is_empty

    def load(self) -> Model:
        """The model on the server; an empty one where there is none."""
        self._read_all()
        warn_of_restarts(self.name, self._known.model)
        return _copied(self._known.model)

    def add(self, learned: Model) -> Addition:
        """Add what was *learned*; where this raises, nothing was added.

        Where the server does not answer, it is kept, and sent before the next addition or when the
        store is closed.
        """
        expected = _copied(self._believed or self._known.model)
        try:
            n_twice = expected.merge(learned)
        except OverflowError as error:
            raise FullModelError(f"{self.name}: {error}") from error
        answer = self._outbox.send(to_bytes(learned))
        if answer is not None:
            try:
                n_twice = self._take(answer, learned)
                self._believed = None
                return Addition(_copied(self._known.model), n_twice)
            except Exception as error:  # noqa: BLE001 - what was learned is there: this must not fail
                logger.warning("scrapy-mss: cannot read what other crawls have learned: %s", error)
                self._known = _Known(Model(self.profile))
        self._believed = _copied(expected)
        return Addition(expected, n_twice)

    def settle(self) -> None:
        """Send what is not answered yet; where this raises, it is kept."""
        self._outbox.settle()

    def close(self) -> None:
        """Send what is not answered yet; where this raises, it is lost."""
        try:
            self.settle()
        finally:
            self._server.close()

    def _transmit(self, name: bytes, data: bytes) -> _Answer:
        known = self._known
        return _Answer(name, *self._run(_SINCE, name, data, known.generation, known.name))

    def _run(self, script: str, *arguments: bytes | int) -> Any:  # noqa: ANN401 - of the script
        return self._server.run(script, self._keys, (self._identity, *arguments))

    def _take(self, answer: _Answer, learned: Model) -> int:
        """Add what others have, and what was *learned*; how many of its pages were there."""
        n_twice = 0
        if answer.missing is None:
            if answer.generation <= self._known.generation:
                logger.warning(
                    "scrapy-mss: %s has lost what it had stored; was it restarted without a file "
                    "(appendonly)? The crawl continues from what is there",
                    self.name,
                )
            self._read_all()
        else:
            self._known = self._followed(self._known, answer.missing)
            if answer.is_new:
                n_twice = self._known.model.merge(learned)
                self._known = self._known._replace(generation=answer.generation, name=answer.name)
        is_long = answer.since_base > max(SMALLEST_LOG, answer.base_size)
        if is_long or answer.generation - answer.base > MOST_DELTAS:
            data = to_bytes(self._known.model)
            self._run(_REBASE, b"", data, self._known.generation, self._known.name)
        return n_twice

    def _read_all(self) -> None:
        base, generation, name, after = insist(lambda: self._run(_ALL, b""))
        model = Model(self.profile) if base is None else self._model_in(base)
        self._known = self._followed(_Known(model, generation, name), after)

    def _followed(self, known: _Known, deltas: list[bytes]) -> _Known:
        """What is *known*, with the *deltas* that come after it."""
        model, generation, name = known
        for delta in deltas:
            name, data = delta[:NAME_BYTES], delta[NAME_BYTES:]
            try:
                model.merge(self._model_in(data))
            except OverflowError as error:
                raise FullModelError(f"{self.name}: {error}") from error
            generation += 1
        return _Known(model, generation, name)

    def _model_in(self, data: bytes) -> Model:
        try:
            return from_bytes(data)
        except ModelError as error:
            raise type(error)(f"{self.name}: {error}") from None


def _copied(model: Model) -> Model:
    """A model that does not change with *model*."""
    copy = Model(model.profile)
    copy.merge(model)
    return copy
