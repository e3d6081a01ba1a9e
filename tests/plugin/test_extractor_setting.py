"""`MSS_EXTRACTOR`: other systems in the place of the model, in the crawl's process and in workers.

`FRAGILE` is a system that fails on some pages: their number, which ends the title, says how.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

import pytest
from scrapy_mss.systems import chosen

from research.systems import SYSTEMS
from research.systems.base import TextExtractor
from research.systems.baselines import LongestBlock, SimpleMss
from research.systems.external import PEERS
from scrapy_mss.article import read_page
from scrapy_mss.models.format import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.settings import SettingError
from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import RULES, Site, index, plain, story

FRAGILE = """
import re

class Fragile:
    def extract(self, html):
        print("what a library has to say")
        number = int(re.search(r"(\\d*)</title>", html)[1] or 0)
        if number % 3 == 1:
            raise ZeroDivisionError(f"page {number}")
        if number % 3 == 2:
            raise LookupError
        return "\\n\\n".join(re.findall("<p>(.*?)</p>", html))
"""
REGISTERED = """
from research.systems import SYSTEMS, System
SYSTEMS["fragile"] = System("fragile:Fragile")
"""
PLAIN = range(6)


# Before a crawl


def test_mss_is_the_crawls_own_model() -> None:
    assert chosen("mss") is None


def test_a_system_is_made_with_its_options() -> None:
    system = chosen("simple-mss:penalty=-2.5")

    assert isinstance(system, SimpleMss)
    assert system.penalty == -2.5


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("longest-blok", "no system is called 'longest-blok': did you mean longest-block"),
        ("MSS", "no system is called 'MSS': there are mss, mss-paper, "),
        ("mss:bias=1", "'mss' has no options; it has settings"),
        ("simple-mss:bias=1", "'simple-mss:bias=1' cannot be made: 'bias=1' in "),
        ("mss-paper", "'mss-paper' has to learn from labelled pages before it is asked"),
        ("mss-cleaneval:bias=0.3", "'mss-cleaneval' has to learn from labelled pages"),
    ],
)
def test_what_cannot_run_in_a_crawl_is_refused_with_the_reason(spec: str, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        chosen(spec)

    assert str(caught.value).startswith(f"MSS_EXTRACTOR: {message}")


def test_a_missing_library_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent() -> NoReturn:
        raise ModuleNotFoundError("No module named 'goose3'", name="goose3")

    monkeypatch.setitem(PEERS, "goose3", absent)

    with pytest.raises(SettingError) as caught:
        chosen("goose3")

    assert (
        str(caught.value) == "MSS_EXTRACTOR: goose3 needs goose3: pip install 'scrapy-mss[peers]'"
    )


def test_every_system_is_made_or_refused_by_name() -> None:
    for name in set(SYSTEMS) - {"mss"}:
        try:
            system = chosen(name)
        except SettingError as error:
            assert str(error).startswith("MSS_EXTRACTOR: ")  # noqa: PT017
        else:
            assert isinstance(system, TextExtractor)


# One page


class Failing:
    """Fails with what it is given."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def extract(self, html: str) -> str:
        raise self.error


def test_a_system_decides_by_its_text_and_the_page_tells_the_rest() -> None:
    told = story("plain", 3)

    found = read_page(Model(DEFAULT), plain(3), "http://127.0.0.1/", LongestBlock())

    assert (found.reason, found.fault, found.probability) == ("", "", 1.0)
    assert found.fields["text"] == "\n\n".join((told.title, *told.paragraphs))
    assert found.fields["title"] == told.title
    assert found.fields["published"] == told.published
    assert "html" not in found.fields


@pytest.mark.parametrize(("source", "reason"), [(index(0), "too_short"), ("<br>", "no_span")])
def test_a_page_without_an_article_has_its_reason_and_nothing_to_offer(
    source: str, reason: str
) -> None:
    found = read_page(Model(DEFAULT), source, "", LongestBlock())

    assert found.reason == reason
    assert found.offered == {"probability": 0.0}


def test_a_page_that_a_system_fails_on_is_read_as_if_there_were_none() -> None:
    failing = Failing(ValueError("two\nlines " + "and more " * 99))

    found = read_page(Model(DEFAULT), plain(3), "", failing)

    alone = read_page(Model(DEFAULT), plain(3), "")
    assert found.fields == alone.fields
    assert found.probability == alone.probability
    assert found.fault.startswith("ValueError: two lines and more")
    assert len(found.fault) == 200


