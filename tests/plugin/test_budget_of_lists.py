"""What the lists of a site may cost together, and what is counted of those that are not read."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Request, Response, TextResponse

from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.crawl import processes
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import LISTED, LISTED_MOMENTS, SITE, listed_text
from scrapy_mss.seen.articles import SeenList, SeenStore
from scrapy_mss.seen.keys import address_key
from scrapy_mss.spiders import news
from scrapy_mss.spiders.lists import FEED, FRONT, MAX_BYTES, SITEMAP, Listed
from scrapy_mss.spiders.news import NewsSpider
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.helpers.checkpoints import finish

HOST = "news.example"


@pytest.fixture
def spider(crawler_of: Callable[..., Crawler]) -> Iterator[NewsSpider]:
    spider = NewsSpider.from_crawler(crawler_of(), sites=HOST)
    yield spider
    spider.list_reader.close()


def read_at_once(spider: NewsSpider, kind: str, *bodies: bytes, cls: type[Response]) -> None:
    """Have the spider read lists of these *bodies*, as they come, without waiting in between."""

    async def requests(number: int, body: bytes) -> None:
        url = f"https://{HOST}/{number}"
        request = Request(url, meta={SITE: HOST})
        response = cls(url, body=body, request=request)
        async for _ in spider.parse_list(response, kind):
            pass

    async def all_of_them() -> None:
        await asyncio.gather(*map(requests, range(len(bodies)), bodies))

    asyncio.run(all_of_them())


def test_the_texts_that_wait_with_requests_of_a_site_are_limited(spider: NewsSpider) -> None:
    (site,) = spider.sites.values()
    site.text_left = 8
    texts = ("four", "too long", "four", "4")

    found = [*spider._articles(site, named(*texts), guessed=False)]

    given = [text.html if (text := listed_text(each)) else None for each in found]
    assert given == ["four", None, "four", None]


def test_the_texts_that_wait_with_requests_of_all_sites_are_limited(spider: NewsSpider) -> None:
    (site,) = spider.sites.values()
    spider.text_left = 8

    found = [*spider._articles(site, named("four", "four", "four"), guessed=False)]

    assert [listed_text(each) is not None for each in found] == [True, True, False]
    found.clear()
    assert spider.text_left == 8


def test_pages_are_asked_for_again_only_with_a_whole_text(spider: NewsSpider) -> None:
    (site,) = spider.sites.values()
    spider.text_left = 1
    begun, whole = FedText("x"), FedText("x", is_whole=True)
    listed = [
        Listed(f"https://{HOST}/{n}", text=text) for n, text in enumerate((begun, *2 * [whole]))
    ]
    site.failed = {address_key(each.url) for each in listed}

    (again,) = spider._again(site, listed)

    assert (again.url, listed_text(again), spider.text_left) == (listed[1].url, whole, 0)


def test_a_request_that_waits_gets_the_text_and_dates_that_a_feed_has_later(
    spider: NewsSpider,
) -> None:
    """The front page has named its article before the feed was read."""
    (site,) = spider.sites.values()
    waiting, gone = spider._articles(site, named("", ""), guessed=False)
    del gone
    moment = datetime.now(timezone.utc).isoformat(timespec="seconds")

    for text in ("text", "another"):
        article = {"url": "/0", "content_html": text, "date_published": moment}
        feed = json.dumps({"items": [article, {**article, "url": "/1"}]}).encode()
        read_at_once(spider, FEED, feed, cls=TextResponse)

    assert listed_text(waiting) == FedText("text")
    assert waiting.meta[LISTED] > 0
    assert waiting.meta[LISTED_MOMENTS] == [moment, None]


def named(*texts: str) -> list[Listed]:
    fed = (FedText(text) if text else None for text in texts)
    return [Listed(f"https://{HOST}/{n}", text=text) for n, text in enumerate(fed)]


def failed(spider: NewsSpider) -> dict[str, int]:
    start = "mss/lists/failed/"
    assert spider.crawler.stats is not None
    found = spider.crawler.stats.get_stats()
    return {name[len(start) :]: n for name, n in found.items() if name.startswith(start)}


def test_lists_that_come_at_once_share_the_time_of_their_site(
    spider: NewsSpider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "MAX_SECONDS", 1e-9)

    long = b"<rss>" + b"<item><link>/a</link></item>" * 500  # clocks of processes may tick slowly
    read_at_once(spider, FEED, long, *[b"<rss/>"] * 9, cls=TextResponse)

    assert failed(spider) == {"slow": 9}


@pytest.mark.parametrize(("code", "reason"), [(12, "memory"), (1, "crash")])
def test_a_list_that_ends_its_process_costs_its_site_all_its_time(
    code: int, reason: str, spider: NewsSpider, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = f"import os; os.read(0, 1); os._exit({code})"
    monkeypatch.setattr(processes, "RUN", ended)

    read_at_once(spider, FEED, *[b"<rss/>"] * 10, cls=TextResponse)

    assert failed(spider) == {reason: 3, "slow": 7}


def test_a_front_page_that_is_no_html_is_logged_and_counted(
    spider: NewsSpider, caplog: pytest.LogCaptureFixture
) -> None:
    read_at_once(spider, FRONT, b"<p>x</p>", cls=HtmlResponse)
    assert failed(spider) == {}

    read_at_once(spider, FRONT, b"{}", cls=TextResponse)
    assert failed(spider) == {"not_html": 1}
    assert f"https://{HOST}/0 cannot be read: expected HTML, got TextResponse" in caplog.text


def test_a_packed_sitemap_that_is_too_large_is_asked_for_again(
    crawler_of: Callable[..., Crawler], tmp_path: Path
) -> None:
    crawler = crawler_of(MSS_ONLY_NEW=True)
    spider = NewsSpider.from_crawler(crawler, sites=HOST)
    seen = MssExtension.of(crawler).seen
    assert seen is not None
    url = f"https://{HOST}/0"
    seen.add_list(url, HOST, SeenList('"1"'))

    read_at_once(spider, SITEMAP, gzip.compress(bytes(MAX_BYTES + 1)), cls=Response)
    spider.list_reader.close()
    finish(seen, finished=True)

    assert failed(spider) == {"too_large": 1}
    with closing(SQLiteStore(tmp_path / "store")) as store:
        assert SeenStore(store).list(url) is None
