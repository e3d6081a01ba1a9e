"""Runs crawls, each in a copy of this process, which has imported what all of them need.

    python forking.py

Starting Python and importing Scrapy is what takes the time of a short crawl. A line of standard
input names the folder, the environment and the arguments of `crawler.py`, and the file for what is
printed; a line of standard output tells the exit code.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

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
    scrapy_mss.addon scrapy_mss.article scrapy_mss.crawl.extension scrapy_mss.crawl.jobs
    scrapy_mss.crawl.page_work scrapy_mss.crawl.pool scrapy_mss.downloadermiddlewares
    scrapy_mss.models.bundled scrapy_mss.models.stored scrapy_mss.pipelines
    scrapy_mss.quality.store scrapy_mss.seen.crawled scrapy_mss.seen.store
    scrapy_mss.sites.store scrapy_mss.spidermiddlewares scrapy_mss.storage.sqlite_store
""".split()


def become(asked: dict[str, Any]) -> None:
    """Let this process be as if it were started for what is *asked*."""
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    for number, path in enumerate((os.devnull, asked["printed"], asked["printed"])):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in NEEDED:
            with suppress(ImportError):
                import_module(name)
    assert "twisted.internet.reactor" not in sys.modules, "a crawl has a reactor of its own"
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            asked = json.loads(line)
            become(asked)
            crawler.main(*asked["arguments"])
            return
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
