"""The demo web's server in a process of its own, for tests and scripts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
READY = re.compile(r"demo web: (http://\S+)")
SECONDS = 10  # for stopping


class ServerError(Exception):
    """The server did not start."""


@contextmanager
def running(sites: Iterable[str] = ()) -> Iterator[str]:
    """Start a server on a free port, for all sites or some; its address is also its proxy address.

    The child stops when the block ends, and also when this process dies: it reads its standard
    input, which then ends.
    """
    command = [sys.executable, "-m", "demo_web", "serve", "--port", "0", "--while-input"]
    chosen = ",".join(sites)
    if chosen:
        command += ["--sites", chosen]
    with subprocess.Popen(  # noqa: S603 - our own module
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            process.wait(SECONDS)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    ready = READY.match(line)
    if not ready:
        raise ServerError(
            f"expected the line 'demo web: http://…' from {process.args!r}, got {line!r}; "
            "what went wrong is on standard error"
        )
    return ready[1]
