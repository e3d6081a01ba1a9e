"""Which requests are allowed: next to each rejected one is one that is allowed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from scrapy_mss.workbench.serving import HOST, MAX_BYTES, TOKEN_HEADER, Origins, serving
from tests.helpers.workbenches import SITE, api_headers, news, request, served, workbench


@pytest.fixture(scope="module")
def origins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Origins]:
    with served(workbench(news(), tmp_path_factory.mktemp("bench"))) as found:
        yield found


def start(origins: Origins, without: str = "", **changed: str) -> int:
    """The status of an API request, with some headers changed and one left out."""
    headers = {**api_headers(origins), **changed}
    headers.pop(without, None)
    answer, _ = request(origins.ui_port, "POST /api/start", headers, b"{}")
    return answer.status


def frame(origins: Origins, path: str = "", **headers: str) -> int:
    path = path or f"/{origins.frame_token}/{SITE}/0"
    answer, _ = request(origins.frame_port, f"GET {path}", headers)
    return answer.status


def test_nothing_listens_beyond_the_loopback(tmp_path: Path) -> None:
    with serving(workbench(news(), tmp_path)) as server:
        addresses = [ip_address(each.getsockname()[0]) for each in server.sockets]

    assert [each.is_loopback for each in addresses] == [True, True]


def test_the_page_itself_is_answered(origins: Origins) -> None:
    assert start(origins) == 200
    assert start(origins, **{"Sec-Fetch-Site": "same-origin"}) == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"Host": "workbench.example"},
        {"Host": f"{HOST}:1"},
        {"Host": "localhost"},
        {"Origin": "http://news.example"},
        {"Origin": "null"},
        {"Origin": f"http://{HOST}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {TOKEN_HEADER: "guessed"},
        {TOKEN_HEADER: "\xe9"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Length": str(MAX_BYTES + 1)},
    ],
    ids=str,
)
def test_a_request_that_differs_in_a_header_is_rejected(
    origins: Origins, changed: dict[str, str]
) -> None:
    assert start(origins, **changed) == 403


@pytest.mark.parametrize("header", ["Origin", TOKEN_HEADER, "Content-Type"])
def test_a_request_without_a_header_is_rejected(origins: Origins, header: str) -> None:
    assert start(origins, header) == 403


def test_each_origin_has_its_own_token(origins: Origins) -> None:
    assert start(origins, **{TOKEN_HEADER: origins.frame_token}) == 403
    assert frame(origins, f"/{origins.ui_token}/{SITE}/0") == 403


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_the_api_allows_post_alone(origins: Origins, method: str) -> None:
    headers = api_headers(origins)
    answer, _ = request(origins.ui_port, f"{method} /api/start", headers)

    assert answer.status == 403


def test_no_other_origin_may_read_the_ui(origins: Origins) -> None:
    answer, _ = request(origins.ui_port, "GET /")
    policy = answer.headers["Content-Security-Policy"]

    assert answer.status == 200
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("path", ["/../app.py", "/%2e%2e/app.py", "/frame.js", "/static/x", "//"])
def test_nothing_but_its_own_files_is_served(origins: Origins, path: str) -> None:
    answer, _ = request(origins.ui_port, f"GET {path}")

    assert answer.status == 404


def test_a_drawn_page_is_shown_in_the_frame_alone(origins: Origins) -> None:
    assert frame(origins) == 200
    in_frame = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "same-site"}
    assert frame(origins, **in_frame) == 200
    assert frame(origins, **{"Sec-Fetch-Dest": "document"}) == 403
    assert frame(origins, **{"Sec-Fetch-Dest": "script"}) == 403
    assert frame(origins, **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert frame(origins, Host="rebound.example") == 403
    assert frame(origins, f"/{origins.frame_token[:-1]}/{SITE}/0") == 403


@pytest.mark.parametrize("path", ["other.example/0", f"{SITE}/99", f"{SITE}/-1", SITE, "../0"])
def test_there_are_no_other_pages(origins: Origins, path: str) -> None:
    assert frame(origins, f"/{origins.frame_token}/{path}") == 404


def test_a_drawn_page_is_sandboxed_and_runs_one_script(origins: Origins) -> None:
    answer, body = request(origins.frame_port, f"GET /{origins.frame_token}/{SITE}/0")
    policy = answer.headers["Content-Security-Policy"]

    assert policy.startswith("sandbox allow-scripts; default-src 'none'; script-src 'sha256-")
    assert "same-origin" not in policy
    assert "unsafe" not in policy
    assert f"frame-ancestors {origins.ui}" in policy
    assert body.count(b"<script") == body.count(b"</script>") == 1


def test_the_port_of_the_frame_does_not_serve_the_ui(origins: Origins) -> None:
    headers = api_headers(origins) | {"Host": f"{HOST}:{origins.frame_port}"}
    answer, _ = request(origins.frame_port, "POST /api/start", headers, b"{}")
    assert answer.status == 403
    assert request(origins.frame_port, "GET /")[0].status == 403


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"1e999", b'{"site": 1}', b"[" * 100_000, b'{"site": "other.example"}'],
    ids=lambda body: repr(body[:20]),
)
def test_a_body_of_another_form_is_a_bad_request(origins: Origins, body: bytes) -> None:
    headers = api_headers(origins) | {"Content-Length": str(len(body))}
    answer, text = request(origins.ui_port, "POST /api/open", headers, body)

    assert answer.status == 400
    assert json.loads(text)["error"]
