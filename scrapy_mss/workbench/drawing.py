"""An untrusted page as it is drawn, with its blocks marked: for a report, and for the frame.

Each run of text is put into a `span` of its block, in the page's own source, which then is made
safe to show as an article's HTML is (`sanitizing`), with all its bounds. The spans go through that
as what it lets through, a language, and are made marks behind it. What is left that could fetch,
images, the document around it forbids: it is shown in a sandboxed frame under a content security
policy. So the page is drawn without its style sheets. Most are elsewhere anyway, and those in a
page often hide all of it until a script has run.

In the frame of the workbench blocks must be clickable, so some script has to run there. It knows
only numbers of blocks: it sends which one was clicked, and receives which to tint.
Three barriers protect it, each sufficient by itself:

    the page is rebuilt from an allow-list         no script, handler, link, form or style is left
    the policy names the hash of our script        nothing else would run, if it were left
    the sandbox gives the frame no origin          what ran could read nothing and ask for nothing

The alternatives are worse. Links of ours that navigate the parent to a block need the right to do
so, and tints would require a reload after each click. In the workbench's own origin, as in a shadow
root, there would be one barrier instead of three.

A report is one self-contained page, to be attached to a bug report. The untrusted page is in a
frame without any permission (`sandbox`), and the policy of the whole document allows no fetching
and no scripts, its own included: it has none.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from secrets import token_hex
from typing import Final

import numpy as np

from scrapy_mss.blocks.explanation import Contribution, Decision, ExplainedBlock
from scrapy_mss.extractor import Explanation
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, Tokens
from scrapy_mss.output.html_elements import Html, document, element, lines, table
from scrapy_mss.output.sanitizing import sanitized

SHOWN_REASONS: Final = 4  # of a block
DEEPEST: Final = 128  # elements in one another: of 132 pages of articles, three have more than 30
LONGEST: Final = 2**21  # characters of source that are drawn
FRAME_SCRIPT: Final = "frame.js"  # all that runs in the frame
MARK: Final = "mss-block"  # the class of a mark
FIRST: Final = "mss-first"  # the class of the first block that is kept, where a report begins
# From orange over white to blue, which those tell apart who do not tell red from green.
COLOURS: Final = (
    "#fdba74", "#fdcb98", "#fedbb9", "#feead7", "#fff7ef",
    "#eff6ff", "#d9eafe", "#bfdbfe", "#a3cbfd", "#86bbfc",
)  # fmt: skip
LEFT_OUT: Final = ("a", "details", "summary", "img")  # what leads away, hides text, or is fetched
_CUT: Final = f"<p><i>Only the first {LONGEST:,} characters of this page are drawn.</i></p>"
_WITHOUT_TAGS: Final = [TAG_NUMBERS[name] for name in ("title", "textarea")]  # a tag is text there


def drawn_page(explanation: Explanation) -> str:
    """The document of a report's frame: each run of a block says why it was decided so."""

    def attributes(number: int, *, again: bool) -> str:
        return f"{_STOP * (not again)}{_described(explanation.blocks[number])}"

    style = element("style", Html(f"{static_file('marks.css')}{_tints()}"))
    return f"{style}{drawn(explanation, attributes)}"


def drawn_for_frame(explanation: Explanation) -> str:
    """The document that the frame of the workbench shows: each block is a button."""

    def attributes(number: int, *, again: bool) -> str:
        button = f'{_STOP} role="button"{_described(explanation.blocks[number])}'
        return f' data-block="{number}"{button * (not again)}'

    html = drawn(explanation, attributes, LEFT_OUT)
    cut = _CUT if len(explanation.extraction.tokens.source) > LONGEST else ""
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>The page</title>'
        f'{element("style", Html(frame_style()))}</head><body dir="auto">'
    )
    return f"{head}{cut}{html}{element('script', Html(static_file(FRAME_SCRIPT)))}</body></html>"


_STOP: Final = ' tabindex="0"'


def _described(block: ExplainedBlock) -> str:
    return f' aria-description="{escape(summary(block))}"'


@cache
def frame_style() -> str:
    """The only styles of the frame."""
    return f"{static_file('frame.css')}{_tints()}"


