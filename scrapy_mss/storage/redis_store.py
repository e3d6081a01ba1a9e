"""A store on a Redis server, which crawls on several machines can share; Valkey works, too.

    PREFIX            what it is
    PREFIX:names      the names of the writes of a week
    PREFIX:TABLE:KEY  a row, which expires
    PREFIX:TABLE      the keys of a table that can be listed, by the minute of their last use

A write is one script: it writes all rows if those that were read are unchanged, and nothing
otherwise; then they are read again, with what another crawl has written (optimistic locking).

If the connection is lost, nobody knows whether the script has run. Each write therefore has a name
that the server remembers, and is sent again under it, at most once more than it was answered, by
redis-py or with the next write. Nothing else is written before that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha1
from operator import methodcaller
from secrets import token_bytes
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from scrapy_mss.storage.tables import (
    DAY,
    FORMAT,
    TABLES,
    Change,
    Key,
    Row,
    StoreError,
    Table,
    writes_of,
)

logger = logging.getLogger(__name__)

DEFAULT_PREFIX: Final = "scrapy-mss"
IDENTITY: Final = f"scrapy-mss store {FORMAT}"
NAME_BYTES: Final = 16  # of a write
NAMES_KEPT: Final = 7 * 24 * 3600  # seconds; no crawl resumes a write after longer
ATTEMPTS: Final = 100  # of a write: each fails because another crawl has succeeded
AT_ONCE: Final = 1000  # rows that are read in one message, which takes a few milliseconds
SECONDS: Final = 10.0  # for an answer to the thread that writes
RETRIES: Final = 3  # a restart of the server closes all connections, and loads what it has stored
END_SECONDS: Final = 5.0  # for an answer at the end of a crawl
# The event loop waits for what it reads; after a server that does not answer, it reads nothing for
# a while, so that it does not wait a twentieth of its time.
READ_SECONDS: Final = 0.25
REST_SECONDS: Final = 5.0

# KEYS: what it is, the names. ARGV: what it should be, a name; how many rows were read, of each its
# key and the digest of what was found or nothing; of each row that is written its key, the key of
# its table's list or nothing, its key there, when it expires, whether it stays, and its value.
_WRITE: Final = f"""
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'none' and kind ~= 'string' then return {{'foreign', 'a ' .. kind}} end
local identity = redis.call('GET', KEYS[1])
if identity and identity ~= ARGV[1] then return {{'foreign', identity}} end
if ARGV[2] == '' or redis.call('ZSCORE', KEYS[2], ARGV[2]) then return 1 end
local first = 4 + 2 * tonumber(ARGV[3])
for at = 4, first - 1, 2 do
    local value = redis.call('GET', ARGV[at])
    if (value and redis.sha1hex(value) or '') ~= ARGV[at + 1] then return 0 end
end
local now = tonumber(redis.call('TIME')[1])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - {NAMES_KEPT})
for at = first, #ARGV, 6 do
    local row, list, key, used = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
    local days, value = tonumber(ARGV[at + 4]), ARGV[at + 5]
    if days < 0 then
        redis.call('DEL', row)
        if list ~= '' then redis.call('ZREM', list, key) end
    else
        redis.call('SET', row, value)
        redis.call('EXPIREAT', row, (used + days * {DAY}) * 60)
        if list ~= '' then redis.call('ZADD', list, 'GT', used, key) end
    end
