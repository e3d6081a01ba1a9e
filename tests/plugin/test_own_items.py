"""Items of spiders: what is empty is filled, from the page that they were yielded for."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, TextResponse

from scrapy_mss.models.files import bundled_model
from scrapy_mss.pipelines import ArticlePipeline
from scrapy_mss.spidermiddlewares import ArticleMiddleware
from tests.plugin.crawling import ADDON, Crawl, Item, Job, crawl
from tests.plugin.items import MAKERS, OWN_TITLE, Record
from tests.plugin.parts import items_of, page, processed, reading_parts, stat
from tests.plugin.site import RULES, Site, plain, story

FILLED = ("dict", "dataclass", "attrs", "pydantic", "scrapy")


N_DROPPED = 300  # of each page
DROPPING = {"ITEM_PIPELINES": {"tests.plugin.test_own_items.Dropping": 100}}


class Dropping:
    """A pipeline before ours that drops the items of the page."""

    def process_item(self, item: Any, spider: object = None) -> Any:
        if "api" not in item["url"]:
            raise DropItem("a duplicate", log_level="DEBUG")
        return item


@pytest.fixture(scope="module")
def crawls(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    own = [site.url(f"/plain/1?item={kind}") for kind in MAKERS]
    own += [site.url(f"/plain/1?item={kind}&title=own") for kind in FILLED]
    mixed = [site.url(f"/{kind}/{n}") for n in range(4) for kind in ("plain", "api")]
    asked = {
        # To the memory of its site, a page of ten addresses becomes boilerplate: what is found
        # would depend on the order of the answers.
        "own": Job("own", {"urls": own}, {**ADDON, "MSS_SITE_MEMORY": 0}),
        "no article": Job("own", {"urls": [site.url("/index/1?item=dataclass")]}, ADDON),
        "wrapped": Job(
            "own",
            {"urls": [site.url("/wrapped/1?item=dict")]},
            {**ADDON, "MSS_WRAPPERS": RULES},
        ),
        "html": Job("html", {"urls": site.urls("plain", range(3))}, ADDON),
        "dropped": Job("many", {"urls": mixed, "count": N_DROPPED}, {**ADDON, **DROPPING}),
    }
    done = crawl(tmp_path_factory.mktemp("own"), asked.values())
    return dict(zip(asked, done, strict=True))


def item_of(done: Crawl, query: str) -> Item:
    (item,) = [item for item in done.items if item.url.endswith(f"?{query}")]
    return item


@pytest.mark.parametrize("kind", FILLED)
def test_empty_fields_of_any_kind_of_item_are_filled(crawls: dict[str, Crawl], kind: str) -> None:
    written = story("plain", 1)

    item = item_of(crawls["own"], f"item={kind}")

    assert item.kind == MAKERS[kind].__name__
    assert all(paragraph in item.fields["text"] for paragraph in written.paragraphs)
    assert item.fields["title"] == written.title
    assert item.fields["extractor"] == f"mss:{bundled_model().identifier}"
    ours = {"html", "published", "probability", "crawled"}
    assert ours & set(item.fields) == (ours if kind == "dict" else set())


@pytest.mark.parametrize("kind", FILLED)
def test_fields_that_the_spider_has_set_stay(crawls: dict[str, Crawl], kind: str) -> None:
    item = item_of(crawls["own"], f"item={kind}&title=own")

    assert item.fields["title"] == OWN_TITLE
    assert story("plain", 1).paragraphs[0] in item.fields["text"]


@pytest.mark.parametrize(
    ("kind", "filled"), [("frozen", {}), ("strict", {"title": story("plain", 1).title})]
)
def test_an_item_that_rejects_a_value_gets_the_others_and_a_warning(
    crawls: dict[str, Crawl], kind: str, filled: dict[str, str]
) -> None:
    item = item_of(crawls["own"], f"item={kind}")

    given = {"url": item.url, "title": None, "text": ""}
    assert item.fields == {**given, **filled}
    rejected = f"{item.kind} rejects the value for its field text"
    assert any(rejected in text for text in crawls["own"].logged("WARNING"))


def test_an_object_that_is_no_item_passes(crawls: dict[str, Crawl]) -> None:
    assert set(item_of(crawls["own"], "item=opaque").fields) == {"url"}


def test_an_own_item_of_a_page_that_is_no_article_is_kept_and_not_filled(
    crawls: dict[str, Crawl],
) -> None:
    (item,) = crawls["no article"].items

    assert item.fields["text"] == ""
    assert item.fields["extractor"] is None


def test_an_own_item_of_a_wrapped_page_gets_the_wrappers_text(crawls: dict[str, Crawl]) -> None:
    (item,) = crawls["wrapped"].items

    assert item.fields["text"] == "\n\n".join(story("wrapped", 1).paragraphs)
    assert item.fields["extractor"] == "wrapper:127.0.0.1/stories"


def test_items_that_bring_their_html_are_filled_from_it(
    crawls: dict[str, Crawl], site: Site
) -> None:
    items = crawls["html"].by_url()

    assert len(items) == 3
    for number in range(3):
        fields = items[site.url(f"/plain/{number}")]
        assert story("plain", number).paragraphs[0] in fields["text"]
        assert fields["title"] == story("plain", number).title
        assert fields["html"] == plain(number)


def test_dropped_items_lend_their_page_to_no_other(crawls: dict[str, Crawl]) -> None:
    done = crawls["dropped"]

    assert len(done.items) == done.mss("items/unpaired") == 4 * N_DROPPED
    assert all(set(item.fields) == {"url"} for item in done.items)
    assert done.mss("extract/pages") == 0


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    for name, done in crawls.items():
        assert done.error == "", name
        assert done.logged("ERROR") == [], name


# An item is filled from the page it was yielded for, and from no other

MANY = 3_000
API = "http://127.0.0.1/api"

Parts = tuple[Crawler, ArticleMiddleware, ArticlePipeline]


@pytest.fixture
def parts(crawler_of: Callable[..., Crawler]) -> Parts:
    crawler = crawler_of()
    return (crawler, *reading_parts(crawler))


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


@pytest.mark.parametrize("kind", FILLED)
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


@pytest.mark.parametrize("kind", FILLED)
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
