"""`MSS_FIELDS`: the forms of articles in crawls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import RULES, plain, wrapped

PLAIN, WRAPPED = "http://127.0.0.1/plain/1", "http://127.0.0.1/wrapped/1"
HANDLER = "<p onclick=run()>"
HANDLER_OF_PAGES = "research.benchmarks.stored_pages_handler.StoredPagesHandler"
REPLAYED = {"DOWNLOAD_HANDLERS": {"http": HANDLER_OF_PAGES}}
ALL = {"MSS_FIELDS": ["raw_html", "markdown"]}
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
        "STORED_PAGES": [str(pages)],
        "MSS_WRAPPERS": RULES,
    }
    asked = {
        "default": common,
        "all": common | ALL,
        "default, workers": common | WORKERS,
        "all, workers": common | WORKERS | ALL,
    }
    jobs = [Job(arguments={"urls": [PLAIN, WRAPPED]}, settings=each) for each in asked.values()]
    return dict(zip(asked, crawl(folder, jobs), strict=True))


@pytest.mark.parametrize("url", [PLAIN, WRAPPED])
@pytest.mark.parametrize("workers", ["", ", workers"])
def test_optional_fields_are_filled_if_they_are_asked_for(
    crawls: dict[str, Crawl], workers: str, url: str
) -> None:
    default, asked = (crawls[f"{kind}{workers}"].by_url()[url] for kind in ("default", "all"))

    assert "<p>" in default["html"]
    assert "onclick" not in default["html"]
    assert default.get("raw_html") is None
    assert default.get("markdown") is None
    assert HANDLER in asked["raw_html"]
    assert asked["markdown"].split("\n\n")[-1] == asked["text"].split("\n\n")[-1]
    assert (asked["text"], asked["html"]) == (default["text"], default["html"])
