from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy_mss.core.constraints import cut

from scrapy_mss.blocks.page_features import is_article
from scrapy_mss.core.cleaning import keep, trimmed, well_formed
from scrapy_mss.core.labels import Rejection, span_labels
from scrapy_mss.core.subsequence import EMPTY, best_span
from scrapy_mss.extractor import Extraction, Extractor
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.format import Model, from_bytes, to_bytes
from scrapy_mss.models.profiles import (
    CLEANEVAL,
    PAPER,
    PAPER_HR,
    PROFILES,
    TRIGRAM,
    Profile,
)
from tests.core.oracle_bayes import DictionaryBayes
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP
from tests.helpers.news_pages import NewsPage, news_page


def trained(profile: Profile = PAPER, pages: int = 4) -> Extractor:
    extractor = Extractor.untrained(profile)
    for number in range(pages):
        page = news_page(number)
        assert extractor.learn(page.tokens, page.inside) is None
    return extractor


def same(one: Extraction, other: Extraction) -> bool:
    return (one.text, one.span, one.probability, one.is_article, one.html) == (
        other.text,
        other.span,
        other.probability,
        other.is_article,
        other.html,
    ) and np.array_equal(one.scores, other.scores)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return trained()


@pytest.fixture(scope="module")
def page() -> NewsPage:
    """A page that was not learned."""
    return news_page(99)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_an_extractor_that_learned_a_site_finds_the_text_of_another_page(
    profile: Profile, page: NewsPage
) -> None:
    found = trained(profile).extract(page.html)

    assert page.text in found.text
    assert len(found.text) < 1.3 * len(page.text)
    assert found.is_article
    assert found.probability > 0.5


def test_text_html_and_offsets_are_of_one_span(extractor: Extractor, page: NewsPage) -> None:
    found = extractor.extract(page.html)

    start, end = found.offsets
    assert found.tokens.source == page.html
    assert page.html[start:end] == found.tokens.html(found.span.start, found.span.end)
    assert found.text.startswith(page.html[start : start + 10])
    assert page.html[start:end] in found.html
    assert found.kept.sum() == found.span.end - found.span.start


def test_the_same_page_and_counts_give_the_same_extraction(page: NewsPage) -> None:
    assert same(trained().extract(page.html), trained().extract(page.html))


def test_a_stored_model_gives_the_same_extraction(extractor: Extractor, page: NewsPage) -> None:
    assert extractor.model is not None

    restored = Extractor(from_bytes(to_bytes(extractor.model)))

    assert same(restored.extract(page.html), extractor.extract(page.html))


def test_extraction_learns_nothing(extractor: Extractor, page: NewsPage) -> None:
    assert extractor.model is not None
    before = to_bytes(extractor.model)

    extractor.extract(page.html)

    assert to_bytes(extractor.model) == before


def test_more_pages_change_the_scores() -> None:
    extractor, page = trained(pages=1), news_page(99)
    before = extractor.extract(page.html)

    assert extractor.learn(page.tokens, page.inside) is None

    assert not np.array_equal(extractor.extract(page.html).scores, before.scores)


@pytest.mark.parametrize("profile", [PAPER, CLEANEVAL], ids=lambda profile: profile.name)
def test_scores_are_probabilities_less_one_half_and_the_bias(profile: Profile) -> None:
    extractor, oracle = trained(profile), DictionaryBayes(profile.families)
    for number in range(4):
        learned = news_page(number)
        oracle.learn(learned.tokens, learned.inside)
    tokens = news_page(99).tokens

    scores = extractor.scores(tokens)

    probability = oracle.probability(tokens, neighbours=profile.neighbours)
    expected = np.array(probability) - 0.5 + profile.bias
    # Of some 10,000 trigrams a few may share a bucket with another one.
    assert np.mean(np.abs(scores - expected) < 1e-9) > 0.99


@given(source=st.one_of(SOUP, TAG_SOUP))
def test_without_a_model_it_is_simple_mss(source: str) -> None:
    tokens = tokenize(source)
    scores = np.where(tokens.is_tag, -3.25, 1.0)
    span = trimmed(tokens, best_span(scores))
    kept = keep(tokens, span, PAPER.rules)

    found = Extractor().extract(source)

    assert found.span == span
    assert found.text == render(tokens, kept)
    assert found.html == well_formed(tokens, kept)
    assert found.scores.tolist() == scores.tolist()


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [(-3.25, "one two three"), (-2.0, "one two three\n\nfour five six"), (-100.0, "one two three")],
)
def test_the_penalty_decides_how_far_simple_mss_reaches(penalty: float, expected: str) -> None:
    source = "<ul><li>x</ul><p>one two three<p>four five six</p><ul><li>y</ul>"

    # The second paragraph gains three and costs one tag.
    assert Extractor(tag_penalty=penalty).extract(source).text == expected