end
return 1
"""


class ServerAddress(NamedTuple):
    """Where a server is, and what the names of our keys begin with.

    The format is that of redis-py plus the prefix: `redis://host:6379/0?prefix=news`.
    """

    url: str  # without the prefix, for redis-py
    prefix: str
    shown: str  # without passwords, for messages and logs

    @classmethod
    def of(cls, named: str) -> ServerAddress:
        given, _, rest = named.partition("://")
        scheme, where = given.lower(), _without_password(rest)
        try:
            parts = urlsplit(named)
            options = parse_qsl(parts.query, keep_blank_values=True)
        except ValueError:
            raise _wrong_address(f"{scheme}://{where}") from None
        prefix = dict(options).get("prefix") or DEFAULT_PREFIX
        others = urlencode([(key, value) for key, value in options if key != "prefix"])
        redis_scheme = scheme.replace("valkey", "redis")
        url = urlunsplit(parts._replace(scheme=redis_scheme, query=others))
        return cls(url, prefix, f"{scheme}://{where}?prefix={prefix}")


def _without_password(rest: str) -> str:
    """The part of an address that can be shown, even if a password in it is not escaped."""
    before, _, options = rest.partition("?")
    if "@" in options:  # of a password that is before the host, or of one among the options
        return "…"
    return before.rpartition("@")[2]


def _wrong_address(shown: str) -> StoreError:
    """An error that does not repeat what was given: a password may be in it."""
    return StoreError(
        f"{shown}: expected an address such as redis://user:password@host:6379/0?prefix=news. "
        "Escape what is special in a password, as in %40 for @"
    )


class _Sent(NamedTuple):
    """A write that may have been made, and the arguments of the script that makes it once."""

    changes: Sequence[Change]
    arguments: list[Any]


class _UnansweredError(StoreError):
    """The server may or may not have done what was requested."""


class RedisStore:
    """A store on the server *named*."""

    def __init__(self, named: str) -> None:
        self._address = ServerAddress.of(named)
        self._writing = _client(self._address, SECONDS, RETRIES)
        self._reading = _client(self._address, READ_SECONDS, 0)
        self._rest_until = {True: 0.0, False: 0.0}  # by `patient`
        self._is_ending = False
        self._unanswered: _Sent | None = None
        self._lock = Lock()  # of a write: the next one waits for it

    @property
    def name(self) -> str:
        return self._address.shown

    def check(self) -> None:
        self._run([IDENTITY, b""])

    def get(self, keys: Iterable[Key], *, patient: bool = True) -> dict[Key, bytes]:
        asked, found = list(keys), dict[Key, bytes | None]()
        for at in range(0, len(asked), AT_ONCE):
            some = asked[at : at + AT_ONCE]
            names = [self._row(key) for key in some]
            answers = self._ask(methodcaller("mget", names), patient=patient)
            found.update(zip(some, answers, strict=True))
        return {key: value for key, value in found.items() if value is not None}

    def used_since(self, table: Table, minute: int) -> dict[bytes, int]:
        name = self._list(table)
        latest_first = {"desc": True, "byscore": True, "withscores": True}
        found = self._ask(methodcaller("zrange", name, "+inf", minute, **latest_first))
        return {key: int(used) for key, used in found}

    def write(self, changes: Sequence[Change]) -> None:
        """Make all *changes*; if this raises, none, now or later.

        Where the server does not answer once they were sent, they are kept, and sent with the next
        write or when the store is closed.
        """
        with self._lock:
            self._settle()
            self._unanswered = self._sent(changes)
            try:
                self._settle()
            except _UnansweredError as error:
                logger.warning(
                    "scrapy-mss: %s The crawl continues; its additions are kept and sent later",
                    error,
                )
            except StoreError:
                self._unanswered = None
                raise

    def forget(self, now: int) -> None:
        """Delete what is too much, or was not used for too long by the minute *now*.

        Other rows expire.
        """
        for table in TABLES:
            if table.most is None:
                continue
            name, most, before = self._list(table), table.most, now - table.days * DAY
            self._ask(methodcaller("zremrangebyscore", name, "-inf", before))
            n_excess = self._ask(methodcaller("zcard", name)) - most
            if n_excess > 0:
                gone = self._ask(methodcaller("zpopmin", name, n_excess))
                rows = [self._row((table, key)) for key, _ in gone]
                self._ask(methodcaller("delete", *rows))

    def end(self) -> None:
        self._writing, self._is_ending = _client(self._address, END_SECONDS, RETRIES), True

    def close(self) -> None:
        """Send the unanswered write again, if there is one; if this raises, it may be lost."""
        try:
            with self._lock:
                self._settle()
        finally:
            self._writing.close()
            self._reading.close()

    def _settle(self) -> None:
        """Send the unanswered write until it is answered; if this raises, it stays unanswered."""
        for _ in range(ATTEMPTS):
            if self._unanswered is None:
                return
            if self._run(self._unanswered.arguments) == 1:
                self._unanswered = None
            else:
                self._unanswered = self._sent(self._unanswered.changes)
        raise StoreError(f"{self.name}: other crawls changed the same rows {ATTEMPTS} times")

    def _sent(self, changes: Sequence[Change]) -> _Sent:
        """The write that makes all *changes* to the rows as they are now."""
        reads = sorted({key for change in changes for key in change.reads})
        found = self.get(reads)
        writes = writes_of(changes, found)
        rows = [value for key in reads for value in (self._row(key), _digest(found.get(key)))]
        rows += [value for key, row in writes.items() for value in self._written(key, row)]
        return _Sent(changes, [IDENTITY, token_bytes(NAME_BYTES), len(reads), *rows])

    def _run(self, arguments: Sequence[Any]) -> Any:  # noqa: ANN401 - of the script
        keys = [self._address.prefix, f"{self._address.prefix}:names"]
        answer = self._ask(lambda client: client.eval(_WRITE, len(keys), *keys, *arguments))
        if isinstance(answer, list):
            raise StoreError(
                f"{self.name}: expected {IDENTITY!r} at the key {keys[0]!r}, got "
                f"{answer[1][:100].decode('utf-8', 'replace')!a}. Name another prefix"
            )
        return answer

    def _ask(self, question: Callable[[Any], Any], *, patient: bool = True) -> Any:  # noqa: ANN401 - of redis-py
        """What the client answers to *question*; its errors become a `StoreError` with advice."""
        from redis import exceptions

        if monotonic() < self._rest_until[patient] and (self._is_ending or not patient):
            raise _UnansweredError(f"{self.name}: the server did not answer just now")
        try:
            answer = question(self._writing if patient else self._reading)
        except (exceptions.AuthenticationError, exceptions.AuthorizationError) as error:
            raise _UnansweredError(
                f"{self.name}: the server rejects the user or password: {_sentence(error)}. Give "
                "those that it knows, as in redis://user:password@host/0"
            ) from None
        except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
            rest = monotonic() + REST_SECONDS
            self._rest_until |= {False: rest, **({True: rest} if patient else {})}
            raise _UnansweredError(
                f"{self.name}: no answer from the server: {_sentence(error)}. Is it running, and "
                "reachable?"
            ) from None
        except exceptions.RedisError as error:
            is_busy = str(error).startswith("BUSY")  # with a script, which may be this write
            kind = _UnansweredError if is_busy else StoreError
            raise kind(f"{self.name}: {_advised(type(error).__name__, str(error))}") from None
        self._rest_until = {True: 0.0, False: 0.0}
        return answer

    def _row(self, key: Key) -> bytes:
        table, of_row = key
        return f"{self._address.prefix}:{table.name}:".encode() + of_row

    def _list(self, table: Table) -> str:
        return f"{self._address.prefix}:{table.name}"

    def _written(self, key: Key, row: Row | None) -> list[Any]:
        table, of_row = key
        listed = b"" if table.most is None else self._list(table).encode()
        where = [self._row(key), listed, of_row]
        return [*where, 0, -1, b""] if row is None else [*where, row.used, table.days, row.value]


def _digest(value: bytes | None) -> str:
    return "" if value is None else sha1(value).hexdigest()  # noqa: S324 - what Redis computes


def _client(address: ServerAddress, seconds: float, retries: int) -> Any:  # noqa: ANN401 - redis-py may be missing
    try:
        from redis import Redis
        from redis.backoff import ExponentialBackoff
        from redis.exceptions import ConnectionError  # noqa: A004 - lost, and not silent
        from redis.retry import Retry
    except ImportError:
        raise StoreError(
            f"{address.shown}: a server needs redis-py; run: pip install 'scrapy-mss[redis]'"
        ) from None
    try:
        client = Redis.from_url(
            address.url,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(ExponentialBackoff(cap=1.0, base=0.2), retries, (ConnectionError,)),
        )
        client.connection_pool.make_connection()  # where an option of the address is unknown
    except (ValueError, TypeError):
        raise _wrong_address(address.shown) from None
    return client


def _sentence(error: Exception) -> str:
    return str(error).rstrip(".")


def _advised(kind: str, message: str) -> str:
    """What the server says, and what to do where that is known by the *kind* of error."""
    for known, advice in _ADVICE.items():
        if kind == known or message.startswith(known):
            return f"the server says: {message.rstrip('.')}. {advice}"
    return f"the server says: {message}"


_OF_A_CLUSTER: Final = "It is one of a cluster, which cannot be used: name a server of its own"
_ADVICE: Final = {  # by what redis-py calls the error, or by what it begins with
    "ClusterDownError": _OF_A_CLUSTER,
    "ClusterCrossSlotError": _OF_A_CLUSTER,
    "MovedError": _OF_A_CLUSTER,
    "unknown command": "Is it Sentinel? Name the primary that it watches",
    "WRONGTYPE": "Other data is at this key: name another prefix",
    "NoPermissionError": "Let the user run scripts and change keys with this prefix",
    "OutOfMemoryError": "Give the server more memory (maxmemory)",
    "MISCONF": "The server cannot write to its disk",
    "ReadOnlyError": "Name the primary, not a replica",
    "DB index": "Name a database that the server has, as in redis://host/0",
}
