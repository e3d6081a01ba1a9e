"""A progress bar on a terminal; silence everywhere else."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Final, TextIO

WIDTH: Final = 24
EVERY: Final = 0.1  # seconds between two drawings


class Progress:
    """Counts pages; `contextlib.closing` wipes the line at the end."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        """Count up to *total* pages; draw on *stream* (stderr) if that is a terminal."""
        self._total = max(1, total)
        self._stream = stream or sys.stderr
        self._shown = self._stream.isatty()
        self._done = 0
        self.start = self._drawn = monotonic()

    def close(self) -> None:
        """Wipe the line."""
        if self._shown:
            print("\r\x1b[K", end="", file=self._stream, flush=True)

    def advance(self, pages: int, label: str) -> None:
        """Count *pages* more, done by the system *label*."""
        self._done += pages
        now = monotonic()
        if self._shown and now - self._drawn >= EVERY:
            self._drawn = now
            print(f"\r\x1b[K{self.line(now, label)}", end="", file=self._stream, flush=True)

    def line(self, now: float, label: str) -> str:
        """The bar as text: how much is done and how long the rest will take."""
        share = self._done / self._total
        left = (now - self.start) * (1 / share - 1) if share else 0.0
        bar = ("#" * round(WIDTH * share)).ljust(WIDTH, ".")
        minutes, seconds = divmod(round(left), 60)
        count = f"{self._done}/{self._total} pages"
        return f"[{bar}] {count}, {minutes}:{seconds:02} left, {label}"[:79]
