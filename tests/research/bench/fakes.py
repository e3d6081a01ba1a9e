"""Pages, sets and systems small enough to see through."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from research.bench.metrics import words
from research.datasets.pages import Example, LabelledPage
from research.systems.base import TextExtractor

PARAGRAPH = re.compile(r"<p>(.*?)</p>")


def page(number: int, site: str = "a.example", **more: object) -> LabelledPage:
    """A page with a menu and two paragraphs; the paragraphs are its main text."""
    body = (f"Story {number} began early.", f"It ended at {number} o'clock, all said.")
    html = f"<ul><li>Home</li></ul><p>{body[0]}</p><p>{body[1]}</p>"
    known = LabelledPage(
        f"{site}/{number}", site, html, ("\n\n".join(body),), None, "en", "article"
    )
    return replace(known, **more)  # type: ignore[arg-type]


def pages(sites: int, each: int = 2) -> tuple[LabelledPage, ...]:
    """So many pages of so many sites."""
    return tuple(page(n, f"{chr(97 + s)}.example") for s in range(sites) for n in range(each))


def record(one: LabelledPage) -> dict[str, object]:
    """The page as a line of a jsonl set has it."""
    fields = {name: getattr(one, name) for name in LabelledPage.__dataclass_fields__}
    return fields | {"author": fields.pop("authors")}


def write_jsonl(path: Path, records: Iterable[object]) -> Path:
    """A jsonl set."""
    lines = (json.dumps(each, ensure_ascii=False) for each in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class Paragraphs:
    """Takes what stands in paragraphs."""

    def extract(self, html: str) -> str:
        return "\n\n".join(PARAGRAPH.findall(html))


class Everything:
    """Takes all text."""

    def extract(self, html: str) -> str:
        return re.sub(r"<[^>]*>", " ", html)


class Fragile(Paragraphs):
    """Fails on pages about number 1."""

    def extract(self, html: str) -> str:
        if "Story 1 " in html:
            raise RuntimeError("no way\nthrough")
        return super().extract(html)


class Vocabulary:
    """Learns words and keeps the known ones."""

    def __init__(self) -> None:
        self.known: Counter[str] = Counter()

    def fit(self, examples: Iterable[Example]) -> None:
        for example in examples:
            self.known.update(words(example.text))

    def extract(self, html: str) -> str:
        return " ".join(word for word in words(Everything().extract(html)) if self.known[word])


class Unteachable(Vocabulary):
    """Cannot learn."""

    def fit(self, examples: Iterable[Example]) -> None:
        raise RuntimeError(f"{len(list(examples))} examples are not enough")


class Common(Paragraphs):
    """Looks at all pages of a site and group together; records how many it was given."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def extract_site(self, pages: Sequence[str]) -> list[str]:
        self.calls.append(len(pages))
        return [self.extract(each) for each in pages]


FAKES: dict[str, type] = {
    "paragraphs": Paragraphs,
    "fragile": Fragile,
    "vocabulary": Vocabulary,
    "unteachable": Unteachable,
    "common": Common,
}


def create(spec: str) -> TextExtractor:
    """A fake system by name."""
    made: TextExtractor = FAKES[spec]()
    return made
