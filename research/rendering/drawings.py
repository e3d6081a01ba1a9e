"""Drawings kept in a folder, by a hash of the page: a set is drawn once.

A file's folder has a hash of how pages are drawn (the browser's options, the window, the script),
so that a change of these begins anew; the browser's version is in its name. Pages that cannot be
drawn are kept with their reason. A file is replaced in one step; one that cannot be read is drawn
again.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

from research.rendering import browser
from research.rendering.browser import Browser
from research.rendering.drawing import FORMAT, BadFileError, Drawing, Failure, from_bytes, to_bytes
from research.rendering.script import COLLECT
from scrapy_mss.models.files import write_atomically

FOLDER: Final = Path("build/drawings")
SETS: Final = "articles_wcxb,sites_ctf,articles_l3s"  # that VIPS is measured on


class Drawings:
    """Drawings in *folder*; a browser is started when one is missing, and kept for the next."""

    def __init__(self, folder: Path, seconds: float = browser.SECONDS) -> None:
        self.folder = folder / settings()
        self.seconds = seconds
        self._browser: Browser | None = None

    def close(self) -> None:
        """End the browser, if there is one."""
        if self._browser is not None:
            self._browser.close()
            self._browser = None

    def path(self, html: str) -> Path:
        """Where the drawing of *html* is kept."""
        key = blake2b(html.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self.folder / f"{key}.json.gz"

    def of(self, html: str) -> Drawing | Failure:
        """The drawing of *html*, or why there is none."""
        path = self.path(html)
        kept = _read(path)
        if kept is None:
            if self._browser is None:
                self._browser = Browser(self.seconds)
            kept = self._browser.draw(html)
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, to_bytes(kept))
        return kept


@contextmanager
def opened(folder: Path) -> Iterator[Drawings]:
    """The drawings in *folder*, without a browser in the end."""
    drawings = Drawings(folder)
    try:
        yield drawings
    finally:
        drawings.close()


def settings() -> str:
    """The version of the browser, and a hash of how it draws."""
    parts = (*browser.OPTIONS, browser.POLICY, str(browser.WIDTH), COLLECT, str(FORMAT))
    return f"{version()}-{blake2b(' '.join(parts).encode(), digest_size=4).hexdigest()}"


def version() -> str:
    """The version of the browser."""
    program = browser.chromium()
    if program is None:
        return "none"
    said = subprocess.run(  # noqa: S603 - the browser's own name
        [program, "--version"], capture_output=True, text=True, check=False
    )
    found = re.search(r"\d+(\.\d+)+", said.stdout)
    return found[0] if found else "unknown"


def _read(path: Path) -> Drawing | Failure | None:
    try:
        return from_bytes(path.read_bytes())
    except (OSError, BadFileError):
        return None
