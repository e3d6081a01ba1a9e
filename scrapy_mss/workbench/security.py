"""Restricts access to the workbench to its own page; no other page in the browser has access.

Two origins on the loopback interface, with a port each. The UI origin serves the workbench's own
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

from dataclasses import dataclass, field
from secrets import compare_digest, token_urlsafe
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST: Final = "127.0.0.1"
TOKEN_HEADER: Final = "x-workbench-token"  # noqa: S105 - the name of a header
API: Final = "/api/"
MAX_BYTES: Final = 2**20  # of a request; a rule takes kilobytes


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
        """Answer a request at either origin."""
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
    origin = headers.get("origin")
    if headers.get("host") != f"{HOST}:{origins.ui_port}":
        return "unexpected Host header"
    if origin is not None and origin != origins.ui:
        return "it comes from another origin"
    # none: an address that the user has opened
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return "it comes from another site"
    if not path.startswith(API):
        return "" if method in ("GET", "HEAD") else "expected GET"
    return _rejected_by_api(origins, method, headers)


def _rejected_by_api(origins: Origins, method: str, headers: Headers) -> str:
    """Why the API rejects a request; empty if it does not."""
    if method != "POST":
        return "expected POST"
    if headers.get("origin") is None:
        return "it has no origin"
    if not compare_digest(
        headers.get(TOKEN_HEADER, "").encode("utf-8"), origins.ui_token.encode("ascii")
    ):
        return "invalid token"
    if headers.get("content-type") != "application/json":
        return "expected JSON"
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdigit() and int(length[:12]) <= MAX_BYTES):
        return f"expected a content-length of at most {MAX_BYTES:,} bytes"
    return ""


def _rejected_by_frame(origins: Origins, method: str, path: str, headers: Headers) -> str:
    """Why an untrusted page is not shown; empty if it is."""
    token = path.removeprefix("/").partition("/")[0]
    if headers.get("host") != f"{HOST}:{origins.frame_port}":
        return "unexpected Host header"
    if method != "GET":
        return "expected GET"
    if headers.get("sec-fetch-dest", "iframe") != "iframe":
        return "pages are shown only in the workbench"
    if headers.get("sec-fetch-site", "same-site") not in ("same-origin", "same-site"):
        return "it comes from another site"
    if not compare_digest(token.encode("utf-8", "replace"), origins.frame_token.encode("ascii")):
        return "invalid token"
    return ""
