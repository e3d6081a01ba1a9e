"""Which articles are new, changed or copies, whatever spiders and pipelines do with their items."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Request

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import SITE, SKIP_EXTRACTION
from scrapy_mss.downloadermiddlewares import UnchangedLists
from scrapy_mss.items import Article
from scrapy_mss.pipelines import NewArticlesPipeline, NoArticleError, StoriesPipeline
from scrapy_mss.seen.articles import SeenArticles, SeenList, SeenStore
from scrapy_mss.seen.paragraphs import Paragraphs
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.helpers.agency_texts import copy, text
from tests.helpers.checkpoints import finish
from tests.plugin.parts import DROPPED, MakeCrawler, tell

URL, LIST = "http://a.example/2026/rain", "http://a.example/list"
SECOND = "http://b.example/2026/rain"


class Pipelines:
    """The pipelines of a crawl, and what Scrapy does with an item that goes through them."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler, self.extension = crawler, MssExtension.of(crawler)
        self.new = NewArticlesPipeline.from_crawler(crawler)
        self.each: list[NewArticlesPipeline | StoriesPipeline] = [self.new]
        if self.extension.stories is not None:
            self.each.append(StoriesPipeline.from_crawler(crawler))
        self.alive: list[HtmlResponse] = []  # as in Scrapy, until their items leave

    @property
    def seen(self) -> SeenArticles:
        assert self.extension.seen is not None
        return self.extension.seen

    def begin(self, item: Any, response: HtmlResponse) -> bool:
        """Whether *item* goes through our pipelines, and may go on to others."""
        self.alive.append(response)
        self.extension.item_pages.put(item, response, False)
        try:
            for pipeline in self.each:
                pipeline.process_item(item)
        except DropItem as error:
            self.dropped(item, response, error)
            return False
        return True

    def dropped(self, item: Any, response: HtmlResponse, error: DropItem = DROPPED) -> None:
        tell(self.crawler, signals.item_dropped, item, response, exception=error)

    def scraped(self, item: Any, response: HtmlResponse) -> None:
        tell(self.crawler, signals.item_scraped, item, response)

    def passes(self, item: Any, response: HtmlResponse | None = None) -> bool:
        """Whether *item*, of the page at its own address or of another, passes all pipelines."""
        response = response or page(item.url)
        if passed := self.begin(item, response):
            self.scraped(item, response)
        return passed


def page(url: str, **meta: Any) -> HtmlResponse:
    return HtmlResponse(url, request=Request(url, meta={SITE: url.split("/")[2], **meta}))


@pytest.fixture
def pipelines(crawler_of: MakeCrawler) -> Pipelines:
    return Pipelines(crawler_of(MSS_ONLY_NEW=True))


@pytest.fixture
def marking(crawler_of: MakeCrawler) -> Pipelines:
    return Pipelines(crawler_of(MSS_ONLY_NEW=True, MSS_COPIES="mark"))


@pytest.fixture
def dropping(crawler_of: MakeCrawler) -> Pipelines:
    return Pipelines(crawler_of(MSS_ONLY_NEW=True, MSS_COPIES="drop"))


def stored(folder: Path, url: str) -> SeenList | None:
    """What is stored of the list at *url*."""
    with closing(SQLiteStore(folder / "store")) as store:
        return SeenStore(store).list(url)


# New and changed articles


def test_an_article_passes_once_and_again_when_it_has_changed(pipelines: Pipelines) -> None:
    first, second, changed = (
        Article(URL, title="Rain", text=f"{text} It is late.")
        for text in ("It fell.", "It fell.", "It falls.")
    )

    assert [*map(pipelines.passes, (first, second, changed))] == [True, False, True]
    assert (first.revision, changed.revision, changed.changed) == (1, 2, ["text"])
    assert (changed.added, changed.removed) == (["It falls."], 1)


def test_a_live_blog_with_new_entries_has_changed(pipelines: Pipelines) -> None:
    goal = {"time": "20:14", "headline": "Goal", "text": "One to nil."}
    first, same = (Article(URL, text="Kick-off.", entries=[goal]) for _ in range(2))
    later = Article(URL, text="Kick-off.", entries=[goal], new_entries=[goal])

    assert [*map(pipelines.passes, (first, same, later))] == [True, False, True]
    assert (later.revision, later.changed) == (2, ["text"])


def test_items_of_one_page_have_addresses_of_their_own(pipelines: Pipelines) -> None:
    for expected in (True, False, False):
        for number in range(3):
            item = {"url": f"{LIST}/{number}", "text": f"Item {number} fell."}
            assert pipelines.passes(item, page(LIST)) == expected


