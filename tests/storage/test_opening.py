"""What names a server, what a folder, and what is refused as neither."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from scrapy_mss.settings import SettingError, read
from scrapy_mss.storage.opening import SERVERS, is_server
from scrapy_mss.storage.redis_store import ServerAddress
from scrapy_mss.storage.tables import StoreError


@pytest.mark.parametrize("scheme", [*SERVERS, *map(str.title, SERVERS)])
def test_the_schemes_of_servers_may_be_in_capitals(scheme: str) -> None:
    named = f"{scheme}://user:Secret@Host:6379/0?prefix=News"

    address = ServerAddress.of(named)

    assert is_server(named)
    assert address.prefix == "News"
    assert address.shown == f"{scheme.lower()}://Host:6379/0?prefix=News"
    assert address.url.startswith(("redis://user:Secret@Host", "rediss://user", "unix://user"))


@pytest.mark.parametrize(
    "named", ["", "model", "/data/model", "C:\\model", "C://model", "a/redis://host", "redis:/host"]
)
def test_a_path_is_no_server(named: str) -> None:
    assert not is_server(named)


@pytest.mark.parametrize(
    "named",
    [
        "redis://127.0.0.1:1/0?password=p@secret",
        "redis://me:p?secret@127.0.0.1:1/0",
        "redis://me:p?s@secret@127.0.0.1:1/0",
    ],
)
def test_of_an_address_that_may_be_read_in_two_ways_nothing_is_shown(named: str) -> None:
    assert ServerAddress.of(named).shown == "redis://…?prefix=scrapy-mss"


UNKNOWN = ["redis+sentinel://h/0", "REDIS-CLUSTER://h", "rediscluster://h", "http://h", "file:///m"]


@pytest.mark.parametrize("named", UNKNOWN)
def test_an_address_of_another_kind_is_refused_in_one_line(named: str) -> None:
    with pytest.raises(StoreError) as caught:
        is_server(named.replace("//", "//me:secret@"))

    message = str(caught.value)
    assert f"got {named.partition('://')[0]}://" in message
    assert "redis://, rediss://, unix://, valkey://, valkeys://" in message
    assert "secret" not in message
    assert "\n" not in message


def test_a_setting_with_such_an_address_stops_the_crawl_by_its_name() -> None:
    expected = r"^MSS_STORE: expected a folder, or .*redis\+sentinel://"
    with pytest.raises(SettingError, match=expected):
        read(Settings({"MSS_STORE": "redis+sentinel://h:26379/primary"}))
