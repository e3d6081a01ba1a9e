"""A workbench that is served on the loopback, and pages for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Thread
from typing import Any

from scrapy_mss import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.workbench.api import Pages, WorkbenchState
from scrapy_mss.workbench.serving import HOST, TOKEN_HEADER, Origins, serving
from tests.helpers.news_pages import news_page

SITE = "one.example"
ADDRESS = f"https://{SITE}/news/%d"


def news(numbers: Iterable[int] = range(6)) -> list[StoredPage]:
    """Pages of one made-up site."""
    return [StoredPage(ADDRESS % n, news_page(n).html) for n in numbers]


def workbench(pages: Iterable[StoredPage], folder: Path) -> WorkbenchState:
    """A workbench with *pages*; all that it writes is in *folder*."""
    found = Pages(40)
    found.add(pages)
    return WorkbenchState(found, Extractor(), folder / "rules")


@contextmanager
def served(state: WorkbenchState) -> Iterator[Origins]:
    """The addresses of the workbench while it is served."""
    with serving(state) as server:
        thread = Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield server.origins
        finally:
            server.server.should_exit = True
            thread.join()


def request(
    port: int, line: str, headers: dict[str, str] | None = None, body: bytes = b""
) -> tuple[HTTPResponse, bytes]:
    """The answer to a request and its body; *line* is as in ``GET /``, *headers* replace ours."""
    method, path = line.split(" ")
    connection = HTTPConnection(HOST, port)
    try:
        sent = {"Host": f"{HOST}:{port}", **(headers or {})}
        connection.request(method, path, body or None, sent)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def api_headers(origins: Origins) -> dict[str, str]:
    """The headers of the workbench's own page."""
    return {
        "Origin": origins.ui,
        TOKEN_HEADER: origins.ui_token,
        "Content-Type": "application/json",
    }


def asked(origins: Origins, name: str, **values: object) -> dict[str, Any]:
    """The answer of the API to a request of the workbench's own page."""
    body = json.dumps(values).encode()
    headers = api_headers(origins)
    answer, text = request(origins.ui_port, f"POST /api/{name}", headers, body)
    assert answer.status == 200, text
    found: dict[str, Any] = json.loads(text)
    return found
