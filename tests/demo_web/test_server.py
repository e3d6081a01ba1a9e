"""The server as crawlers and browsers use it."""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import demo_web
import pytest
from demo_web.__main__ import main
from demo_web.running import PROJECT, READY, ServerError, running

from research.datasets.sets import load

SERVED = ("daily-harbour", "rheinufer-bote")
SECONDS = 20
HOME = "http://www.daily-harbour.example/"


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """One connection that stays open."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=SECONDS)

    def ask(self, target: str, method: str = "GET", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, target, headers={"Accept-Encoding": "identity"} | named)
        response = self.connection.getresponse()
        return Answer(response.status, dict(response.headers), response.read())


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running(SERVED) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    made = Client(address)
    yield made
    made.connection.close()


def page(site: str, kind: str) -> demo_web.Page:
    return next(page for page in demo_web.pages(site) if page.kind == kind)


@pytest.mark.parametrize("site", SERVED)
def test_it_serves_the_pages_as_a_proxy(client: Client, site: str) -> None:
    for expected in list(demo_web.pages(site))[::5]:
        answer = client.ask(demo_web.SITES[site].url(expected.path))

        assert (answer.status, answer.body) == (expected.status, expected.body)
        assert answer.headers["Content-Length"] == str(len(expected.body))
        assert expected.headers[0] in answer.headers.items()


@pytest.mark.parametrize(
    "host", ["www.daily-harbour.example", "daily-harbour.example", "Daily-Harbour.localhost:8765"]
)
def test_it_serves_the_pages_by_host(client: Client, host: str) -> None:
    answer = client.ask("/", Host=host)

    assert answer.body == client.ask(HOME).body


def test_without_a_site_it_tells_where_the_sites_are(client: Client) -> None:
    answer = client.ask("/")

    assert answer.status == 200
    assert HOME.encode() in answer.body


def test_gzip_is_for_those_who_accept_it_from_sites_that_compress(client: Client) -> None:
    packed = client.ask(HOME, Accept_Encoding="gzip, deflate")
    never = client.ask("http://www.rheinufer-bote.example/", Accept_Encoding="gzip, deflate")

    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == client.ask(HOME).body
    assert "Content-Encoding" not in never.headers


@pytest.mark.parametrize(("kind", "status"), [("missing", 404), ("gone", 410), ("moved", 301)])
def test_some_pages_answer_with_errors_and_redirects(
    client: Client, kind: str, status: int
) -> None:
    expected = page("daily-harbour", kind)

    answer = client.ask(demo_web.SITES["daily-harbour"].url(expected.path))

    assert answer.status == status
    assert answer.headers.get("Location") == expected.header("location")


def test_what_was_never_there_is_missing_too(client: Client) -> None:
    answer = client.ask(f"{HOME}no/such/page?at=all")

    assert answer.status == 404
    assert b"Page not found" in answer.body


def test_a_document_is_no_text(client: Client) -> None:
    answer = client.ask(f"{HOME}document/daily-harbour")

    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.body.startswith(b"%PDF-")


def test_head_has_the_length_and_no_body(client: Client) -> None:
    answer = client.ask(HOME, "HEAD")

    assert answer.body == b""
    assert answer.headers["Content-Length"] == str(len(client.ask(HOME).body))


def test_other_hosts_and_https_are_refused(address: str) -> None:
    for target, method, status in (
        ("http://www.elsewhere.example/", "GET", 502),
        ("http://www.signal-live.example/", "GET", 502),  # a site that this server does not serve
        ("www.daily-harbour.example:443", "CONNECT", 501),
    ):
        client = Client(address)

        assert client.ask(target, method).status == status

        client.connection.close()


@pytest.mark.parametrize("ending", ["terminate", "end of input"])
def test_it_stops_cleanly(ending: str) -> None:
    command = [sys.executable, "-m", "demo_web", "serve", "--port", "0", "--sites", SERVED[0]]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, "--while-input"], cwd=PROJECT, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdout is not None
        assert READY.match(process.stdout.readline())
        if ending == "terminate":
            process.terminate()
        output = process.communicate(timeout=SECONDS)  # closes the input

    assert process.returncode == 0
    assert output == ("", "")


def test_a_server_that_does_not_start_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ServerError, match="standard error"), running(["no-such-site"]):
        pass

    assert "no site 'no-such-site'; there are daily-harbour" in capfd.readouterr().err


@pytest.mark.parametrize("options", [[], ["--html"]])
def test_the_gold_is_written_as_lines_of_json(tmp_path: Path, options: list[str]) -> None:
    target = tmp_path / "gold.jsonl"

    main(["gold", "--out", str(target), "--sites", "rheinufer-bote", *options])

    records = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    gold = demo_web.gold("rheinufer-bote")
    assert {record["url"]: record["golds"] for record in records} == {
        url: [gold[url].text] for url in gold
    }
    assert all(("html" in record) == bool(options) for record in records)


def test_the_bench_reads_what_gold_writes(tmp_path: Path) -> None:
    target = tmp_path / "gold.jsonl"
    main(["gold", "--html", "--out", str(target), "--sites", "severnye-vesti"])

    found = load(f"jsonl:{target}?type=article")

    assert len(found.pages) >= 60
    assert not found.broken
    assert {page.language for page in found.pages} == {"ru"}
