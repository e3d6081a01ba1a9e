from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.selection import select
from scrapy_mss.core.cleaning import is_article, keep, trimmed
from scrapy_mss.core.naive_bayes import MAX_TOTAL
from scrapy_mss.core.subsequence import EMPTY, best_span
from scrapy_mss.markup.rendering import render, well_formed
from scrapy_mss.markup.stemming import porter, porter_nltk
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import CLEANEVAL, DEFAULT, PAPER, PAPER_HR, TRIGRAM, Profile
from scrapy_mss.output.sanitizing import sanitized
from tests.helpers.classifiers import counts_of, random_classifier
from tests.helpers.compiled import both
from tests.helpers.effort import examples
from tests.helpers.extractions import WholePage, assert_sound
from tests.helpers.layouts import LAYOUTS
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP
from tests.helpers.news_pages import NewsPage, news_page

SHORT = news_page(7, paragraphs=2)
ANY_PAGE = st.one_of(SOUP, TAG_SOUP, NESTED)


def learn(extractor: Extractor, page: NewsPage) -> None:
    extractor.model.bayes.learn(Page.of(page.html, extractor.profile.stem), page.inside)


def trained(profile: Profile = PAPER, pages: int = 4) -> Extractor:
    extractor = Extractor.of(Model(profile))
    for number in range(pages):
        learn(extractor, news_page(number))
    return extractor


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return trained()


@cache
def random_blocks(seed: int = 0) -> Extractor:
    """An extractor by blocks whose choices mean nothing."""
    return Extractor.of(Model(DEFAULT, random_classifier(seed), counts_of(range(2))))


RANDOM_BLOCKS = st.integers(0, 7).map(random_blocks)


@pytest.fixture(scope="module")
def page() -> NewsPage:
    """A page that was not learned."""
    return news_page(99)


@pytest.mark.parametrize(
    "profile", [PAPER, PAPER_HR, TRIGRAM, CLEANEVAL], ids=lambda profile: profile.name
)
def test_an_extractor_that_learned_a_site_finds_the_text_of_another_page(
    profile: Profile, page: NewsPage
) -> None:
    extraction = trained(profile).extract(page.html)

    assert page.text in extraction.text
    assert len(extraction.text) < 1.3 * len(page.text)
    assert extraction.is_article
    assert extraction.probability > 0.5


def test_extraction_learns_nothing(extractor: Extractor, page: NewsPage) -> None:
    before = to_bytes(extractor.model)

    extractor.extract(page.html)

    assert to_bytes(extractor.model) == before


def test_pages_are_tokenized_with_the_stemmer_of_the_profile(extractor: Extractor) -> None:
    """With the compiled part and without it."""
    source = "<p>trekked</p>"  # one of the few words of which the stemmers differ
    extractors = extractor, random_blocks()

    for of_paper, of_default in both(lambda: [ids_of(each, source) for each in extractors]):
        assert of_paper == tokenize(source, porter_nltk).token_id.tolist()
        assert of_default == tokenize(source, porter).token_id.tolist()
        assert of_paper != of_default


def ids_of(extractor: Extractor, source: str) -> list[int]:
    ids: list[int] = extractor.extract(source).tokens.token_id.tolist()
    return ids


@pytest.mark.parametrize("source", ["", "one", "<p>one two</p>"])
def test_counts_that_need_a_classifier_cannot_extract_alone(source: str) -> None:
    with pytest.raises(ValueError, match=r"'default'.*counts alone.*Extractor\(model=path\)"):
        Extractor.of(Model(DEFAULT)).extract(source)


@given(ANY_PAGE)
def test_an_untrained_profile_of_the_paper_is_simple_mss(source: str) -> None:
    tokens = tokenize(source)
    scores = np.where(tokens.is_tag, -3.25, 1.0)
    span = trimmed(tokens, best_span(scores))
    kept = keep(tokens, span, PAPER.rules)

    extraction = Extractor(profile="paper").extract(source)

    assert extraction.span == span
    assert extraction.text == render(tokens, kept)
    assert extraction.html == sanitized(tokens, kept)
    assert extraction.raw_html == well_formed(tokens, kept)
    assert extraction.scores.tolist() == scores.tolist()


@pytest.mark.parametrize("source", ["", " ", "<p></p>", "<!-- one -->", "<img>"])
def test_a_page_without_text_gives_an_empty_extraction(extractor: Extractor, source: str) -> None:
    for one in (extractor, random_blocks(), Extractor(), Extractor(profile="paper")):
        extraction = one.extract(source)

        assert (extraction.text, extraction.html, extraction.span) == ("", "", EMPTY)
        assert (extraction.probability, extraction.is_article) == (0.0, False)


@given(ANY_PAGE)
def test_an_extraction_by_tokens_is_of_its_page(source: str) -> None:
    extraction = WholePage(profile="paper").extract(source)

    assert_sound(extraction, source)
    assert extraction.is_article == is_article(extraction.text)
    assert extraction.confidence is None  # without a classifier


@given(ANY_PAGE, RANDOM_BLOCKS)
def test_an_extraction_by_blocks_is_of_its_page(source: str, blocks: Extractor) -> None:
    extraction = blocks.extract(source)

    assert_sound(extraction, source)
    assert extraction.probability >= 0.5 or not extraction.is_article  # a sign may say no
    assert extraction.text or not extraction.probability
    assert extraction.confidence is not None
    assert 0 <= extraction.confidence <= 1
    assert extraction.text or not extraction.confidence


