"""An explanation as one self-contained HTML page: it opens no connection and runs nothing.

The stranger's page is in a frame without any right (`sandbox`), and the policy of the whole
document lets nothing be fetched and no script run, its own included: it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib.resources import files

from scrapy_mss.blocks.explanation import ExplainedBlock, Fate, Reason
from scrapy_mss.extractor import Explanation
from scrapy_mss.why_page.drawn import LONGEST, MARK, SHOWN_REASONS, TENTHS, drawn_page

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# From orange over white to blue, which those tell apart who do not tell red from green.
COLOURS = (
    "#fdba74", "#fdcb98", "#fedbb9", "#feead7", "#fff7ef",
    "#eff6ff", "#d9eafe", "#bfdbfe", "#a3cbfd", "#86bbfc",
)  # fmt: skip
SHOWN_TEXT = 90  # characters of a block in the table
LONG_TEXT = 100_000  # characters of an article that are shown


def why_page(
    explanation: Explanation, values: Mapping[str, object], sources: Mapping[str, str]
) -> str:
    """The page. *values* are the fields of the article; *sources* say where some are from."""
    found = explanation.extraction
    title = str(values.get("title") or found.url or "A page")
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Why: {escape(title)}</title><style>{_file('page.css')}</style></head>"
    )
    aside = "".join(
        (
            _section("Text", _pre(found.text), is_open=True),
            _section("Metadata", _metadata(values, sources)),
            _section("Markdown", _pre(found.markdown, "source")),
            _section(f"All {len(explanation.blocks)} blocks", _blocks(explanation)),
        )
    )
    return (
        f"{head}<body>{_header(explanation, title)}<main>{_frame(explanation)}"
        f"<aside>{aside}</aside></main></body></html>"
    )


def _header(explanation: Explanation, title: str) -> str:
    found = explanation.extraction
    verdict = "an article" if found.is_article else "not an article"
    confidence = "" if found.confidence is None else f", expected F1 {found.confidence:.2f}"
    n_kept = sum(block.fate is Fate.KEPT for block in explanation.blocks)
    cells = "".join(f'<i style="background:{colour}"></i>' for colour in COLOURS)
    return (
        f"<header><h1>{escape(title)}</h1><p>{escape(found.url)}</p>"
        f"<p><b>{verdict}</b>, probability {found.probability:.3f}{confidence}; {n_kept} of "
        f"{len(explanation.blocks)} blocks kept, those above {explanation.threshold:.3f} within "
        "the article&#8217;s span</p>"
        f'<p class="scale"><span>no part of it {cells} part of it</span><span>underlined: kept'
        "</span><span>why: point at a block, or step through with Tab</span></p></header>"
    )


def _frame(explanation: Explanation) -> str:
    tints = "".join(
        f".{MARK}.mss-p{tenth}{{background:{COLOURS[tenth]} !important}}" for tenth in range(TENTHS)
    )
    document = f"<style>{_file('marks.css')}{tints}</style>{drawn_page(explanation)}"
    cut = len(explanation.extraction.tokens.source) > LONGEST
    name = "The page, as far as it is drawn" if cut else "The page"
    return f'<iframe sandbox title="{name}" srcdoc="{escape(document, quote=True)}"></iframe>'


def _section(title: str, content: str, *, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    return f"<details{opened}><summary><h2>{escape(title)}</h2></summary>{content}</details>"


def _pre(text: str, kind: str = "") -> str:
    return f'<pre class="{kind}" tabindex="0">{escape(text[:LONG_TEXT]) or "—"}</pre>'


def _metadata(values: Mapping[str, object], sources: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(_shown(value))}</td>"
        f"<td>{escape(sources.get(name, ''))}</td></tr>"
        for name, value in values.items()
        if name not in ("text", "html", "markdown")
    )
    heads = "<tr><th scope=col>field</th><th scope=col>value</th><th scope=col>from</th></tr>"
    return f'<div class="wide" tabindex="0"><table>{heads}{rows}</table></div>'


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _blocks(explanation: Explanation) -> str:
    heads = "<tr><th scope=col>p</th><th scope=col>block</th><th scope=col>why</th></tr>"
    rows = "".join(_row(each, explanation.text_of(each)) for each in explanation.blocks)
    return f'<div class="wide" tabindex="0"><table>{heads}{rows}</table></div>'


def _row(block: ExplainedBlock, text: str) -> str:
    text = " ".join(text.split())
    shown = text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}…"
    why = "<br>".join(map(_reason, block.reasons[:SHOWN_REASONS]))
    kind = ' class="kept"' if block.fate is Fate.KEPT else ""
    return (
        f'<tr{kind}><td class="number">{block.probability:.3f}</td>'
        f"<td>{escape(shown)}<small>{escape(block.fate.value)}</small></td><td>{why}</td></tr>"
    )


def _reason(reason: Reason) -> str:
    kind = "for" if reason.effect > 0 else "against"
    return f'<span class="{kind}">{reason.effect:+.1f}</span> {escape(reason.label)}'


def _file(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")
