"""Texts for other programs, which send what makes them to other processes."""

from __future__ import annotations

import pickle
from pathlib import Path

from scrapy_mss import Extractor
from scrapy_mss.bulk.texts import Texts
from scrapy_mss.models.store import write_model
from tests.plugin.models import learned
from tests.plugin.site import index, plain


def test_the_text_is_that_of_an_article() -> None:
    texts = Texts("", only_articles=True)

    assert texts.of(plain(1)) == Extractor().extract(plain(1)).text
    assert not texts.of(index(1))
    assert not texts.of("")


def test_the_model_may_be_a_file(tmp_path: Path) -> None:
    write_model(tmp_path / "a.model", learned(range(3)))
    path = str(tmp_path / "a.model")

    assert Texts(path, only_articles=True).of(plain(1)) == Extractor(path).extract(plain(1)).text


def test_the_model_is_not_sent_along() -> None:
    texts = Texts("", only_articles=True)
    text = texts.of(plain(1))

    sent = pickle.dumps(texts)

    assert len(sent) < 1000
    assert pickle.loads(sent).of(plain(1)) == text  # noqa: S301 - our own
