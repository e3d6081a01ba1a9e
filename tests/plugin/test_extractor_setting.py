"""`MSS_EXTRACTOR`: what it may name, and other extractors in crawls, with workers and without."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.article import ModelState, ReadOptions, read_article
from scrapy_mss.models.bundled import bundled_model
from scrapy_mss.settings import SettingError
from scrapy_mss.text_extractor import load_text_extractor
from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import RULES, Site, index, plain, rules_with, story

# A module that is an extractor, and has more of them; `Fragile` fails on some pages: their number,
# which ends the title, says how.
EXTRACTORS = """
import re

def extract(html):
    return "\\n".join(re.findall("<p>(.*?)</p>", html))

class Paragraphs:
    def extract(self, html, fast=True):
        return extract(html)

instance = Paragraphs()

class Fragile:
    def extract(self, html):
        print("what a library has to say")
        number = int(re.search(r"(\\d*)</title>", html)[1] or 0)
        if number % 4 == 1:
            raise ZeroDivisionError(f"page {number}")
        if number % 4 == 2:
            raise LookupError
        if number % 4 == 3:
            return html.encode()
        return extract(html)

class Nothing:
    extract = lambda self, html: None

class Needy:
    def __init__(self, language):
        pass

    def extract(self, html):
        return html

class Failing:
    def __init__(self):
        raise OSError("no such\\nfile")

class Strange:
    extract = "a text"

class Greedy:
    def extract(self, html, url):
        return html

class BuiltIn:
    extract = staticmethod(str)
"""
PLAIN = range(8)
PATHS = ("extractors", "extractors.Paragraphs", "extractors.instance", "extractors:Paragraphs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Holds the extractors, for this process and for others that find them in their path."""
    made = tmp_path_factory.mktemp("extractors")
    (made / "extractors.py").write_text(EXTRACTORS)
    (made / "broken.py").write_text("1 / 0")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(made))
        paths = filter(None, (str(made), os.environ.get("PYTHONPATH")))
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        yield made
    sys.modules.pop("extractors", None)


# What it may name


def test_without_a_path_the_model_reads() -> None:
    assert load_text_extractor("") is None


@pytest.mark.parametrize("path", PATHS)
def test_a_module_an_instance_and_a_class_extract_alike(folder: Path, path: str) -> None:
    extractor = load_text_extractor(path)

    assert extractor is not None
    assert extractor.extract("<p>One.</p><p>Two.</p>") == "One.\nTwo."


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("extractor", "'extractor' cannot be imported: ModuleNotFoundError"),
        ("extractors.Paragraph", "'extractors.Paragraph' cannot be imported: AttributeError"),
        ("no such path", "'no such path' cannot be imported: ValueError"),
        ("broken", "'broken' cannot be imported: ZeroDivisionError: division by zero"),
        ("extractors.extract", "got 'extractors.extract', which has no `extract`"),
        ("extractors.Strange", "got 'extractors.Strange', which is not callable"),
        (
            "extractors.Needy",
            "a class that can be called without arguments, got 'extractors.Needy'",
        ),
        (
            "extractors.Failing",
            "got 'extractors.Failing': OSError: no such\nfile. Name an instance",
        ),
        ("extractors.Greedy", "but that of 'extractors.Greedy' takes (html, url)"),
    ],
)
def test_what_cannot_extract_is_rejected_with_the_reason(
    folder: Path, path: str, message: str
) -> None:
    with pytest.raises(SettingError) as caught:
        load_text_extractor(path)

    assert str(caught.value).startswith("MSS_EXTRACTOR: expected ")
    assert message in str(caught.value)


def test_a_function_that_does_not_say_what_it_takes_is_taken_at_its_word(folder: Path) -> None:
    assert load_text_extractor("extractors.BuiltIn") is not None


# One page


class Fixed:
    """Finds the same in every page, or fails with it."""

    def __init__(self, found: object) -> None:
        self.found = found

    def extract(self, html: str) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


STATE = ModelState.of(bundled_model())
SENTENCES = "It rains in the north. " * 5


def test_an_article_has_the_extractors_text_and_what_the_page_says_of_itself() -> None:
    told, text = story("plain", 3), f"{SENTENCES}\n{SENTENCES}"

    result = read_article(plain(3), "http://127.0.0.1/", STATE, ReadOptions(("mine", Fixed(text))))

    assert (result.reason, result.source, result.model_state) == ("", "extractor", "")
    article = result.article
    assert article is not None
    assert (article.text, article.html) == (text, None)
    assert (article.probability, article.extractor) == (1.0, "mine")
    assert (article.title, article.published) == (told.title, told.published)


def test_trafilatura_is_an_extractor_by_its_name() -> None:
    pytest.importorskip("trafilatura", reason="trafilatura is not installed")
    extractor = load_text_extractor("trafilatura")
    assert extractor is not None

    result = read_article(plain(3), "", STATE, ReadOptions(("trafilatura", extractor)))

    assert result.article is not None
    assert all(text in (result.article.text or "") for text in story("plain", 3).paragraphs)
    assert result.article.extractor == "trafilatura"


@pytest.mark.parametrize(
    ("found", "reason"),
    [(None, "no_span"), ("", "no_span"), (" \n ", "no_span"), (SENTENCES, "too_short")],
)
def test_a_page_without_an_article_has_its_reason(found: object, reason: str) -> None:
    result = read_article(index(0), "", STATE, ReadOptions(("mine", Fixed(found))))

    assert (result.article, result.reason, result.extractor_error) == (None, reason, "")
    assert result.values == {"probability": 0.0}


