"""The extractor in a pipeline of datatrove, as it runs on one machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("datatrove", reason="datatrove is not installed: make test-datatrove")

from datatrove.data import Document
from datatrove.executor.local import LocalPipelineExecutor

from scrapy_mss import Extractor
from scrapy_mss.bulk.datatrove import MssExtractor
from tests.plugin.site import index, plain

pytestmark = pytest.mark.filterwarnings("ignore")  # it forks, and has others of its own
TIMEOUT = 30  # seconds; other tests may have the cores


def texts_of(extractor: MssExtractor, pages: list[str], folder: Path) -> dict[str, str]:
    """What comes out of a pipeline with *extractor*, by the number of the page."""
    found = {}

    def documents(_data: object, rank: int, world_size: int) -> Iterator[Document]:
        for number, html in enumerate(pages):
            yield Document(text=html, id=str(number))

    def collect(data: Iterable[Any], rank: int, world_size: int) -> Iterator[Any]:
        for document in data:
            found[document.id] = document.text
            yield document

    pipeline = [documents, extractor, collect]
    LocalPipelineExecutor(pipeline=pipeline, logging_dir=str(folder), workers=1, tasks=1).run()
    return found


def test_documents_have_the_text_of_their_article(tmp_path: Path) -> None:
    pages = [plain(1), index(1), "", plain(2)]

    found = texts_of(MssExtractor(timeout=TIMEOUT), pages, tmp_path)

    expected = {str(n): Extractor().extract(html) for n, html in enumerate(pages)}
    assert found == {n: each.text for n, each in expected.items() if each.is_article}
    assert set(found) == {"0", "3"}
