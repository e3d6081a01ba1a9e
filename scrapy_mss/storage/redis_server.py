"""A Redis server that crawls share: its errors, and exactly-once updates.

Any server with the same protocol, such as Valkey, works. All updates are scripts, which are atomic.

If the connection is lost, the client does not know whether the last message has arrived. An update
that must not happen twice therefore has an idempotency key, which the server remembers for a week,
and is resent under this key until it is acknowledged (`Outbox`). Nothing else is sent before that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as done
from contextlib import contextmanager, suppress
from secrets import token_bytes
from threading import Event, Lock, Thread
from time import sleep
from typing import Any, Final, Generic, TypeAlias, TypeVar
from weakref import WeakSet, finalize

from scrapy_mss.storage.server_address import Address, ServerError, wrong_address

logger = logging.getLogger(__name__)

NAME_BYTES: Final = 16  # of a change
NAMES_KEPT: Final = 7 * 24 * 3600  # seconds; who was away for longer has long ended

# A thread waits for checkpoints, the event loop for what is read; it cannot wait long, and where a
# server does not answer, it does not ask again until a thread had an answer, which asks so often.
CHECKPOINT_SECONDS: Final = 10.0
READ_SECONDS: Final = 0.25
REST_SECONDS: Final = 1.0
END_SECONDS: Final = 5.0  # at the end of a crawl, in which an address has answered nothing
CONNECT_SECONDS: Final = 2.0  # one packet that is lost is sent again after one
GREETING_SECONDS: Final = 8.0  # in which an address has to answer its first, small question
CUT_SECONDS: Final = 0.1  # until what was tried nevertheless is cut off, too
PAUSES: Final = (0.0, 0.2, 1.0)  # seconds; without the first try, what a restart has closed

Argument: TypeAlias = str | bytes | int
Answer = TypeVar("Answer")
Data = TypeVar("Data")

# What each script begins with: whether data of another kind is in the way, and whether a change of
# this name was made before. ARGV: what the data is, a name or nothing. KEYS: the head, the names.
PREAMBLE: Final = f"""
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'none' and kind ~= 'hash' then return {{'foreign', 'a ' .. kind}} end
local identity = redis.call('HGET', KEYS[1], 'identity')
if kind == 'hash' and identity ~= ARGV[1] then return {{'foreign', identity or 'a hash'}} end
local is_new = false
if ARGV[2] ~= '' then
    local now = tonumber(redis.call('TIME')[1])
    if not identity then redis.call('HSET', KEYS[1], 'identity', ARGV[1]) end
    is_new = redis.call('ZADD', KEYS[2], 'NX', now, ARGV[2]) == 1
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - {NAMES_KEPT})
end
"""


class LostConnectionError(ServerError):
    """The server did not answer; what was sent may have arrived or not."""


class SilentServerError(LostConnectionError):
    """The server took too long; to ask again would take as long."""


class GivenUpError(LostConnectionError):
    """The crawl is over, and waits no longer."""


class ForeignDataError(ServerError):
    """Something else is at the keys."""


class Waiting:
    """How long a crawl waits for the answers of the servers at one address."""

    def __init__(self) -> None:
        self._servers: WeakSet[Server] = WeakSet()
        self._lock = Lock()
        self._n_open = 0  # questions that are under way
        self._waited = 0.0  # seconds, for the next answer
        self.is_over = False
        self.has_greeted = False

    def watch(self, server: Server) -> None:
        """Have *server* be one of those that are waited for."""
        with self._lock:
            self._servers.add(server)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A question is under way inside; where nothing is raised, it was answered."""
        with self._lock:
            self._n_open += 1
        try:
            yield
            self.begin()
        finally:
            with self._lock:
                self._n_open -= 1

    def begin(self) -> None:
        """Count the time from now on."""
        with self._lock:
            self._waited = 0.0

    def go_on(self, seconds: float, longest: float) -> None:
        """Note that so many *seconds* have passed; after the *longest* time, cut what is open."""
        with self._lock:
            if self._n_open:
                self._waited += seconds
            self.is_over = self.is_over or self._waited > longest
            silent = list(self._servers) if self.is_over else []
        for server in silent:
            with suppress(Exception):  # the other servers are cut off nevertheless
                server.cut()


