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
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from secrets import token_hex
from typing import Final

import numpy as np

from scrapy_mss.blocks.explanation import Decision, ExplainedBlock
from scrapy_mss.extractor import Explanation
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, Tokens
from scrapy_mss.output.html_elements import Html, element
from scrapy_mss.output.sanitizing import sanitized

SHOWN_REASONS: Final = 4  # of a block
DEEPEST: Final = 128  # elements in one another: of 132 pages of articles, three have more than 30
LONGEST: Final = 2**21  # characters of source that are drawn
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
    return f"{head}{cut}{html}{element('script', Html(frame_script()))}</body></html>"


_STOP: Final = ' tabindex="0"'


def _described(block: ExplainedBlock) -> str:
    return f' aria-description="{escape(summary(block))}"'


@cache
def frame_script() -> str:
    """The only script that runs in the frame."""
    return static_file("frame.js")


@cache
def frame_style() -> str:
    """The only styles of the frame."""
    return f"{static_file('frame.css')}{_tints()}"


def _tints() -> str:
    return "".join(f".mss-p{tenth}{{--tint:{each}}}" for tenth, each in enumerate(COLOURS))


def hash_of(text: str) -> str:
    """*text* as a policy names what may run."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


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
