from __future__ import annotations

import io

import pytest

from research.bench import progress
from research.bench.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_where_there_is_no_terminal() -> None:
    stream = io.StringIO()

    bar = Progress(2, stream)
    bar.advance(2, "system")
    bar.close()

    assert not stream.getvalue()


def test_a_terminal_sees_the_bar_and_then_an_empty_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    stream = Terminal()

    bar = Progress(4, stream)
    bar.advance(1, "system")
    bar.close()

    assert "[######..................] 1/4 pages, " in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_the_time_left_follows_from_the_time_so_far() -> None:
    bar = Progress(4, io.StringIO())
    bar.advance(1, "system")

    line = bar.line(bar.start + 30, "system")

    assert line == "[######..................] 1/4 pages, 1:30 left, system"
