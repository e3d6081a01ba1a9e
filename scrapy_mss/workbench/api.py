"""The API of the workbench: the requests that its page sends, one function each, answered as JSON.

A request contains everything on which its answer depends, including the text of the rule; the
state of the server is the pages, and what reading them gave. A problem with a rule, a click or a
file is a regular answer (`problems`). A request of any other form than those of the page is a
`RequestError`.

What the rule and the model select on a page are masks over the same tokens, so their differences
are known by position: no texts are compared, and the page is read only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any, Final

import numpy as np

from scrapy_mss.blocks.explanation import ExplainedBlock
from scrapy_mss.extractor import Explanation, Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NUMBERS
from scrapy_mss.markup.tokens import CLOSE, Bools, Indices, Tokens
from scrapy_mss.suggest import NoRuleError, suggest_of
from scrapy_mss.suggest.readings import SitePage, agreements, read_pages
from scrapy_mss.workbench import saving
from scrapy_mss.workbench.editing import ROLES, Click, EditError, edited
from scrapy_mss.wrappers import Labelling, Wrapper, WrapperError, css
from scrapy_mss.wrappers.rules import UrlParts
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
MAX_SITES: Final = 2_000
MAX_CHARACTERS: Final = 500_000_000  # of all pages, in memory
_BLOCKS: Final = [TAG_NUMBERS[name] for name in BLOCK_TAGS]
BOTH, RULE, MODEL, GAP = "both", "rule", "model", "gap"
AROUND: Final = 8  # words of agreement that are shown before and after a difference
MAX_WORDS: Final = 3_000  # of a page's differences
MAX_DIFFERENCES: Final = 300  # runs of these words


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
        found = [(each.line, str(each)) for each in error.problems[:MAX_PROBLEMS]]
    except (EditError, saving.SaveError, OSError) as error:
        found = [(0, str(error))]
    return {"problems": [{"line": line, "text": text} for line, text in found]}


@dataclass(slots=True)
class Pages:
    """The pages from which rules are made, by host: subdomains usually have layouts of their own.

    At most *most* pages by site, each address once; ``left_out`` counts those beyond a bound.
    """

    most: int
    by_site: dict[str, list[StoredPage]] = field(default_factory=dict)
    left_out: int = 0
    _seen: set[str] = field(default_factory=set)
    _characters: int = 0

    def add(self, pages: Iterable[StoredPage]) -> None:
        for page in pages:
            parts = UrlParts.of(page.url)
            site = parts.host if parts else ""
            if not site or page.url in self._seen:
                continue
            if self._is_full(site, page):
                self.left_out += 1
                continue
            self._seen.add(page.url)
            self._characters += len(page.html)
            self.by_site.setdefault(site, []).append(page)

    def _is_full(self, site: str, page: StoredPage) -> bool:
        of_site = self.by_site.get(site)
        if of_site is None and len(self.by_site) >= MAX_SITES:
            return True
        has_most = of_site is not None and len(of_site) >= self.most
        return has_most or self._characters + len(page.html) > MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class Run:
    """Words that the rule, the model or both keep; or a gap: words of both that are not shown."""

    kind: str
    text: str


def by_model(page: SitePage) -> Bools:
    """bool[n_tokens]: the article of the model; nothing on a page that is not an article."""
    kept: Bools = page.extraction.kept
    return kept if page.extraction.is_article else np.zeros_like(kept)


def blocks_inside(blocks: Sequence[ExplainedBlock], tokens: Tokens, inside: Bools) -> str:
    """A digit for each block: 1 if half of its words and symbols at least are *inside*."""
    counts = np.concatenate(([0], np.cumsum(tokens.kind > CLOSE)))
    within = np.concatenate(([0], np.cumsum(inside & (tokens.kind > CLOSE))))
    first = np.array([block.first for block in blocks], np.intp)
    after = np.array([block.last + 1 for block in blocks], np.intp)
    of_block, inside_it = counts[after] - counts[first], within[after] - within[first]
    return "".join(
        "01"[is_in] for is_in in ((2 * inside_it >= of_block) & (inside_it > 0)).tolist()
    )


def differences(tokens: Tokens, by_rule: Bools, by_model: Bools) -> list[Run]:
    """Where only the rule or only the model keeps words, with the words around."""
    at = np.flatnonzero((by_rule | by_model) & (tokens.kind > CLOSE))
    kinds = np.where(by_rule[at] & by_model[at], 0, np.where(by_rule[at], 1, 2))
    names = (BOTH, RULE, MODEL)
    edges = np.flatnonzero(np.diff(kinds, prepend=-1, append=-1))
    runs = [
        (names[int(kinds[start])], at[start:end])
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    if len(runs) == 1 and runs[0][0] == BOTH:
        return []
    return list(_shown(tokens, runs[:MAX_DIFFERENCES]))


def _shown(tokens: Tokens, runs: Sequence[tuple[str, Indices]]) -> Iterator[Run]:
    left = MAX_WORDS
    for number, (kind, at) in enumerate(runs):
        if left <= 0:
            yield Run(GAP, "…")
            return
        if kind != BOTH or len(at) <= 2 * AROUND:
            yield Run(kind, _words_at(tokens, at[:left]))
            left -= len(at)
            continue
        if number > 0:
            yield Run(BOTH, _words_at(tokens, at[:AROUND]))
        yield Run(GAP, f"{len(at):,}")
        if number < len(runs) - 1:
            yield Run(BOTH, _words_at(tokens, at[-AROUND:]))
        left -= 2 * AROUND


def _words_at(tokens: Tokens, at: Indices) -> str:
    """The words and symbols *at* these places, with a line end where a block begins or ends."""
    pieces: list[str] = []
    end, last = -1, -1
    for token in at.tolist():
        start = int(tokens.clean_start[token])
        if last >= 0 and start > end:
            is_new = np.isin(tokens.tag[last + 1 : token], _BLOCKS).any()
            pieces.append("\n" if is_new else " ")
        pieces.append(tokens.clean[start : int(tokens.clean_end[token])])
        end, last = int(tokens.clean_end[token]), token
    return "".join(pieces)
