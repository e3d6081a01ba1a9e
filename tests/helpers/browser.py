"""Documents in a real Chromium, with a tripwire around each.

A local server gives one page with a frame for each document. In a frame, `top.tripped(number)`
records a call; so do dialogs, and so does any request for the document's own address on the server.
After all is loaded everything is clicked, pointed at and focused that does not lead away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from email.message import Message
from html import escape
from typing import TYPE_CHECKING

import pytest

from research.rendering.browser import chromium
from tests.helpers.local_server import Answer, answering

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SECONDS = 120  # for one answer, on a machine that has much else to do
SETTLED = 3000  # milliseconds after which what was loaded, or provoked, has run
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

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
function provokeAll() {
  for (const frame of document.querySelectorAll("iframe")) {
    try { provoke(frame); } catch (error) { console.log(error); }
  }
}
</script><body>
"""


def tripped(documents: Callable[[str], Sequence[str]]) -> set[int]:
    """Which of the *documents* ran something, by their numbers.

    They are made for the address of the server; document n may ask for that address, a slash and n.
    """
    asked, pages = set[str](), [b""]
    with noting(pages, asked) as address, browser() as chrome:
        frames = [f'<iframe srcdoc="{escape(each)}"></iframe>' for each in documents(address)]
        pages[0] = (PAGE + "\n".join(frames)).encode("utf-8", "replace")
        page = chrome.new_page()
        page.set_default_timeout(1000 * SECONDS)
        page.goto(address)
        page.wait_for_timeout(SETTLED)
        page.evaluate("provokeAll()")
        page.wait_for_timeout(SETTLED)
        called = page.evaluate("[...tripped_by]")
    return {*called, *(int(path) for path in asked if path.isdecimal())}


def noting(pages: list[bytes], asked: set[str]) -> AbstractContextManager[str]:
    """The address of a server that gives the one of *pages* at /, and notes what is *asked* for."""

    def answer(path: str, _headers: Message) -> Answer:
        asked.add(path.removeprefix("/"))
        head = {"Content-Type": "text/html; charset=utf-8"}
        return (404, head, b"") if path != "/" else (200, head, pages[0])

    return answering(answer)


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium that reaches this machine alone."""
    options = [NO_NETWORK, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=chromium(), args=options, timeout=1000 * SECONDS
        )
        try:
            yield found
        finally:
            found.close()
