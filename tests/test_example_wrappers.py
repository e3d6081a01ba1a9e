"""The example project's rules: all are sound, and those of real sites label stored pages."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import TypedDict

import pytest

from research.bench.metrics import bag, words
from scrapy_mss.wrappers import Registry, label, load_wrappers

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / "example_project" / "wrappers"
DEMO = RULES / "demo.yaml"
PAGES = ROOT.parent / "shared" / "data" / "articles_fundus.jsonl.xz"
SINCE = "2023"
FILES = sorted(file for file in RULES.glob("*.yaml") if file != DEMO)
SITES = [file.stem for file in FILES]

needs_pages = pytest.mark.skipif(not PAGES.is_file(), reason=f"no {PAGES.name} in {PAGES.parent}")


class Page(TypedDict):
    """What is read of a stored page."""

    url: str
    site: str
    date: str
    golds: list[str]
    html: str


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_wrappers([RULES])


@cache
def pages() -> dict[str, list[Page]]:
    """The pages since `SINCE` of each site that has a rule."""
    found: dict[str, list[Page]] = {site: [] for site in SITES}
    with lzma.open(PAGES, "rt", encoding="utf-8") as lines:
        for line in lines:
            page: Page = json.loads(line)
            if page["site"] in found and page["date"] >= SINCE:
                found[page["site"]].append(page)
    return found


def test_there_are_rules_for_twelve_real_sites(registry: Registry) -> None:
    assert len(SITES) >= 12
    assert len(registry) == len(load_wrappers([DEMO])) + len(SITES)


@pytest.mark.parametrize("file", FILES, ids=SITES)
def test_a_file_is_named_after_its_site(file: Path, registry: Registry) -> None:
    (wrapper,) = load_wrappers([file])

    assert wrapper.host == file.stem
    assert wrapper.title
    assert wrapper.authors
    assert wrapper.published
    assert wrapper.tests
    assert all(registry.find(example.url) == wrapper for example in wrapper.tests)


@pytest.mark.slow("stored pages")
@needs_pages
@pytest.mark.parametrize("site", SITES)
def test_the_pages_of_a_site_are_labelled(site: str, registry: Registry) -> None:
    assert pages()[site]
    for page in pages()[site]:
        wrapper = registry.find(page["url"])
        assert wrapper is not None
        labelling = label(wrapper, page["html"])

        assert labelling.failures == ()
        assert bag(words(labelling.text), words(page["golds"][0])).f1 >= 0.97, page["url"]
        assert labelling.title
        assert labelling.authors
        assert labelling.published
