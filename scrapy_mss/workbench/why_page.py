"""An explanation as one self-contained HTML page, to be attached to a bug report.

The untrusted page is in a frame without any permission (`sandbox`), and the policy of the whole
document allows no fetching and no scripts, its own included: it has none.
"""

from __future__ import annotations

from collections.abc import Mapping

from scrapy_mss.blocks.explanation import Contribution, Decision, ExplainedBlock
from scrapy_mss.extractor import Explanation
from scrapy_mss.output.html_elements import Html, document, element, lines, table
from scrapy_mss.workbench.drawing import (
    COLOURS,
    LONGEST,
    SHOWN_REASONS,
    drawn_page,
    static_file,
)

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
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
    body = element("body", _header(explanation, title), main)
    return document(f"Why: {title}", static_file("why_page.css"), body, POLICY)


def _header(explanation: Explanation, title: str) -> Html:
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
