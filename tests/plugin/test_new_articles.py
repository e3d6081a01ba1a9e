"""Which items pass where only new articles are wanted, whatever spiders and pipelines do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.items import ItemNotes, ItemPages
from scrapy_mss.items import Article
from scrapy_mss.pipelines import NewArticlesPipeline, NoArticleError, SeenArticleError
from scrapy_mss.seen.articles import SeenArticles, SeenStore
from scrapy_mss.seen.paragraphs import Paragraphs
from scrapy_mss.settings import read
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import DAY

pytestmark = pytest.mark.usefixtures("reactor")

URL, LIST = "http://a.example/2026/rain", "http://a.example/list"
MINUTE = 10**6


@pytest.fixture
def pipeline(tmp_path: Path) -> NewArticlesPipeline:
    stats = get_crawler().stats
    assert stats is not None
    extension = SimpleNamespace(
        seen=SeenArticles(SeenStore(SQLiteStore(tmp_path)), DAY, lambda: MINUTE),
        stats=CrawlStats(stats),
        quality=None,
        item_pages=ItemPages(),
        readings=ItemNotes(),
        new_articles=ItemNotes(),
        options=read(Settings()),
    )
    return NewArticlesPipeline(cast("MssExtension", extension))


def page(url: str, **meta: Any) -> HtmlResponse:
    return HtmlResponse(url, request=Request(url, meta=meta))


def passes(pipeline: NewArticlesPipeline, item: Any, response: HtmlResponse) -> bool:
    """Whether *item* goes through all pipelines, as Scrapy does that."""
    pipeline._item_pages.pair(item, response, made=False)
    try:
        pipeline.process_item(item)
    except SeenArticleError as error:
        pipeline.dropped(item, response, error)
        return False
    pipeline.scraped(item, response)
    return True


def test_an_article_passes_once_and_again_when_it_has_changed(
    pipeline: NewArticlesPipeline,
) -> None:
    first, second, changed = (
        Article(URL, title="Rain", text=text) for text in ("It fell.", "It fell.", "It falls.")
    )

    assert [passes(pipeline, each, page(URL)) for each in (first, second, changed)] == [
        True,
        False,
        True,
    ]
    assert (first.revision, changed.revision, changed.changed) == (1, 2, ["text"])


def test_items_of_one_page_have_addresses_of_their_own(pipeline: NewArticlesPipeline) -> None:
    for expected in (True, False, False):
        for number in range(3):
            item = {"url": f"{LIST}/{number}", "text": f"Item {number} fell."}
            assert passes(pipeline, item, page(LIST)) == expected


def test_an_item_without_an_address_has_that_of_its_page(pipeline: NewArticlesPipeline) -> None:
    assert passes(pipeline, {"text": "It fell."}, page(URL))
    assert not passes(pipeline, {"url": URL, "text": "It fell."}, page(URL))


def test_an_article_is_known_where_it_was_redirected_from(pipeline: NewArticlesPipeline) -> None:
    redirected = page(URL, redirect_urls=["http://a.example/short"])

    assert passes(pipeline, Article(URL, text="It fell."), redirected)
    assert not passes(pipeline, Article("http://a.example/short", text="It fell."), page(LIST))


def test_pages_with_the_front_as_their_address_are_not_one(pipeline: NewArticlesPipeline) -> None:
    for number in range(3):
        url = f"http://a.example/{number}"
        item = Article(url, canonical_url="http://a.example/", text=f"{number} fell.")
        assert passes(pipeline, item, page(url))


def test_a_copy_does_not_pass_while_the_first_is_under_way(pipeline: NewArticlesPipeline) -> None:
    plain = Article(URL, canonical_url=URL, text="It fell.")
    short = Article("http://a.example/amp/rain", canonical_url=URL, text="It fell.")

    pipeline.process_item(plain)
    with pytest.raises(SeenArticleError):
        pipeline.process_item(short)
    pipeline.dropped(plain, page(URL), DropItem("by another pipeline"))
    pipeline.process_item(short)


def test_a_page_without_an_article_is_not_due_at_once(pipeline: NewArticlesPipeline) -> None:
    pipeline.dropped(Article(URL), page(URL), NoArticleError("unlikely"))
    pipeline.dropped(Article(LIST), page(LIST), NoArticleError("timeout"))

    assert not pipeline._seen.is_due(URL)
    assert pipeline._seen.is_due(LIST)


def test_what_later_pipelines_make_of_an_item_is_no_change(pipeline: NewArticlesPipeline) -> None:
    """Titles that are edited, texts that are moved, items that are replaced."""
    for expected in (3, 0, 0):
        passed = 0
        for number, later in enumerate((edited, moved, replaced)):
            url = f"{LIST}/{number}"
            item, response = {"url": url, "title": "Rain", "text": "It fell."}, page(url)
            pipeline._item_pages.pair(item, response, made=False)
            try:
                pipeline.process_item(item)
            except SeenArticleError as error:
                pipeline.dropped(item, response, error)
            else:
                passed += 1
                pipeline.scraped(later(item), response)
        assert list(pipeline._under_way) == []
        assert passed == expected


def edited(item: dict[str, Any]) -> dict[str, Any]:
    item["title"] = item["title"].upper()
    return item


def moved(item: dict[str, Any]) -> dict[str, Any]:
    item["body"] = item.pop("text")
    return item


def replaced(item: dict[str, Any]) -> dict[str, Any]:
    return {"link": item["url"], "body": item["text"]}


def test_another_item_of_the_page_is_not_taken_for_a_new_one(
    pipeline: NewArticlesPipeline,
) -> None:
    article, image, response = Article(URL, text="It fell."), {"file": "1.png"}, page(URL)

    for item in (article, image):
        pipeline.process_item(item)
    pipeline.scraped(image, response)
    pipeline.failed(article, response)

    assert pipeline._seen.is_due(URL)


def test_a_page_that_was_no_article_is_none_until_it_changes(pipeline: NewArticlesPipeline) -> None:
    """Whatever the model or the memory of the site has learned meanwhile."""
    lines, more = Paragraphs.of_text("It fell."), Paragraphs.of_text("It fell.\nIt stopped.")
    item = Article(URL)
    pipeline._readings.put(item, None, ("", lines.to_bytes()))
    pipeline.dropped(item, page(URL), NoArticleError("unlikely"))

    for paragraphs, expected in ((lines, False), (lines, False), (more, True)):
        item = Article(URL, text="It fell.")
        pipeline._readings.put(item, None, ("It fell.", paragraphs.to_bytes()))
        assert passes(pipeline, item, page(URL)) == expected


def test_what_is_no_item_passes(pipeline: NewArticlesPipeline) -> None:
    for item in (object(), {"url": URL}, Article(URL)):
        assert pipeline.process_item(item) is item
