"""The parts without a crawl: each is made for a crawler and asked directly."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from scrapy_mss import Addon
from scrapy_mss.addon import COMPONENTS, CONCURRENT_ITEMS, PROVIDER, PROVIDERS
from scrapy_mss.crawl import rendering
from scrapy_mss.crawl.extension import Component, MssExtension
from scrapy_mss.crawl.rendering import RenderMiddleware
from scrapy_mss.downloadermiddlewares import TrainingMiddleware
from scrapy_mss.pipelines import ArticlePipeline
from scrapy_mss.settings import SettingError
from scrapy_mss.spidermiddlewares import ArticleMiddleware
from scrapy_mss.storage.tables import StoreError
from scrapy_mss.wrappers import WrapperError
from tests.plugin.parts import (
    URL,
    MakeCrawler,
    Parts,
    items_of,
    page,
    passed,
    processed,
    reading_parts,
    stat,
)
from tests.plugin.site import RULES, plain, story, wrapped

PARTS = (TrainingMiddleware, ArticleMiddleware, ArticlePipeline)


def test_the_pipeline_alone_fills_items_that_bring_their_page(crawler_of: MakeCrawler) -> None:
    part = ArticlePipeline.from_crawler(crawler_of())

    item = processed(part, {"url": URL, "html": plain(1)})

    assert story("plain", 1).paragraphs[-1] in item["text"]
    assert item["title"] == story("plain", 1).title
    assert item["html"] == plain(1)
    assert processed(part, 7) == 7


# The extension that they share


def test_parts_enabled_by_hand_share_the_extension_that_the_first_of_them_makes(
    crawler_of: MakeCrawler,
) -> None:
    one, other = crawler_of(MSS_WRAPPERS=RULES), crawler_of(MSS_WRAPPERS=RULES)
    assert one.get_extension(MssExtension) is None

    for part in PARTS:
        part.from_crawler(one)
    made = MssExtension.of(one)
    PARTS[0].from_crawler(other)

    assert made is MssExtension.of(one)
    assert MssExtension.of(other) is not made
    assert one.extensions is not None
    assert MssExtension not in map(type, one.extensions.middlewares)  # that list is Scrapy's


def test_the_addon_leaves_the_feeds_of_a_project_as_they_are() -> None:
    feeds = {"all.json": {"format": "json"}, "one.json": {"url": "theirs"}}
    settings = Settings({"FEEDS": feeds, "MSS_FIELD_MAP": {"url": "link"}})

    Addon().update_settings(settings)

    assert settings.getdict("FEEDS") == feeds


def test_the_addon_lowers_how_many_tasks_a_page_takes_unless_the_project_says() -> None:
    settings, decided = Settings(), Settings({"CONCURRENT_ITEMS": 50})

    for each in (settings, decided):
        Addon().update_settings(each)

    assert settings.getint("CONCURRENT_ITEMS") == CONCURRENT_ITEMS < 100
    assert decided.getint("CONCURRENT_ITEMS") == 50


def test_the_addon_lists_the_extension_and_parts_use_that(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(ADDONS={Addon: 500})

    listed = crawler.get_extension(MssExtension)

    assert listed is not None
    assert MssExtension.of(crawler) is listed


def test_a_crawls_model_is_gone_with_its_crawler(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(MEMUSAGE_ENABLED=False, TELNETCONSOLE_ENABLED=False)
    part = ArticlePipeline.from_crawler(crawler)
    extension = weakref.ref(MssExtension.of(crawler))

    crawler.signals.send_catch_log(signals.engine_stopped)  # till then, Scrapy 2.13's log has it
    del part, crawler
    gc.collect()

    assert extension() is None


# The add-on


def by_setting(placements: Iterable[tuple[str, object, int | None]]) -> dict[str, dict[Any, Any]]:
    """The parts of each setting, with their orders."""
    found: dict[str, dict[Any, Any]] = {}
    for name, part, order in placements:
        found.setdefault(name, {})[part] = order
    return found


def placed(settings: Settings) -> dict[str, dict[type, int | None]]:
    """What stands where for the settings that the add-on changes."""
    return {
        name: {load_object(part): order for part, order in settings.getdict(name).items()}
        for name, _, _ in COMPONENTS
    }


def test_the_addon_places_every_part() -> None:
    settings = Settings()

    Addon().update_settings(settings)

    assert placed(settings) == by_setting(COMPONENTS)
    assert {part for _, part, _ in COMPONENTS} > set(public_subclasses(Component))


def public_subclasses(of: type[object]) -> Iterator[type[object]]:
    for each in of.__subclasses__():
        if not each.__name__.startswith("_"):
            yield each
        yield from public_subclasses(each)


@pytest.mark.parametrize("order", [1, 999, None])
@pytest.mark.parametrize("by_path", [False, True])
def test_where_a_project_places_a_part_itself_it_stays(order: int | None, by_path: bool) -> None:
    settings = Settings(
        by_setting(
            (name, f"{part.__module__}.{part.__qualname__}" if by_path else part, order)
            for name, part, _ in COMPONENTS
        )
        | {PROVIDERS: {PROVIDER: order}}
    )

    Addon().update_settings(settings)

    assert placed(settings) == by_setting((name, part, order) for name, part, _ in COMPONENTS)
    assert settings.getdict(PROVIDERS) == {PROVIDER: order}


@pytest.mark.parametrize("value", [False, "False", 0, "0"])
def test_mss_enabled_off_turns_everything_off(crawler_of: MakeCrawler, value: object) -> None:
    crawler = crawler_of(MSS_ENABLED=value, MSS_WRAPPERS=RULES)

    with pytest.raises(NotConfigured, match="MSS_ENABLED"):
        Addon().update_settings(crawler.settings)
    for part in PARTS:
        with pytest.raises(NotConfigured, match="MSS_ENABLED"):
            part.from_crawler(crawler)


# Faults stop a crawl before it starts


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        (
            {"MSS_ENABLED": "perhaps", "MSS_WORKERS": "two"},
            SettingError,
            "MSS_ENABLED.*MSS_WORKERS",
        ),
        ({"MSS_WRAPPER": []}, SettingError, "MSS_WRAPPER: unknown setting"),
        ({"MSS_WRAPPERS": [{"site": "a.com"}]}, WrapperError, "body"),
        ({"MSS_STORE": __file__}, StoreError, "test_components.*expected a folder"),
    ],
)
def test_settings_that_cannot_be_used_stop_the_crawl(
    crawler_of: MakeCrawler, settings: dict[str, object], error: type[Exception], match: str
) -> None:
    for part in PARTS:
        with pytest.raises(error, match=match):
            part.from_crawler(crawler_of(**{"MSS_WRAPPERS": RULES, **settings}))


@pytest.mark.parametrize(
    ("item_class", "field_map"),
    [
        ("no.such.Class", {}),
        ("tests.plugin.items.NoSuch", {}),
        ("nodots", {}),
        ("tests.plugin.items.Renamed", {}),
        ("tests.plugin.items.Record", {"url": ""}),
        ("tests.plugin.items.Classic", {"url": "link"}),
        (3, {}),
    ],
)
def test_an_item_class_that_cannot_be_made_stops_the_crawl(
    crawler_of: MakeCrawler, item_class: object, field_map: dict[str, str]
) -> None:
    crawler = crawler_of(MSS_ITEM_CLASS=item_class, MSS_FIELD_MAP=field_map)

    with pytest.raises(SettingError, match="MSS_ITEM_CLASS"):
        ArticleMiddleware.from_crawler(crawler)


# Which pages


def _with(response: Response, request: Request) -> Response:
    response.request = request
    return response


BODY = wrapped(1).encode()
NO_PAGES: dict[str, Response] = {
    "robots.txt, media": _with(
        HtmlResponse(URL, body=BODY, encoding="utf-8"), Request(URL, callback=NO_CALLBACK)
    ),
    "not found": _with(HtmlResponse(URL, 404, body=BODY, encoding="utf-8"), Request(URL)),
    "no content": _with(HtmlResponse(URL, 203, body=BODY, encoding="utf-8"), Request(URL)),
    "an error": _with(HtmlResponse(URL, 500, body=BODY, encoding="utf-8"), Request(URL)),
    "text": _with(TextResponse(URL, body=BODY, encoding="utf-8"), Request(URL)),
    "XML": _with(XmlResponse(URL, body=BODY, encoding="utf-8"), Request(URL)),
    "bytes": _with(Response(URL, body=BODY), Request(URL)),
}


@pytest.mark.parametrize("response", NO_PAGES.values(), ids=NO_PAGES)
def test_what_is_no_page_is_neither_learned_nor_an_item(
    crawler_of: MakeCrawler, response: Response
) -> None:
    crawler = crawler_of(MSS_WRAPPERS=RULES)
    training, (articles, _) = TrainingMiddleware.from_crawler(crawler), reading_parts(crawler)
    assert response.request is not None

    returned = passed(training, response)

    assert returned is response
    assert items_of(articles, response) == []
    assert stat(crawler, "train/seen") == 0


@pytest.mark.parametrize(("skip", "learned"), [(True, 0), (False, 1), (None, 1)])
def test_meta_skips_training(crawler_of: MakeCrawler, skip: object, learned: int) -> None:
    crawler = crawler_of(MSS_WRAPPERS=RULES)
    part, response = (
        TrainingMiddleware.from_crawler(crawler),
        page(wrapped(1), mss_skip_training=skip),
    )

    passed(part, response)

    assert stat(crawler, "train/learned") == learned


def test_meta_skips_extraction_and_the_spiders_own_items_pass(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of()
    part, own = ArticleMiddleware.from_crawler(crawler), {"url": URL}

    assert items_of(part, page(plain(1), mss_skip_extraction=True)) == []
    assert items_of(part, page(plain(1), mss_skip_extraction=True), own) == [own]
    assert processed(ArticlePipeline.from_crawler(crawler), own) == {"url": URL}


# Faults of single pages


@pytest.mark.parametrize("name", ["page_work.label", "training.Learner.learn"])
def test_a_page_that_cannot_be_learned_goes_on_and_is_counted_and_logged(
    name: str,
    crawler_of: MakeCrawler,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawler = crawler_of(MSS_WRAPPERS=RULES)
    part, response = TrainingMiddleware.from_crawler(crawler), page(wrapped(1))
    monkeypatch.setattr(f"scrapy_mss.crawl.{name}", lambda *_: 1 / 0)

    assert passed(part, response) is response
    assert stat(crawler, "train/refused/error") == 1
    assert [URL in record.message for record in caplog.records] == [True]


@pytest.mark.parametrize("name", ["read_article", "label", "article_of_labels"])
def test_a_page_that_cannot_be_extracted_is_no_article_and_is_counted_and_logged(
    name: str,
    crawler_of: MakeCrawler,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawler = crawler_of(MSS_WRAPPERS=[] if name == "read_article" else RULES)
    articles, pipeline = reading_parts(crawler)
    response = page(wrapped(1))
    (made,), (own,) = items_of(articles, response), items_of(articles, response, {"url": URL})
    monkeypatch.setattr(f"scrapy_mss.crawl.page_work.{name}", lambda *_, **__: 1 / 0)

    with pytest.raises(DropItem, match="no article: error"):
        processed(pipeline, made)
    returned = processed(pipeline, own)

    assert returned["url"] == URL
    assert "text" not in returned
    assert stat(crawler, "extract/failed/error") == stat(crawler, "extract/pages") == 1
    assert [URL in record.message for record in caplog.records] == [True]


def test_metadata_that_cannot_be_read_costs_no_text(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = ArticlePipeline.from_crawler(crawler_of())
    monkeypatch.setattr("scrapy_mss.metadata.read_page", lambda *_: 1 / 0)

    item = processed(part, {"url": URL, "html": plain(1)})

    assert story("plain", 1).paragraphs[0] in item["text"]


# Filling


def test_text_of_the_spiders_own_names_no_extractor_of_ours(parts: Parts) -> None:
    _, articles, pipeline = parts
    response = page(plain(1))
    (item,) = items_of(articles, response, {"url": URL, "text": "My own."})

    filled = processed(pipeline, item)

    assert filled["text"] == "My own."
    assert filled["title"] == story("plain", 1).title
    assert "extractor" not in filled


def test_a_rejected_value_is_logged_once_for_each_field(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    from tests.plugin.items import Frozen

    _, articles, pipeline = parts
    response = page(plain(1))

    for _ in range(3):
        (item,) = items_of(articles, response, Frozen(URL))
        assert processed(pipeline, item) == Frozen(URL)

    assert sorted(record.message.partition(":")[2] for record in caplog.records) == [
        " Frozen rejects the value for its field text: cannot assign to field 'text'",
        " Frozen rejects the value for its field title: cannot assign to field 'title'",
    ]


# The browser


@pytest.mark.skipif(find_spec("scrapy_playwright") is None, reason="scrapy-playwright is missing")
def test_the_add_on_has_scrapy_playwright_download_where_the_project_has_no_handler() -> None:
    options = {"args": ["--mute"], "slow_mo": 1}
    settings = Settings({"MSS_RENDER": "auto", "PLAYWRIGHT_LAUNCH_OPTIONS": options})
    Addon().update_settings(settings)
    assert rendering.why_not(settings) == ""
    assert settings["PLAYWRIGHT_LAUNCH_OPTIONS"]["args"] == ["--mute", rendering.BY_PROXY_ALONE]

    for other in (
        {"DOWNLOAD_HANDLERS": {"https": "a.Handler"}},
        {"TWISTED_REACTOR": "twisted.internet.pollreactor.PollReactor"},
        {"TWISTED_REACTOR_ENABLED": False},
        {"PLAYWRIGHT_BROWSER_TYPE": "firefox"},
    ):
        settings = Settings({"MSS_RENDER": "auto", **other})
        Addon().update_settings(settings)
        assert rendering.why_not(settings)


def test_without_a_browser_a_crawl_goes_on_and_is_told(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rendering, "find_spec", lambda _: None)
    for mode, n_lines in (("off", 0), ("auto", 1)):
        with pytest.raises(NotConfigured):
            RenderMiddleware.from_crawler(crawler_of(MSS_RENDER=mode))
        assert caplog.text.count("pip install 'scrapy-mss[render]'") == n_lines
