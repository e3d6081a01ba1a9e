"""`MSS_RAW_HTML` and `MSS_MARKDOWN`: the forms of articles in crawls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import RULES, plain, wrapped

PLAIN, WRAPPED = "http://127.0.0.1/plain/1", "http://127.0.0.1/wrapped/1"
HANDLER = "<p onclick=run()>"
REPLAYED = {"DOWNLOAD_HANDLERS": {"http": "scrapy_mss.replay.ReplayHandler"}}
RAW = {"MSS_RAW_HTML": True}
WORKERS = {"MSS_WORKERS": 1}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    folder: Path = tmp_path_factory.mktemp("raw")
    pages = folder / "pages.jsonl"
    records = [
        {"url": url, "html": source.replace("<p>", HANDLER)}
        for url, source in ((PLAIN, plain(1)), (WRAPPED, wrapped(1)))
    ]
    pages.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    common = {
        **ADDON,
        **REPLAYED,
        "MSS_WORKERS": 0,
        "MSS_REPLAY": [str(pages)],
        "MSS_WRAPPERS": RULES,
    }
    asked = {
        "safe": common,
        "raw": common | RAW,
        "safe, workers": common | WORKERS,
        "raw, workers": common | WORKERS | RAW,
        "markdown": common | {"MSS_MARKDOWN": True},
        "markdown, workers": common | WORKERS | {"MSS_MARKDOWN": True},
    }
    jobs = [Job(arguments={"urls": [PLAIN, WRAPPED]}, settings=each) for each in asked.values()]
    return dict(zip(asked, crawl(folder, jobs), strict=True))


@pytest.mark.parametrize("url", [PLAIN, WRAPPED])
@pytest.mark.parametrize("workers", ["", ", workers"])
def test_html_is_sanitized_unless_the_setting_says_otherwise(
    crawls: dict[str, Crawl], workers: str, url: str
) -> None:
    safe, raw = (crawls[f"{kind}{workers}"].by_url()[url] for kind in ("safe", "raw"))

    assert "<p>" in safe["html"]
    assert "onclick" not in safe["html"]
    assert HANDLER in raw["html"]
    assert safe["text"] == raw["text"]


@pytest.mark.parametrize("url", [PLAIN, WRAPPED])
@pytest.mark.parametrize("workers", ["", ", workers"])
def test_there_is_markdown_if_the_setting_asks_for_it(
    crawls: dict[str, Crawl], workers: str, url: str
) -> None:
    without, asked = (crawls[f"{kind}{workers}"].by_url()[url] for kind in ("safe", "markdown"))

    assert without.get("markdown") is None
    assert asked["markdown"].split("\n\n")[-1] == asked["text"].split("\n\n")[-1]