def test_an_extraction_can_be_sent_to_another_process(page: NewsPage) -> None:
    blocks = random_blocks()
    extraction = blocks.extract(page.html)

    sent = pickle.loads(pickle.dumps(extraction))  # noqa: S301 - our own

    assert (sent.text, sent.html) == (extraction.text, extraction.html)
    assert sent.scores.tolist() == extraction.scores.tolist()
    assert blocks.extract_page(sent.page).text == extraction.text


@given(LAYOUTS, RANDOM_BLOCKS)
@examples(2)
def test_the_words_of_the_selected_blocks_are_kept(source: str, blocks: Extractor) -> None:
    page, model = Page.of(source), blocks.model
    assert model.classifier is not None
    inputs = model.classifier.inputs(page, model.bayes)
    selected = select(page, model.classifier.networks.probabilities(page, inputs)).kept

    kept = blocks.extract_page(page).kept

    words = page.tokens.is_word
    assert (kept & words).tolist() == (page.blocks.spread(selected) & words).tolist()


def test_an_unknown_address_may_be_none(page: NewsPage) -> None:
    found = Extractor().extract(page.html, None)

    assert (found.url, found.text) == ("", Extractor().extract(page.html).text)


def test_the_address_counts_for_whether_a_page_is_an_article(page: NewsPage) -> None:
    """It tells nothing of where the text is."""
    extractor = Extractor()
    front, story = "https://news.example/", "https://news.example/2024/05/06/the-ferry-sails-again"

    of_front, of_story = extractor.extract(page.html, front), extractor.extract(page.html, story)

    assert of_front.probability < of_story.probability
    assert (of_front.text, of_front.confidence) == (of_story.text, of_story.confidence)
    assert of_front.url == front


def test_the_bias_of_the_profile_is_added_to_the_scores_of_blocks(page: NewsPage) -> None:
    plain = random_blocks()
    biased = Extractor.of(plain.model, profile=replace(DEFAULT, bias=0.1))

    before, after = (one.extract(page.html) for one in (plain, biased))

    in_blocks = Page(before.tokens).blocks.of_token >= 0
    expected = before.scores + 0.1 * (in_blocks & ~before.tokens.is_tag)
    assert after.scores.tolist() == pytest.approx(expected.tolist())


def test_the_rules_of_the_profile_clean_the_span(page: NewsPage) -> None:
    box = '<div class="box"><a href="/x">Read more words</a></div>'
    source = page.html.replace("</p>\n<p>", f"</p>\n{box}<p>", 1)
    cleaned, uncleaned = trained(PAPER), trained(replace(PAPER, rules=()))

    assert cleaned.extract(source).text == page.text
    assert "Read more words" in uncleaned.extract(source).text


def test_a_page_is_learned_by_its_text() -> None:
    extractor, by_labels = Extractor(profile="paper"), Model(PAPER)

    assert extractor.learn(SHORT.html, SHORT.text) is None

    inside = SHORT.inside
    inside[np.flatnonzero(inside)[-1]] = False  # the full stop, which is no word of the text
    by_labels.bayes.learn(Page.of(SHORT.html, PAPER.stem), inside)
    assert extractor.model.identifier == by_labels.identifier


@pytest.mark.parametrize(
    ("text", "expected"), [(" . ", "empty"), (news_page(1).text, "not_found"), (SHORT.text, None)]
)
def test_a_text_that_is_not_of_the_page_is_not_learned(text: str, expected: str | None) -> None:
    extractor = Extractor(profile="paper")

    assert extractor.learn(SHORT.html, text) == expected

    assert extractor.model.bayes.pages == (expected is None)


def test_a_page_is_learned_once_for_each_address_and_text(tmp_path: Path) -> None:
    extractor = Extractor()

    assert extractor.learn(SHORT.html.encode(), SHORT.text, "https://a.example/1") is None
    extractor.save(tmp_path / "model")
    again = Extractor(tmp_path / "model")

    assert again.learn(SHORT.html, SHORT.text, "https://a.example/1#top") == "already_learned"
    assert again.learn(SHORT.html, SHORT.text, "https://a.example/2") is None
    assert again.learn(SHORT.html, SHORT.text[:-20], "https://a.example/1") is None
    assert again.model.learned.bayes.pages == 3


def test_a_full_model_learns_no_more() -> None:
    extractor = Extractor(profile="paper")
    extractor.model.bayes.pages = MAX_TOTAL

    assert extractor.learn(SHORT.html, SHORT.text) == "model_full"


def test_a_model_of_other_features_is_rejected_by_both_names() -> None:
    with pytest.raises(ValueError, match=r"'trigram'.*cannot be used as 'paper'.*unclosed_tag"):
        Extractor.of(Model(TRIGRAM), profile=PAPER)


def test_a_model_can_be_used_by_any_profile_of_its_features(page: NewsPage) -> None:
    """Here by one with a boundary, which ends the article."""
    model = trained(PAPER).model
    source = page.html.replace("</p>\n<p>", "</p>\n<hr><p>", 1)

    assert Extractor.of(model).extract(source).text == page.text
    bounded = Extractor.of(model, profile=PAPER_HR)
    assert bounded.extract(source).text == page.text.split("\n\n")[0]


def test_a_model_and_a_profile_are_rejected_as_are_unknown_profiles() -> None:
    with pytest.raises(ValueError, match="a model or a profile"):
        Extractor("news.model", profile="paper")
    with pytest.raises(ValueError, match=r"one of paper, .*default; got 'papers'"):
        Extractor(profile="papers")


def test_an_explained_block_has_the_text_that_readers_see() -> None:
    explanation = Extractor().explain("<p>AT&amp;T said <b>so</b>.</p><p>It &lt;rains&gt;")

    shown = [explanation.text_of(block) for block in explanation.blocks]

    assert shown == ["AT&T said so.", "It <rains>"]
