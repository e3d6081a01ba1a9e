"""Page cases: a folder of tests/pages each, with a page and what is right for it.

    source.html    the page, UTF-8
    expected.txt   its main text, as `Extraction.text` should be; empty where the page is no article
    expected.json  url, is_article, metadata, known_failure, or only "extractor": "untrained"

A case has *parts* that are checked one by one: `text`, `is_article` and `metadata.FIELD` for each
field that is given. What is written there is what is right, not what comes out today: a part that
is wrong today has a `KnownFailure` in `known_failure`, under the name of the part.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from research.bench.metrics import bag, words

PAGES = Path(__file__).parent / "pages"

UNTRAINED = {"extractor": "untrained"}


@dataclass(frozen=True)
class KnownFailure:
    """Why a part is wrong today, and how wrong it may be.

    A text has at least this *precision* and *recall* of words; any other part is what was *found*.
    """

    reason: str
    precision: float = 1.0
    recall: float = 1.0
    found: Any = None

    def beyond(self, part: str, found: object, wanted: object) -> str:
        """In what a *part* is worse than is known; empty if in nothing."""
        if part != "text":
            known = found == self.found
            return "" if known else f"{part} is {found!r}, and was known to be {self.found!r}"
        scores = bag(words(str(found)), words(str(wanted)))
        return ", ".join(
            f"{name} of the words is {score:.3f}, and was at least {least}"
            for name, score, least in (
                ("precision", scores.p, self.precision),
                ("recall", scores.r, self.recall),
            )
            if score < least
        )


@dataclass(frozen=True)
class PageCase:
    """A page and what is right for it; for the extractor without a model, only its text."""

    name: str
    source: str
    text: str
    untrained: bool = False
    url: str | None = None
    is_article: bool = True
    kind: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    known_failure: dict[str, KnownFailure] = field(default_factory=dict)

    @property
    def expected(self) -> dict[str, Any]:
        """What each part should be.

        The text of a page that is no article is not compared: nobody gets to see it.
        """
        parts: dict[str, Any] = {"is_article": self.is_article}
        if self.is_article:
            parts["text"] = self.text
        if self.kind:
            parts["kind"] = self.kind
        return parts | {f"metadata.{name}": value for name, value in self.metadata.items()}


def read_case(folder: Path) -> PageCase:
    """The case in *folder*."""
    source = (folder / "source.html").read_text(encoding="utf-8")
    text = (folder / "expected.txt").read_text(encoding="utf-8").rstrip("\n")
    values = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    if values == UNTRAINED:
        return PageCase(folder.name, source, text, untrained=True)
    known = {part: KnownFailure(**of) for part, of in values.pop("known_failure", {}).items()}
    case = PageCase(folder.name, source, text, known_failure=known, **values)
    assert case.is_article == bool(text), f"{folder}: only an article has a text"
    assert known.keys() <= case.expected.keys(), f"{folder}: known_failure of no part"
    return case


def read_cases() -> list[PageCase]:
    """All cases, by name."""
    return [read_case(path) for path in sorted(PAGES.iterdir()) if path.is_dir()]
