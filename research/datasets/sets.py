"""Sets by name: `KIND:PATH`, or `KIND:PATH?type=article` to keep some page types alone.

Strategy: KIND picks a reader (`readers.READERS`); what it yields is sorted into pages and broken
records. The run goes on without the broken ones; a set without one good page is an error, since
a mean over nothing would look like a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

from research.datasets.pages import Broken, Dataset, LabelledPage
from research.datasets.readers import READERS
from research.errors import UserError


class Spec(NamedTuple):
    """A set as the command line names it."""

    text: str
    kind: str
    path: Path
    types: frozenset[str]

    @property
    def name(self) -> str:
        """A short name without folders, for tables and files."""
        stem = re.sub(r"(\.jsonl?)?(\.gz|\.xz)?$", "", self.path.resolve().name, count=1)
        kept = f"?type={','.join(sorted(self.types))}" if self.types else ""
        return f"{self.kind}:{stem}{kept}"


def parse(text: str) -> Spec:
    """Split `KIND:PATH?type=NAME,NAME` into its parts."""
    kind, colon, place = text.partition(":")
    if not colon or kind not in READERS:
        message = f"set {text!r}: expected KIND:PATH with KIND one of {', '.join(READERS)}"
        raise UserError(message)
    path, mark, query = place.partition("?")
    if not path:
        raise UserError(f"set {text!r}: expected a path after {kind}:")
    return Spec(text, kind, Path(path), _types(text, query) if mark else frozenset())


def _types(text: str, query: str) -> frozenset[str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    types = frozenset(options.pop("type", "").split(",")) - {""}
    if options or not types:
        raise UserError(f"set {text!r}: expected ?type=NAME or ?type=NAME,NAME behind the path")
    return types


def load(text: str) -> Dataset:
    """Read the set that *text* names, or say why there is none."""
    spec = parse(text)
    if not spec.path.exists():
        raise UserError(f"set {text!r}: there is no {spec.path}")
    pages, broken = _sort(READERS[spec.kind](spec.path))
    if not pages:
        first = f"; the first of {len(broken)} broken records is {broken[0]}" if broken else ""
        raise UserError(f"set {text!r}: no page found{first}")
    return Dataset(spec.name, text, _of_types(pages, spec), tuple(broken))


def _sort(records: Iterable[LabelledPage | Broken]) -> tuple[list[LabelledPage], list[Broken]]:
    pages: dict[str, LabelledPage] = {}
    broken: list[Broken] = []
    for record in records:
        if isinstance(record, Broken):
            broken.append(record)
        elif record.id in pages:
            broken.append(Broken(record.id, "id", "an earlier page of the set has the same id"))
        else:
            pages[record.id] = record
    return list(pages.values()), broken


def _of_types(pages: list[LabelledPage], spec: Spec) -> tuple[LabelledPage, ...]:
    kept = tuple(page for page in pages if not spec.types or page.page_type in spec.types)
    if not kept:
        there = ", ".join(sorted({page.page_type or "none" for page in pages}))
        raise UserError(f"set {spec.text!r}: no page of that type; the types are: {there}")
    return kept


def evenly(pages: Sequence[LabelledPage], limit: int | None) -> Sequence[LabelledPage]:
    """*limit* pages, evenly spaced, so that a quick run still sees the whole set."""
    count = len(pages)
    if limit is None or limit >= count:
        return pages
    return tuple(pages[i * count // limit] for i in range(limit))


def limited(dataset: Dataset, limit: int | None) -> Dataset:
    """The set with *limit* of its pages."""
    return replace(dataset, pages=tuple(evenly(dataset.pages, limit)))


def load_all(texts: Iterable[str], limit: int | None = None) -> tuple[Dataset, ...]:
    """Read several sets; names that occur twice are numbered, results are looked up by name."""
    seen: dict[str, int] = {}
    unique = []
    for text in texts:
        dataset = limited(load(text), limit)
        seen[dataset.name] = count = seen.get(dataset.name, 0) + 1
        name = dataset.name if count == 1 else f"{dataset.name} ({count})"
        unique.append(replace(dataset, name=name))
    return tuple(unique)
