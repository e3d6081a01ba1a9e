"""Crawls and commands of the tests, in processes that have imported what all need."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["pytest", "tests.plugin.preloaded"])
OF_TESTS: Final = "sitecustomize"  # what Python imports when it starts, from the path of a test


def crawls(jobs: Sequence[Mapping[str, Any]], results: str) -> int:
    from tests.plugin import crawler

    crawler.main(jobs, results)
    return 0


def scrapy(*words: str) -> int:
    from scrapy.cmdline import execute

    try:
        execute(["scrapy", *words])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 1


def run(call: Callable[[], int], folder: str, env: Mapping[str, str], files: Sequence[str]) -> None:
    """Make a *call*, which gives an exit code, as if this process were started in *folder*.

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
    code = 1
    try:
        _import_customization(env["PYTHONPATH"].split(os.pathsep))
        code = call()
    except Exception:  # noqa: BLE001 - it is what comes of it
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _import_customization(path: Sequence[str]) -> None:
    """Import what a test has in a folder of the *path*, as Python does when it starts."""
    sys.path[:0] = path
    if any(Path(each, f"{OF_TESTS}.py").exists() for each in path):
        sys.modules.pop(OF_TESTS, None)
        import_module(OF_TESTS)
