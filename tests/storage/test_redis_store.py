"""What a store on a server does when the server, or what is between, fails."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread, Timer

import pytest

from research.benchmarks.redis_server import RedisServer, free_port, running
from scrapy_mss.storage import redis_store
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import DAY, SEEN, SITES, StoreError
from tests.helpers.redis import client, needs_redis
from tests.storage.test_stores import NOW, counted, counts

pytestmark = needs_redis


class Proxy:
    """What is between a store and its server.

    It may *lose* the answers to what is written, and *forget* the scripts of the server before each
    command, as a restart does.
    """

    def __init__(self, port: int) -> None:
        self.lose, self.forget = Event(), Event()
        proxy = self

        class Line(BaseRequestHandler):
            def handle(self) -> None:
                with socket.create_connection(("127.0.0.1", port)) as upstream:
                    while asked := self.request.recv(2**16):
                        if proxy.forget.is_set():
                            upstream.sendall(b"SCRIPT FLUSH\r\n")
                            upstream.recv(2**16)
                        upstream.sendall(asked)
                        answer = upstream.recv(2**16)
                        if b"EVAL" in asked and proxy.lose.is_set():
                            return
                        self.request.sendall(answer)

        self._server = ThreadingTCPServer(("127.0.0.1", 0), Line)
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"redis://me:secret@127.0.0.1:{self._server.server_address[1]}/0?prefix=test"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def proxy(server: RedisServer) -> Iterator[Proxy]:
    client(server).acl_setuser(
        "me", enabled=True, passwords=["+secret"], keys="*", commands=["+@all"]
    )
    with closing(Proxy(server.port)) as proxy:
        yield proxy


@pytest.mark.slow("waits for answers that do not come")
def test_a_write_whose_answer_is_lost_counts_once(
    proxy: Proxy, server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    store, others = store_at(proxy.address), store_at(server.address())
    store.write([counted()])

    proxy.lose.set()
    store.write([counted()])
    assert counts(others) == [2, 2, 2]
    others.write([counted()])

    with pytest.raises(StoreError, match="no answer from the server"):
        store.write([counted(10)])
    proxy.lose.clear()
    store.write([counted(100)])

    assert counts(others) == [103, 103, 103]
    assert "its additions are kept and sent later" in caplog.text
    assert "secret" not in caplog.text


def test_what_was_not_sent_before_the_server_died_is_sent_when_the_store_is_closed() -> None:
    with running() as server:
        store = store_at(server.address())
        store.write([counted()])
        server.kill()
        with pytest.raises(StoreError, match="Is it running, and reachable"):
            store.write([counted()])  # nothing is read, so nothing is sent
        server.start()
        store.write([counted()])
        store.close()

        assert counts(store_at(server.address())) == [2, 2, 2]


def test_a_restart_of_the_server_goes_unnoticed(server: RedisServer) -> None:
    store = store_at(server.address())
    for _ in range(5):
        store.write([counted()])
        server.restart()

    assert counts(store) == [5, 5, 5]


def test_a_write_needs_no_script_that_the_server_has_from_before(
    proxy: Proxy, server: RedisServer
) -> None:
    """Or one that was made, and whose answer a restart has lost, would pass for rejected."""
    proxy.forget.set()
    store_at(proxy.address).write([counted()])

    assert counts(store_at(server.address())) == [1, 1, 1]


def test_a_restart_at_the_end_of_a_crawl_loses_nothing() -> None:
    with running() as server:
        store = store_at(server.address())
        store.write([counted()])
        store.end()
        server.kill()
        restart = Timer(0.3, server.start)
        restart.start()
        store.write([counted()])
        restart.join()

        assert counts(store) == [2, 2, 2]


@contextmanager
def hanging(server: RedisServer) -> Iterator[None]:
    server.hang()
    try:
        yield
    finally:
        server.go_on()


def test_the_event_loop_does_not_wait_again_for_a_server_that_was_silent(
    server: RedisServer,
) -> None:
    store = store_at(server.address())
    store.write([counted()])
    with hanging(server):
        with pytest.raises(StoreError, match="no answer from the server"):
            store.get([SEEN.key("a")], patient=False)
        started = time.monotonic()
        for _ in range(100):
            with pytest.raises(StoreError, match="did not answer just now"):
                store.get([SEEN.key("a")], patient=False)
        waited = time.monotonic() - started

    assert waited < redis_store.READ_SECONDS
    assert store.get([SEEN.key("a")]) == {SEEN.key("a"): b"1"}  # of the thread that writes
    assert store.get([SEEN.key("a")], patient=False) == {SEEN.key("a"): b"1"}


def test_at_the_end_a_silent_server_is_waited_for_once(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_store, "END_SECONDS", 0.2)
    store = store_at(server.address())
    store.write([counted()])
    store.end()
    with hanging(server):
        started = time.monotonic()
        for _ in range(10):
            with pytest.raises(StoreError, match=r"no answer|did not answer"):
                store.write([counted()])
        waited = time.monotonic() - started

    assert waited < 2 * redis_store.END_SECONDS


def test_a_checkpoint_at_the_end_is_written_though_the_event_loop_had_no_answer_just_before(
    server: RedisServer,
) -> None:
    store = store_at(server.address())
    with hanging(server), pytest.raises(StoreError, match="no answer from the server"):
        store.get([SEEN.key("a")], patient=False)
    store.end()

    store.write([counted()])

    assert counts(store) == [1, 1, 1]


def test_what_the_server_rejects_is_not_written_later(server: RedisServer) -> None:
    store, admin = store_at(server.address()), client(server)
    admin.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreError, match="Give the server more memory"):
            store.write([counted()])
    finally:
        admin.config_set("maxmemory", 0)

    store.write([counted(10)])

    assert counts(store) == [10, 10, 10]


def test_rows_expire_by_themselves(server: RedisServer) -> None:
    store_at(server.address()).write([counted()])

    seconds = time.time() + client(server).ttl("test:seen:a")

    assert abs(seconds - 60 * (NOW + SEEN.days * DAY)) < 5
    assert client(server).zrange("test:sites", 0, -1, withscores=True) == [(b"c", NOW)]
    assert store_at(server.address()).used_since(SITES, 0) == {b"c": NOW}


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("redis://me:secret@127.0.0.1:1/0?prefix=news", "127.0.0.1:1/0.*no answer from the server"),
        ("redis://me:sec/ret@127.0.0.1/0", "expected an address such as redis://"),
        ("redis://me:secret@127.0.0.1:x/0", "expected an address such as redis://"),
        ("redis://127.0.0.1/0?sockettimeout=x", "expected an address such as redis://"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_its_password(
    address: str, message: str
) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        store_at(address).check()

    assert "sec" not in str(caught.value)


def test_a_wrong_password_is_called_so(proxy: Proxy) -> None:
    with pytest.raises(StoreError, match="rejects the user or password") as caught:
        store_at(proxy.address.replace("secret", "wrong1")).check()

    assert "wrong1" not in str(caught.value)


def test_a_store_without_redis_py_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "redis", None)

    with pytest.raises(StoreError, match=r"pip install 'scrapy-mss\[redis\]'"):
        store_at("redis://127.0.0.1/0")


def test_a_cluster_is_refused_unless_the_prefix_is_in_one_slot() -> None:
    # The port of its bus would be 10,000 beyond its own.
    with running("--cluster-enabled", "yes", "--cluster-port", str(free_port())) as node:
        store, admin = store_at(node.address()), client(node)
        with pytest.raises(StoreError, match=r"not served. It is one of a cluster, .*name a serve"):
            store.check()  # it has no slots yet
        admin.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while b"cluster_state:ok" not in admin.execute_command("CLUSTER", "INFO"):
            time.sleep(0.05)
        with pytest.raises(StoreError, match=r"same slot. It is one of a cluster, .*name a server"):
            store.check()
        in_one_slot = store_at(node.address("{news}"))
        in_one_slot.check()
        in_one_slot.write([counted()])

        assert counts(in_one_slot) == [1, 1, 1]
        slots = {admin.execute_command("CLUSTER KEYSLOT", key) for key in admin.scan_iter()}
        assert len(slots) == 1
