"""The page as it is drawn, with its blocks marked; nothing in it runs and nothing is fetched.

Each run of text is put into a `span` of its block, in the page's own source, which then is made
safe to show as an article's HTML is (`sanitizing`), with all its bounds. The spans go through that
as what it lets through, a language, and are made marks behind it. What is left that could fetch,
images, the document around it forbids: it is shown in a sandboxed frame under a content security
policy.

So the page is drawn without its style sheets. Most are elsewhere anyway, and those in a page often
hide all of it until a script has run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from secrets import token_hex
from typing import Protocol

import numpy as np

from scrapy_mss.blocks.explanation import Decision, ExplainedBlock
from scrapy_mss.extractor import Explanation
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, Tokens
from scrapy_mss.output.sanitizing import sanitized

SHOWN_REASONS = 4  # of a block
DEEPEST = 128  # elements in one another: of 132 pages of articles, three have more than 30
LONGEST = 2**21  # characters of source that are drawn
TENTHS = 10
MARK = "mss-block"  # the class of a mark
FIRST = "mss-first"  # the class of the first block that is kept, where the page is shown from
STOP = ' tabindex="0"'
_WITHOUT_TAGS = [TAG_NUMBERS[name] for name in ("title", "textarea")]  # where a tag is text


class Mark(Protocol):
    """What opens the mark of block *number*, for the first run of its text or *again*."""

    def __call__(self, number: int, *, again: bool) -> str:
        """The tag of a span."""
        ...


def drawn_page(explanation: Explanation) -> str:
    """The page's HTML with each block marked, for a sandboxed frame; as long as `LONGEST`."""
    decisions = [block.decision for block in explanation.blocks]
    first_kept = decisions.index(Decision.KEPT) if Decision.KEPT in decisions else -1

    def mark(number: int, *, again: bool) -> str:
        first = FIRST if number == first_kept else ""
        return _mark_of(explanation.blocks[number], first, "" if again else STOP)

    return drawn(explanation, mark)


def drawn(explanation: Explanation, mark: Mark, without: Iterable[str] = ()) -> str:
    """The page's HTML, each run of a block's text with its *mark*; tags *without* are left out."""
    mark_of_ours = f"x-mss-{token_hex(4)}-"  # which the page cannot know
    tokens = tokenize(marked_source(explanation, mark_of_ours))
    kept = ~(tokens.is_tag & np.isin(tokens.tag, [TAG_NUMBERS[name] for name in without]))
    html = sanitized(tokens, kept, depth=DEEPEST)
    seen: set[int] = set()
    mark_once = cache(mark)  # a block may have many runs

    def opening(found: re.Match[str]) -> str:
        number = int(found[1])
        again = number in seen
        seen.add(number)
        return mark_once(number, again=again)

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


def tint(block: ExplainedBlock) -> str:
    """The class of the tenth that the probability of *block* is in."""
    return f"mss-p{min(int(block.probability * TENTHS), TENTHS - 1)}"


def _mark_of(block: ExplainedBlock, first: str, stop: str) -> str:
    kept = "mss-kept" if block.decision is Decision.KEPT else ""
    classes = " ".join(filter(None, (MARK, tint(block), kept, first)))
    why = escape(summary(block), quote=True)
    return f'<span class="{classes}"{stop} aria-description="{why}">'


def summary(block: ExplainedBlock) -> str:
    """What was decided about *block*, and what weighed most, in a line or two."""
    shown = block.reasons[:SHOWN_REASONS]
    for_it = ", ".join(f"{each.label} {each.effect:+.1f}" for each in shown if each.effect > 0)
    against = ", ".join(f"{each.label} {each.effect:+.1f}" for each in shown if each.effect < 0)
    parts = [f"{block.probability:.3f}: {block.decision.value}"]
    parts += [f"for it: {for_it}"] if for_it else []
    parts += [f"against it: {against}"] if against else []
    return "; ".join(parts)