@pytest.mark.parametrize("source", ["", " ", "<p></p>", "<!-- one -->", "<p>one</p>" * 0])
def test_a_page_without_text_gives_an_empty_extraction(extractor: Extractor, source: str) -> None:
    for one in (extractor, Extractor(), Extractor.untrained()):
        found = one.extract(source)

        assert (found.text, found.html, found.span) == ("", "", EMPTY)
        assert found.offsets == (0, 0)
        assert (found.probability, found.is_article) == (0.0, False)


def test_a_model_that_learned_nothing_finds_nothing(page: NewsPage) -> None:
    assert Extractor.untrained().extract(page.html).span == EMPTY


@given(source=st.one_of(SOUP, TAG_SOUP, NESTED))
def test_an_extraction_is_of_its_page(source: str) -> None:
    found = Extractor(tag_penalty=-0.5).extract(source)

    start, end = found.offsets
    assert 0 <= start <= end <= len(source)
    assert len(found.kept) == len(found.scores) == len(found.tokens)
    assert not found.kept[: found.span.start].any()
    assert not found.kept[found.span.end :].any()
    assert found.text == render(found.tokens, found.kept)
    assert found.is_article == is_article(found.text)
    assert 0 <= found.probability <= 1


def test_a_span_begins_and_ends_with_text(extractor: Extractor, page: NewsPage) -> None:
    found = extractor.extract(page.html)

    assert not found.tokens.is_tag[[found.span.start, found.span.end - 1]].any()


def test_the_rule_of_the_profile_cuts_the_span() -> None:
    page = news_page(99)
    source = page.html.replace("</p>\n<p>", "</p>\n<hr><p>", 1)
    plain, barred = trained(PAPER), trained(PAPER_HR)
    tokens = tokenize(source)
    scores = plain.scores(tokens)

    found = barred.extract(source)

    expected = cut(best_span(scores), tokens, scores, PAPER_HR.boundaries)
    assert found.span[:2] == trimmed(tokens, expected)[:2]
    assert found.text == page.text.split("\n\n")[0]
    assert plain.extract(source).text == page.text


def test_the_profile_s_rules_clean_the_span() -> None:
    page = news_page(99)
    box = '<div class="box"><a href="/x">Read more words</a></div>'
    source = page.html.replace("</p>\n<p>", f"</p>\n{box}<p>", 1)
    cleaned, uncleaned = trained(PAPER), trained(replace(PAPER, rules=()))

    assert cleaned.extract(source).text == page.text
    assert "Read more words" in uncleaned.extract(source).text


@pytest.mark.parametrize(
    ("words", "tags", "expected"),
    [
        (50, 0, None),
        (49, 0, Rejection.TOO_FEW_WORDS),
        (80, 20, None),
        (80, 21, Rejection.TOO_MANY_TAGS),
        (0, 0, Rejection.EMPTY),
    ],
)
def test_examples_that_look_wrongly_labelled_are_refused(
    words: int, tags: int, expected: Rejection | None
) -> None:
    extractor = Extractor.untrained()
    tokens = tokenize("<p>" * tags + "one " * words + "<ul>" + "<li>menu" * 9)
    inside = span_labels(len(tokens), 0, words + tags)

    rejection = extractor.learn(tokens, inside)

    assert extractor.model is not None
    assert rejection is expected
    assert extractor.model.bayes.pages == (expected is None)
    assert extractor.model.bayes.tokens.sum() == len(tokens) * (expected is None)


def test_golds_that_people_wrote_are_learned_unchecked() -> None:
    extractor = Extractor.untrained()
    tokens = tokenize("<p>one</p>")

    assert extractor.learn(tokens, span_labels(3, 1, 2), checked=False) is None

    assert extractor.model is not None
    assert extractor.model.bayes.tokens.tolist() == [2, 1]


def test_learning_without_a_model_says_what_to_use() -> None:
    tokens = tokenize("<p>one</p>")

    with pytest.raises(ValueError, match=r"Extractor\.untrained\(\)"):
        Extractor().learn(tokens, span_labels(3, 1, 2))


def test_a_model_of_other_features_is_refused_by_both_names() -> None:
    with pytest.raises(ValueError, match=r"'trigram'.*cannot be used as 'paper'.*unclosed_tag"):
        Extractor(Model(TRIGRAM), profile=PAPER)


def test_a_model_serves_any_profile_of_its_features(page: NewsPage) -> None:
    model = trained(PAPER).model
    source = page.html.replace("</p>\n<p>", "</p>\n<hr><p>", 1)

    assert model is not None
    assert Extractor(model).profile is PAPER
    assert Extractor(model, profile=PAPER_HR).extract(source).text == page.text.split("\n\n")[0]
