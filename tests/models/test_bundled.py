from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.crawl.training import Learner
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import (
    FILE,
    bundled_model,
    read_model,
    with_bundled,
    write_model,
)
from scrapy_mss.models.format import ModelError, read_header, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PAPER
from scrapy_mss.models.store import StoredModel
from scrapy_mss.storage.opening import store_at
from tests.helpers.classifiers import counts_of
from tests.helpers.news_pages import news_page

MAX_SIZE = 8_000_000  # bytes


@pytest.fixture(scope="module")
def bundled() -> Model:
    return bundled_model()


def learned(*numbers: int) -> Model:
    """What a crawl learned."""
    return Model(DEFAULT, None, counts_of(numbers))


def test_the_bundled_model_is_small_and_of_the_default_profile() -> None:
    data = files("scrapy_mss").joinpath(FILE).read_bytes()
    header, _ = read_header(data)

    assert len(data) < MAX_SIZE
    assert header["profile"] == DEFAULT.name
    assert not bundled_model().restarted  # it is trained again when a family's version is raised
    assert header["pages"] > 1000


def test_the_bundled_model_has_a_classifier_and_is_written_as_it_was_read(bundled: Model) -> None:
    assert bundled.classifier is not None
    assert bundled.profile is DEFAULT
    assert to_bytes(bundled) == files("scrapy_mss").joinpath(FILE).read_bytes()


def test_learning_with_one_copy_does_not_change_another(bundled: Model) -> None:
    before, page = bundled.identifier, news_page(0)

    bundled_model().bayes.learn(Page(page.tokens), page.inside)

    assert bundled.identifier == bundled_model().identifier == before


def test_what_a_crawl_learned_is_added_to_the_bundled_counts(bundled: Model) -> None:
    crawl = learned(1, 2)
    before = to_bytes(crawl)

    whole = with_bundled(crawl)

    assert whole.classifier is not None
    assert whole.bayes.pages == bundled.bayes.pages + 2
    assert whole.bayes.tokens.tolist() == (bundled.bayes.tokens + crawl.bayes.tokens).tolist()
    for name, counts in whole.bayes.counts.items():
        assert np.array_equal(counts, bundled.bayes.counts[name] + crawl.bayes.counts[name])
    assert to_bytes(crawl) == before


def test_learning_on_top_is_the_same_as_adding_what_was_learned(bundled: Model) -> None:
    page, on_top = news_page(1), bundled_model()

    on_top.bayes.learn(Page(page.tokens), page.inside)

    assert to_bytes(on_top) == to_bytes(with_bundled(learned(1)))
    assert on_top.identifier != bundled.identifier


def test_a_complete_model_and_one_of_another_profile_need_no_bundled_one(bundled: Model) -> None:
    for model in (bundled, Model(PAPER)):
        assert with_bundled(model) is model


def full_file(path: Path) -> Path:
    """A model file that the bundled counts cannot be added to."""
    model = Model(DEFAULT)
    for counts in model.bayes.counts.values():
        counts[:] = 2**32 - 1
    write_model(path, model)
    return path


def test_a_file_with_counts_near_their_limit_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = full_file(tmp_path / "full.model")

    with pytest.raises(ModelError, match=r"full\.model: .*Remove the model"):
        Extractor(path)
    with pytest.raises(ModelError, match=r"full\.model\.store.*: "):
        learner_of(path, tmp_path / "full.model.store")


def learner_of(path: Path, folder: Path) -> Learner:
    """That of a crawl whose store has the model in a file."""
    stored = StoredModel(store_at(str(folder)), DEFAULT)
    stored.add(read_model(path))
    return Learner(stored)


def test_learned_pages_stay_known_on_top_of_the_bundled_model() -> None:
    crawl = learned(1)
    crawl.learned_pages.add(7, 0)

    assert 7 in with_bundled(crawl).learned_pages
