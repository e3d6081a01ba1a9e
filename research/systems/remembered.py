"""Answers of a system that learns nothing, kept in a file by a hash of the page.

A foreign library gives the same text for the same page, however often ours is changed and
measured beside it; some of them take a tenth of a second a page. The file's name has a hash of the
library's version and of the settings that it is used with, so that a new version starts a new file.
Each answer is a line of its own, written as soon as it is known; one that a crash cut off is asked
for again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from research.systems import create, external
from research.systems.base import TextExtractor

# What a spec's library is called where it is installed; a name that is not here is its own.
PACKAGES: Final = {"readability": "readability-lxml", "justext": "jusText"}


class Remembered:
    """The system *spec*, asked once about each page; its answers are in *folder*."""

    def __init__(self, spec: str, folder: Path) -> None:
        self.spec = spec
        self.path = folder / f"{spec.replace(':', '_')}-{_settings(spec)}.jsonl"
        self.answers = _read(self.path)
        self._system: TextExtractor | None = None

    def extract(self, html: str) -> str:
        """The text of *html*; nothing where the system fails."""
        key = blake2b(html.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        if key not in self.answers:
            self.answers[key] = self._ask(html)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps([key, self.answers[key]]))
        return self.answers[key]

    def _ask(self, html: str) -> str:
        if self._system is None:
            self._system = create(self.spec)
        try:
            return self._system.extract(html)
        except Exception:  # noqa: BLE001 - whatever it raises, the page has no text by it
            return ""


def _settings(spec: str) -> str:
    """A hash of how *spec* is used: the code that calls its library, and the library's version."""
    name = spec.partition("-")[0]
    settings = Path(external.__file__).read_bytes()
    with suppress(PackageNotFoundError):
        settings += version(PACKAGES.get(name, name)).encode()
    return blake2b(settings, digest_size=4).hexdigest()


def _read(path: Path) -> dict[str, str]:
    """The answers in the file *path*."""
    answers = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):
                key, text = json.loads(line)
                answers[key] = text
    return answers