def test_an_item_without_an_address_has_that_of_its_page(pipelines: Pipelines) -> None:
    assert pipelines.passes({"text": "It fell."}, page(URL))
    assert not pipelines.passes({"url": URL, "text": "It fell."}, page(URL))


def test_an_article_is_known_where_it_was_redirected_from(pipelines: Pipelines) -> None:
    short = "http://a.example/short"

    assert pipelines.passes(Article(URL, text="It fell."), page(URL, redirect_urls=[short]))
    assert not pipelines.passes(Article(short, text="It fell."), page(LIST))


def test_pages_with_the_front_as_their_address_are_not_one(pipelines: Pipelines) -> None:
    for number in range(3):
        url, front = f"http://a.example/{number}", "http://a.example/"
        assert pipelines.passes(Article(url, canonical_url=front, text=f"{number} fell."))


def test_another_form_of_the_article_does_not_pass_while_the_first_is_under_way(
    pipelines: Pipelines,
) -> None:
    plain = Article(URL, canonical_url=URL, text="It fell.")
    short = Article("http://a.example/amp/rain", canonical_url=URL, text="It fell.")

    assert pipelines.begin(plain, page(URL))
    assert not pipelines.begin(short, page(short.url))
    pipelines.dropped(plain, page(URL))
    assert pipelines.begin(short, page(short.url))


def test_another_form_counts_as_seen_when_the_first_has_passed(pipelines: Pipelines) -> None:
    plain = Article(URL, canonical_url=URL, text="It fell.")
    short = Article("http://a.example/amp/rain", canonical_url=URL, text="It fell.")

    assert pipelines.begin(plain, page(URL))
    assert not pipelines.begin(short, page(short.url))
    assert pipelines.seen.due([(short.url, 0)]) == [True]
    pipelines.scraped(plain, pipelines.alive[0])
    assert pipelines.seen.due([(short.url, 0)]) == [False]


def test_a_page_without_an_article_is_not_due_at_once(pipelines: Pipelines) -> None:
    pipelines.dropped(Article(URL), page(URL), NoArticleError("unlikely"))
    pipelines.dropped(Article(LIST), page(LIST), NoArticleError("timeout"))

    assert not pipelines.seen.due([(URL, 0)])[0]
    assert pipelines.seen.due([(LIST, 0)])[0]


def edited(item: dict[str, Any]) -> dict[str, Any]:
    item["title"] = item["title"].upper()
    return item


def moved(item: dict[str, Any]) -> dict[str, Any]:
    item["body"] = item.pop("text")
    return item


def replaced(item: dict[str, Any]) -> dict[str, Any]:
    return {"link": item["url"], "body": item["text"]}


