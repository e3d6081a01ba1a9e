"""Imports what crawls and commands need, in the process that those of the tests are forked from.

Starting Python and importing Scrapy is what takes the time of a short one.
"""

from __future__ import annotations

import os

# Of one thread, as what is forked should be: OpenBLAS, with which numpy comes, else begins another.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

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
    scrapy_mss.spidermiddlewares tests.plugin.crawler tests.plugin.crawling
""".split()
PACKAGES = "commands crawl metadata models quality seen sites storage".split()

with warnings.catch_warnings():
    warnings.simplefilter("error")
    folders = [import_module(f"scrapy_mss.{name}") for name in PACKAGES]
    ours = (each.name for of in folders for each in iter_modules(of.__path__, f"{of.__name__}."))
    for name in (*NEEDED, *ours):
        with suppress(ImportError):
            import_module(name)
    for command in entry_points(group="scrapy.commands"):
        command.load()
    import_module("scrapy_mss.metadata.languages").detector()  # which a process keeps
assert "twisted.internet.reactor" not in sys.modules, "a crawl has a reactor of its own"
