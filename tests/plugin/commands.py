"""Runs command lines of `scrapy mss`, one after the other, in one process.

    python commands.py LINES.json RESULTS.json

For those that fetch nothing: a reactor runs once in a process. Starting Python and Scrapy is what
takes the time of a command that only says what is wrong.
"""

from __future__ import annotations

import json
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from scrapy.cmdline import execute


def outcome(line: list[str]) -> dict[str, object]:
    out, err, code = StringIO(), StringIO(), None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            execute(["scrapy", "mss", *line])
        except SystemExit as end:
            code = end.code
        except Exception:  # noqa: BLE001 - it is the outcome
            traceback.print_exc()
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def main(lines: str, results: str) -> None:
    found = [outcome(line) for line in json.loads(Path(lines).read_text())]
    Path(results).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
