"""A page is read once, whoever asks for its article, and not at all where nothing is asked."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.http import HtmlResponse

from scrapy_mss import Article
from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.items import ARTICLE_FIELDS
from scrapy_mss.metadata.parsed_page import ParsedPage
from tests.plugin.crawling import Job, crawl, run_scrapy
from tests.plugin.items import Record
from tests.plugin.parts import URL, Parts, items_of, page, processed, stat
from tests.plugin.site import Site, plain, story

FULL: dict[str, Any] = {**dict.fromkeys(ARTICLE_FIELDS, "given"), "url": URL}


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages whose metadata were read, which is once a reading that finds an article."""
    from scrapy_mss import metadata

    read, sources = metadata.read_page, []

    def counted(page: ParsedPage, text: str = "") -> metadata.Metadata:
        sources.append(page.tree.tokens.source)
        return read(page, text)

    monkeypatch.setattr(metadata, "read_page", counted)
    return sources


def test_the_items_of_a_page_share_one_reading(parts: Parts, readings: list[str]) -> None:
    crawler, articles, pipeline = parts
    response = page(plain(1))

    items = items_of(articles, response, {"url": URL}, Record(URL), {"url": URL})
    first, record, third = processed(pipeline, *items)

    assert len(readings) == stat(crawler, "extract/pages") == 1
    assert first["text"] == record.text == third["text"]
    first["authors"].append("Somebody else")
    assert record.authors == third["authors"] == [story("plain", 1).author]


@pytest.mark.parametrize(
    "lacking",
    [(), ("crawled",), ("extractor",), ("confidence",), ("extractor", "confidence", "crawled")],
)
def test_an_item_that_lacks_nothing_of_the_page_costs_no_reading(
    parts: Parts, readings: list[str], lacking: tuple[str, ...]
) -> None:
    """When it was crawled is known without it, and whose text it is, where that is the spider's."""
    crawler, articles, pipeline = parts
    response = page(plain(1))
    given = {name: value for name, value in FULL.items() if name not in lacking}

    (item,) = items_of(articles, response, dict(given))
    done = processed(pipeline, item)

    assert {name: done[name] for name in given} == given
    assert done["crawled"]
    for name in ("extractor", "confidence"):
        assert name in done or name in lacking
    assert readings == []
    assert stat(crawler, "extract/pages") == 0


def test_what_the_spider_fills_while_the_page_is_read_stays(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawler, articles, pipeline = parts
    response = page(plain(1))
    (item,) = items_of(articles, response, {"url": URL})
    read = MssExtension.of(crawler).reader_for_component().article_of

    async def read_meanwhile(response: HtmlResponse) -> ArticleResult:
        item["title"] = "My own"
        return await read(response)

    monkeypatch.setattr(
        MssExtension.of(crawler).reader_for_component(), "article_of", read_meanwhile
    )

    assert processed(pipeline, item)["title"] == "My own"


# In crawls

LOOPS = {
    "asyncio": "TWISTED_REACTOR=twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "without asyncio": "TWISTED_REACTOR=twisted.internet.selectreactor.SelectReactor",
}
if scrapy.version_info >= (2, 15):
    LOOPS["without a reactor"] = "TWISTED_REACTOR_ENABLED=False"
SPIDER = """
import scrapy
from tests.plugin.crawling import ADDON, QUIET

class Three(scrapy.Spider):
    name = "three"
    custom_settings = {**QUIET, **ADDON, "MSS_STORE": "store", "MSS_WORKERS": 1}

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        for _ in range(3):
            yield {"url": response.url}
"""


@pytest.mark.parametrize("loop", LOOPS)
def test_a_page_is_read_once_on_any_event_loop(site: Site, tmp_path: Path, loop: str) -> None:
    """Without asyncio there are no workers either, which is said."""
    (tmp_path / "three.py").write_text(SPIDER)
    given = ("-s", LOOPS[loop], "-a", f"url={site.url('/plain/1')}", "-o", "items.jsonl")

    done = run_scrapy(tmp_path, "runspider", "three.py", *given)

    assert done.code == 0
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert len(items) == 3
    assert all(story("plain", 1).paragraphs[0] in item["text"] for item in items)
    assert "'mss/extract/pages': 1," in done.err
    assert "'mss/quality/alarms': 0," in done.err
    assert ("MSS_WORKERS needs" in done.err) is (loop == "without asyncio")
    assert "ERROR" not in done.err


N_PAGES = 3
GUIDE = Path(__file__).parents[2] / "docs" / "crawling.md"


def test_an_article_that_a_callback_asks_for_and_yields_is_read_once(
    site: Site, tmp_path: Path
) -> None:
    pytest.importorskip("scrapy_poet", reason="pip install 'scrapy-mss[poet]'")
    (documented,) = re.findall(
        r"^ADDONS = (.*scrapy_poet.*)$", GUIDE.read_text("utf-8"), re.MULTILINE
    )
    urls = site.urls("plain", range(N_PAGES)) + site.urls("index", range(N_PAGES))

    (done,) = crawl(tmp_path, [Job("asking", {"urls": urls}, {"ADDONS": literal_eval(documented)})])

    assert (done.error, done.logged("ERROR")) == ("", [])
    assert {item.kind for item in done.items} == {Article.__name__}
    items = done.by_url()
    for number in range(N_PAGES):
        assert story("plain", number).paragraphs[0] in items[site.url(f"/plain/{number}")]["text"]
        assert items[site.url(f"/index/{number}")]["probability"] == 0
    assert done.mss("extract/pages") == 2 * N_PAGES
