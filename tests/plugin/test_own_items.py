"""Spiders that yield items of their own: what is empty is filled, what is there stays."""

from __future__ import annotations

import pytest

from scrapy_mss.models.files import bundled_model
from tests.plugin.crawling import ADDON, Crawl, Item, Job, crawl
from tests.plugin.items import MAKERS, OWN_TITLE
from tests.plugin.site import RULES, Site, plain, story

FILLED = ("dict", "dataclass", "attrs", "pydantic", "scrapy")
KINDS = {
    "dict": "dict",
    "dataclass": "Record",
    "attrs": "Attrs",
    "pydantic": "Model",
    "scrapy": "Classic",
    "frozen": "Frozen",
    "strict": "Strict",
    "opaque": "Opaque",
}


@pytest.fixture(scope="module")
def crawls(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    own = [site.url(f"/plain/1?item={kind}") for kind in MAKERS]
    own += [site.url(f"/plain/1?item={kind}&title=own") for kind in FILLED]
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
    }
    done = crawl(tmp_path_factory.mktemp("own"), asked.values())
    return dict(zip(asked, done, strict=True))


def item_of(done: Crawl, query: str) -> Item:
    (item,) = [item for item in done.items if item.url.endswith(f"?{query}")]
    return item


@pytest.mark.parametrize("kind", FILLED)
def test_empty_fields_of_any_kind_of_item_are_filled(crawls: dict[str, Crawl], kind: str) -> None:
    told = story("plain", 1)

    item = item_of(crawls["own"], f"item={kind}")

    assert item.kind == KINDS[kind]
    assert all(paragraph in item.fields["text"] for paragraph in told.paragraphs)
    assert item.fields["title"] == told.title
    assert item.fields["extractor"] == f"mss:{bundled_model().identifier}"
    ours = {"html", "published", "probability", "crawled"}
    assert ours & set(item.fields) == (ours if kind == "dict" else set())


@pytest.mark.parametrize("kind", FILLED)
def test_fields_that_the_spider_has_set_stay(crawls: dict[str, Crawl], kind: str) -> None:
    item = item_of(crawls["own"], f"item={kind}&title=own")

    assert item.fields["title"] == OWN_TITLE
    assert story("plain", 1).paragraphs[0] in item.fields["text"]


def test_a_frozen_item_goes_on_as_it_is_with_a_warning(crawls: dict[str, Crawl]) -> None:
    item = item_of(crawls["own"], "item=frozen")

    assert (item.fields["title"], item.fields["text"]) == (None, "")
    assert any(
        "Frozen rejects the value for its field text" in text
        for text in crawls["own"].logged("WARNING")
    )


def test_an_item_that_refuses_a_value_gets_the_others(crawls: dict[str, Crawl]) -> None:
    item = item_of(crawls["own"], "item=strict")

    assert item.fields["text"] == ""
    assert item.fields["title"] == story("plain", 1).title
    assert any(
        "Strict rejects the value for its field text" in text
        for text in crawls["own"].logged("WARNING")
    )


def test_what_is_no_item_to_anybody_goes_on(crawls: dict[str, Crawl]) -> None:
    item = item_of(crawls["own"], "item=opaque")

    assert set(item.fields) == {"url"}


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


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    for name, done in crawls.items():
        assert done.error == "", name
        assert done.logged("ERROR") == [], name
