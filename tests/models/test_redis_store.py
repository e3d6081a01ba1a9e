"""A model on a server is what it would be in a file, whatever happens to server and connection."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy_mss.models.redis_store import RedisModelStore
from scrapy_mss.storage.redis_server import (
    READ_SECONDS,
    ForeignDataError,
    GivenUpError,
    LostConnectionError,
    Patience,
    Rests,
    Server,
    SilentServerError,
)

from research.benchmarks.redis_server import RedisServer, running
from scrapy_mss.models import redis_store
from scrapy_mss.models.format import DamagedModelError, FullModelError, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PAPER
from scrapy_mss.models.store import FileStore
from scrapy_mss.storage.server_address import Address, ServerError
from tests.helpers.classifiers import counts_of
from tests.helpers.redis import client, needs_redis, server, shared_server

pytestmark = needs_redis
__all__ = ["server", "shared_server"]  # fixtures


def trained(*numbers: int) -> Model:
    """A model that learned these pages."""
    model = Model(DEFAULT, None, counts_of(numbers, DEFAULT.families))
    for number in numbers:
        model.learned_pages.add(number, 0)
    return model


def store_at(server: RedisServer, prefix: str = "test") -> RedisModelStore:
    return RedisModelStore(server.address(prefix), DEFAULT)


def stored(server: RedisServer) -> bytes:
    """What somebody who comes new finds there."""
    return to_bytes(store_at(server).load())


def test_nothing_is_an_empty_model(server: RedisServer) -> None:
    assert stored(server) == to_bytes(Model(DEFAULT))
    assert client(server).keys() == []


STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["add", "load", "restart", "lose answer"]),
        st.lists(st.integers(0, 5), min_size=1, max_size=2, unique=True),
    ),
    max_size=8,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, most=st.integers(0, 4))
def test_whatever_crawls_add_the_server_has_what_a_file_would_have(
    server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[tuple[int, str, list[int]]],
    most: int,
) -> None:
    """Also what each addition tells, with crawls that come and go and answers that are lost."""
    monkeypatch.setattr(redis_store, "MOST_DELTAS", most)
    client(server).flushall()
    stores = [store_at(server) for _ in range(3)]
    with TemporaryDirectory() as folder:
        file = FileStore(Path(folder) / "model", DEFAULT)

        for crawl, step, pages in steps:
            store = stores[crawl]
            if step == "load":
                assert to_bytes(store.load()) == to_bytes(file.load())
            elif step == "restart":
                stores[crawl] = store_at(server)
            else:
                if step == "lose answer":
                    _lose_next_answer(store)
                expected = file.add(trained(*pages))
                found = store.add(trained(*pages))
                assert to_bytes(found.model) == to_bytes(expected.model)

        assert stored(server) == to_bytes(file.load())


def _lose_next_answer(store: RedisModelStore, then: Callable[[], object] = lambda: None) -> None:
    """As if the connection broke after the server has made a change."""
    server = store._server  # noqa: SLF001 - a connection cannot be cut at this very moment
    run, answers = server.run, iter([True])

    def losing(*arguments: object) -> object:
        answer = run(*arguments)  # type: ignore[arg-type]
        if next(answers, False):
            then()
            raise LostConnectionError("lost on the way")
        return answer

    server.run = losing  # type: ignore[assignment,method-assign]


def test_pages_that_two_crawls_learn_at_the_same_time_are_counted(server: RedisServer) -> None:
    one, other = store_at(server), store_at(server)
    one.load(), other.load()
    one.add(trained(1, 2))

    added = other.add(trained(2, 3))

    assert added.n_twice == 1
    assert added.model.bayes.pages == 4


def test_what_a_crawl_lacks_is_all_that_is_sent_to_it(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = store_at(server), store_at(server)
    one.load(), other.load()
    for number in range(5):
        one.add(trained(number))
    read: list[bytes] = []
    model_in = RedisModelStore._model_in  # noqa: SLF001 - only wrapped

    def noting(self: RedisModelStore, data: bytes) -> Model:
        read.append(data)
        return model_in(self, data)

    monkeypatch.setattr(RedisModelStore, "_model_in", noting)
    other.add(trained(7))
    other.add(trained(8))

    assert read == [to_bytes(trained(number)) for number in range(5)]


def test_a_server_that_is_away_gets_later_what_it_has_missed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_mss.storage.redis_server.sleep", lambda _seconds: None)
    with running() as server:
        store = store_at(server)
        store.add(trained(1))
        server.kill()

        kept = store.add(trained(2))
        with pytest.raises(LostConnectionError, match="Is it running"):
            store.add(trained(3))
        server.start()
        added = store.add(trained(3))

        assert to_bytes(kept.model) == to_bytes(trained(1, 2))
        assert to_bytes(added.model) == to_bytes(trained(1, 2, 3))
        assert stored(server) == to_bytes(trained(1, 2, 3))
    (line,) = [each.message for each in caplog.records if each.levelno == logging.WARNING]
    assert "kept and sent later" in line


def test_the_last_change_is_sent_when_the_store_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_mss.storage.redis_server.sleep", lambda _seconds: None)
    with running() as server:
        store = store_at(server)
        store.load()
        server.kill()
        store.add(trained(1))
        with pytest.raises(LostConnectionError):
            store.settle()
        server.start()

        store.close()

        assert stored(server) == to_bytes(trained(1))


def test_a_server_that_has_lost_its_data_is_told_of_and_followed(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    store = store_at(server)
    store.add(trained(1))
    client(server).flushall()
    store_at(server).add(trained(5))

    added = store.add(trained(2))

    assert to_bytes(added.model) == to_bytes(trained(2, 5)) == stored(server)
    # The generation is what it was, but not the delta of that generation.
    store.add(trained(3))
    client(server).flushall()
    store.add(trained(4))
    assert stored(server) == to_bytes(trained(4))
    assert "has lost what it had stored" in caplog.text


@pytest.mark.parametrize("put", ["string", "hash", "other features"])
def test_other_data_is_refused_and_left_as_it_is(server: RedisServer, put: str) -> None:
    at = client(server)
    if put == "string":
        at.set("test:model", "theirs")
    elif put == "hash":
        at.hset("test:model", "their", "field")
    else:
        RedisModelStore(server.address("test"), PAPER).add(Model(PAPER))
    before = at.dump("test:model")

    with pytest.raises(ForeignDataError, match=r"at the key 'test:model'.*another prefix"):
        store_at(server).load()
    with pytest.raises(ForeignDataError, match=r"at the key 'test:model'.*another prefix"):
        store_at(server).add(trained(1))

    assert at.dump("test:model") == before


def test_a_damaged_base_is_named(server: RedisServer) -> None:
    store = store_at(server)
    store.add(trained(1))
    client(server).hset("test:model", mapping={"base": 1, "base_name": b"x"})
    client(server).set("test:model:base", to_bytes(trained(1))[:-1])

    with pytest.raises(DamagedModelError, match=r"prefix=test: the model is damaged"):
        store.load()


def test_a_delta_that_cannot_be_read_does_not_make_ours_count_twice(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    store = store_at(server)
    store.load()
    store_at(server).add(trained(5))
    client(server).lset("test:model:log", 0, b"n" * 16 + b"not a model")

    store.add(trained(1))

    assert "cannot read what other crawls have learned" in caplog.text
    assert client(server).llen("test:model:log") == 2


def test_a_full_model_is_refused_before_anything_is_sent(server: RedisServer) -> None:
    store, full = store_at(server), trained(1)
    full.bayes.counts["unigram"][:] = 2**32 - 1
    store.add(full)

    with pytest.raises(FullModelError, match="prefix=test"):
        store.add(trained(1))

    assert client(server).llen("test:model:log") == 1


def test_prefixes_share_a_server(server: RedisServer) -> None:
    store_at(server, "one").add(trained(1))
    store_at(server, "two").add(trained(2))

    assert to_bytes(store_at(server, "one").load()) == to_bytes(trained(1))
    assert to_bytes(store_at(server, "two").load()) == to_bytes(trained(2))


def test_the_log_does_not_grow_for_ever(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_store, "MOST_DELTAS", 4)
    store = store_at(server)

    for _ in range(40):
        store.add(trained(1))

    assert client(server).llen("test:model:log") <= 2 * 5
    assert client(server).zcard("test:model:names") == 40


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("redis://me:secret@127.0.0.1:{port}/0", "rejects the user or password"),
        ("redis://me:sec#ret@127.0.0.1:{port}/0", "expected an address such as"),
        ("redis://me:secret@127.0.0.1:port/0", "expected an address such as"),
        ("redis://me:secret@[127.0.0.1/0", "expected an address such as"),
        ("redis://me:secret@127.0.0.1:{port}/0?colour=red", "expected an address such as"),
        ("redis://127.0.0.1:{port}/99", "Name a database that the server has"),
        ("redis://me:secret@127.0.0.1:1/0", "Is it running"),
        ("redis://127.0.0.1:1/0?password=secret", "Is it running"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_its_password(
    server: RedisServer,
    address: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scrapy_mss.storage.redis_server.sleep", lambda _seconds: None)

    with pytest.raises(ServerError, match=expected) as caught:
        RedisModelStore(address.format(port=server.port), DEFAULT).load()

    assert "sec" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "redis://127.0.0.1:1/0?password=p@secret",
        "redis://me:p?secret@127.0.0.1:1/0",
        "redis://me:p?s@secret@127.0.0.1:1/0",
    ],
)
def test_of_an_address_that_may_be_read_in_two_ways_nothing_is_told(address: str) -> None:
    assert Address.of(address).shown == "redis://…?prefix=scrapy-mss"


def test_a_password_that_is_right_lets_us_in() -> None:
    with running("--requirepass", "se cret") as server:
        address = server.address().replace("://", "://:se%20cret@")

        RedisModelStore(address, DEFAULT).add(trained(1))

        with pytest.raises(ServerError, match="rejects the user"):
            store_at(server).load()


def test_what_may_be_there_stays_ours_whatever_the_server_answers_then(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change whose answer was lost is not given back to a caller that would send it again."""
    monkeypatch.setattr("scrapy_mss.storage.redis_server.sleep", lambda _seconds: None)
    store = store_at(server)
    _lose_next_answer(store, then=lambda: client(server).config_set("maxmemory", 1))
    try:
        store.add(trained(1))

        with pytest.raises(ServerError, match="maxmemory"):
            store.add(trained(2))
    finally:
        client(server).config_set("maxmemory", 0)
    store.add(trained(3))

    assert stored(server) == to_bytes(trained(1, 3))


