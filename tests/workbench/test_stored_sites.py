"""From a site's stored pages to a saved rule, through the real page, as a person would do it.

The person knows what the article is (the labelled text of the page that opens), clicks the longest
block that is wrongly in or out until the page is right enough, and saves. Counted are the clicks,
the one that saves included, and the seconds that the machine takes.

`make test-workbench` does so on twenty sites; else it is one, since each takes seconds.
"""

from __future__ import annotations

import json
import lzma
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import fmean, median
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright")

from playwright.sync_api import Browser

from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.suggest.agreement import word_f1
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.reading import read_by
from tests.helpers.browser import chromium
from tests.helpers.workbench_ui import WorkbenchUI, browser, opened
from tests.helpers.workbenches import served, workbench

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "sites_ctf.jsonl.xz"
N_SITES = int(os.environ.get("WORKBENCH_SITES", "1"))
MOST_CLICKS, MEDIAN_CLICKS = 5, 2
RIGHT = 0.95  # F1 of a page, from which nobody clicks on
SHORTEST = 5  # words of a block that can be told from others
HEADER = 25  # words of a block before the text, below which it is headline, byline or date
MARKS = """all => all.map(one => [Number(one.dataset.block), one.textContent,
    one.classList.contains('mss-in')])"""

pytestmark = [
    pytest.mark.skipif(
        chromium() is None, reason="there is no chromium here: make test-workbench installs it"
    ),
    pytest.mark.skipif(not DATA.is_file(), reason="the labelled pages of make bench are not here"),
    pytest.mark.slow("a browser"),
]


@dataclass(frozen=True)
class Row:
    """What it took to make the rule of a site, and how good a crawl's articles are with it.

    `rule` and `model` are the F1 on all pages of the site, with the rule and without any.
    """

    site: str
    clicks: int
    seconds: float
    rule: float
    model: float


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


def sites() -> list[tuple[str, list[dict[str, Any]]]]:
    """The first `N_SITES` of sites and eras, in an order that has nothing to do with them."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with lzma.open(DATA, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found[f"{row['site']} {row['group']}"].append(row)
    return sorted(found.items(), key=lambda item: sha256(item[0].encode()).digest())[:N_SITES]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def wrong_block(ui: WorkbenchUI, gold: str) -> int | None:
    """The longest block that is in and should not be, or the other way; None if all is well."""
    marks = ui.page.frames[1].locator("[data-block]").evaluate_all(MARKS)
    texts: dict[int, str] = defaultdict(str)
    inside: dict[int, bool] = {}
    for number, text, is_in in marks:
        texts[number] += f" {text}"
        inside[number] = is_in
    kept = " ".join(texts[number] for number in texts if inside[number])
    if word_f1(kept, gold) >= RIGHT:
        return None
    known = " ".join(words(gold))
    first = next((number for number in sorted(texts) if inside[number]), 0)
    wrong = {}
    for number, text in texts.items():
        found = words(text)
        is_gold = " ".join(found) in known
        is_header = is_gold and number < first and len(found) < HEADER
        if len(found) >= SHORTEST and is_gold != inside[number] and not is_header:
            wrong[number] = len(found)
    return max(wrong, key=wrong.__getitem__, default=None)


def made(chrome: Browser, rows: list[dict[str, Any]], folder: Path) -> tuple[int, float]:
    """Make and save the rule of a site; the clicks and the seconds that it took."""
    golds = {row["url"]: row["golds"][0] for row in rows}
    began = monotonic()
    bench = workbench([StoredPage(row["url"], row["html"]) for row in rows], folder)
    with served(bench) as origins, opened(chrome, origins) as ui:
        url = ui.page.get_attribute("#list [aria-current]", "title") or ""
        while ui.clicks < MOST_CLICKS - 1:
            block = wrong_block(ui, golds[url])
            if block is None:
                break
            before = ui.rule
            if "problems" in ui.click_block(block) or ui.rule == before:
                break
        ui.click("#save")
        return ui.clicks, monotonic() - began


def measured(chrome: Browser, site: str, rows: list[dict[str, Any]], folder: Path) -> Row:
    clicks, seconds = made(chrome, rows, folder)
    rules = load_wrappers(folder / "rules")
    extractor = Extractor()
    by_rule, by_model = [], []
    for row in rows:
        rule = rules.find(row["url"])
        if rule is not None:
            model, gold = extractor.extract(row["html"]).text, row["golds"][0]
            found = read_by(rule, Page.of(row["html"]), extractor)
            by_rule.append(word_f1(found.text or model, gold))  # as in a crawl
            by_model.append(word_f1(model, gold))
    return Row(site, clicks, seconds, fmean(by_rule), fmean(by_model))


def test_a_saved_rule_takes_few_clicks(
    chrome: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [
        measured(chrome, site, rows, tmp_path / str(number))
        for number, (site, rows) in enumerate(sites())
    ]

    with capsys.disabled():
        print("\nsite and era          clicks  seconds  F1 of rule  F1 of model")
        for row in found:
            print(f"{row.site:22}{row.clicks:6}{row.seconds:9.1f}{row.rule:12.3f}{row.model:13.3f}")
        print(
            f"median{median(row.clicks for row in found):22}"
            f"{median(row.seconds for row in found):9.1f}"
            f"{fmean(row.rule for row in found):12.3f}{fmean(row.model for row in found):13.3f}"
        )
    assert max(row.clicks for row in found) <= MOST_CLICKS
    assert median(row.clicks for row in found) <= MEDIAN_CLICKS
