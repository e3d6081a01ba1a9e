"""The API of the workbench: the requests that its page sends, one function each, answered as JSON.

A request contains everything on which its answer depends, including the text of the rule; the
state of the server is the pages, and what reading them gave. A problem with a rule, a click or a
file is a regular answer (`problems`). A request of any other form than those of the page is a
`RequestError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any, Final

import numpy as np

from scrapy_mss.blocks.explanation import ExplainedBlock
from scrapy_mss.extractor import Explanation, Extractor
from scrapy_mss.suggest import NoRuleError, suggest_of
from scrapy_mss.suggest.readings import SitePage, agreements, read_pages
from scrapy_mss.workbench import saving
from scrapy_mss.workbench.comparison import blocks_inside, by_model, differences
from scrapy_mss.workbench.editing import ROLES, Click, EditError, edited
from scrapy_mss.workbench.pages import Pages
from scrapy_mss.wrappers import Labelling, Wrapper, WrapperError, css
from scrapy_mss.wrappers.schema import yaml_of

Json = dict[str, Any]
CACHED_SITES: Final = 3  # sites whose trees are in memory: some 100 MB each
CACHED_PAGES: Final = 16  # explanations of pages
SLICE_SECONDS: Final = 0.25  # of comparing pages, between which other requests are answered
MAX_LEVELS: Final = 1_000  # elements around a block
MAX_RUNS: Final = 100_000  # of text in a block
MAX_PROBLEMS: Final = 20  # of a rule, that are shown
LONGEST_TEXT: Final = 100_000  # characters of an article that are shown
LONGEST_FIELD: Final = 500


class RequestError(ValueError):
    """A request that the page does not send; the message says what was expected."""


@dataclass
class WorkbenchState:
    """The *pages*, the *extractor* that reads them, and the *folder* of rules.

    *frame* is the address of drawn pages, once it is served. Requests are processed one at a time,
    in a thread, so that nothing here is shared.
    """

    pages: Pages
    extractor: Extractor
    folder: Path
    frame: str = ""

    def __post_init__(self) -> None:
        self.site = lru_cache(CACHED_SITES)(self._site)
        self.explained = lru_cache(CACHED_PAGES)(self._explained)

    def _site(self, name: str) -> Sequence[SitePage]:
        return read_pages(self.pages.by_site[name], self.extractor)

    def _explained(self, name: str, number: int) -> Explanation:
        """Why page *number* of a site is read as it is."""
        page = self.pages.by_site[name][number]
        return self.extractor.explain(page.html, page.url)


@dataclass(frozen=True, slots=True)
class Request:
    """The values of a request; each is checked as it is read."""

    values: Mapping[str, object]
    state: WorkbenchState

    def text(self, name: str) -> str:
        value = self.values.get(name, "")
        if not isinstance(value, str):
            raise RequestError(f"expected a string for {name}")
        return value

    def number(self, name: str, below: int) -> int:
        value = self.values.get(name)
        if type(value) is not int or not 0 <= value < below:
            raise RequestError(f"expected a number from 0 and below {below} for {name}")
        return value

    @property
    def site(self) -> str:
        site = self.text("site")
        if site not in self.state.pages.by_site:
            raise RequestError("expected a site that has pages")
        return site

    @property
    def pages(self) -> Sequence[SitePage]:
        return self.state.site(self.site)

    @property
    def page(self) -> SitePage:
        return self.pages[self.number("page", len(self.pages))]

    @property
    def blocks(self) -> Sequence[ExplainedBlock]:
        return self.state.explained(self.site, self.number("page", len(self.pages))).blocks

    @property
    def rule(self) -> Wrapper:
        return saving.read_rule(self.text("rule"))


def start(request: Request) -> Json:
    """The sites, those with most pages first."""
    state = request.state
    by_site = state.pages.by_site
    sites = sorted(by_site, key=lambda site: (-len(by_site[site]), site))
    return {
        "sites": [{"site": site, "pages": len(by_site[site])} for site in sites],
        "frame": state.frame,
        "left_out": state.pages.left_out,
    }


def open_site(request: Request) -> Json:
    """The pages of a site, and the rule that is saved for them."""
    pages = [
        {
            "url": page.url,
            "words": int(np.count_nonzero(page.extraction.kept & page.extraction.tokens.is_word)),
            "left_out": page.left_out,
        }
        for page in request.pages
    ]
    found = saving.saved_rule(request.state.folder, request.pages[0].url)
    saved = {"path": str(found[0]), "rule": found[1]} if found else None
    return {"pages": pages, "saved": saved}


def suggest(request: Request) -> Json:
    """The rule that is suggested for a site, or why there is none and one to begin with."""
    try:
        old = saving.used_rule(request.state.folder, request.pages[0].url)
        found = suggest_of(request.site, request.pages, instead_of=old)
    except NoRuleError as error:
        rule = Wrapper(site=request.site, around=error.around or (css("article"),))
        return {"rule": yaml_of(rule), "confidence": 0.0, "reason": str(error)}
    rule = replace(found.rule, tests=())  # which saving adds, by the rule as it is then
    return {"rule": yaml_of(rule), "confidence": found.confidence, "reason": ""}


def evaluate(request: Request) -> Json:
    """What the rule selects on a page: its blocks, the article, and where the model differs."""
    page = request.page
    found = page.by_rule(request.rule)
    if found is None:
        return {"matched": False, "reason": page.left_out, "inside": "", "differences": []}
    runs = differences(found.tokens, found.inside, by_model(page)) if found.text else []
    return {
        "matched": bool(found.text),
        "reason": "" if found.reason is None else found.reason.value.replace("_", " "),
        "inside": blocks_inside(request.blocks, found.tokens, found.inside),
        "article": _article(found),
        "differences": [asdict(run) for run in runs],
        "failures": list(found.failures),
    }


def _article(found: Labelling) -> Json:
    return {
        "title": found.title[:LONGEST_FIELD],
        "authors": ", ".join(found.authors)[:LONGEST_FIELD],
        "published": found.published[:LONGEST_FIELD],
        "text": found.text[:LONGEST_TEXT],
        "words": int(np.count_nonzero(found.inside & found.tokens.is_word)),
    }


def compare(request: Request) -> Json:
    """How far the rule and the model agree on some pages, from the *first* on.

    The page asks until it has all, so that a rule that was changed meanwhile ends it.
    """
    pages, rule = request.pages, request.rule
    until, rows = monotonic() + SLICE_SECONDS, list[Json]()
    for page in pages[request.number("first", len(pages) + 1) :]:
        (found,) = agreements(rule, [page])
        rows.append({"matched": found.matched, "agreement": round(found.agreement, 4)})
        if monotonic() > until:
            break
    return {"pages": rows}


def click(request: Request) -> Json:
    """The rule after a click on a block."""
    role = request.text("role")
    if role not in ROLES:
        raise RequestError(f"expected one of {', '.join(ROLES)} for role")
    level = None if request.values.get("level") is None else request.number("level", MAX_LEVELS)
    page, blocks = request.page, request.blocks
    block = blocks[request.number("block", len(blocks))]
    clicked = Click(block, role, level, request.number("run", MAX_RUNS))
    edit = edited(request.rule, request.pages, page, clicked)
    first, after = edit.words
    inside = [
        number
        for number, each in enumerate(blocks)
        if page.before[each.first] < after and first < page.before[each.last + 1]
    ]
    return {
        "rule": yaml_of(edit.rule),
        "path": list(edit.path),
        "level": edit.level,
        "effect": edit.effect,
        "clicked": [inside[0], inside[-1]] if inside else [-1, -1],  # the first and the last block
    }


def save(request: Request) -> Json:
    """Save the rule; or what is in the file that it would replace."""
    state = request.state
    tests = saving.CheckPages(state.pages.by_site[request.site], state.extractor)
    try:
        saved = saving.save(request.rule, tests, state.folder, request.text("seen"))
    except saving.ExistsError as error:
        seen = saving.digest(error.text)
        return {"existing": {"path": str(error.path), "diff": error.diff, "seen": seen}}
    return {"path": str(saved.path), "rule": saved.text, "message": saved.message}


ENDPOINTS: Final[Mapping[str, Callable[[Request], Json]]] = {
    "start": start,
    "open": open_site,
    "suggest": suggest,
    "evaluate": evaluate,
    "compare": compare,
    "click": click,
    "save": save,
}


def answer(name: str, values: Mapping[str, object], state: WorkbenchState) -> Json:
    """The answer of the endpoint *name*; what is wrong with a rule is in it as ``problems``."""
    try:
        return ENDPOINTS[name](Request(values, state))
    except WrapperError as error:
        return {"problems": _problems(error)}
    except (EditError, saving.SaveError, OSError) as error:
        return {"problems": [_problem(error)]}


def _problems(error: WrapperError) -> list[Json]:
    return [{"line": each.line, "text": str(each)} for each in error.problems[:MAX_PROBLEMS]]


def _problem(error: Exception) -> Json:
    return {"line": 0, "text": str(error)}
