"""An item is filled from the page it was yielded for, and from no other."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, TextResponse

from scrapy_mss.pipelines import ArticlePipeline
from scrapy_mss.spidermiddlewares import ArticleMiddleware
from tests.plugin.crawling import ADDON, Job, crawl
from tests.plugin.items import MAKERS, Record
from tests.plugin.parts import items_of, page, processed, stat
from tests.plugin.site import Site, plain, story

KINDS = ("dict", "dataclass", "attrs", "pydantic", "scrapy")
MANY = 3_000
API = "http://127.0.0.1/api"

Parts = tuple[Crawler, ArticleMiddleware, ArticlePipeline]


@pytest.fixture
def parts(crawler_of: Callable[..., Crawler]) -> Parts:
    crawler = crawler_of()
    return crawler, ArticleMiddleware.from_crawler(crawler), ArticlePipeline.from_crawler(crawler)


def text_of(item: Any) -> str | None:
    """The text of an item of any kind."""
    found = item.get("text") if hasattr(item, "get") else item.text
    return found or None


def tell(crawler: Crawler, signal: object, item: object, response: HtmlResponse) -> None:
    """Send *signal*, as Scrapy does when an item leaves the pipelines."""
    about = {
        "item": item,
        "response": response,
        "exception": DropItem("a duplicate"),
        "spider": None,
    }
    crawler.signals.send_catch_log(signal, **about)


@pytest.mark.parametrize("kind", KINDS)
def test_items_of_another_response_get_nothing_where_a_pages_items_were_dropped(
    parts: Parts, kind: str
) -> None:
    """In thousands, so that the ids of the dropped ones are used again."""
    crawler, articles, pipeline = parts
    html, data = page(plain(1)), TextResponse(API, body=b"{}")
    items_of(articles, html, *[MAKERS[kind](url=f"{API}/{n}") for n in range(MANY)])
    gc.collect()

    yielded = items_of(articles, data, *[MAKERS[kind](url=f"{API}/{n}") for n in range(MANY)])
    filled = [text_of(each) for each in processed(pipeline, *yielded)]

    assert filled == [None] * MANY
    assert stat(crawler, "items/unpaired") == MANY
    assert stat(crawler, "extract/pages") == 0
    assert html.status == 200  # alive to the end


def test_an_own_item_is_never_taken_for_one_of_ours(parts: Parts) -> None:
    """Ours are dropped where a page has no article; the spider's own never are."""
    _, articles, pipeline = parts
    response = page("<p>No article.")
    for _ in range(MANY):
        items_of(articles, response)

    own = items_of(articles, response, *[Record(API) for _ in range(MANY)])

    assert len(processed(pipeline, *own)) == MANY


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_not_the_item_that_was_yielded(parts: Parts, kind: str) -> None:
    crawler, articles, pipeline = parts
    response = page(plain(1))
    (item,) = items_of(articles, response, MAKERS[kind](url=API))

    replaced = processed(pipeline, copy.copy(item))

    assert text_of(replaced) is None
    assert stat(crawler, "items/unpaired") == 1
    assert text_of(processed(pipeline, item)) is not None


def test_pages_that_are_read_at_once_keep_their_items_apart(parts: Parts) -> None:
    _, articles, pipeline = parts
    responses = [page(plain(n), f"{API}/{n}") for n in range(5)]
    items = [
        items_of(articles, each, *[{"url": each.url} for _ in range(20)]) for each in responses
    ]
    mixed = [each for of_a_page in zip(*items, strict=True) for each in of_a_page]

    processed(pipeline, *mixed)

    for number, of_a_page in enumerate(items):
        first = story("plain", number).paragraphs[0]
        assert all(first in item["text"] for item in of_a_page)


@pytest.mark.parametrize("signal", [signals.item_scraped, signals.item_dropped, signals.item_error])
def test_a_pair_is_forgotten_when_its_item_leaves_the_pipelines(
    parts: Parts, signal: object
) -> None:
    crawler, articles, _ = parts
    response = page(plain(1))
    item = {"url": API, "response": response}  # the pair would otherwise keep its own page
    items_of(articles, response, item)
    gone = weakref.ref(response)

    tell(crawler, signal, item, response)
    del item, response
    gc.collect()

    assert gone() is None


def test_a_pair_is_forgotten_with_its_page(parts: Parts) -> None:
    crawler, articles, pipeline = parts
    response = page(plain(1))
    (item,) = items_of(articles, response, {"url": API})
    gone = weakref.ref(response)

    del response
    gc.collect()

    assert gone() is None
    assert processed(pipeline, item) == {"url": API}
    assert stat(crawler, "items/unpaired") == 1


# In a crawl

N_ITEMS = 300


class Dropping:
    """A pipeline before ours that drops the items of the page."""

    def process_item(self, item: Any, spider: object = None) -> Any:
        if "api" not in item["url"]:
            raise DropItem("a duplicate", log_level="DEBUG")
        return item


def test_in_a_crawl_dropped_items_lend_their_page_to_no_other(site: Site, tmp_path: Path) -> None:
    urls = [site.url(f"/{kind}/{n}") for n in range(4) for kind in ("plain", "api")]
    dropping = {**ADDON, "ITEM_PIPELINES": {"tests.plugin.test_pairing.Dropping": 100}}
    (done,) = crawl(tmp_path, [Job("many", {"urls": urls, "count": N_ITEMS}, dropping)])

    assert (done.error, done.logged("ERROR")) == ("", [])
    assert len(done.items) == 4 * N_ITEMS
    assert all(set(item.fields) == {"url"} for item in done.items)
    assert done.mss("items/unpaired") == 4 * N_ITEMS
    assert done.mss("extract/pages") == 0
