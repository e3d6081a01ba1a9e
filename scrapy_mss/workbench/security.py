"""Restricts access to the workbench to its own page; no other page in the browser has access.

Two origins on the loopback, each a port of its own. The *desk* serves the workbench's page, script
and answers; the *frame* serves untrusted pages, as rendered, to a sandboxed frame of the
desk. A request is answered if

    its Host is the address that was opened        no name that somebody points at 127.0.0.1
    its Origin is the desk's, if it has one        no form or script of another page
    Sec-Fetch-Site says the same, if it is there   no link or picture in another page
    it has the secret                              no other program or user of the machine; but one
                                                   that sees the command line of a browser that
                                                   was started for it (`--no-browser` starts none)

The secret of the desk is in the fragment of the address, which browsers never send, and then in
a header, which only a script of the desk's origin can set. A cookie would be sent to every port of
the host, including the frame's and other servers', and with every request that any page makes the
browser send. The secret of the frame is a part of its path. Only POST requests with JSON and an
Origin get answers.
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
MOST_BYTES: Final = 2**20  # of a request; a rule takes kilobytes
_SAME: Final = ("same-origin", "none")  # none: an address that the user has opened
_SAME_HOST: Final = ("same-origin", "same-site")


@dataclass(frozen=True, slots=True)
class Origins:
    """The two addresses, and the secrets that belong to them."""

    desk_port: int
    frame_port: int
    desk_token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)
    frame_token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)

    @property
    def desk(self) -> str:
        return f"http://{HOST}:{self.desk_port}"

    @property
    def frame(self) -> str:
        return f"http://{HOST}:{self.frame_port}"

    @property
    def address(self) -> str:
        """What the user opens."""
        return f"{self.desk}/#{self.desk_token}"


def desk_headers(origins: Origins) -> dict[str, str]:
    """The headers of all that the desk answers."""
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
    """The headers of a stranger's page; *scripts* and *styles* are the hashes of ours.

    The sandbox gives the page an origin of its own, which is nobody's. With ``allow-same-origin``
    its script could take the sandbox off.
    """
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src {scripts}; style-src {styles}; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {origins.desk}"
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
    """Hands on what may be asked; all else is refused with the reason, before its body is read."""

    def __init__(self, desk: ASGIApp, frame: ASGIApp, origins: Origins) -> None:
        self.desk, self.frame, self.origins = desk, frame, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request at either origin."""
        if scope["type"] != "http":
            return
        is_frame = scope["server"][1] == self.origins.frame_port
        refused = _refused_at_frame if is_frame else _refused_at_desk
        reason = refused(self.origins, scope["method"], scope["path"], Headers(scope=scope))
        if reason:
            answer = PlainTextResponse(f"refused: {reason}\n", 403, headers=_COMMON)
            await answer(scope, receive, send)
        elif is_frame:
            await self.frame(scope, receive, send)
        else:
            await self.desk(scope, receive, _with(desk_headers(self.origins), send))


def _with(headers: dict[str, str], send: Send) -> Send:
    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return send_with


def _refused_at_desk(origins: Origins, method: str, path: str, headers: Headers) -> str:
    """Why a request to the desk is not answered; empty if it is."""
    origin = headers.get("origin")
    if headers.get("host") != f"{HOST}:{origins.desk_port}":
        return "another host was asked for"
    if origin is not None and origin != origins.desk:
        return "it comes from another origin"
    if headers.get("sec-fetch-site", "none") not in _SAME:
        return "it comes from another site"
    if not path.startswith(API):
        return "" if method in ("GET", "HEAD") else "expected GET"
    return _refused_question(origins, method, headers)


def _refused_question(origins: Origins, method: str, headers: Headers) -> str:
    """Why a question is not answered; empty if it is."""
    if method != "POST":
        return "expected POST"
    if headers.get("origin") is None:
        return "it has no origin"
    if not compare_digest(
        headers.get(TOKEN_HEADER, "").encode("utf-8"), origins.desk_token.encode("ascii")
    ):
        return "the token is not that of the address which was opened"
    if headers.get("content-type") != "application/json":
        return "expected JSON"
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdigit() and int(length[:12]) <= MOST_BYTES):
        return f"expected a content-length of at most {MOST_BYTES:,} bytes"
    return ""


def _refused_at_frame(origins: Origins, method: str, path: str, headers: Headers) -> str:
    """Why a stranger's page is not shown; empty if it is."""
    token = path.removeprefix("/").partition("/")[0]
    if headers.get("host") != f"{HOST}:{origins.frame_port}":
        return "another host was asked for"
    if method != "GET":
        return "expected GET"
    if headers.get("sec-fetch-dest", "iframe") != "iframe":
        return "a page is shown in the workbench alone"
    if headers.get("sec-fetch-site", "same-site") not in _SAME_HOST:
        return "it comes from another site"
    if not compare_digest(token.encode("utf-8", "replace"), origins.frame_token.encode("ascii")):
        return "the token is not that of this workbench"
    return ""
