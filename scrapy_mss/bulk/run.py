"""One run: an engine makes the remaining parts of the archive, which are listed one by one.

Calling it again resumes a killed run: listed parts are not made again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from scrapy_mss.bulk.archives import PIECE, grouped, pieces_of
from scrapy_mss.bulk.extracting import model_of, options_of
from scrapy_mss.bulk.lanes import Engine
from scrapy_mss.bulk.manifest import Manifest
from scrapy_mss.bulk.parts import Told
from scrapy_mss.files.stored_pages import Piece, SourceError


@dataclass(slots=True)
class Summary:
    """What is in a folder of parts: rows, those with an article, the others by their reasons."""

    parts: int = 0
    pages: int = 0
    articles: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Bulk:
    """Articles of the files *inputs*, in parts of *piece* bytes of these, to be in *folder*.

    Pages are read with *settings*, those of a crawl by their names.
    """

    inputs: tuple[Path, ...]
    folder: Path
    settings: Mapping[str, Any]
    piece: int = PIECE

    def run(self, engine: Engine, begin: Callable[[int, int], Told]) -> Summary:
        """Make by *engine* what is not made; *begin* takes how many bytes there are, and are done.

        What it gives is told of what is done from then on.
        """
        pieces = [piece for path in self.inputs for piece in pieces_of(path, self.piece)]
        with closing(Manifest(self.folder, self._made())) as manifest:
            manifest.add_files({str(path): path.stat().st_size for path in self.inputs})
            left = manifest.left(pieces)
            total = _weight(pieces)
            told = begin(total, total - _weight(left))
            while left:
                parts = list(grouped(left, manifest.next_number, self.piece))
                for done in engine(parts, self.folder, told):
                    manifest.add(done)
                left = _begun_wrong(manifest, pieces)
            manifest.settle()
            return _summary(manifest)

    def _made(self) -> dict[str, Any]:
        """What has to be the same for all parts of a folder."""
        options = options_of(self.settings)
        of_articles = {"fields": [*options.fields], "max_body": options.max_body}
        return {"model": model_of(options).identifier, "piece": self.piece, **of_articles}


def files_of(inputs: Iterable[str]) -> tuple[Path, ...]:
    """The files that paths and patterns name, each once, with their absolute paths."""
    paths = (os.path.abspath(path) for each in inputs for path in _matching(each))  # noqa: PTH100 - without ".."
    found = dict.fromkeys(map(Path, paths))
    return tuple(found)


def _matching(text: str) -> Iterator[str]:
    """The files that *text* names, or that it is a pattern for."""
    if Path(text).exists() or not has_magic(text):
        yield text
        return
    found = sorted(glob(text, recursive=True))  # noqa: PTH207 - Path has none for absolute ones
    if not found:
        raise SourceError(f"{text}: no file has such a name")
    yield from found


def _begun_wrong(manifest: Manifest, pieces: list[Piece]) -> list[Piece]:
    """The first piece that was not begun with a record, if any; its part does not count any more.

    Those after it are looked at once it is read: they may fit then.
    """
    misfit = manifest.misfit(pieces)
    if misfit is None:
        return []
    name, piece = misfit
    manifest.withdraw(name)
    return [piece]


def _weight(pieces: Iterable[Piece]) -> int:
    return sum(piece.weight for piece in pieces)


def _summary(manifest: Manifest) -> Summary:
    summary = Summary(len(manifest.parts))
    for part in manifest.parts.values():
        summary.pages += part.pages
        summary.articles += part.articles
        summary.reasons.update(part.reasons)
    return summary
