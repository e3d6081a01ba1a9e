from __future__ import annotations

import numpy as np
import pytest

from research.datasets.pages import Example
from research.training import fit as training
from research.training.examples import TrainingExample, training_examples
from research.training.fit import FOLDS, f1_of, fit
from research.training.optimization import Config
from scrapy_mss.blocks.classifier import POOLINGS, BlockClassifier, block_evidence, block_inputs
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import ReadPage
from scrapy_mss.core.features import UNIGRAM
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.models.format import from_bytes, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from tests.helpers.news_pages import news_page

QUICK = Config(hidden=12, epochs=60, batch=64, rate=1e-2)
SITES = ("one", "two", "three", "four", "five", "six")
MENU = "".join(f"<li><a href=/{n}.html>Ferry number {n}</a></li>" for n in range(30))
LISTS = [f"<title>Ferries</title><ul class=menu>{MENU[: 60 * n]}</ul>" for n in range(8, 30)]


def examples() -> list[Example]:
    """Two pages of each of six sites."""
    pages = [(site, news_page(number, site=site)) for site in SITES for number in range(2)]
    return [Example(page.html, page.text, site) for site, page in pages]


def learned() -> list[TrainingExample]:
    return list(training_examples(examples()))


def model_of(bayes: NaiveBayes[Page], classifier: BlockClassifier) -> Model:
    return Model(DEFAULT, classifier, bayes)


@pytest.fixture(scope="module")
def fitted() -> Model:
    """Learned from a dozen articles and a few lists."""
    return model_of(*fit(learned(), DEFAULT.families, [Page.of(page) for page in LISTS], QUICK))


def test_a_classifier_finds_the_article_on_pages_of_a_site_that_it_never_saw(fitted: Model) -> None:
    extractor = Extractor.of(fitted)

    for number in range(4):
        page = news_page(number, site="seven")
        found = extractor.extract(page.html)

        assert found.text == page.text
        assert found.is_article


def test_pages_that_are_no_articles_are_told_apart(fitted: Model) -> None:
    extractor = Extractor.of(fitted)

    assert not any(extractor.extract(page).is_article for page in LISTS)


def test_the_same_examples_give_the_same_bytes(fitted: Model) -> None:
    again = model_of(*fit(learned(), DEFAULT.families, [Page.of(page) for page in LISTS], QUICK))

    assert to_bytes(again) == to_bytes(fitted)
    assert to_bytes(from_bytes(to_bytes(fitted))) == to_bytes(fitted)


def test_evidence_never_comes_from_counts_of_the_page_s_own_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A word that one site alone has is unknown to the counts that speak of its pages."""
    pages = examples()
    marked = [
        Example(page.html.replace("<p>", f"<p>Only{page.site} "), page.text, page.site)
        for page in pages
    ]
    asked: list[tuple[str, NaiveBayes[Page]]] = []

    def spy(page: Page, bayes: NaiveBayes[Page]) -> Floats:
        asked.append((page.tokens.source, bayes))
        return block_evidence(page, bayes)

    monkeypatch.setattr(training, "block_evidence", spy)
    learned = list(training_examples(marked))

    whole, _ = fit(learned, DEFAULT.families, config=Config(hidden=2, epochs=1))

    def times_seen(bayes: NaiveBayes[Page], site: str) -> int:
        bucket = UNIGRAM.values(Page.of(f"Only{site}"), UNIGRAM.bits).bucket[0]
        return int(bayes.counts["unigram"][bucket].sum())

    parts = {each.site: each.site_hash % FOLDS for each in learned}
    assert len(asked) == len(learned)
    for source, bayes in asked:
        (own,) = (site for site in SITES if f"Only{site} " in source)
        for site in SITES:
            assert bool(times_seen(bayes, site)) == (parts[site] != parts[own])
    assert all(times_seen(whole, site) for site in SITES)


def test_the_true_f1_is_by_words_against_the_text_as_people_have_it() -> None:
    page = Page.of("<p>one two three four<p>five six<p>seven eight")
    example = TrainingExample(page, np.ones(3, np.bool_), "", text="one two three four nine ten")
    scores = np.zeros(3)
    inputs = block_inputs(page, np.zeros((len(POOLINGS), 3)), scores)

    def f1(*kept: bool) -> float:
        return f1_of(example, ReadPage(page, inputs, scores, np.array(kept), 0.5))

    assert f1(True, False, False) == pytest.approx(2 * 4 / (4 + 6))
    assert f1(True, True, True) == pytest.approx(2 * 4 / (8 + 6))
    assert f1(False, True, False) == 0
    assert f1(False, False, False) == 0
