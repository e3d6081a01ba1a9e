"""The example project's rules: all are sound, and those of real sites label stored pages."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

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


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_wrappers([RULES])


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
@pytest.mark.skipif(not PAGES.is_file(), reason=f"no {PAGES.name} in {PAGES.parent}")
def test_stored_pages_of_every_site_are_labelled(registry: Registry) -> None:
    labelled = set()
    with lzma.open(PAGES, "rt", encoding="utf-8") as lines:
        for page in map(json.loads, lines):
            wrapper = registry.find(page["url"])
            if wrapper is None or page["date"] < SINCE:
                continue
            found = label(wrapper, page["html"])
            labelled.add(wrapper.host)

            assert {*found.missed} <= {"exclude"}, page["url"]
            assert found.failures == ()
            assert bag(words(found.text), words(page["golds"][0])).f1 >= 0.97, page["url"]

    assert labelled == set(SITES)
