"""What is done with copies, whatever spiders and pipelines do."""

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
from scrapy_mss.crawl.pages import SITE
from scrapy_mss.items import Article
from scrapy_mss.pipelines import NewArticlesPipeline, StoriesPipeline
from scrapy_mss.seen.articles import SeenArticles, SeenList, SeenStore
from scrapy_mss.seen.stories import Stories, StoryStore
from scrapy_mss.settings import read
from scrapy_mss.sites.crawled import minute_now
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import DAY
from tests.helpers.checkpoints import alone, finish
from tests.helpers.told import copy, text

pytestmark = pytest.mark.usefixtures("reactor")

FIRST, SECOND = "http://a.example/2026/rain", "http://b.example/2026/rain"


class Pipelines:
    """Both pipelines of a crawl, and what Scrapy does with an item that goes through them."""

    def __init__(self, folder: Path, copies: str) -> None:
        stats = get_crawler().stats
        assert stats is not None
        store = SQLiteStore(folder)
        self.seen = alone(SeenArticles(SeenStore(store), DAY, minute_now), store)
        self.stories = Stories(StoryStore(store), minute_now)
        self.stats = CrawlStats(stats)
        self.pages = ItemPages()
        extension = SimpleNamespace(
            seen=self.seen,
            stories=self.stories,
            stats=self.stats,
            quality=None,
            item_pages=self.pages,
            readings=ItemNotes(),
            new_articles=ItemNotes(),
            options=read(Settings({"MSS_COPIES": copies})),
        )
        ours = cast("MssExtension", extension)
        self.each = (NewArticlesPipeline(ours), StoriesPipeline(ours))

    def begin(self, item: Any, url: str) -> bool:
        """Whether *item* goes through our pipelines, and may go on to others."""
        response = page(url)
        self.pages.pair(item, response, made=False)
        try:
            for pipeline in self.each:
                pipeline.process_item(item)
        except DropItem as error:
            self.dropped(item, url, error)
            return False
        return True

    def dropped(self, item: Any, url: str, error: DropItem) -> None:
        for pipeline in self.each:
            pipeline.dropped(item, page(url), error)

    def passes(self, item: Any, url: str) -> bool:
        if passed := self.begin(item, url):
            for pipeline in self.each:
                pipeline.scraped(item, page(url))
        return passed


def page(url: str) -> HtmlResponse:
    return HtmlResponse(url, request=Request(url, meta={SITE: url.split("/")[2]}))


def articles() -> tuple[Article, Article]:
    return Article(FIRST, text=text(1)), Article(SECOND, text=copy(1, 1))


def test_copies_are_marked_with_the_story_of_the_first(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "mark")
    first, second = articles()
    other = {"url": "http://c.example/sun", "text": text(2), "story": ""}

    assert all(pipelines.passes(item, item.url) for item in (first, second))
    assert pipelines.passes(other, "http://c.example/sun")
    assert first.story == second.story
    assert other["story"] not in {"", first.story}


def test_copies_are_dropped_and_not_read_again(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "drop")
    first, second = articles()

    assert pipelines.passes(first, FIRST)
    assert not pipelines.passes(second, SECOND)
    assert not pipelines.seen.is_due(SECOND)


def test_a_copy_counts_as_seen_when_what_was_under_way_is_told(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "drop")
    first, second = articles()

    assert pipelines.begin(first, FIRST)
    assert not pipelines.passes(second, SECOND)
    assert pipelines.seen.is_due(SECOND)
    for pipeline in pipelines.each:
        pipeline.scraped(first, page(FIRST))
    assert not pipelines.seen.is_due(SECOND)


def test_a_copy_of_what_is_lost_comes_again(tmp_path: Path) -> None:
    """Even if its site's lists have not changed by then."""
    pipelines = Pipelines(tmp_path, "drop")
    first, second = articles()
    pipelines.seen.add_list("http://b.example/feed", "b.example", SeenList('"1"'))

    assert pipelines.begin(first, FIRST)
    assert not pipelines.passes(second, SECOND)
    pipelines.dropped(first, FIRST, DropItem("by another pipeline"))
    assert pipelines.seen.is_due(SECOND)
    assert pipelines.passes(second, SECOND)
    finish(pipelines.seen, finished=True)
    assert SeenStore(SQLiteStore(tmp_path)).list("http://b.example/feed") is None


def test_a_copy_waits_for_all_items_of_what_is_under_way(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "drop")
    first, second = articles()
    _, stories = pipelines.each
    again = Article(FIRST, text=first.text)

    assert pipelines.begin(first, FIRST)
    stories.process_item(again)
    assert not pipelines.passes(second, SECOND)
    pipelines.dropped(again, FIRST, DropItem("by another pipeline"))
    assert pipelines.seen.is_due(SECOND)
    for pipeline in pipelines.each:
        pipeline.scraped(first, page(FIRST))
    assert not pipelines.seen.is_due(SECOND)


def test_an_item_that_is_lost_before_lets_no_second_pass(tmp_path: Path) -> None:
    """What an earlier pipeline drops is not the item of the same article that is under way."""
    pipelines = Pipelines(tmp_path, "mark")
    first, lost, again = (Article(FIRST, text=text(1)) for _ in range(3))

    assert pipelines.begin(first, FIRST)
    pipelines.dropped(lost, FIRST, DropItem("by an earlier pipeline"))
    assert not pipelines.begin(again, FIRST)
    pipelines.dropped(first, FIRST, DropItem("by a later pipeline"))
    assert pipelines.begin(again, FIRST)


def test_a_failing_pipeline_loses_no_story(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "drop")
    first, second = articles()
    assert pipelines.begin(first, FIRST)
    for pipeline in pipelines.each:
        pipeline.failed(first, page(FIRST))

    assert pipelines.passes(second, SECOND)


def test_a_revision_of_the_first_is_no_copy(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "drop")
    first, second = articles()
    revised = Article(FIRST, text=copy(1, 5))

    assert [pipelines.passes(item, item.url) for item in (first, second, revised)] == [
        True,
        False,
        True,
    ]
    assert (revised.revision, revised.story) == (2, first.story)


def test_a_story_of_the_items_own_is_kept(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "mark")
    item = {"url": FIRST, "text": text(1), "story": "Rain fell."}

    assert pipelines.passes(item, FIRST)
    assert item["story"] == "Rain fell."


def test_what_is_no_item_passes(tmp_path: Path) -> None:
    pipelines = Pipelines(tmp_path, "drop")
    for item in (object(), {"url": FIRST}, Article(FIRST)):
        assert pipelines.passes(item, FIRST)
