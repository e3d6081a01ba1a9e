"""The questions that the page sends, a row each, and their answers as JSON.

A question contains everything on which its answer depends, including the text of the rule. A
problem with a rule, a click or a file is a regular answer (`problems`). A question of any other
form than those of the page is a `QuestionError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic, time
from typing import Any, Final

import numpy as np

from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.incidents import DAY
from scrapy_mss.quality.report import SiteReport, report_of
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.quality.uncertain import UncertainPage, UncertainStore
from scrapy_mss.storage.tables import StoreError
from scrapy_mss.suggest import NoRuleError, agreements, suggest_of
from scrapy_mss.workbench import saving
from scrapy_mss.workbench.bench import WorkbenchState
from scrapy_mss.workbench.editing import FIELDS, ROLES, Click, EditError, edited, starter
from scrapy_mss.workbench.judging import article_of, blocks_inside, by_model, differences
from scrapy_mss.workbench.pages import Pages
from scrapy_mss.wrappers import Wrapper, WrapperError, load_wrappers
from scrapy_mss.wrappers.schema import yaml_of

Answer = dict[str, Any]
SLICE_SECONDS: Final = 0.25  # of comparing pages, between which other questions are answered
MOST_LEVELS: Final = 1_000  # elements around a block
MOST_RUNS: Final = 100_000  # of text in a block
MOST_PROBLEMS: Final = 20  # of a rule or a folder, that are shown
MOST_QUEUED: Final = 200  # pages that are shown
SECONDS_AN_HOUR: Final = 3600


class QuestionError(ValueError):
    """A question that the page does not ask; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Question:
    """The values of a question; each is checked as it is read."""

    values: Mapping[str, object]
    bench: WorkbenchState

    def text(self, name: str) -> str:
        value = self.values.get(name, "")
        if not isinstance(value, str):
            raise QuestionError(f"expected a string for {name}")
        return value

    def number(self, name: str, below: int) -> int:
        value = self.values.get(name)
        if type(value) is not int or not 0 <= value < below:
            raise QuestionError(f"expected a number from 0 and below {below} for {name}")
        return value

    @property
    def site(self) -> str:
        site = self.text("site")
        if site not in self.bench.pages.by_site:
            raise QuestionError("expected a site that has pages")
        return site

    @property
    def page(self) -> int:
        return self.number("page", len(self.bench.pages.by_site[self.site]))

    @property
    def rule(self) -> Wrapper:
        return saving.read_rule(self.text("rule"))


def start(question: Question) -> Answer:
    """The sites, those with most pages first, and where rules are saved."""
    bench = question.bench
    by_site = bench.pages.by_site.items()
    sites = [
        {"site": name, "pages": len(pages)}
        for name, pages in sorted(by_site, key=lambda row: (-len(row[1]), row[0]))
    ]
    return {
        "sites": sites,
        "frame": bench.frame,
        "folder": str(bench.folder),
        "model": bench.model.name if bench.model else "",
        "left_out": bench.pages.left_out,
    }


def open_site(question: Question) -> Answer:
    """The pages of a site, and the rule that is saved for them."""
    name = question.site
    read = question.bench.site(name)
    pages = [
        {
            "url": page.url,
            "words": int(np.count_nonzero(page.extraction.kept & page.extraction.tokens.is_word)),
            "left_out": page.left_out,
        }
        for page in read
    ]
    found = saving.saved_rule(question.bench.folder, read[0].url)
    saved = {"path": str(found[0]), "rule": found[1]} if found else None
    return {"pages": pages, "saved": saved}


def suggested(question: Question) -> Answer:
    """The rule that is suggested for a site, or why none is and one to begin with."""
    name = question.site
    read = question.bench.site(name)
    try:
        found = suggest_of(name, read)
    except NoRuleError as error:
        rule = starter(name, read)
        return {"rule": yaml_of(rule), "confidence": 0.0, "told": str(error)}
    rule = replace(found.rule, tests=())  # which saving adds, by the rule as it is then
    return {"rule": yaml_of(rule), "confidence": found.confidence, "told": ""}


def judge(question: Question) -> Answer:
    """What the rule makes of a page: its blocks, the article, and where the model differs."""
    name, number, rule = question.site, question.page, question.rule
    page = question.bench.site(name)[number]
    found = page.by_rule(rule)
    if found is None:
        return {"matched": False, "reason": page.left_out, "inside": "", "differences": []}
    blocks = question.bench.explained(name, number).blocks
    runs = differences(found.tokens, found.inside, by_model(page)) if found.text else []
    return {
        "matched": bool(found.text),
        "reason": "" if found.reason is None else found.reason.value.replace("_", " "),
        "inside": blocks_inside(blocks, found.tokens, found.inside),
        "article": article_of(found),
        "differences": [asdict(run) for run in runs],
        "failures": list(found.failures),
    }


def compare(question: Question) -> Answer:
    """How far the rule and the model agree on pages, from the *first* on; as many as take a moment.

    The page asks until it has all, so that a rule that was changed meanwhile ends it.
    """
    pages, rule = question.bench.site(question.site), question.rule
    first = question.number("first", len(pages) + 1)
    until, rows = monotonic() + SLICE_SECONDS, list[Answer]()
    for page in pages[first:]:
        (found,) = agreements(rule, [page])
        rows.append({"matched": found.matched, "agreement": round(found.agreement, 4)})
        if monotonic() > until:
            break
    return {"pages": rows, "next": first + len(rows)}


