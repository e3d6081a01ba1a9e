"""Documents in a real Chromium, headless, with a tripwire around each.

A local server gives one page with a frame for each document. In a frame, `top.tripped(number)`
records a call; so do dialogs, and so does any request for the document's own address on the server.
After all is loaded everything is clicked, pointed at and focused that does not lead away.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from html import escape, unescape
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from research.rendering.browser import chromium
from tests.helpers.local_server import serving

SECONDS = 180  # for all documents together; they take some ten
VIRTUAL_MILLISECONDS = 15_000  # the page's own clock, which runs ahead while nothing is loaded
_REPORT = re.compile(r'<pre id="report">(.*?)</pre>', re.DOTALL)

PAGE = """<!DOCTYPE html><meta charset=utf-8><title>tripwire</title>
<script>
const tripped_by = new Set();
function tripped(number) { tripped_by.add(Number(number)); }
for (const name of ["alert", "confirm", "prompt"]) window[name] = tripped;
function provoke(frame) {
  const inside = frame.contentDocument;
  if (!inside || !inside.body) return;
  for (const element of inside.querySelectorAll("*")) {
    const leads = element.getAttribute("href") || "";
    for (const event of ["mouseover", "mouseenter", "pointerover"])
      element.dispatchEvent(new MouseEvent(event, {bubbles: true}));
    if (element.focus) element.focus();
    if (element.click && !/^\\s*(https?|mailto):/i.test(leads)) element.click();
  }
}
addEventListener("load", () => setTimeout(() => {
  for (const frame of document.querySelectorAll("iframe")) {
    try { provoke(frame); } catch (error) { console.log(error); }
  }
  setTimeout(() => {
    const report = document.createElement("pre");
    report.id = "report";
    report.textContent = JSON.stringify([...tripped_by]);
    document.body.replaceChildren(report);
  }, 3000);
}, 3000));
</script><body>
"""


def tripped(documents: Callable[[str], Sequence[str]], folder: Path) -> set[int]:
    """Which of the *documents* ran something, by their numbers.

    They are made for the address of the server; document n may ask for that address, a slash and n.
    """
    asked, pages = set[str](), [b""]
    with serving(partial(Noting, pages, asked)) as address:
        frames = [f'<iframe srcdoc="{escape(each)}"></iframe>' for each in documents(address)]
        page = PAGE + "\n".join(frames)
        pages[0] = page.encode("utf-8", "replace")
        called = _called(f"{address}/", folder)
    return called | {int(path) for path in asked if path.isdecimal()}


def _called(address: str, folder: Path) -> set[int]:
    browser = chromium()
    assert browser is not None
    options = [
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--user-data-dir={folder}",
        f"--virtual-time-budget={VIRTUAL_MILLISECONDS}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),  # which root cannot have
        "--dump-dom",
    ]
    done = subprocess.run(
        [browser, *options, address], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    found = _REPORT.search(done.stdout)
    assert found, f"the browser has not reported: {done.stdout[-500:]!r} {done.stderr[-2000:]}"
    return set(json.loads(unescape(found[1])))


class Noting(BaseHTTPRequestHandler):
    """Gives the one of *pages* at /, and notes what is asked for."""

    def __init__(self, pages: list[bytes], asked: set[str], *arguments: object) -> None:
        self._pages, self._asked = pages, asked
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer; HTTP methods are called so by the base class."""
        path = self.path.removeprefix("/")
        self._asked.add(path)
        self.send_response(404 if path else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"" if path else self._pages[0])

    do_POST = do_GET  # noqa: N815 - the base class calls it so

    def log_message(self, *_: object) -> None:
        """Say nothing."""