@pytest.mark.parametrize("later", [edited, moved, replaced])
def test_what_later_pipelines_make_of_an_item_is_no_change(
    pipelines: Pipelines, later: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    for expected in (True, False, False):
        item, response = {"url": URL, "title": "Rain", "text": "It fell."}, page(URL)
        assert pipelines.begin(item, response) == expected
        if expected:
            pipelines.scraped(later(item), response)
        assert list(pipelines.new._under_way) == []


def test_another_item_of_the_page_does_not_count_as_the_article(pipelines: Pipelines) -> None:
    article, image, response = Article(URL, text="It fell."), {"file": "1.png"}, page(URL)

    for item in (article, image):
        pipelines.new.process_item(item)
    pipelines.scraped(image, response)
    pipelines.new.item_failed(article, response)

    assert pipelines.seen.due([(URL, 0)])[0]


def test_a_page_without_an_article_has_none_until_it_changes(pipelines: Pipelines) -> None:
    """Whatever the model or the memory of the site has learned meanwhile."""
    lines, more = Paragraphs.of_text("It fell."), Paragraphs.of_text("It fell.\nIt stopped.")
    item = Article(URL)
    pipelines.extension.readings.put(item, None, ("", lines.to_bytes()))
    pipelines.dropped(item, page(URL), NoArticleError("unlikely"))

    for paragraphs, expected in ((lines, False), (lines, False), (more, True)):
        item = Article(URL, text="It fell.")
        pipelines.extension.readings.put(item, None, ("It fell.", paragraphs.to_bytes()))
        assert pipelines.passes(item) == expected


def test_objects_that_are_no_items_pass_both_pipelines(dropping: Pipelines) -> None:
    for item in (object(), {"url": URL}, Article(URL)):
        assert dropping.passes(item, page(URL))


# Copies


def articles() -> tuple[Article, Article]:
    """An article, and a copy of it on another site."""
    return Article(URL, text=text(1)), Article(SECOND, text=copy(1, 1))


def test_copies_are_marked_with_the_story_of_the_first(marking: Pipelines) -> None:
    first, second = articles()
    other = {"url": "http://c.example/sun", "text": text(2), "story": ""}
    own = {"url": "http://d.example/rain", "text": text(1), "story": "Rain fell."}

    assert all(map(marking.passes, (first, second)))
    assert all(marking.passes(item, page(str(item["url"]))) for item in (other, own))
    assert first.story == second.story
    assert other["story"] not in {"", first.story}
    assert own["story"] == "Rain fell."


def test_a_revision_of_the_first_is_no_copy_and_a_dropped_copy_is_not_fetched_again(
    dropping: Pipelines,
) -> None:
    first, second = articles()
    revised = Article(URL, text=copy(1, 5))

    assert [*map(dropping.passes, (first, second, revised))] == [True, False, True]
    assert (revised.revision, revised.story) == (2, first.story)
    assert not dropping.seen.due([(SECOND, 0)])[0]


def test_a_copy_of_a_lost_item_comes_again(dropping: Pipelines, tmp_path: Path) -> None:
    """Even if its site's lists have not changed by then."""
    first, second = articles()
    dropping.seen.add_list("http://b.example/feed", "b.example", SeenList('"1"'))

    assert dropping.begin(first, page(URL))
    assert not dropping.passes(second)
    dropping.dropped(first, page(URL))
    assert dropping.seen.due([(SECOND, 0)])[0]
    assert dropping.passes(second)
    finish(dropping.seen, finished=True)
    assert stored(tmp_path, "http://b.example/feed") is None


def test_a_copy_counts_as_seen_when_one_of_the_items_under_way_has_passed(
    dropping: Pipelines,
) -> None:
    first, second = articles()
    again = Article(URL, text=first.text)

    assert dropping.begin(first, page(URL))
    dropping.each[1].process_item(again)
    assert not dropping.passes(second)
    dropping.dropped(again, page(URL))
    assert dropping.seen.due([(SECOND, 0)])[0]
    dropping.scraped(first, page(URL))
    assert not dropping.seen.due([(SECOND, 0)])[0]


def test_an_item_that_an_earlier_pipeline_drops_lets_no_second_pass(marking: Pipelines) -> None:
    """It is not the item of the same article that is under way."""
    first, lost, again = (Article(URL, text=text(1)) for _ in range(3))

    assert marking.begin(first, page(URL))
    marking.dropped(lost, page(URL))
    assert not marking.begin(again, page(URL))
    marking.dropped(first, page(URL))
    assert marking.begin(again, page(URL))


def test_a_failing_pipeline_loses_no_story(dropping: Pipelines) -> None:
    first, second = articles()
    assert dropping.begin(first, page(URL))
    tell(dropping.crawler, signals.item_error, first, page(URL))

    assert dropping.passes(second)


# Lists that have not changed

FEED, META = "http://a.example/feed", {SITE: "a.example", SKIP_EXTRACTION: True}


def requested(lists: UnchangedLists, request: Request) -> dict[str, str]:
    """The validators that *request* is sent with."""
    asyncio.run(lists.process_request(request))
    names = (b"If-None-Match", b"If-Modified-Since")
    sent = {name.decode(): request.headers[name] for name in names if name in request.headers}
    return {name: (value or b"").decode() for name, value in sent.items()}


def answered(lists: UnchangedLists, request: Request, **headers: str) -> None:
    response = HtmlResponse(request.url, headers=headers, request=request)
    asyncio.run(lists.process_response(request, response))


def test_a_list_is_requested_with_the_validators_of_its_server(pipelines: Pipelines) -> None:
    lists = UnchangedLists(pipelines.extension)
    answered(lists, Request(FEED, meta=dict(META)), ETag='"1"')
    finish(pipelines.seen, finished=True)

    lists = UnchangedLists(pipelines.extension)
    assert requested(lists, Request(FEED, meta=dict(META))) == {"If-None-Match": '"1"'}
    assert requested(lists, Request(FEED)) == {}  # of no list of a site


def test_a_redirect_takes_no_validators_along(pipelines: Pipelines) -> None:
    pipelines.seen.add_list(FEED, "a.example", SeenList('"1"', "yesterday"))
    finish(pipelines.seen, finished=True)
    lists, request = UnchangedLists(pipelines.extension), Request(FEED, meta=dict(META))

    both = {"If-None-Match": '"1"', "If-Modified-Since": "yesterday"}
    assert requested(lists, request) == both
    assert requested(lists, request.replace(url="http://a.example/moved")) == {}


def test_a_list_that_could_not_be_read_is_sent_again(pipelines: Pipelines, tmp_path: Path) -> None:
    request = Request(FEED, meta=dict(META))
    answered(UnchangedLists(pipelines.extension), request, ETag='"1"')
    pipelines.new.spider_failed(HtmlResponse(FEED, request=request))
    finish(pipelines.seen, finished=True)

    assert stored(tmp_path, FEED) is None
