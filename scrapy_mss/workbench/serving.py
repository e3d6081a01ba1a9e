"""The server of the workbench: its page and API on one free port of the loopback, pages on another.

Reading pages is slow, so requests are answered in a thread, one after the other, while the event
loop continues. If one fails, the error is logged and returned.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from asyncio import get_running_loop
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from scrapy_mss.workbench.api import ENDPOINTS, RequestError, WorkbenchState, answer
from scrapy_mss.workbench.drawing import (
    drawn_for_frame,
    frame_script,
    frame_style,
    hash_of,
    static_file,
)
from scrapy_mss.workbench.security import HOST, MAX_BYTES, Guard, Origins, frame_headers

logger = logging.getLogger(__name__)

T = TypeVar("T")
STATIC: Final = {
    "/": ("index.html", "text/html"),
    "/workbench.css": ("workbench.css", "text/css"),
    "/workbench.js": ("workbench.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def _application(state: WorkbenchState, origins: Origins) -> ASGIApp:
    """Both origins of the workbench, behind the guard."""
    state.frame = f"{origins.frame}/{origins.frame_token}"
    worker = ThreadPoolExecutor(1, "workbench")

    async def run(work: Callable[..., T], *arguments: object) -> T:
        return await get_running_loop().run_in_executor(worker, work, *arguments)

    return Guard(_ui(state, run), _frame(state, origins, run), origins)


def _ui(state: WorkbenchState, run: Callable[..., Any]) -> ASGIApp:
    async def api(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ENDPOINTS:
            return _json({"error": "there is no such endpoint"}, 404)
        try:
            values = await _values(request)
            return _json(await run(answer, name, values, state))
        except (ValueError, RecursionError) as error:  # a RequestError too
            return _json({"error": str(error)}, 400)
        except Exception as error:
            logger.exception("scrapy-mss: the workbench failed to answer %s", name)
            return _json({"error": f"{type(error).__name__}: {error}"}, 500)

    texts = {path: (static_file(name), kind) for path, (name, kind) in STATIC.items()}

    async def static(request: Request) -> Response:
        text, kind = texts[request.url.path]
        return Response(text, media_type=kind)

    return Starlette(
        routes=[
            *(Route(path, static) for path in texts),
            Route("/api/{name}", api, methods=["POST"]),
        ]
    )


def _frame(state: WorkbenchState, origins: Origins, run: Callable[..., Any]) -> ASGIApp:
    headers = frame_headers(origins, hash_of(frame_script()), hash_of(frame_style()))

    async def page(request: Request) -> Response:
        site, number = request.path_params["site"], request.path_params["number"]
        if not 0 <= number < len(state.pages.by_site.get(site, ())):
            return PlainTextResponse("there is no such page\n", 404, headers=headers)
        html = await run(lambda: drawn_for_frame(state.explained(site, number)))
        return HTMLResponse(html.encode("utf-8", "xmlcharrefreplace"), headers=headers)

    return Starlette(routes=[Route("/{token}/{site}/{number:int}", page)])


async def _values(request: Request) -> dict[str, Any]:
    """The object in the body of *request*, whose length may differ from what the header states."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BYTES:
            raise RequestError(f"expected at most {MAX_BYTES:,} bytes")
    values = json.loads(body)
    if not isinstance(values, dict):
        raise RequestError("expected an object")
    return values


def _json(values: dict[str, Any], status: int = 200) -> Response:
    text = json.dumps(values, ensure_ascii=True, allow_nan=False)
    return Response(text, status, media_type="application/json")


class Server(NamedTuple):
    """A server whose sockets listen already: a client that connects before it runs waits."""

    origins: Origins
    server: uvicorn.Server
    sockets: list[socket.socket]

    def run(self) -> None:
        """Answer requests until the server is stopped."""
        self.server.run(sockets=self.sockets)


@contextmanager
def serving(state: WorkbenchState, port: int = 0) -> Iterator[Server]:
    """A server that is ready to run; at the end its sockets are closed."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(_listening(each)) for each in (port, 0)]
        origins = Origins(*(each.getsockname()[1] for each in sockets))
        config = uvicorn.Config(
            _application(state, origins),
            log_config=None,  # uvicorn's own would close the handlers that this process has
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        yield Server(origins, uvicorn.Server(config), sockets)


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let another program listen there, too
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((HOST, port))
    found.listen()
    return found
