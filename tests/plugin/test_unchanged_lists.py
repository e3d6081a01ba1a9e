"""Whether a server is asked if a list has changed, and what is noted of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.items import ItemNotes, ItemPages
from scrapy_mss.crawl.pages import SITE, SKIP_EXTRACTION
from scrapy_mss.downloadermiddlewares import UnchangedLists
from scrapy_mss.pipelines import NewArticlesPipeline
from scrapy_mss.seen.articles import SeenArticles, SeenList, SeenStore, adding_lists
from scrapy_mss.settings import read
from scrapy_mss.sites.crawled import minute_now
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import DAY
from tests.helpers.checkpoints import alone, finish

pytestmark = pytest.mark.usefixtures("reactor")

FEED, MOVED = "http://a.example/feed", "http://a.example/moved"
META = {SITE: "a.example", SKIP_EXTRACTION: True}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(tmp_path)) as store:
        yield store


@pytest.fixture
def extension(store: SQLiteStore) -> MssExtension:
    stats = get_crawler().stats
    assert stats is not None
    made = SimpleNamespace(
        seen=alone(SeenArticles(SeenStore(store), DAY, minute_now), store),
        stats=CrawlStats(stats),
        quality=None,
        item_pages=ItemPages(),
        readings=ItemNotes(),
        new_articles=ItemNotes(),
        options=read(Settings()),
    )
    return cast("MssExtension", made)


def asked(lists: UnchangedLists, request: Request) -> dict[str, str]:
    """The validators that *request* is sent with."""
    asyncio.run(lists.process_request(request))
    names = (b"If-None-Match", b"If-Modified-Since")
    return {
        name.decode(): (request.headers[name] or b"").decode()
        for name in names
        if name in request.headers
    }


def answered(lists: UnchangedLists, request: Request, **headers: str) -> None:
    response = HtmlResponse(request.url, headers=headers, request=request)
    asyncio.run(lists.process_response(request, response))


def test_a_list_is_asked_for_with_what_its_server_gave(
    extension: MssExtension, store: SQLiteStore
) -> None:
    answered(UnchangedLists(extension), Request(FEED, meta=dict(META)), ETag='"1"')
    assert extension.seen is not None
    finish(extension.seen, finished=True)

    lists = UnchangedLists(extension)
    assert asked(lists, Request(FEED, meta=dict(META))) == {"If-None-Match": '"1"'}
    assert asked(lists, Request(FEED)) == {}  # of no list of a site


def test_a_redirect_takes_no_validators_along(extension: MssExtension, store: SQLiteStore) -> None:
    store.write([adding_lists({FEED: SeenList('"1"', "yesterday")}, minute_now())])
    lists = UnchangedLists(extension)
    request = Request(FEED, meta=dict(META))

    assert asked(lists, request) == {"If-None-Match": '"1"', "If-Modified-Since": "yesterday"}
    assert asked(lists, request.replace(url=MOVED)) == {}


def test_a_list_that_could_not_be_read_is_sent_again(
    extension: MssExtension, store: SQLiteStore
) -> None:
    request = Request(FEED, meta=dict(META))
    answered(UnchangedLists(extension), request, ETag='"1"')
    NewArticlesPipeline(extension).spider_failed(HtmlResponse(FEED, request=request))
    assert extension.seen is not None
    finish(extension.seen, finished=True)

    assert SeenStore(store).list(FEED) is None
