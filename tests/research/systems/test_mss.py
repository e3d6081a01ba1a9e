from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from research.datasets.pages import Example
from research.systems.mss import Mss, SelfTrainedMss
from scrapy_mss.core.cleaning import CODE_ONLY, PAPER_RULES
from scrapy_mss.core.self_training import ITERATIONS
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import CLEANEVAL, DEFAULT, PAPER, PROFILES
from scrapy_mss.models.store import write_model
from tests.helpers.news_pages import news_page

BOX = '<div class="box"><a href="/x">Read more words</a></div>'


def examples(n: int, site: str = "one") -> list[Example]:
    pages = (news_page(number, site=site) for number in range(n))
    return [Example(page.html, page.text, site) for page in pages]


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != DEFAULT.name])
def test_a_system_that_learned_a_site_finds_the_text_of_another_page(profile: str) -> None:
    system, page = Mss(profile=profile), news_page(99)

    system.fit(examples(4))

    located = system.locate(page.html)
    words, expected = Counter(located.text.split()), Counter(page.text.split())
    # To trigrams a last paragraph of new words is neutral: it may be missing.
    assert (words & expected).total() > 0.75 * expected.total()
    assert (words & expected).total() > 0.95 * words.total()
    assert system.extract(page.html) == located.text
    assert len(located.kept) == len(located.tokens)


def test_learning_a_gold_text_is_learning_its_place_in_the_page() -> None:
    system, model = Mss(), Model(PAPER)

    system.fit(examples(3))
    for number in range(3):
        page = news_page(number)
        inside = page.inside
        # The alignment ends with a word, the page's own label with the full stop behind it.
        inside[np.flatnonzero(inside)[-1]] = False
        model.learn(page.page, inside)

    for name, counts in model.bayes.counts.items():
        differing = np.flatnonzero(
            (system.extractor.model.bayes.counts[name] != counts).any(axis=1)
        )
        assert len(differing) <= 6


def test_examples_that_a_crawl_would_refuse_are_learned() -> None:
    system = Mss()

    system.fit([Example("<p>one</p>", "one"), Example("<p>two</p>", "")])

    assert system.extractor.model.bayes.pages == 2


def test_spans_are_not_cleaned_unless_asked_for() -> None:
    page = news_page(99)
    source = page.html.replace("</p>\n<p>", f"</p>\n{BOX}<p>", 1)
    plain, cleaned = Mss(), Mss(clean=True)
    plain.fit(examples(4))
    cleaned.fit(examples(4))

    assert plain.profile.rules == CODE_ONLY
    assert cleaned.profile.rules == PAPER_RULES
    assert "Read more words" in plain.extract(source)
    assert "Read more words" not in cleaned.extract(source)


def test_a_bias_replaces_the_profile_s() -> None:
    assert Mss(profile="cleaneval").profile.bias == CLEANEVAL.bias
    assert Mss(profile="cleaneval", bias=0.0).profile == replace(CLEANEVAL, bias=0.0)
    assert Mss(bias=0.3).profile == replace(PAPER, bias=0.3, rules=CODE_ONLY)


def test_a_model_from_a_file_is_used_as_it_is(tmp_path: Path) -> None:
    learned, loaded, page = Mss(), Mss(), news_page(99)
    learned.fit(examples(4))
    write_model(tmp_path / "model", learned.extractor.model)

    loaded.load_model(tmp_path / "model")

    assert loaded.extract(page.html) == learned.extract(page.html)
    assert loaded.profile.rules == CODE_ONLY


def test_a_model_of_other_features_is_refused(tmp_path: Path) -> None:
    learned = Mss(profile="trigram")
    learned.fit(examples(1))
    write_model(tmp_path / "model", learned.extractor.model)

    with pytest.raises(ValueError, match="cannot be used as 'paper'"):
        Mss().load_model(tmp_path / "model")


def test_a_self_trained_system_learns_a_new_site_from_its_pages() -> None:
    system = SelfTrainedMss(iterations=3)
    system.fit(examples(4))
    pages = [news_page(number, site="two") for number in range(6)]

    rows = system.locate_site([page.html for page in pages])
    texts = system.extract_site([page.html for page in pages])

    assert len(rows) == 4
    assert [located.text for located in rows[-1]] == texts
    for page, text in zip(pages, texts, strict=True):
        assert page.text.removesuffix(".") in text
        assert len(text) < 1.05 * len(page.text)


def test_a_self_trained_system_begins_as_the_supervised_one() -> None:
    supervised, trained = Mss(), SelfTrainedMss(iterations=0)
    supervised.fit(examples(3))
    trained.fit(examples(3))
    pages = [news_page(number, site="two").html for number in range(3)]

    assert trained.extract_site(pages) == [supervised.extract(page) for page in pages]
    assert SelfTrainedMss().options.iterations == ITERATIONS == 10
