"""Requests -> answers, on two free ports of the loopback: the desk's page and questions, the frame.

Reading pages is slow, so questions are answered in a thread, one after the other, while the event
loop continues. If a question fails, the error is logged and returned.
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

from scrapy_mss.workbench.answers import ANSWERS, QuestionError, answer
from scrapy_mss.workbench.bench import WorkbenchState
from scrapy_mss.workbench.drawing import frame_script, frame_style, hash_of, static_file
from scrapy_mss.workbench.security import HOST, MOST_BYTES, Guard, Origins, frame_headers

logger = logging.getLogger(__name__)

T = TypeVar("T")
STATIC: Final = {
    "/": ("index.html", "text/html"),
    "/workbench.css": ("workbench.css", "text/css"),
    "/workbench.js": ("workbench.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def _application(bench: WorkbenchState, origins: Origins) -> ASGIApp:
    """Both origins of the workbench, behind the guard."""
    bench.frame = f"{origins.frame}/{origins.frame_token}"
    worker = ThreadPoolExecutor(1, "workbench")

    async def ask(work: Callable[..., T], *arguments: object) -> T:
        return await get_running_loop().run_in_executor(worker, work, *arguments)

    return Guard(_desk(bench, ask), _frame(bench, origins, ask), origins)


def _desk(bench: WorkbenchState, ask: Callable[..., Any]) -> ASGIApp:
    async def question(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ANSWERS:
            return _json({"error": "there is no such question"}, 404)
        try:
            values = _values(await _body(request))
            return _json(await ask(answer, name, values, bench))
        except (ValueError, RecursionError) as error:  # a QuestionError too
            return _json({"error": str(error)}, 400)
        except Exception as error:
            logger.exception("scrapy-mss: the workbench cannot answer %s", name)
            return _json({"error": f"{type(error).__name__}: {error}"}, 500)

    texts = {path: (static_file(name), kind) for path, (name, kind) in STATIC.items()}

    async def static(request: Request) -> Response:
        text, kind = texts[request.url.path]
        return Response(text, media_type=kind)

    return Starlette(
        routes=[
            *(Route(path, static) for path in texts),
            Route("/api/{name}", question, methods=["POST"]),
        ]
    )


def _frame(bench: WorkbenchState, origins: Origins, ask: Callable[..., Any]) -> ASGIApp:
    headers = frame_headers(origins, hash_of(frame_script()), hash_of(frame_style()))

    async def page(request: Request) -> Response:
        site, number = request.path_params["site"], request.path_params["number"]
        if not 0 <= number < len(bench.pages.by_site.get(site, ())):
            return PlainTextResponse("there is no such page\n", 404, headers=headers)
        html = await ask(bench.drawn, site, number)
        return HTMLResponse(html.encode("utf-8", "xmlcharrefreplace"), headers=headers)

    return Starlette(routes=[Route("/{token}/{site}/{number:int}", page)])


async def _body(request: Request) -> bytes:
    """The body of *request*, whatever length it states."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise QuestionError(f"expected at most {MOST_BYTES:,} bytes")
    return bytes(body)


def _values(body: bytes) -> dict[str, Any]:
    values = json.loads(body)
    if not isinstance(values, dict):
        raise QuestionError("expected an object")
    return values


def _json(values: dict[str, Any], status: int = 200) -> Response:
    text = json.dumps(values, ensure_ascii=True, allow_nan=False)
    return Response(text, status, media_type="application/json")


class Server(NamedTuple):
    """A server whose sockets listen already: who connects before it runs waits for a moment."""

    origins: Origins
    server: uvicorn.Server
    sockets: list[socket.socket]

    def run(self) -> None:
        """Answer until the server is told to end."""
        self.server.run(sockets=self.sockets)


def serve(bench: WorkbenchState, ready: Callable[[str], None], port: int = 0) -> None:
    """Serve *bench*, the desk on *port* or a free one; *ready* gets the address to open."""
    with prepared(bench, port) as server:
        ready(server.origins.address)
        server.run()


@contextmanager
def prepared(bench: WorkbenchState, port: int = 0) -> Iterator[Server]:
    """A server for *bench* that is still to run; at the end its sockets are closed."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(_listening(each)) for each in (port, 0)]
        desk, frame = (each.getsockname()[1] for each in sockets)
        origins = Origins(desk, frame)
        config = uvicorn.Config(
            _application(bench, origins),
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
