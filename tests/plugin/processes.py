"""The processes of workers that tests have started, and waiting for what happens in them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil

LIMIT = 300.0  # seconds; no test waits that long unless something is wrong


def worker_processes(folder: Path | None = None) -> list[psutil.Process]:
    """Workers of this process, or those that run in *folder*."""
    if folder is None:
        return [each for each in psutil.Process().children() if _is_worker(each)]
    return [each for each in psutil.process_iter() if _is_worker(each, folder)]


def _is_worker(process: psutil.Process, folder: Path | None = None) -> bool:
    try:
        fits = folder is None or Path(process.cwd()) == folder
        return fits and "scrapy_mss.crawl.worker" in process.cmdline()
    except psutil.Error:
        return False


def eventually(holds: Callable[[], object], seconds: float = LIMIT) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.05)
    return False
