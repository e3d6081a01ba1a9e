"""A Chromium without scripts and network that draws one page after the other.

The browser is a process of ours, to which playwright-python speaks the DevTools protocol: a page
whose layout takes too long is ended with it, whatever the browser is doing, and the next page gets
a new one. Selenium needs a second program (chromedriver), has no switch for scripts, and bounds
the loading of a page alone.

Nothing is fetched, in three ways: no host has an address, every request but that for the page is
aborted, and the page's policy allows what it holds itself alone. The policy's sandbox also keeps
the page from being left by a refresh.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any, Final
from weakref import finalize

from research.errors import UserError, require
from research.rendering.drawing import Box, Drawing, Failure
from research.rendering.script import COLLECT

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH: Final = 1280
HEIGHT: Final = 1024
SECONDS: Final = 30.0  # for a page, at most
CONNECTING: Final = 40.0  # seconds for each of the TRIES
TRIES: Final = 4
STARTING: Final = 180.0  # seconds, at most: beside other work it may take more than half a minute
MESSAGE_LENGTH: Final = 200
ADDRESS: Final = "http://page.test/"
POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
)
OPTIONS: Final = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-port=0",
)


def chromium() -> str | None:
    """Where the browser is; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """Draws pages, each in a window of its own, until it is closed.

    Playwright has a thread of its own: it leaves an event loop in the one that it is used in.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._api = require("playwright.sync_api", "drawing pages")
        self._thread = ThreadPoolExecutor(1)
        self._playwright: Any = None
        self._process: _Process | None = None
        self._browser: Any = None

    def close(self) -> None:
        """End the browser, and what speaks to it."""
        self._end()
        if self._playwright is not None:
            self._thread.submit(self._playwright.stop).result()
        self._thread.shutdown()

    def draw(self, html: str) -> Drawing | Failure:
        """*html* as it is drawn, or why it is not."""
        process = self._process or self._thread.submit(self._started).result()
        drawn = self._thread.submit(self._drawn, html)
        in_time, _ = wait([drawn], self.seconds)
        if not in_time:
            process.end()  # which ends the drawing, too
        try:
            return drawn.result()
        except self._api.Error as error:
            self._end()  # whatever state it is in
            if not in_time:
                return Failure(f"not drawn in {self.seconds:g} s")
            return Failure((str(error).splitlines() or ["without a message"])[0][:MESSAGE_LENGTH])

    def _drawn(self, html: str) -> Drawing | Failure:
        start = perf_counter()
        window = {"width": WIDTH, "height": HEIGHT}
        context = self._browser.new_context(java_script_enabled=False, viewport=window)
        context.set_default_timeout(0)  # the caller has the clock
        context.route("**/*", lambda route: _answer(route, html))
        page = context.new_page()
        page.goto(ADDRESS, wait_until="load")
        found = page.evaluate(COLLECT)
        context.close()
        if "failure" in found:
            return Failure(found["failure"])
        found["box"] = [Box(*each) for each in found["box"]]
        return Drawing(**found, milliseconds=round((perf_counter() - start) * 1000, 1))

    def _started(self) -> _Process:
        if self._playwright is None:
            self._playwright = self._api.sync_playwright().start()
        for _ in range(TRIES - 1):
            try:
                return self._connected()
            except self._api.Error:  # now and then one that has just started never answers
                self._end()
        return self._connected()

    def _connected(self) -> _Process:
        process = self._process = _Process()
        connect = self._playwright.chromium.connect_over_cdp
        self._browser = connect(process.address(), timeout=1000 * CONNECTING)
        return process

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process.remove()
            self._process = None


def _answer(route: Any, html: str) -> None:  # noqa: ANN401 - playwright may be missing
    """Give the page at its address, and nothing else."""
    if route.request.url != ADDRESS or not route.request.is_navigation_request():
        route.abort()
        return
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": POLICY,
    }
    route.fulfill(status=200, headers=headers, body=html.encode("utf-8", "replace"))


class _Process:
    """The browser, in a process group of its own, with a profile that is thrown away."""

    def __init__(self) -> None:
        program = chromium()
        if program is None:
            raise UserError(f"drawing pages needs one of {', '.join(NAMES)}; install chromium")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # which root cannot have
        command = [program, *OPTIONS, *sandbox, f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(  # noqa: S603 - a browser, with options of ours
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.end = finalize(self, _kill, self._process)  # when Python ends, at the latest

    def address(self) -> str:
        """Where it listens, on the loopback interface, at a port that it has chosen."""
        file, end = Path(self._profile.name) / "DevToolsActivePort", monotonic() + STARTING
        while monotonic() < end and self._process.poll() is None:
            lines = file.read_text().splitlines() if file.exists() else []
            if len(lines) > 1:  # the second line says that the first is whole
                return f"http://127.0.0.1:{lines[0]}"
            sleep(0.05)
        self.end()
        raise UserError("the browser has not started; try `chromium --headless --dump-dom`")

    def remove(self) -> None:
        """Remove its profile."""
        self._profile.cleanup()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
