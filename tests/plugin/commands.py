"""Runs command lines of `scrapy mss`, one after the other, each in a copy of this process.

    python commands.py LINES.json RESULTS.json

Starting Python and importing Scrapy is what takes the time of a short command. A reactor, which
runs once in a process, is each copy's own.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import entry_points
from pathlib import Path

from scrapy.cmdline import execute

from scrapy_mss.commands import ACTIONS, load_action
from scrapy_mss.models.bundled import bundled_model
from tests.plugin.forking import import_what_is_needed, redirect


def outcome(line: list[str], folder: Path) -> dict[str, object]:
    out, err = folder / "out.txt", folder / "err.txt"
    pid = os.fork()
    if not pid:
        redirect(os.devnull, str(out), str(err))
        execute(["scrapy", "mss", *line])  # which ends the process
    _, status = os.waitpid(pid, 0)
    told = {"out": out.read_text(), "err": err.read_text()}
    out.unlink()
    err.unlink()
    return {"code": os.waitstatus_to_exitcode(status), **told}


def main(lines: str, results: str) -> None:
    import_what_is_needed()
    for command in entry_points(group="scrapy.commands"):
        command.load()
    for action in ACTIONS:
        load_action(action)
    bundled_model()  # which a process keeps
    path = Path(results)
    found = [outcome(line, path.parent) for line in json.loads(Path(lines).read_text())]
    path.write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