def _tints() -> str:
    return "".join(f".mss-p{tenth}{{--tint:{each}}}" for tenth, each in enumerate(COLOURS))


def hash_of(text: str) -> str:
    """*text* as a policy names what may run."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


@cache
def static_file(name: str) -> str:
    """A file of ours that is served, or a part of what is."""
    return (files(__package__) / "static" / name).read_text("utf-8")


def drawn(
    explanation: Explanation, attributes: Callable[..., str], without: Iterable[str] = ()
) -> str:
    """The page's HTML, each run of a block's text in a mark; tags *without* are left out.

    *attributes* of the mark come of the number of its block, and whether it was marked before.
    """
    decisions = [block.decision for block in explanation.blocks]
    first_kept = decisions.index(Decision.KEPT) if Decision.KEPT in decisions else -1
    mark_of_ours = f"x-mss-{token_hex(4)}-"  # which the page cannot know
    tokens = tokenize(marked_source(explanation, mark_of_ours))
    kept = ~(tokens.is_tag & np.isin(tokens.tag, [TAG_NUMBERS[name] for name in without]))
    html = sanitized(tokens, kept, depth=DEEPEST)
    seen: set[int] = set()

    @cache  # a block may have many runs
    def mark(number: int, *, again: bool) -> str:
        block = explanation.blocks[number]
        tenth = min(int(block.probability * len(COLOURS)), len(COLOURS) - 1)
        kept = " mss-kept" if block.decision is Decision.KEPT else ""
        first = f" {FIRST}" if number == first_kept else ""
        classes = f"{MARK} mss-p{tenth}{kept}{first}"
        return f'<span class="{classes}"{attributes(number, again=again)}>'

    def opening(found: re.Match[str]) -> str:
        number = int(found[1])
        again = number in seen
        seen.add(number)
        return mark(number, again=again)

    return re.sub(f'<span lang="{mark_of_ours}([0-9]+)">', opening, html)


def marked_source(explanation: Explanation, mark: str) -> str:
    """The page's source, each run of a block's text in a `span` with *mark* and its number.

    It ends after `LONGEST` characters.
    """
    tokens = explanation.extraction.tokens
    source, pieces, at, length = tokens.source, list[str](), 0, 0
    for number, start, end in text_runs(tokens, explanation.blocks):
        if length > LONGEST:
            break
        if start < at:
            continue
        piece = f'{source[at:start]}<span lang="{mark}{number}">{source[start:end]}</span>'
        pieces.append(piece)
        length += len(piece)
        at = end
    return "".join((*pieces, source[at : at + LONGEST]))[:LONGEST]


def text_runs(tokens: Tokens, blocks: Sequence[ExplainedBlock]) -> Iterator[tuple[int, int, int]]:
    """Where in the source the text of each of the *blocks* is, from tag to tag: number, start, end.

    Without blank ones: white space in a table would be moved out of it where it is marked.
    """
    number = np.full(len(tokens) + 2, -1, np.int32)  # of each token's block, between two of none
    for at, block in enumerate(blocks):
        number[block.first + 1 : block.last + 2] = at
    around = tokens.tag[tokens.unclosed] * (tokens.unclosed >= 0)
    number[1:-1][(tokens.kind <= CLOSE) | np.isin(around, _WITHOUT_TAGS)] = -1
    is_edge = number[1:] != number[:-1]
    starts = np.flatnonzero(is_edge[:-1] & (number[1:-1] >= 0))
    ends = np.flatnonzero(is_edge[1:] & (number[1:-1] >= 0))
    runs = number[starts + 1].tolist(), tokens.start[starts].tolist(), tokens.end[ends].tolist()
    return (run for run in zip(*runs, strict=True) if tokens.source[run[1] : run[2]].strip())


def summary(block: ExplainedBlock) -> str:
    """What was decided about *block*, and what weighed most, in a line or two."""
    shown = block.reasons[:SHOWN_REASONS]
    for_it = ", ".join(f"{each.label} {each.effect:+.1f}" for each in shown if each.effect > 0)
    against = ", ".join(f"{each.label} {each.effect:+.1f}" for each in shown if each.effect < 0)
    parts = [f"{block.probability:.3f}: {block.decision.value}"]
    parts += [f"for it: {for_it}"] if for_it else []
    parts += [f"against it: {against}"] if against else []
    return "; ".join(parts)


REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
SHOWN_TEXT = 90  # characters of a block in the table
LONG_TEXT = 100_000  # characters of an article that are shown


def why_page(
    explanation: Explanation, values: Mapping[str, object], sources: Mapping[str, str]
) -> str:
    """The page. *values* are the fields of the article; *sources* say where some are from."""
    found = explanation.extraction
    title = str(values.get("title") or found.url or "A page")
    aside = element(
        "aside",
        _section("Text", _pre(found.text), is_open=True),
        _section("Metadata", _metadata(values, sources)),
        _section("Markdown", _pre(found.markdown, "source")),
        _section(f"All {len(explanation.blocks)} blocks", _blocks(explanation)),
    )
    main = element("main", _frame(explanation), aside)
    body = element("body", _head(explanation, title), main)
    return document(f"Why: {title}", static_file("why_page.css"), body, REPORT_POLICY)


def _head(explanation: Explanation, title: str) -> Html:
    found = explanation.extraction
    verdict = "an article" if found.is_article else "not an article"
    confidence = "" if found.confidence is None else f", expected F1 {found.confidence:.2f}"
    n_kept = sum(block.decision is Decision.KEPT for block in explanation.blocks)
    cells = (element("i", style=f"background:{colour}") for colour in COLOURS)
    decided = (
        f", probability {found.probability:.3f}{confidence}; {n_kept} of "
        f"{len(explanation.blocks)} blocks kept, those above {explanation.threshold:.3f} within "
        "the span of the article"
    )
    scale = (
        element("span", "no part of it ", *cells, " part of it"),
        element("span", "underlined: kept"),
        element("span", "why: point at a block, or step through with Tab"),
    )
    return element(
        "header",
        element("h1", title),
        element("p", found.url),
        element("p", element("b", verdict), decided),
        element("p", f"kind {explanation.verdict.kind}: {explanation.verdict.reason}"),
        element("p", *scale, class_="scale"),
    )


def _frame(explanation: Explanation) -> Html:
    cut = len(explanation.extraction.tokens.source) > LONGEST
    name = "The page, as far as it is drawn" if cut else "The page"
    return element("iframe", sandbox=True, title=name, srcdoc=Html(drawn_page(explanation)))


def _section(title: str, content: Html, *, is_open: bool = False) -> Html:
    return element("details", element("summary", element("h2", title)), content, open=is_open)


def _pre(text: str, kind: str = "") -> Html:
    return element("pre", lines(text[:LONG_TEXT]) or "—", class_=kind, tabindex=0)


def _metadata(values: Mapping[str, object], sources: Mapping[str, str]) -> Html:
    rows = (
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", _shown(value)),
            element("td", sources.get(name, "")),
        )
        for name, value in values.items()
        if name not in ("text", "html", "markdown")
    )
    return _wide(table(("field", "value", "from"), rows))


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _blocks(explanation: Explanation) -> Html:
    rows = (_row(each, explanation.text_of(each)) for each in explanation.blocks)
    return _wide(table(("p", "block", "why"), rows))


def _wide(content: Html) -> Html:
    return element("div", content, class_="wide", tabindex=0)


def _row(block: ExplainedBlock, text: str) -> Html:
    text = " ".join(text.split())
    shown = text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}…"
    reasons = (element("div", *_reason(each)) for each in block.reasons[:SHOWN_REASONS])
    return element(
        "tr",
        element("td", f"{block.probability:.3f}", class_="number"),
        element("td", shown, element("small", block.decision.value)),
        element("td", *reasons),
        class_="kept" if block.decision is Decision.KEPT else "",
    )


def _reason(reason: Contribution) -> tuple[Html, str]:
    kind = "for" if reason.effect > 0 else "against"
    return element("span", f"{reason.effect:+.1f}", class_=kind), f" {reason.label}"
