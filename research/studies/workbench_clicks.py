"""How many clicks a rule takes in the workbench, and whether it makes a site worse.

    python -m research.studies.workbench_clicks --data FOLDER --sites 20

From a site's stored pages to a saved rule, with the requests that a user's clicks send. The user
knows what the article is (the labelled text of the page that opens), clicks the longest block that
is wrongly in or out until the page is right enough, and saves. With the saved rules, all pages of
the site are then read as in a crawl, and compared with the model alone.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Final

from research import command_line
from research.datasets.pages import LabelledPage
from research.studies.site_memory import sites_of
from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.suggest.readings import word_f1
from scrapy_mss.workbench.api import Pages, WorkbenchState, answer
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.reading import read_by

PROGRAM: Final = "python -m research.studies.workbench_clicks"
SET: Final = "sites_ctf"
MOST_PAGES: Final = 40  # of a site, as in the command
MOST_CLICKS: Final = 5  # the one that saves included
RIGHT: Final = 0.95  # F1 of a page, from which nobody clicks on
SHORTEST: Final = 5  # words of a block that can be told from others
HEADER: Final = 25  # words of a block before the text, below which it is headline, byline or date


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a site: the *clicks* of each of its hosts, and mean F1 of all its pages."""

    site: str
    clicks: tuple[int, ...]
    rule: float
    model: float


def words(text: str) -> list[str]:
    """The words of a block or of a labelled text."""
    return re.findall(r"\w+", text.lower())


def wrong_block(texts: Sequence[str], inside: str, gold: str) -> int | None:
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


def clicks_until_saved(state: WorkbenchState, site: str, golds: Mapping[str, str]) -> int:
    """How often the user clicks; what cannot be saved is an error."""
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
    saved = answer("save", {"site": site, "rule": rule}, state)
    if "path" not in saved:
        raise ValueError(f"{site}: the rule was not saved: {saved}")
    return clicks


def outcome(name: str, rows: Sequence[LabelledPage], folder: Path) -> Outcome:
    """Make rules for the hosts of a site in *folder*, and read its pages by them."""
    extractor, pages = Extractor(), Pages(MOST_PAGES)
    pages.add(StoredPage(row.url or "", row.html) for row in rows)
    state = WorkbenchState(pages, extractor, folder)
    golds = {row.url or "": row.golds[0] for row in rows}
    clicks = tuple(clicks_until_saved(state, site, golds) for site in pages.by_site)
    rules, by_rule, by_model = load_wrappers(folder), list[float](), list[float]()
    for row in rows:
        rule, model = rules.find(row.url or ""), extractor.extract(row.html).text
        found = read_by(rule, Page.of(row.html), extractor).text if rule else ""
        by_rule.append(word_f1(found or model, row.golds[0]))  # as in a crawl
        by_model.append(word_f1(model, row.golds[0]))
    return Outcome(name, clicks, fmean(by_rule), fmean(by_model))


def outcomes(data: Path, n_sites: int) -> Iterator[Outcome]:
    """The outcomes of sites and eras, in an order that has nothing to do with them."""
    found = sorted(sites_of(data, SET).items(), key=lambda row: sha256(row[0].encode()).digest())
    for name, rows in islice(found, n_sites):
        with TemporaryDirectory() as folder:
            yield outcome(name, rows, Path(folder))


def run(options: Namespace, _command: str) -> None:
    """Run the study and print its table."""
    found = list(outcomes(options.data, options.sites))
    print("| site | clicks | F1 by the rule | by the model |\n| --- | ---: | ---: | ---: |")
    for each in found:
        clicks = ", ".join(map(str, each.clicks))
        print(f"| {each.site} | {clicks} | {each.rule:.4f} | {each.model:.4f} |")
    numbers = [number for each in found for number in each.clicks]
    lost = max(each.model - each.rule for each in found)
    print(f"\nclicks: median {median(numbers):g}, at most {max(numbers)}; most lost: F1 {lost:.4f}")


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = command_line.Parser(prog=PROGRAM, description="How many clicks a rule takes.")
    command_line.add_data(parser)
    parser.add_argument(
        "--sites", type=command_line.at_least(1), default=20, metavar="N", help="20 unless given"
    )
    parser.set_defaults(perform=run)
    return command_line.run(parser)


if __name__ == "__main__":
    raise SystemExit(main())
