"""The server of the workbench: its page and API on one free port of the loopback, pages on another.

Reading pages is slow, so requests are answered in a thread, one after the other, while the event
loop continues. If one fails, the error is logged and returned.

Only the workbench's own page has access, no other page in the browser. The UI origin serves that
page, its script and the API; the frame origin serves untrusted pages, as they are drawn, to a
sandboxed frame of the UI. A request is allowed if

    its Host is the address that was opened        no DNS rebinding
    its Origin is that of the UI, if it has one    no form or script of another page
    Sec-Fetch-Site agrees, if it is there          no link or image in another page
    it has the token                               no other program or user of the machine, unless
                                                   it sees the command line of the browser that is
                                                   started (`--no-browser` starts none)

The token of the UI is in the fragment of the address, which browsers never send, and then in a
header, which only a script of the UI origin can set. A cookie would be sent to every port of the
host, including the frame's and other servers', and with every request that any page makes the
browser send. The token of the frame is a part of its path. The API allows only POST requests with
JSON and an Origin.
"""

from __future__ import annotations

import json
import logging
from asyncio import get_running_loop
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from secrets import compare_digest, token_urlsafe
from socket import create_server, socket
from typing import Any, Final, NamedTuple, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrapy_mss.workbench.api import ENDPOINTS, RequestError, WorkbenchState, answer
from scrapy_mss.workbench.drawing import (
    FRAME_SCRIPT,
    drawn_for_frame,
    frame_style,
    hash_of,
    static_file,
)

logger = logging.getLogger(__name__)

T = TypeVar("T")
HOST: Final = "127.0.0.1"
TOKEN_HEADER: Final = "x-workbench-token"  # noqa: S105 - the name of a header
API: Final = "/api/"
MAX_BYTES: Final = 2**20  # of a request; a rule takes kilobytes
STATIC: Final = {
    "/": ("index.html", "text/html"),
    "/workbench.css": ("workbench.css", "text/css"),
    "/workbench.js": ("workbench.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def _application(state: WorkbenchState, origins: Origins) -> ASGIApp:
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
    headers = frame_headers(origins, hash_of(static_file(FRAME_SCRIPT)), hash_of(frame_style()))

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
    sockets: list[socket]

    def run(self) -> None:
        self.server.run(sockets=self.sockets)


@contextmanager
def serving(state: WorkbenchState, port: int = 0) -> Iterator[Server]:
    """A server that is ready to run; at the end its sockets are closed."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(create_server((HOST, each))) for each in (port, 0)]
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


@dataclass(frozen=True, slots=True)
class Origins:
    """The two addresses, and their tokens."""

    ui_port: int
    frame_port: int
    ui_token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)
    frame_token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)

    @property
    def ui(self) -> str:
        return f"http://{HOST}:{self.ui_port}"

    @property
    def frame(self) -> str:
        return f"http://{HOST}:{self.frame_port}"

    @property
    def address(self) -> str:
        return f"{self.ui}/#{self.ui_token}"


def ui_headers(origins: Origins) -> dict[str, str]:
    """The headers of every response of the UI origin."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        f"connect-src 'self'; frame-src {origins.frame}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        **_COMMON,
    }


def frame_headers(origins: Origins, scripts: str, styles: str) -> dict[str, str]:
    """The headers of an untrusted page; *scripts* and *styles* are the hashes of ours.

    The sandbox gives the page an opaque origin; with ``allow-same-origin``, a script that ran there
    could remove the sandbox.
    """
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src {scripts}; style-src {styles}; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {origins.ui}"
    )
    return {
        "content-security-policy": policy,
        "cross-origin-resource-policy": "same-site",
        **_COMMON,
    }


_COMMON: Final = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Guard:
    """Passes allowed requests on; rejects others with the reason, before their body is read."""

    def __init__(self, ui: ASGIApp, frame: ASGIApp, origins: Origins) -> None:
        self.ui, self.frame, self.origins = ui, frame, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        is_frame = scope["server"][1] == self.origins.frame_port
        check = _rejected_by_frame if is_frame else _rejected_by_ui
        reason = check(self.origins, scope["method"], scope["path"], Headers(scope=scope))
        if reason:
            answer = PlainTextResponse(f"rejected: {reason}\n", 403, headers=_COMMON)
            await answer(scope, receive, send)
        elif is_frame:
            await self.frame(scope, receive, send)
        else:
            await self.ui(scope, receive, _with(ui_headers(self.origins), send))


def _with(headers: dict[str, str], send: Send) -> Send:
    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return send_with


def _rejected_by_ui(origins: Origins, method: str, path: str, headers: Headers) -> str:
    """Why the UI origin rejects a request; empty if it does not."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    is_api = path.startswith(API)
    wrong = (
        (headers.get("host") != f"{HOST}:{origins.ui_port}", "unexpected Host header"),
        (origin not in (None, origins.ui), "it comes from another origin"),
        # none: an address that the user has opened
        (site not in ("same-origin", "none"), "it comes from another site"),
        (not is_api and method not in ("GET", "HEAD"), "expected GET"),
    )
    return _first(wrong) or (_rejected_by_api(origins, method, headers) if is_api else "")


def _rejected_by_api(origins: Origins, method: str, headers: Headers) -> str:
    length = headers.get("content-length", "")
    is_short = length.isascii() and length.isdigit() and int(length[:12]) <= MAX_BYTES
    wrong = (
        (method != "POST", "expected POST"),
        (headers.get("origin") is None, "it has no origin"),
        (not _is_token(headers.get(TOKEN_HEADER, ""), origins.ui_token), "invalid token"),
        (headers.get("content-type") != "application/json", "expected JSON"),
        (not is_short, f"expected a content-length of at most {MAX_BYTES:,} bytes"),
    )
    return _first(wrong)


def _rejected_by_frame(origins: Origins, method: str, path: str, headers: Headers) -> str:
    """Why an untrusted page is not shown; empty if it is."""
    token, site = path.removeprefix("/").partition("/")[0], headers.get("sec-fetch-site")
    is_framed = headers.get("sec-fetch-dest", "iframe") == "iframe"
    wrong = (
        (headers.get("host") != f"{HOST}:{origins.frame_port}", "unexpected Host header"),
        (method != "GET", "expected GET"),
        (not is_framed, "pages are shown only in the workbench"),
        (site not in ("same-origin", "same-site", None), "it comes from another site"),
        (not _is_token(token, origins.frame_token), "invalid token"),
    )
    return _first(wrong)


def _first(wrong: Iterable[tuple[bool, str]]) -> str:
    return next((reason for is_wrong, reason in wrong if is_wrong), "")


def _is_token(given: str, token: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), token.encode("ascii"))
