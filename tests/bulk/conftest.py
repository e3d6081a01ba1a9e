"""What the tests of archives share: an extractor with a worker, and one that misbehaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from scrapy_mss.bulk.extracting import ArticleExtractor

MISBEHAVING = """
import os, time
import scrapy_mss.article

sound = scrapy_mss.article.read_article

def read_article(page, *rest):
    html = page if isinstance(page, str) else page.source
    if "be slow" in html:
        time.sleep(600)
    if "be killed" in html:
        os.kill(os.getpid(), 9)
    if "be wrong" in html:
        raise SystemError("this page")
    if "be lost" in html:
        raise MemoryError
    return sound(page, *rest)

scrapy_mss.article.read_article = read_article
"""


@pytest.fixture(scope="module")
def extractor() -> Iterator[ArticleExtractor]:
    """The bundled model in one worker."""
    with closing(ArticleExtractor()) as made:
        yield made


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArticleExtractor]:
    """Has a worker that does what pages say; it gives up after two seconds."""
    (tmp_path / "sitecustomize.py").write_text(MISBEHAVING)
    monkeypatch.syspath_prepend(str(tmp_path))
    with closing(ArticleExtractor(MSS_TIMEOUT=2, MSS_MAX_BODY=10_000)) as made:
        yield made
