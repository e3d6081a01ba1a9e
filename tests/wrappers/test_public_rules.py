"""The public rules of ftr-site-config, on stored pages of their sites; a sample of both."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from itertools import islice
from statistics import fmean

import pytest

from research.bench.metrics import bag, words
from scrapy_mss.wrappers import Registry, label, load_wrappers
from tests.helpers.public_rules import ARCHIVE, SHARED, unpacked

PAGES = SHARED / "data" / "articles_fundus.jsonl.xz"
N_PAGES = 40

pytestmark = [
    pytest.mark.skipif(
        not (ARCHIVE.is_file() and PAGES.is_file()),
        reason=f"no {ARCHIVE.name} and {PAGES.name} in {SHARED}",
    ),
    pytest.mark.slow("thousands of rules, and stored pages"),
]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return load_wrappers(unpacked(tmp_path_factory.mktemp("rules")))


def records() -> Iterator[dict[str, str]]:
    with lzma.open(PAGES, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, islice(lines, N_PAGES))


def test_all_rules_with_a_body_are_loaded(registry: Registry) -> None:
    report = registry.report

    assert len(registry) == report.wrappers == 1770
    assert report.files == report.wrappers + report.without_body
    assert len(report.problems) < 30
    assert report.ignored["find_string"] > 400


def test_labels_agree_with_golds(registry: Registry) -> None:
    scores, n_rules = [], 0
    for record in records():
        wrapper = registry.find(record["url"])
        if wrapper is not None:
            n_rules += 1
            found = label(wrapper, record["html"])
            if found.reason is None:
                scores.append(max(bag(words(found.text), words(g)).f1 for g in record["golds"]))

    assert len(scores) > 0.5 * n_rules > 5
    assert fmean(scores) > 0.85
