"""Pages that no site should send: the crawl goes on, and numbers tell of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_mss.models.model import Model
from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.models import store_model
from tests.plugin.site import N_HOSTILE, Site

# On the site of this rule every hostile page is labelled, too.
RULES = [{"site": "127.0.0.1", "url": "/hostile/*", "body": "div, p, b"}]
WAYS = ("model", "workers", "wrapper")


@pytest.fixture(scope="module")
def crawls(
    site: Site, trained_once: Model, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Crawl]:
    """The hostile pages and a sound one, by the model, by workers, and by a wrapper."""
    folder = tmp_path_factory.mktemp("hostile")
    store_model(folder / "store", trained_once)
    urls = [*site.urls("hostile", range(N_HOSTILE)), site.url("/plain/1")]
    known = {**ADDON, "MSS_STORE": str(folder / "store")}
    jobs = [
        Job(arguments={"urls": urls}, settings={**known, "MSS_TRAIN": False}),
        Job(arguments={"urls": urls}, settings={**known, "MSS_TRAIN": False, "MSS_WORKERS": 2}),
        Job(
            arguments={"urls": urls},
            settings={**known, "MSS_WRAPPERS": RULES, "MSS_STORE": str(folder / "other")},
        ),
    ]
    return dict(zip(WAYS, crawl(folder, jobs), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_the_crawl_finishes_and_counts_every_page(crawls: dict[str, Crawl], way: str) -> None:
    done = crawls[way]

    counted = sum(value for name, value in done.stats.items() if "extract/dropped" in name)
    counted += done.mss("extract/articles")
    assert done.stats["finish_reason"] == "finished"
    assert done.stats["response_received_count"] == N_HOSTILE + 1
    assert done.mss("extract/pages") == counted == N_HOSTILE + 1
    assert not [name for name in done.stats if "extract/failed" in name]
    assert done.logged("ERROR") == []


@pytest.mark.parametrize("way", WAYS)
def test_the_sound_page_among_them_is_an_article(
    crawls: dict[str, Crawl], way: str, site: Site
) -> None:
    assert crawls[way].by_url()[site.url("/plain/1")]["text"]


@pytest.mark.parametrize("way", WAYS)
def test_an_empty_body_and_zeros_are_no_articles(
    crawls: dict[str, Crawl], way: str, site: Site
) -> None:
    found = crawls[way].by_url()

    assert site.url("/hostile/5") not in found
    assert site.url("/hostile/6") not in found


def test_a_wrong_or_unknown_encoding_costs_letters_and_not_the_article(
    crawls: dict[str, Crawl], site: Site
) -> None:
    found = crawls["model"].by_url()

    assert len(found[site.url("/hostile/3")]["text"]) > 500
    assert len(found[site.url("/hostile/4")]["text"]) > 500


def test_training_counts_each_page_as_learned_or_refused(crawls: dict[str, Crawl]) -> None:
    done = crawls["wrapper"]

    refused = sum(value for name, value in done.stats.items() if "train/refused" in name)
    assert done.mss("train/seen") == done.mss("train/learned") + refused == N_HOSTILE
    assert done.mss("train/refused/error") == 0


def test_what_was_learned_from_them_can_be_read_again(
    crawls: dict[str, Crawl], tmp_path: Path
) -> None:
    assert crawls["wrapper"].mss("model/failed") == 0