# In crawls


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the fragile system, for processes that find it in their path."""
    made = tmp_path_factory.mktemp("systems")
    (made / "fragile.py").write_text(FRAGILE)
    (made / "sitecustomize.py").write_text(REGISTERED)
    return made


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site) -> dict[str, Crawl]:
    pages, wrapped = site.urls("plain", PLAIN), site.urls("wrapped", range(2))
    everything = {"urls": [*pages, *wrapped, *site.urls("index", range(2))]}
    rules = {**ADDON, "MSS_WRAPPERS": RULES}
    block = {**rules, "MSS_EXTRACTOR": "longest-block"}
    fragile = {**ADDON, "MSS_EXTRACTOR": "fragile"}
    asked = {
        "block": Job(arguments=everything, settings=block),
        "block, workers": Job(arguments=everything, settings={**block, "MSS_WORKERS": 2}),
        "no preference": Job(
            arguments={"urls": wrapped},
            settings={**rules, "MSS_EXTRACTOR": "all-text", "MSS_PREFER_WRAPPER": False},
        ),
        "options": Job(
            arguments={"urls": pages[:1]},
            settings={**ADDON, "MSS_EXTRACTOR": "simple-mss:penalty=-2.5"},
        ),
        "fragile": Job(arguments={"urls": pages}, settings=fragile),
        "fragile, workers": Job(arguments={"urls": pages}, settings={**fragile, "MSS_WORKERS": 1}),
        "unknown": Job(arguments={"urls": pages}, settings={**ADDON, "MSS_EXTRACTOR": "fragil"}),
    }
    with pytest.MonkeyPatch.context() as patch:
        paths = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        return dict(zip(asked, crawl(folder, asked.values()), strict=True))


def articles(done: Crawl) -> dict[str, dict[str, Any]]:
    return {url: {**fields, "crawled": ""} for url, fields in done.by_url().items()}


def test_pages_without_a_wrapper_get_the_systems_text(crawls: dict[str, Crawl], site: Site) -> None:
    done = crawls["block"]
    told = story("plain", 2)

    item = done.by_url()[site.url("/plain/2")]

    assert item["text"] == "\n\n".join((told.title, *told.paragraphs))
    assert item["title"] == told.title
    assert item["authors"] == [told.author]
    assert (item["extractor"], item["probability"]) == ("longest-block", 1)
    assert item["html"] is None
    assert done.mss("extract/source/system") == len(PLAIN)


def test_a_page_that_a_wrapper_labels_gets_the_wrappers_text(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["block"]

    item = done.by_url()[site.url("/wrapped/1")]

    assert item["extractor"] == "wrapper:127.0.0.1/stories"
    assert item["text"] == "\n\n".join(story("wrapped", 1).paragraphs)
    assert (done.mss("extract/source/wrapper"), done.mss("train/learned")) == (2, 2)
    declined = crawls["no preference"].by_url()
    assert {fields["extractor"] for fields in declined.values()} == {"all-text"}


def test_a_page_whose_text_is_too_short_is_no_article(crawls: dict[str, Crawl], site: Site) -> None:
    done = crawls["block"]

    assert not set(site.urls("index", range(2))) & set(done.by_url())
    assert done.mss("extract/articles") == len(PLAIN) + 2
    dropped = sum(value for name, value in done.stats.items() if "extract/dropped" in name)
    assert dropped == 2


@pytest.mark.parametrize("name", ["block", "fragile"])
def test_workers_give_the_same_items_and_numbers(crawls: dict[str, Crawl], name: str) -> None:
    here, there = crawls[name], crawls[f"{name}, workers"]

    assert len(here.items) >= len(PLAIN)
    assert articles(there) == articles(here)
    counted = [key for key in here.stats if key.startswith("mss/") and "seconds" not in key]
    sums = {key: here.stats[key] for key in counted}
    assert {key: there.stats.get(key) for key in counted} == pytest.approx(sums)


def test_options_are_part_of_the_name(crawls: dict[str, Crawl], site: Site) -> None:
    item = crawls["options"].by_url()[site.url("/plain/0")]

    assert item["extractor"] == "simple-mss:penalty=-2.5"
    assert story("plain", 0).paragraphs[1] in item["text"]


@pytest.mark.parametrize("name", ["fragile", "fragile, workers"])
def test_pages_that_a_system_fails_on_are_counted_and_read_by_mss(
    crawls: dict[str, Crawl], site: Site, name: str
) -> None:
    done = crawls[name]

    by_url = done.by_url()
    names = [by_url[url]["extractor"] for url in site.urls("plain", PLAIN)]
    assert [name.partition(":")[0] for name in names] == ["fragile", "mss", "mss"] * 2
    assert story("plain", 4).paragraphs[1] in by_url[site.url("/plain/4")]["text"]
    assert by_url[site.url("/plain/4")]["html"]
    assert done.mss("extract/fallback/ZeroDivisionError") == 2
    assert done.mss("extract/fallback/LookupError") == 2
    assert done.mss("extract/source/system") == 2
    assert done.mss("extract/articles") == 6


@pytest.mark.parametrize("name", ["fragile", "fragile, workers"])
def test_each_kind_of_failure_is_logged_once(crawls: dict[str, Crawl], name: str) -> None:
    warnings = [text for text in crawls[name].logged("WARNING") if "fragile failed on" in text]

    kinds = [text.partition("(")[2].split(":")[0] for text in warnings]
    assert sorted(kinds) == ["LookupError", "ZeroDivisionError"]


def test_an_unknown_name_stops_the_crawl_at_its_start(crawls: dict[str, Crawl]) -> None:
    done = crawls["unknown"]

    assert done.items == []
    assert "MSS_EXTRACTOR: no system is called 'fragil': did you mean fragile" in done.error
    assert done.mss("extract/pages") == 0


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    for name, done in crawls.items():
        if name != "unknown":
            assert done.error == "", name
            assert done.logged("ERROR") == [], name