def test_a_crawl_keeps_what_it_knows_while_it_cannot_read_what_others_learned(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """What an addition tells is what the crawl goes on from."""
    store = store_at(server)
    store.add(trained(1))
    client(server).rpush("test:model:log", b"n" * 16 + b"no model")
    client(server).hincrby("test:model", "generation", 1)

    found = [store.add(trained(page)).model for page in (2, 3, 4)]

    assert [each.bayes.pages for each in found] == [2, 3, 4]
    assert "cannot read what other crawls have learned" in caplog.text


def test_a_crawl_keeps_what_it_knows_while_no_answer_comes(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_mss.storage.redis_server.sleep", lambda _seconds: None)
    store = store_at(server)
    store.add(trained(1))
    run = store._server.run  # noqa: SLF001 - as if the server came and went
    lost: list[Model] = [trained(2)]  # whose sending fails

    def lossy(*arguments: Any) -> object:
        if any(to_bytes(each) in arguments[2] for each in lost):
            raise LostConnectionError("away")
        return run(*arguments)

    monkeypatch.setattr(store._server, "run", lossy)  # noqa: SLF001
    first = store.add(trained(2)).model
    lost[:] = [trained(3)]
    second = store.add(trained(3)).model

    assert [first.bayes.pages, second.bayes.pages] == [2, 3]
    lost.clear()
    assert to_bytes(store.add(trained(4)).model) == to_bytes(trained(1, 2, 3, 4)) == stored(server)


def test_a_server_that_nobody_asks_is_not_given_up_at_the_end(server: RedisServer) -> None:
    patience = Patience()
    asked = Server(server.address(), patience=patience)

    patience.begin_end(seconds=1.0)
    sleep(1.5)

    assert asked.ask(lambda client: client.ping())
    server.hang()
    try:
        with pytest.raises(GivenUpError):
            asked.ask(lambda client: client.ping())
    finally:
        server.go_on()
        patience.end()


@contextmanager
def silent_address() -> Iterator[str]:
    """Where connections are accepted, and nothing is ever answered."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def test_a_server_that_accepts_and_never_answers_is_waited_for_once() -> None:
    """A crawl that starts gave up after four times the ten seconds of one answer."""
    with silent_address() as address:
        silent = RedisModelStore(address.replace("//", "//user:secret@"), DEFAULT)
        silent._server = Server(address.replace("//", "//user:secret@"), seconds=0.2)  # noqa: SLF001
        n_asked = 0
        run = silent._run  # noqa: SLF001

        def counted(script: str, *arguments: bytes | int) -> object:
            nonlocal n_asked
            n_asked += 1
            return run(script, *arguments)

        silent._run = counted  # type: ignore[method-assign]  # noqa: SLF001

        with pytest.raises(SilentServerError, match=r"127\.0\.0\.1.*no answer") as caught:
            silent.load()

    assert n_asked == 1
    assert "secret" not in str(caught.value)


@contextmanager
def late_address(server: RedisServer, seconds: float, answers: list[bytes]) -> Iterator[str]:
    """Where each of the *answers* of *server* comes so many *seconds* late."""

    class Late(BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", server.port)) as asked:
                while question := self.request.recv(2**16):
                    asked.sendall(question)
                    answer = asked.recv(2**16)
                    sleep(seconds)
                    answers.append(answer)
                    with suppress(OSError):  # nobody waits for it any more
                        self.request.sendall(answer)

    with ThreadingTCPServer(("127.0.0.1", 0), Late) as proxy:
        proxy.daemon_threads = True
        Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"redis://user:secret@127.0.0.1:{proxy.server_address[1]}/0"
        proxy.shutdown()


def test_a_server_that_answers_each_message_late_is_not_asked_all_of_them(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer took too long: a crawl waited for twenty of them before it had started."""
    monkeypatch.setattr("scrapy_mss.storage.redis_server.GREETING_SECONDS", 0.5)
    client(server).acl_setuser("user", True, passwords=["+secret"], commands=["+@all"], keys="*")
    answers: list[bytes] = []
    with (
        late_address(server, 0.3, answers) as address,
        pytest.raises(SilentServerError, match=r"127\.0\.0\.1.*Timeout of 0\.5") as caught,
    ):
        RedisModelStore(address, DEFAULT).load()

    assert len(answers) <= 2
    assert "secret" not in str(caught.value)


def test_only_the_first_small_question_must_be_answered_soon(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The near miss: a model may be large, and the way to its server slow."""
    asked = Server(server.address())
    assert asked.ask(lambda client: client.ping())
    monkeypatch.setattr("scrapy_mss.storage.redis_server.GREETING_SECONDS", 0.0)

    assert asked.ask(lambda client: client.blpop("test:none", timeout=0.3)) is None


def test_a_user_who_may_not_ping_is_greeted(server: RedisServer) -> None:
    rights = ["+@all", "-ping"]
    client(server).acl_setuser("user", True, passwords=["+secret"], commands=rights, keys="*")

    address = server.address().replace("//", "//user:secret@")

    assert RedisModelStore(address, DEFAULT).load().bayes.pages == 0


@contextmanager
def unreachable_address() -> Iterator[str]:
    """Where packets are dropped: as many wait to be accepted as there is room for."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening, ExitStack() as waiting:
        for _ in range(4):
            each = waiting.enter_context(socket.socket())
            each.setblocking(False)
            each.connect_ex(listening.getsockname())
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def test_a_server_that_is_silent_at_the_end_uses_up_no_patience_with_others(
    server: RedisServer,
) -> None:
    patience = Patience()
    healthy = Server(server.address(), patience=patience)
    with silent_address() as address:
        silent = Server(address, patience=patience)
        patience.begin_end(seconds=1.0)

        for _ in range(2):
            with pytest.raises(GivenUpError):
                silent.ask(lambda client: client.ping())

        assert healthy.ask(lambda client: client.ping())
        assert healthy.ask(lambda client: client.blpop("test:none", timeout=0.3)) is None
    patience.end()


def test_crawls_that_ask_whether_a_server_is_there_stop_to_do_so_at_the_end(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody needs is not waited for."""
    monkeypatch.setattr("scrapy_mss.storage.redis_server.REST_SECONDS", 0.01)
    patience = Patience()
    reading = Server(server.address(), READ_SECONDS, patience)
    rests = Rests(reading)
    server.hang()
    try:
        with pytest.raises(LostConnectionError):
            rests.ask(lambda client: client.ping())
        patience.begin_end(seconds=2 * READ_SECONDS)
        sleep(8 * READ_SECONDS)
    finally:
        server.go_on()

    assert reading.ask(lambda client: client.ping())
    rests.close()
    patience.end()


def test_a_connection_that_is_being_made_holds_up_no_end() -> None:
    """Nobody can cut it: it has a time limit of its own, however long answers may take."""
    patience, began = Patience(), monotonic()
    with unreachable_address() as address:
        asked = Server(address, seconds=60.0, patience=patience)
        patience.begin_end(seconds=0.3)

        with pytest.raises(GivenUpError):
            asked.ask(lambda client: client.ping())

    patience.end()
    assert monotonic() - began < 30.0
