"""Crawls of the local site, with a rule for its wrapped pages and none for its plain ones."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from email.message import Message
from pathlib import Path

import pytest

from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.stats import PREFIX, STATS
from tests.helpers.local_server import Answer, answering
from tests.plugin.crawling import Crawl, Job, crawl, crawl_all, fetching
from tests.plugin.models import assert_same_counts, learned, store_model, stored_model
from tests.plugin.site import HANDLER, HTML, RULES, Site, plain, story

N_WRAPPED = 60
PLAIN = range(6)


def jobs(site: Site, trained: str) -> dict[str, Job]:
    """The crawls by name, in the order in which they run."""
    plain, index = site.urls("plain", PLAIN), site.urls("index", range(3))
    wrapped = site.urls("wrapped", range(N_WRAPPED))
    rules = {"MSS_WRAPPERS": RULES}
    gone = site.urls("gone", range(2), "localhost")
    known = {"MSS_TRAIN": False, "MSS_STORE": trained, "MSS_SITE_MEMORY": 0}
    by_hand = {
        "DOWNLOADER_MIDDLEWARES": {"scrapy_mss.downloadermiddlewares.TrainingMiddleware": 545},
        "SPIDER_MIDDLEWARES": {"scrapy_mss.spidermiddlewares.ArticleMiddleware": 950},
        "ITEM_PIPELINES": {"scrapy_mss.pipelines.ArticlePipeline": 200},
        "MSS_WRAPPERS": RULES,
    }
    forms = [site.url("/clickable/1"), site.url("/clickable/2", "localhost")]
    all_forms = {**rules, "MSS_FIELDS": ["raw_html", "markdown"]}
    in_languages = plain[:2] + site.urls("german", range(3))
    return {
        "learning": fetching(
            wrapped + plain + index + gone, **rules, ROBOTSTXT_OBEY=True, MSS_WORKERS=1
        ),
        "default forms": fetching(forms, **rules),
        "all forms": fetching(forms, **all_forms, MSS_WORKERS=1),
        "frozen": fetching(plain, **known),
        "by hand": Job(arguments={"urls": wrapped[:3] + plain[:1]}, settings=by_hand),
        "all": fetching(plain[:1] + index, MSS_EMIT="all"),
        "kinds": fetching(plain[:1] + index, MSS_EMIT="list,other"),
        "custom settings": Job("paths", {"urls": plain[:1] + index[:1]}, rules),
        "improbable": fetching(plain, **known, MSS_MIN_PROBABILITY=1),
        "too large": fetching(wrapped[:2] + plain[:1], **rules, MSS_MAX_BODY=500),
        "languages": fetching(in_languages, MSS_LANGUAGES="eng,fr"),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("crawls")


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site, trained_once: Model) -> dict[str, Crawl]:
    """What came of each of the crawls."""
    trained = folder / "trained.store"
    store_model(trained, trained_once)
    return crawl_all(folder, jobs(site, str(trained)))


def texts(kind: str, number: int) -> tuple[str, ...]:
    return story(kind, number).paragraphs


# One article a page


def test_a_spider_that_yields_nothing_gives_one_article_for_each_page_of_one(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["learning"]

    pages = site.urls("wrapped", range(N_WRAPPED)) + site.urls("plain", PLAIN)
    assert set(done.by_url()) == {*pages, *site.urls("gone", range(2), "localhost")}
    dropped = {name: value for name, value in done.stats.items() if "extract/dropped" in name}
    assert sum(dropped.values()) == done.stats["item_dropped_count"] == 3  # the lists


def test_articles_in_other_languages_are_counted_and_dropped(
    crawls: dict[str, Crawl], site: Site
) -> None:
    """The pages say `en`, and their text does not."""
    done = crawls["languages"]

    assert set(done.by_url()) == set(site.urls("plain", range(2)))
    assert done.mss("extract/dropped/other_language") == 3


def test_the_article_of_a_wrapped_page_is_the_wrappers(
    crawls: dict[str, Crawl], site: Site
) -> None:
    written = story("wrapped", 7)

    item = crawls["learning"].by_url()[site.url("/wrapped/7")]

    assert item["text"] == "\n\n".join(written.paragraphs)
    assert item["title"] == written.title
    assert item["authors"] == [written.author]
    assert item["published"] == written.published
    assert item["language"] == "en"
    assert item["probability"] == 1
    assert item["extractor"] == "wrapper:127.0.0.1/stories"
    assert item["confidence"] is None
    assert "Subscribe" not in item["html"]
    assert written.paragraphs[-1] in item["html"]


def test_the_article_of_a_plain_page_is_the_models(crawls: dict[str, Crawl], site: Site) -> None:
    written = story("plain", 3)

    item = crawls["frozen"].by_url()[site.url("/plain/3")]

    assert item["text"] == "\n\n".join(written.paragraphs)
    assert item["title"] == written.title
    assert item["published"] == written.published
    assert 0.5 < item["probability"] <= 1
    assert item["extractor"] == f"mss:{with_bundled(learned(range(N_WRAPPED))).identifier}"
    assert 0.5 < item["confidence"] <= 1
    age = datetime.now(timezone.utc) - datetime.fromisoformat(item["crawled"])
    assert 0 <= age.total_seconds() < 600


# What is learned


def test_the_model_has_learned_what_it_would_have_learned_alone(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    """robots.txt, which is a page of HTML here, is not among it."""
    done = crawls["learning"]

    assert done.mss("train/learned") == N_WRAPPED
    assert done.mss("train/seen") == N_WRAPPED + 2
    assert done.mss("model/pages") == N_WRAPPED
    assert done.mss("model/checkpoints") == 1
    alone = learned(range(N_WRAPPED))
    assert done.mss("train/tokens") == alone.bayes.tokens.sum()
    assert_same_counts(stored_model(folder / "0.store"), alone)


def test_a_frozen_model_is_not_written(
    crawls: dict[str, Crawl], folder: Path, trained_once: Model
) -> None:
    assert crawls["frozen"].mss("model/checkpoints") == 0
    assert to_bytes(stored_model(folder / "trained.store")) == to_bytes(trained_once)


# Settings


def test_parts_placed_by_hand_do_what_the_addon_does(crawls: dict[str, Crawl]) -> None:
    done = crawls["by hand"]

    assert len(done.items) == 4
    assert done.mss("train/learned") == 3
    assert done.mss("extract/source/wrapper") == 3


def test_emit_all_keeps_what_is_no_article_with_a_probability_of_zero(
    crawls: dict[str, Crawl], site: Site
) -> None:
    items = crawls["all"].by_url()

    for url in site.urls("index", range(3)):
        assert items[url]["probability"] == 0
        assert items[url]["text"] is None
        assert items[url]["crawled"]
    assert items[site.url("/plain/0")]["text"]


def test_pages_of_the_kinds_that_are_asked_for_get_items_and_all_are_counted(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["kinds"]

    assert set(done.by_url()) == set(site.urls("index", range(3)))
    assert {item["kind"] for item in done.by_url().values()} <= {"list", "other"}
    assert done.mss("kind/article") == 1
    assert done.mss("kind/other") + done.mss("kind/list") == 3


def test_settings_of_a_spiders_own_are_read(crawls: dict[str, Crawl], site: Site) -> None:
    """An item class, a field that has another name, and one that is left out."""
    items = crawls["custom settings"].items

    article = next(item for item in items if item.url == site.url("/plain/0"))
    assert len(items) == 2
    assert {item.kind for item in items} == {"dict"}
    assert texts("plain", 0)[0] in article.fields["body"]
    assert not {"text", "html"} & set(article.fields)


def test_optional_fields_are_filled_if_they_are_requested(crawls: dict[str, Crawl]) -> None:
    for url, default in crawls["default forms"].by_url().items():
        filled = crawls["all forms"].by_url()[url]

        assert "<p>" in default["html"]
        assert "onclick" not in default["html"]
        assert default.get("raw_html") is default.get("markdown") is None
        assert HANDLER in filled["raw_html"]
        assert filled["markdown"].split("\n\n")[-1] == filled["text"].split("\n\n")[-1]
        assert (filled["text"], filled["html"]) == (default["text"], default["html"])


def test_a_page_below_the_least_probability_is_no_article(crawls: dict[str, Crawl]) -> None:
    done = crawls["improbable"]

    assert done.items == []
    assert done.mss("extract/dropped/improbable") == len(PLAIN)
    assert done.mss("extract/articles") == 0


def test_a_page_above_the_largest_size_is_neither_learned_nor_extracted(
    crawls: dict[str, Crawl],
) -> None:
    done = crawls["too large"]

    assert done.items == []
    assert done.mss("train/refused/too_large") == 2
    assert done.mss("extract/dropped/too_large") == 3


# Numbers


PATTERNS = [
    re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(PREFIX + row.name))) for row in STATS
]


def test_every_stat_is_a_number_and_a_row_of_the_table(crawls: dict[str, Crawl]) -> None:
    found = {
        name: value
        for done in crawls.values()
        for name, value in done.stats.items()
        if name.startswith(PREFIX)
    }

    assert len(found) > 15
    for name, value in found.items():
        assert type(value) in (int, float), name
        assert sum(bool(pattern.fullmatch(name)) for pattern in PATTERNS) == 1, name


def test_the_numbers_of_a_crawl_agree(crawls: dict[str, Crawl]) -> None:
    for done in crawls.values():
        sources = sum(value for name, value in done.stats.items() if "extract/source" in name)
        dropped = sum(value for name, value in done.stats.items() if "extract/dropped" in name)
        refused = sum(value for name, value in done.stats.items() if "train/refused" in name)
        assert done.mss("extract/articles") == sources
        assert done.mss("extract/pages") == sources + dropped
        assert done.mss("train/seen") == done.mss("train/learned") + refused


def test_the_log_ends_with_a_summary(crawls: dict[str, Crawl]) -> None:
    done = crawls["learning"]
    (summary,) = [text for text in done.logged("INFO") if text.startswith("scrapy-mss: learned")]

    mean = done.mss("extract/probability") / done.mss("extract/articles")
    model = with_bundled(learned(range(N_WRAPPED))).identifier
    silent = "wrappers that matched no page of their site: localhost"
    assert summary.splitlines() == [
        f"scrapy-mss: learned 60 of 62 pages of 1 wrapped site (model {model})",
        f"scrapy-mss: 68 articles in 71 pages, mean probability {mean:.2f}",
        f"scrapy-mss: {silent}; check them with `scrapy mss check`",
    ]
    assert done.mss("wrapper/127.0.0.1/hit") == N_WRAPPED
    assert done.mss("wrapper/localhost/miss") == 2


def test_crawls_start_and_log_no_error(crawls: dict[str, Crawl]) -> None:
    """Warnings, deprecations of Scrapy's among them, are errors in the process of the crawls."""
    for name, done in crawls.items():
        assert done.stats["finish_reason"] == "finished", name
        assert done.logged("ERROR") == [], name


def emptied(path: str, _: Message) -> Answer:
    """Of a site whose front page, which has a long text, is in the place of each article."""
    if path != "/":
        return 302, {"Location": "/"}, b""
    return 200, {"Content-Type": HTML}, plain(1).encode()


def test_a_front_page_in_the_place_of_an_article_is_a_list(tmp_path: Path) -> None:
    with answering(emptied) as site:
        urls = [f"{site}/", f"{site}/2026/03/01/ferry-returns"]
        front, gone = crawl(tmp_path, [fetching([url], MSS_WORKERS=1) for url in urls])

    assert (len(front.items), front.mss("kind/article")) == (1, 1)
    assert (len(gone.items), gone.mss("kind/list")) == (0, 1)