class Patience:
    """How long a crawl waits for its servers: at its end, at each address while that answers.

    What is under way when the patience is over ends at once, since its connection is cut: a thread
    that waits for an answer would keep the crawl from ending. Only the time in which a question is
    under way counts: a server that nobody asks owes no answer. A connection that is being made
    cannot be cut, and so is given up early (`CONNECT_SECONDS`).
    """

    def __init__(self) -> None:
        self._at: dict[str, Waiting] = {}  # by address
        self._lock = Lock()
        self._ended: Event | None = None  # once the end has begun

    @property
    def ends(self) -> bool:
        """Whether the end of the crawl has begun."""
        return self._ended is not None

    def waiting_for(self, server: Server) -> Waiting:
        """What counts for *server*, together with others at its address."""
        with self._lock:
            waiting = self._at.setdefault(server.address.url, Waiting())
        waiting.watch(server)
        return waiting

    def begin_end(self, seconds: float = END_SECONDS) -> None:
        """From now on, wait so many *seconds* for the next answer from each address."""
        if self._ended is None and self._at:
            for waiting in self._all():
                waiting.begin()
            self._ended = Event()
            arguments = (self._ended, seconds)
            Thread(target=self._cut_silent, args=arguments, daemon=True).start()

    def end(self) -> None:
        """Wait for nothing any more."""
        if self._ended is not None:
            self._ended.set()

    def _cut_silent(self, ended: Event, seconds: float) -> None:
        while not ended.wait(CUT_SECONDS):
            for waiting in self._all():
                waiting.go_on(CUT_SECONDS, seconds)

    def _all(self) -> list[Waiting]:
        with self._lock:
            return list(self._at.values())