@pytest.mark.parametrize(
    ("found", "error"),
    [
        (ValueError("two\nlines " + "and more " * 99), "ValueError: two lines and more"),
        (b"bytes", "TypeError: expected extract() to return str or None, got bytes"),
    ],
)
def test_a_page_that_an_extractor_fails_on_is_read_by_the_model(found: object, error: str) -> None:
    result = read_article(plain(3), "", STATE, ReadOptions(("mine", Fixed(found))))

    alone = read_article(plain(3), "", STATE)
    assert result.article == alone.article
    assert (result.source, result.model_state) == ("model", STATE.identifier)
    assert result.extractor_error.startswith(error)
    assert len(result.extractor_error) <= 200


# In crawls


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site) -> dict[str, Crawl]:
    pages, wrapped = site.urls("plain", PLAIN), site.urls("wrapped", range(2))
    everything = {"urls": [*pages, *wrapped, *site.urls("index", range(2))]}
    rules = {**ADDON, "MSS_WRAPPERS": RULES}
    module = {**rules, "MSS_EXTRACTOR": "extractors"}
    # What is known of a site depends on which pages were read before.
    fragile = {**ADDON, "MSS_EXTRACTOR": "extractors.Fragile", "MSS_SITE_MEMORY": 0}
    asked = {
        "module": Job(arguments=everything, settings=module),
        "module, workers": Job(arguments=everything, settings={**module, "MSS_WORKERS": 2}),
        "train only": Job(
            arguments={"urls": wrapped},
            settings={**module, "MSS_WRAPPERS": rules_with(train_only=True)},
        ),
        "fragile": Job(arguments={"urls": pages}, settings=fragile),
        "fragile, workers": Job(arguments={"urls": pages}, settings={**fragile, "MSS_WORKERS": 1}),
        "unknown": Job(arguments={"urls": pages}, settings={**ADDON, "MSS_EXTRACTOR": "extracter"}),
    }
    return dict(zip(asked, crawl(folder, asked.values()), strict=True))


def articles(done: Crawl) -> dict[str, dict[str, Any]]:
    return {url: {**fields, "crawled": ""} for url, fields in done.by_url().items()}


def test_pages_without_a_wrapper_get_the_extractors_text(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["module"]
    told = story("plain", 2)

    item = done.by_url()[site.url("/plain/2")]

    assert item["text"] == "\n".join(told.paragraphs)
    assert item["title"] == told.title
    assert item["authors"] == [told.author]
    assert (item["extractor"], item["probability"]) == ("extractors", 1)
    assert item["html"] is None
    assert done.mss("extract/source/extractor") == len(PLAIN)


def test_a_page_that_a_wrapper_labels_gets_the_wrappers_text(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["module"]

    item = done.by_url()[site.url("/wrapped/1")]

    assert item["extractor"] == "wrapper:127.0.0.1/stories"
    assert item["text"] == "\n\n".join(story("wrapped", 1).paragraphs)
    assert (done.mss("extract/source/wrapper"), done.mss("train/learned")) == (2, 2)
    declined = crawls["train only"].by_url()
    assert {fields["extractor"] for fields in declined.values()} == {"extractors"}


def test_a_page_without_a_text_is_no_article(crawls: dict[str, Crawl], site: Site) -> None:
    done = crawls["module"]

    assert not set(site.urls("index", range(2))) & set(done.by_url())
    assert done.mss("extract/articles") == len(PLAIN) + 2
    assert done.mss("extract/dropped/no_span") == 2


@pytest.mark.parametrize("name", ["module", "fragile"])
def test_workers_give_the_same_items_and_numbers(crawls: dict[str, Crawl], name: str) -> None:
    here, there = crawls[name], crawls[f"{name}, workers"]

    assert len(here.items) >= len(PLAIN)
    assert articles(there) == articles(here)
    counted = [key for key in here.stats if key.startswith("mss/") and "seconds" not in key]
    sums = {key: here.stats[key] for key in counted}
    assert {key: there.stats.get(key) for key in counted} == pytest.approx(sums)


@pytest.mark.parametrize("name", ["fragile", "fragile, workers"])
def test_pages_that_an_extractor_fails_on_are_counted_and_read_by_the_model(
    crawls: dict[str, Crawl], site: Site, name: str
) -> None:
    done = crawls[name]

    by_url = done.by_url()
    names = [by_url[url]["extractor"] for url in site.urls("plain", PLAIN)]
    assert [name.partition(":")[0] for name in names] == ["extractors.Fragile", *["mss"] * 3] * 2
    assert story("plain", 5).paragraphs[1] in by_url[site.url("/plain/5")]["text"]
    assert by_url[site.url("/plain/5")]["html"]
    for kind in ("ZeroDivisionError", "LookupError", "TypeError"):
        assert done.mss(f"extract/fallback/{kind}") == 2
    assert done.mss("extract/source/extractor") == 2
    assert done.mss("extract/articles") == len(PLAIN)


@pytest.mark.parametrize("name", ["fragile", "fragile, workers"])
def test_each_kind_of_failure_is_logged_once(crawls: dict[str, Crawl], name: str) -> None:
    warnings = [text for text in crawls[name].logged("WARNING") if "Fragile failed on" in text]

    kinds = [text.partition("(")[2].split(":")[0] for text in warnings]
    assert sorted(kinds) == ["LookupError", "TypeError", "ZeroDivisionError"]


def test_a_path_that_leads_nowhere_stops_the_crawl_at_its_start(crawls: dict[str, Crawl]) -> None:
    done = crawls["unknown"]

    assert done.items == []
    assert done.error.startswith("SettingError: MSS_EXTRACTOR: expected the dotted path")
    assert done.mss("extract/pages") == 0


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    for name, done in crawls.items():
        if name != "unknown":
            assert done.error == "", name
            assert done.logged("ERROR") == [], name