def pick(question: Question) -> Answer:
    """The rule after a click on a block."""
    name, number = question.site, question.page
    read = question.bench.site(name)
    blocks = question.bench.explained(name, number).blocks
    role = question.text("role")
    if role not in ROLES:
        raise QuestionError(f"expected one of {', '.join(ROLES)} for role")
    level = None if question.values.get("level") is None else question.number("level", MOST_LEVELS)
    page, block = read[number], blocks[question.number("block", len(blocks))]
    click = Click(block, role, level, question.number("run", MOST_RUNS))
    edit = edited(question.rule, read, page, click)
    return {
        "rule": yaml_of(edit.rule),
        "path": list(edit.path),
        "level": edit.level,
        "told": edit.told,
        "picked": _blocks_in(page.before, blocks, edit.words),
    }


def _blocks_in(before: Any, blocks: Any, words: tuple[int, int]) -> list[int]:  # noqa: ANN401
    """The first and the last block with a word of *words*."""
    at = [
        number
        for number, block in enumerate(blocks)
        if before[block.first] < words[1] and words[0] < before[block.last + 1]
    ]
    return [at[0], at[-1]] if at else [-1, -1]


def save(question: Question) -> Answer:
    """Save the rule; or what is in the file that it would replace."""
    stored = question.bench.pages.by_site[question.site]
    try:
        tests = saving.CheckPages(stored, question.bench.extractor)
        saved = saving.save(question.rule, tests, question.bench.folder, question.text("seen"))
    except saving.ExistsError as error:
        return {
            "problems": [{"line": 0, "text": str(error)}],
            "existing": {
                "path": str(error.path),
                "text": error.text,
                "seen": saving.digest(error.text),
            },
        }
    return {"path": str(saved.path), "rule": saved.text, "told": saved.told}


def teach(question: Question) -> Answer:
    """Let the model learn the site's pages as the rule labels them."""
    return question.bench.teach(question.rule, question.site)


def rules(question: Question) -> Answer:
    """All saved rules, what crawls have counted of their sites, and their uncertain pages."""
    bench = question.bench
    return {**_overview(bench.folder, bench.quality), "unsure": _queue(bench.unsure, bench.pages)}


def _overview(folder: Path, quality: QualityStore | None) -> Answer:
    """A row for each rule in *folder*; what is wrong with files, if they cannot be loaded."""
    try:
        rules = load_wrappers(folder).wrappers if saving.has_rules(folder) else ()
    except WrapperError as error:
        return {"rules": [], "problems": _problems(error)}
    now = int(time() // SECONDS_AN_HOUR)
    sites = _counted(quality, now)
    return {"rules": [_row(rule, sites.get(site_of(rule.host)), now // DAY) for rule in rules]}


def _queue(store: UncertainStore | None, pages: Pages) -> list[Answer]:
    """The pages on which crawls were least certain, of all sites, those first that are it most.

    *page* is the number of one among the *pages* of its host; None if it is not among them.
    """
    known = {
        page.url: (host, number)
        for host, found in pages.by_site.items()
        for number, page in enumerate(found)
    }
    try:
        found = store.pages() if store else {}
    except StoreError:
        return []
    rows = sorted((page for of_site in found.values() for page in of_site), key=_certainty)
    return [
        {
            "url": row.url,
            "certainty": round(row.certainty, 3),
            "site": known.get(row.url, ("", None))[0],
            "page": known.get(row.url, ("", None))[1],
        }
        for row in rows[:MOST_QUEUED]
    ]


def _certainty(page: UncertainPage) -> tuple[float, str]:
    return page.certainty, page.url


def _counted(quality: QualityStore | None, now: int) -> dict[str, SiteReport]:
    try:
        return {each.site: each for each in report_of(quality, now).sites} if quality else {}
    except StoreError:
        return {}


def _row(rule: Wrapper, site: SiteReport | None, today: int) -> Answer:
    """A rule, and of its site the share of pages that it hits and the state of each field."""
    row: Answer = {
        "rule": rule.id,
        "host": rule.host,
        "file": str(saving.file_of(rule)),
        "tests": len(rule.tests),
    }
    if site is None:
        return row
    return row | {
        "pages": site.total["pages"],
        "hits": site.value("rule"),
        "declined": [str(alarm) for alarm in site.alarms],
        "fields": dict(_fields(site)),
        "selectors": [
            {"text": each.text, "now": each.now, "before": each.before}
            for each in site.selectors(today)
        ],
    }


def _fields(site: SiteReport) -> Iterator[tuple[str, float]]:
    for name in FIELDS:
        value = site.value(name)
        if value is not None:
            yield name, value


def seen(question: Question) -> Answer:
    """Take a page from the queue, to which somebody has seen."""
    bench, url = question.bench, question.text("url")
    if bench.unsure is not None:
        bench.unsure.remove(site_of(url), url)
    return rules(question)


ANSWERS: Final[Mapping[str, Callable[[Question], Answer]]] = {
    "start": start,
    "open": open_site,
    "suggest": suggested,
    "judge": judge,
    "compare": compare,
    "pick": pick,
    "save": save,
    "teach": teach,
    "rules": rules,
    "seen": seen,
}


def answer(name: str, values: Mapping[str, object], bench: WorkbenchState) -> Answer:
    """The answer to the question *name*; what is wrong with a rule is in it as ``problems``."""
    try:
        return ANSWERS[name](Question(values, bench))
    except WrapperError as error:
        return {"problems": _problems(error)}
    except (EditError, saving.SaveError, OSError) as error:
        return {"problems": [{"line": 0, "text": str(error)}]}


def _problems(error: WrapperError) -> list[Answer]:
    return [{"line": each.line, "text": str(each)} for each in error.problems[:MOST_PROBLEMS]]
