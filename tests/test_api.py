from __future__ import annotations

from pathlib import Path

import pytest

import scrapy_mss
from scrapy_mss import Extraction, Extractor, ModelError
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import PAPER
from tests.helpers.news_pages import news_page


def trained() -> Extractor:
    extractor = Extractor(Model(PAPER))
    for number in range(3):
        page = news_page(number)
        extractor.learn(page.tokens, page.inside)
    return extractor


def test_an_extractor_comes_back_from_its_file(tmp_path: Path) -> None:
    extractor, page = trained(), news_page(9)

    extractor.save(tmp_path / "model")
    loaded = Extractor.load(str(tmp_path / "model"))

    found = loaded.extract(page.html)
    assert isinstance(found, Extraction)
    assert (found.text, found.html) == (
        extractor.extract(page.html).text,
        extractor.extract(page.html).html,
    )
    assert isinstance(loaded, Extractor)


def test_a_loaded_extractor_learns_on(tmp_path: Path) -> None:
    page = news_page(9)
    trained().save(tmp_path / "model")

    loaded = Extractor.load(tmp_path / "model")
    loaded.learn(page.tokens, page.inside)
    loaded.save(tmp_path / "model")

    again = Extractor.load(tmp_path / "model")
    assert again.model is not None
    assert again.model.bayes.pages == 4


def test_an_extractor_without_a_model_has_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to save"):
        Extractor().save(tmp_path / "model")

    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_model_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<p>one</p>", encoding="utf-8")

    with pytest.raises(ModelError, match=r"page\.html: this is no scrapy-mss model"):
        Extractor.load(path)


def test_an_untrained_extractor_is_of_the_class_that_was_asked() -> None:
    assert isinstance(Extractor.untrained(), Extractor)


def test_public_names_are_there_and_no_others() -> None:
    assert set(scrapy_mss.__all__) <= set(dir(scrapy_mss))
    assert all(getattr(scrapy_mss, name) is not None for name in scrapy_mss.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = scrapy_mss.nosuch
