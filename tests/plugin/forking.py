"""Runs crawls and commands, each in a copy of this process, which has imported what all need.

    python forking.py

Starting Python and importing Scrapy is what takes the time of a short one. A line of standard input
names the folder, the environment, the program and its arguments, and the files for what is printed;
a line of standard output tells the exit code.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any

from scrapy.cmdline import execute

from scrapy_mss.commands import ACTIONS
from scrapy_mss.metadata.languages import detector
from tests.plugin import crawler

# Of these, what a version of Scrapy has not, a crawl does without.
NEEDED = """
    py3langid.langid requests
    scrapy.addons scrapy.core.engine scrapy.core.scraper scrapy.core.downloader
    scrapy.core.downloader.handlers.http11 scrapy.downloadermiddlewares.cookies
    scrapy.downloadermiddlewares.httpcompression scrapy.downloadermiddlewares.httpproxy
    scrapy.downloadermiddlewares.redirect scrapy.downloadermiddlewares.retry
    scrapy.downloadermiddlewares.robotstxt scrapy.extensions.corestats
    scrapy.extensions.feedexport scrapy.extensions.logstats scrapy.extensions.memusage
    scrapy.extensions.telnet scrapy.extensions.throttle scrapy.pqueues scrapy.resolver
    scrapy.spidermiddlewares.depth scrapy.spidermiddlewares.referer scrapy.squeues
    scrapy_mss.addon scrapy_mss.article scrapy_mss.downloadermiddlewares scrapy_mss.pipelines
    scrapy_mss.spidermiddlewares
""".split()
PACKAGES = "crawl metadata models quality seen sites storage".split()


def become(asked: dict[str, Any]) -> None:
    """Let this process be as if it were started for what is *asked*."""
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    for number, path in enumerate((os.devnull, *asked["files"])):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)


def crawls(arguments: list[str]) -> int:
    crawler.main(*arguments)
    return 0


def scrapy(arguments: list[str]) -> int:
    try:
        execute(["scrapy", *arguments])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 1


PROGRAMS = {"crawls": crawls, "scrapy": scrapy}


def exit_code(program: str, arguments: list[str]) -> int:
    try:
        return PROGRAMS[program](arguments)
    except Exception:  # noqa: BLE001 - it is what comes of it
        traceback.print_exc()
        return 1


def end(code: int) -> None:
    """End a copy at once: to take apart all that it has imported takes longer than many a crawl."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def import_what_is_needed() -> None:
    """Import modules, and load the model of languages, which a process keeps."""
    folders = [import_module(f"scrapy_mss.{name}") for name in PACKAGES]
    ours = (each.name for of in folders for each in iter_modules(of.__path__, f"{of.__name__}."))
    for name in (*NEEDED, *ours):
        with suppress(ImportError):
            import_module(name)
    for command in entry_points(group="scrapy.commands"):
        command.load()
    for action in ACTIONS:
        import_module(f"scrapy_mss.commands.{action}")
    detector()
    assert "twisted.internet.reactor" not in sys.modules, "a crawl has a reactor of its own"


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import_what_is_needed()
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            asked = json.loads(line)
            become(asked)
            end(exit_code(asked["program"], asked["arguments"]))
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
