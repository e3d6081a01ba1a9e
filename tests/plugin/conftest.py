"""What the tests of the plugin share: the local site, and a model that has learned its pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.utils.test import get_crawler
from twisted.internet import asyncioreactor

from scrapy_mss.models.model import Model
from tests.plugin import site as site_module
from tests.plugin.models import learned
from tests.plugin.parts import MakeCrawler, Parts, reading_parts
from tests.plugin.site import Site


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The local site, served while the tests run."""
    with site_module.running() as served:
        yield served


@pytest.fixture(scope="session")
def reactor() -> Iterator[None]:
    """A reactor that is there and never run: without one Scrapy makes no crawler."""
    loop = asyncio.new_event_loop()
    asyncioreactor.install(loop)  # type: ignore[no-untyped-call]
    from twisted.internet import reactor

    yield
    for waker in list(reactor._internalReaders):
        waker.connectionLost(None)
    loop.close()


@pytest.fixture(scope="session")
def trained_once() -> Model:
    """A model that has learned sixty wrapped pages."""
    return learned(range(60))


@pytest.fixture
def crawler_of(tmp_path: Path, reactor: None) -> MakeCrawler:
    """Makes crawlers with a store in a folder of the test's own."""

    def make(**settings: object) -> Crawler:
        return get_crawler(Spider, {"MSS_STORE": str(tmp_path / "store"), **settings})

    return make


@pytest.fixture
def parts(crawler_of: MakeCrawler) -> Parts:
    """A crawler of default settings, and the parts of it that read pages."""
    crawler = crawler_of()
    return (crawler, *reading_parts(crawler))
