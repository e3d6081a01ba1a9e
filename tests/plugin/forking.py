"""Crawls and commands of the tests, in processes that have imported what all need."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Final

FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["pytest", "tests.plugin.preloaded"])


def run(words: Sequence[str], folder: str, env: Mapping[str, str], files: Sequence[str]) -> None:
    """Run a program and its arguments in this process as if it were started in *folder*.

    It prints to *files*. The process ends at once: to take apart all that it has imported takes
    longer than many a crawl.
    """
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    for number, path in enumerate((os.devnull, *files)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    program, *arguments = words
    code = 1
    try:
        code = PROGRAMS[program](arguments)
    except Exception:  # noqa: BLE001 - it is what comes of it
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _crawls(arguments: Sequence[str]) -> int:
    from tests.plugin import crawler

    crawler.main(*arguments)
    return 0


def _scrapy(arguments: Sequence[str]) -> int:
    from scrapy.cmdline import execute

    try:
        execute(["scrapy", *arguments])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 1


PROGRAMS: Final[Mapping[str, Callable[[Sequence[str]], int]]] = {
    "crawls": _crawls,
    "scrapy": _scrapy,
}
