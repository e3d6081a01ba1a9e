"""An untrusted page for the frame: rendered without any active content, with a script of ours.

Blocks must be clickable, so some script has to run where the page is shown. It knows
only numbers of blocks: it tells the desk which one was clicked, and is told which to tint.
Three barriers protect it, each sufficient by itself:

    the page is rebuilt from an allow-list         no script, handler, link, form or style is left
    the policy names the hash of our script        nothing else would run, if it were left
    the sandbox gives the frame no origin          what ran could read nothing and ask for nothing

The alternatives are worse. Links of ours that navigate the parent to a block need the right to do
so, and tints would require a reload after each click. In the desk's own origin, as in
a shadow root, there would be one barrier instead of three.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from scrapy_mss.blocks.explanation import Decision
from scrapy_mss.extractor import Explanation
from scrapy_mss.output.html_elements import Html, element
from scrapy_mss.workbench.why_page.drawn import LONGEST, MARK, drawn, summary, tint
from scrapy_mss.workbench.why_page.page import COLOURS

LEFT_OUT: Final = ("a", "details", "summary", "img")  # what leads away, hides text, or is fetched
_CUT: Final = f"<p><i>Only the first {LONGEST:,} characters of this page are drawn.</i></p>"
_RUN: Final = re.compile(r"[\ud800-\udfff]")


def drawn_for_frame(explanation: Explanation) -> str:
    """The document that the frame shows."""

    def mark(number: int, *, again: bool) -> str:
        block = explanation.blocks[number]
        kept = " mss-kept" if block.decision is Decision.KEPT else ""
        shared = f'<span class="{MARK} {tint(block)}{kept}" data-block="{number}"'
        if again:
            return f"{shared}>"
        why = escape(_RUN.sub("", summary(block)), quote=True)
        return f'{shared} tabindex="0" role="button" aria-description="{why}">'

    html = drawn(explanation, mark, LEFT_OUT)
    cut = _CUT if len(explanation.extraction.tokens.source) > LONGEST else ""
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>The page</title>'
        f'{element("style", Html(frame_style()))}</head><body dir="auto">'
    )
    return f"{head}{cut}{html}{element('script', Html(frame_script()))}</body></html>"


@cache
def frame_script() -> str:
    """The only script that runs in the frame."""
    return _file("frame.js")


@cache
def frame_style() -> str:
    """The only styles of the frame."""
    tints = "".join(f".mss-p{tenth}{{--tint:{each}}}" for tenth, each in enumerate(COLOURS))
    return f"{_file('frame.css')}{tints}"


def hash_of(text: str) -> str:
    """*text* as a policy names what may run."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _file(name: str) -> str:
    return (files("scrapy_mss.workbench") / "static" / name).read_text("utf-8")
