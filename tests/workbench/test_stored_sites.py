"""From a site's stored pages to a saved rule, with the requests that a user's clicks send.

The user knows what the article is (the labelled text of the page that opens), clicks the longest
block that is wrongly in or out until the page is right enough, and saves.

`make test-workbench` does so on twenty sites; else it is one, since each takes seconds.
"""

from __future__ import annotations

import json
import lzma
import os
import re
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.suggest.readings import word_f1
from scrapy_mss.workbench.api import WorkbenchState, answer
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.reading import read_by
from tests.helpers.public_rules import SHARED
from tests.helpers.workbenches import workbench

DATA = SHARED / "data" / "sites_ctf.jsonl.xz"
N_SITES = int(os.environ.get("WORKBENCH_SITES", "1"))
MOST_CLICKS, MEDIAN_CLICKS = 5, 2  # the one that saves included
RIGHT = 0.95  # F1 of a page, from which nobody clicks on
SHORTEST = 5  # words of a block that can be told from others
HEADER = 25  # words of a block before the text, below which it is headline, byline or date

pytestmark = pytest.mark.skipif(
    not DATA.is_file(), reason="the labelled pages of make bench are not here"
)


def sites() -> dict[str, list[dict[str, Any]]]:
    """The first `N_SITES` of sites and eras, in an order that has nothing to do with them."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with lzma.open(DATA, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found[f"{row['site']} {row['group']}"].append(row)
    return dict(sorted(found.items(), key=lambda row: sha256(row[0].encode()).digest())[:N_SITES])


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def wrong_block(texts: list[str], inside: str, gold: str) -> int | None:
    """The longest block that is wrongly in or out; None if the page is right enough."""
    kept = [number for number, is_in in enumerate(inside) if is_in == "1"]
    if word_f1(" ".join(texts[number] for number in kept), gold) >= RIGHT:
        return None
    known = " ".join(words(gold))
    wrong = {}
    for number, text in enumerate(texts):
        found = words(text)
        is_gold = " ".join(found) in known
        is_header = is_gold and number < min(kept, default=0) and len(found) < HEADER
        if len(found) >= SHORTEST and is_gold != (number in kept) and not is_header:
            wrong[number] = len(found)
    return max(wrong, key=wrong.__getitem__, default=None)


def clicks_until_saved(state: WorkbenchState, site: str, golds: dict[str, str]) -> int:
    pages = answer("open", {"site": site}, state)["pages"]
    number = next((n for n, page in enumerate(pages) if not page["left_out"]), 0)
    rule = answer("suggest", {"site": site}, state)["rule"]
    explanation = state.explained(site, number)
    texts = [explanation.text_of(block) for block in explanation.blocks]
    clicks = 1  # the one that saves
    while clicks < MOST_CLICKS:
        values = {"site": site, "page": number, "rule": rule}
        inside = answer("evaluate", values, state)["inside"]
        block = wrong_block(texts, inside, golds[pages[number]["url"]])
        if block is None:
            break
        edit = answer("click", {**values, "block": block, "run": 0, "role": "body"}, state)
        if edit.get("rule", rule) == rule:
            break
        rule = edit["rule"]
        clicks += 1
    assert "path" in answer("save", {"site": site, "rule": rule}, state)
    return clicks


@pytest.mark.slow("all pages of a site, with and without its rule")
def test_a_rule_takes_few_clicks_and_makes_no_site_worse(tmp_path: Path) -> None:
    clicks = []
    extractor = Extractor()
    for name, rows in sites().items():
        state = workbench([StoredPage(row["url"], row["html"]) for row in rows], tmp_path / name)
        golds = {row["url"]: row["golds"][0] for row in rows}
        clicks += [clicks_until_saved(state, site, golds) for site in state.pages.by_site]
        by_rule, by_model = [], []
        rules = load_wrappers(state.folder)
        for row in rows:
            rule, model = rules.find(row["url"]), extractor.extract(row["html"]).text
            if rule is not None:
                found = read_by(rule, Page.of(row["html"]), extractor)
                by_rule.append(word_f1(found.text or model, golds[row["url"]]))  # as in a crawl
                by_model.append(word_f1(model, golds[row["url"]]))
        assert fmean(by_rule) > fmean(by_model) - 0.005, name

    assert max(clicks) <= MOST_CLICKS
    assert median(clicks) <= MEDIAN_CLICKS