class Server:
    """A connection to the server, made when it is first needed; each thread may use it."""

    def __init__(
        self, named: str, seconds: float = CHECKPOINT_SECONDS, patience: Patience | None = None
    ) -> None:
        """Use the server *named*; an answer may take so many *seconds*, and the *patience*."""
        self.address = Address.of(named)
        self._client: Any = _client(self.address, seconds)
        self._close = finalize(self, self._client.close)
        self._scripts: dict[str, Any] = {}
        self._patience = patience or Patience()
        self._waiting = self._patience.waiting_for(self)

    def __str__(self) -> str:
        return self.address.shown

    @property
    def ends(self) -> bool:
        """Whether the end of the crawl has begun, in which only what must be is asked."""
        return self._patience.ends

    def key(self, *parts: str) -> str:
        """The full name of a key."""
        return ":".join((self.address.prefix, *parts))

    def run(self, script: str, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:  # noqa: ANN401 - of the script
        """The answer of a *script* that begins with `PREAMBLE`; it is sent once."""
        if script not in self._scripts:
            self._scripts[script] = self._client.register_script(PREAMBLE + script)
        answer = self.ask(lambda _client: self._scripts[script](keys, arguments))
        if isinstance(answer, list) and answer and answer[0] == b"foreign":
            raise ForeignDataError(
                f"{self}: expected {arguments[0]!r} at the key {keys[0]!r}, got "
                f"{answer[1][:100].decode('utf-8', 'replace')!a}. Name another prefix"
            )
        return answer

    def ask(self, question: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - of redis-py
        """What the client answers to *question*."""
        from redis import exceptions

        if self._waiting.is_over:
            raise self._given_up()
        try:
            with self._waiting.asking():
                if not self._waiting.has_greeted:
                    self._greet()
                return question(self._client)
        except (exceptions.AuthenticationError, exceptions.AuthorizationError) as error:
            raise ServerError(
                f"{self}: the server rejects the user or password: {_sentence(error)}. Give "
                "those that it knows, as in redis://user:password@host/0"
            ) from None
        except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
            raise self._lost(error)(
                f"{self}: no answer from the server: {_sentence(error)}. Is it running, and "
                "reachable?"
            ) from None
        except exceptions.RedisError as error:
            raise ServerError(f"{self}: {_advised(type(error).__name__, str(error))}") from None
        except Exception as error:
            if self._waiting.is_over:  # a connection that is cut may break anywhere
                raise self._given_up() from error
            raise

    def _greet(self) -> None:
        """Have the server answer any small question within `GREETING_SECONDS`.

        The client limits the time of each message, and a connection, with TLS, needs several: the
        first questions of a crawl would take minutes where each answer comes late. A large answer
        may take longer than this, so that the limit is of no other question.
        """
        from redis import exceptions

        greeting: Future[None] = Future()

        def ask() -> None:
            try:
                with suppress(
                    exceptions.ResponseError
                ):  # as where the user may not ask: it is there
                    self._client.ping()
                greeting.set_result(None)
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                greeting.set_exception(error)

        Thread(target=ask, daemon=True).start()  # it cannot be cut while it makes a connection
        if not done([greeting], GREETING_SECONDS).done:
            raise exceptions.TimeoutError(f"Timeout of {GREETING_SECONDS:g} seconds")
        greeting.result()
        self._waiting.has_greeted = True

    def _given_up(self) -> GivenUpError:
        return GivenUpError(f"{self}: the server did not answer at the end of the crawl")

    def _lost(self, error: Exception) -> type[LostConnectionError]:
        """What it means that there was no answer."""
        from redis import exceptions

        if self._waiting.is_over:
            return GivenUpError
        is_silent = isinstance(error, exceptions.TimeoutError)
        return SilentServerError if is_silent else LostConnectionError

    def cut(self) -> None:
        """End what is under way, from another thread: as if the connection were lost."""
        self._client.connection_pool.disconnect()

    def close(self) -> None:
        """Close the connections."""
        self._close()


def insist(call: Callable[[], Answer], pauses: Sequence[float] = PAUSES) -> Answer:
    """What *call* answers; where the connection is lost, it is tried again after each pause.

    A restart of the server closes all connections, and loads what it has stored. A server that
    accepts and never answers is waited for once.
    """
    for pause in pauses:
        try:
            return call()
        except (GivenUpError, SilentServerError):
            raise
        except LostConnectionError:
            sleep(pause)
    return call()


def _client(address: Address, seconds: float) -> Any:  # noqa: ANN401 - redis-py may be missing
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise ServerError(
            f"{address.shown}: a server needs redis-py; run: pip install 'scrapy-mss[redis]'"
        ) from None
    try:
        client = Redis.from_url(
            address.url,
            socket_timeout=seconds,
            socket_connect_timeout=min(seconds, CONNECT_SECONDS),
            retry=Retry(NoBackoff(), 0),  # `insist` and `Outbox` know what may be sent again
        )
        client.connection_pool.make_connection()  # where an option of the address is unknown
    except (ValueError, TypeError):
        raise wrong_address(address.shown) from None
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
    "NOPERM": "Let the user run scripts and change keys with this prefix",
    "OOM": "Give the server more memory (maxmemory)",
    "MISCONF": "The server cannot write to its disk",
    "READONLY": "Name the primary, not a replica",
    "DB index": "Name a database that the server has, as in redis://host/0",
}


class Outbox(Generic[Data]):
    """Sends changes, each under a name of its own, and one whose fate is unknown again.

    A change is at the server, or in here, or `send` has raised and nobody will make it. There is
    room for one: until its fate is known, nothing follows it, and callers keep what they have.
    """

    def __init__(self, transmit: Callable[[bytes, Data], Any]) -> None:
        """Call *transmit* with the name and the data of a change."""
        self._transmit = transmit
        self._unanswered: tuple[bytes, Data] | None = None
        self._may_be_there = False
        self._lock = Lock()

    @property
    def is_empty(self) -> bool:
        """Whether the fate of all that was sent is known."""
        return self._unanswered is None

    def send(self, data: Data) -> Any:  # noqa: ANN401 - of the script
        """Have *data* sent; the answer, or None if there is none yet.

        Where this raises, the data was not sent and will not be, or it is given up: then it may
        have arrived.
        """
        with self._lock:
            self._settle()
            name = token_bytes(NAME_BYTES)
            self._unanswered = name, data
            try:
                return self._settle()
            except GivenUpError:
                self._unanswered = None  # nobody will send it again
                raise
            except ServerError as error:
                if self._unanswered is None:
                    raise
                logger.warning(
                    "scrapy-mss: %s The crawl continues; its additions are kept and sent later",
                    error,
                )
                return None

    def settle(self) -> None:
        """Send what is unanswered; where this raises, it still is."""
        with self._lock:
            self._settle()

    def _settle(self) -> Any:  # noqa: ANN401 - of the script
        change = self._unanswered
        if change is None:
            return None
        answer = insist(lambda: self._once(*change))
        self._unanswered, self._may_be_there = None, False
        return answer

    def _once(self, name: bytes, data: Data) -> Any:  # noqa: ANN401 - of the script
        try:
            return self._transmit(name, data)
        except LostConnectionError:
            self._may_be_there = True
            raise
        except BaseException:
            if not self._may_be_there:  # it was never accepted, and is the caller's again
                self._unanswered = None
            raise


class Rests:
    """Keeps the event loop from waiting again for a server that has not answered.

    A thread asks it meanwhile whether it is there, until the end of the crawl begins: what is asked
    then only to know that would count as waiting.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._is_silent = False
        self._closed = Event()

    def ask(self, question: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - of redis-py
        """What the client answers to *question*."""
        if self._is_silent:
            raise LostConnectionError(f"{self._server}: the server did not answer just now")
        try:
            return self._answer(question)
        except LostConnectionError:
            self._is_silent = True
            Thread(target=self._wait_for_it, daemon=True).start()
            raise

    def close(self) -> None:
        """Ask nothing more."""
        self._closed.set()

    def _answer(self, question: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - of redis-py
        try:
            return self._server.ask(question)
        except (SilentServerError, GivenUpError):
            raise
        except LostConnectionError:  # what a restart has closed
            return self._server.ask(question)

    def _wait_for_it(self) -> None:
        while not self._closed.wait(REST_SECONDS) and not self._server.ends:
            try:
                self._server.ask(lambda client: client.ping())
            except GivenUpError:
                return
            except ServerError:
                continue
            self._is_silent = False
            return
