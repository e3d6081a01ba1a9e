"""Texts for other programs."""

from __future__ import annotations

from pathlib import Path

from scrapy_mss import Extractor
from scrapy_mss.bulk.texts import text_of
from scrapy_mss.models.files import write_model
from tests.plugin.models import learned
from tests.plugin.site import index, plain


def test_the_text_is_that_of_an_article() -> None:
    assert text_of(plain(1), "", only_articles=True) == Extractor().extract(plain(1)).text
    assert not text_of(index(1), "", only_articles=True)
    assert not text_of("", "", only_articles=True)


def test_the_model_may_be_a_file(tmp_path: Path) -> None:
    write_model(tmp_path / "a.model", learned(range(3)))
    path = str(tmp_path / "a.model")

    assert text_of(plain(1), path, only_articles=True) == Extractor(path).extract(plain(1)).text
