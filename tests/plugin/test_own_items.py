"""Items of spiders: what is empty is filled, from the page that they were yielded for."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import pytest
import scrapy
from scrapy import signals
from scrapy.http import TextResponse

from scrapy_mss.crawl.items import MAX_ITEMS, ItemNotes
from scrapy_mss.models.files import bundled_model
from tests.plugin.crawling import ADDON, Item, Job, crawl
from tests.plugin.items import MAKERS, OWN_TITLE, Record
from tests.plugin.parts import Parts, items_of, page, processed, stat, tell
from tests.plugin.site import Site, plain, story

FILLED = ("dict", "dataclass", "attrs", "pydantic", "scrapy")


@pytest.fixture(scope="module")
def items(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Item]:
    """The items of one page by the query of its address."""
    own = [site.url(f"/plain/1?item={kind}") for kind in MAKERS]
    own += [site.url(f"/plain/1?item={kind}&title=own") for kind in FILLED]
    # To the memory of its site, a page of ten addresses becomes boilerplate: what is found
    # would depend on the order of the answers.
    job = Job("own", {"urls": own}, {**ADDON, "MSS_SITE_MEMORY": 0})
    (done,) = crawl(tmp_path_factory.mktemp("own"), [job])
    assert (done.error, done.logged("ERROR")) == ("", [])
    return {item.url.partition("?")[2]: item for item in done.items}


@pytest.mark.parametrize("kind", FILLED)
def test_empty_fields_of_any_kind_of_item_are_filled(items: dict[str, Item], kind: str) -> None:
    written = story("plain", 1)

    item = items[f"item={kind}"]

    assert item.kind == MAKERS[kind].__name__
    assert all(paragraph in item.fields["text"] for paragraph in written.paragraphs)
    assert item.fields["title"] == written.title
    assert item.fields["extractor"] == f"mss:{bundled_model().identifier}"
    ours = {"html", "published", "probability", "crawled"}
    assert ours & set(item.fields) == (ours if kind == "dict" else set())


@pytest.mark.parametrize("kind", FILLED)
def test_fields_that_the_spider_has_set_stay(items: dict[str, Item], kind: str) -> None:
    item = items[f"item={kind}&title=own"]

    assert item.fields["title"] == OWN_TITLE
    assert story("plain", 1).paragraphs[0] in item.fields["text"]


@pytest.mark.parametrize(
    ("kind", "filled"), [("frozen", {}), ("strict", {"title": story("plain", 1).title})]
)
def test_an_item_that_rejects_a_value_gets_the_others(
    items: dict[str, Item], kind: str, filled: dict[str, str]
) -> None:
    item = items[f"item={kind}"]

    given = {"url": item.url, "title": None, "text": ""}
    assert item.fields == {**given, **filled}


# An item is filled from the page it was yielded for, and from no other

MANY = 3_000
API = "http://127.0.0.1/api"


class Replaced(scrapy.Item):
    """An item that has its own page."""

    url = scrapy.Field()
    response = scrapy.Field()


def text_of(item: Any) -> str | None:
    """The text of an item of any kind."""
    found = item.get("text") if hasattr(item, "get") else item.text
    return found or None


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
    """Ours are dropped where a page has no article; the spider's own never are, nor filled."""
    _, articles, pipeline = parts
    response = page("<p>No article.")
    for _ in range(MANY):
        items_of(articles, response)

    own = items_of(articles, response, *[Record(API) for _ in range(MANY)])

    assert processed(pipeline, *own) == [Record(API)] * MANY


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


def test_a_pair_is_forgotten_with_its_item_which_another_has_replaced(parts: Parts) -> None:
    crawler, articles, _ = parts
    response = page(plain(1))
    item = Replaced(url=API, response=response)
    items_of(articles, response, item)
    gone = weakref.ref(response)

    tell(crawler, signals.item_scraped, {"url": API}, response)
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


def test_pages_may_be_collected_while_their_notes_are_read() -> None:
    notes: ItemNotes[int] = ItemNotes()
    for number in range(3):
        response = page(plain(1))
        response.flags.append(response)  # type: ignore[arg-type]  # a cycle, as many pages are in
        notes.put(object(), response, number)
    response = page(plain(3))  # the others are unreachable

    found = [(number, gc.collect())[0] for number in notes]

    assert found == [0, 1, 2]
    assert list(notes) == []


def test_notes_of_items_that_never_leave_the_pipelines_are_bounded() -> None:
    notes: ItemNotes[int] = ItemNotes()
    for number in range(MAX_ITEMS + 2):
        notes.put(object(), None, number)

    assert list(notes) == [*range(2, MAX_ITEMS + 2)]
