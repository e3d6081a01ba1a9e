"""A rule that says where the article is: what the model reads there, and what is learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scrapy_mss.article import ModelState, ReadOptions, read_article
from scrapy_mss.blocks.explanation import Decision
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.wire import PageAnswer, PageRequest
from scrapy_mss.extractor import Extraction, Extractor
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.wrappers import Labelling, Reason, Wrapper, css, label
from scrapy_mss.wrappers.reading import checked, explained, read_at, read_by
from scrapy_mss.wrappers.rules import SamplePage
from tests.helpers.suggested_sites import article, text_of

EXTRACTOR = Extractor()
URL = article(1).url
HTML = article(1).html
BOX = '<div class="walks"><ul><li><a href="/1">Ten walks</a></li></ul></div>'
AROUND = Wrapper(
    site="news.example", around=(css(".story-text"),), title=(css("h1"),), authors=(css(".gone"),)
)


def read(rule: Wrapper, html: str = HTML) -> Labelling:
    return read_by(rule, Page.of(html), EXTRACTOR)


def test_the_article_is_what_the_model_keeps_at_the_place() -> None:
    found = read(AROUND, HTML.replace("</p><p>", f"</p>{BOX}<p>", 1))

    assert found.reason is None
    assert found.text == text_of(1)
    assert found.title.endswith("report 1")
    assert found.missed == ("authors",)


def test_a_rule_with_body_is_read_without_the_model() -> None:
    body = replace(AROUND, body=AROUND.around, around=())
    found, expected = read(body), label(body, HTML)

    assert found.text == expected.text
    assert found.hits == expected.hits


def test_the_reading_of_an_article_alone_is_the_models() -> None:
    everywhere = Wrapper(site="news.example", around=(css("body"),))

    assert read(everywhere).text == EXTRACTOR.extract(HTML).text


@pytest.mark.parametrize("html", ["", "<p>", "<p>word", "<div class=story-text></div>", "a" * 9])
def test_a_page_without_the_place_has_no_text(html: str) -> None:
    found = read(AROUND, html)

    assert found.reason is not None
    assert not found.text


WORK = PageWork(EXTRACTOR.model, ReadOptions())
BESIDE = replace(AROUND, around=(css("nav, footer"),), exclude=(css(".story-text"),))


def answered(rule: Wrapper, html: str = HTML, url: str = URL, **asked: object) -> PageAnswer:
    """What a worker answers."""
    return WORK.answer(PageRequest(html, url, rule, **asked))  # type: ignore[arg-type]


def reason_of(answer: PageAnswer) -> Reason | None:
    """That of the labels."""
    assert answer.labels is not None
    return answer.labels.reason


def test_a_crawl_reads_the_same() -> None:
    answer = answered(AROUND)

    assert answer.article is not None
    item = answer.article.article
    assert item is not None
    assert (item.text, item.extractor) == (read(AROUND).text, "wrapper:news.example")
    assert str(item.title).endswith("report 1")
    assert (item.probability, answer.article.source) == (1.0, "wrapper")
    assert item.confidence is not None
    assert answer.labels is not None
    assert answer.labels.reason is None
    assert answer.labels.field_hits == {"title": True, "authors": False}


def test_no_words_are_learned_and_of_the_site_as_much_as_without_a_rule() -> None:
    site, alone = (SiteContext(SiteMemory(), 29_000_000, URL) for _ in range(2))
    EXTRACTOR.extract_page(Page.of(HTML, url=URL), alone)

    answer = answered(AROUND, example=True, site=site)

    assert answer.example is Rejection.READ_BY_MODEL
    assert answer.update is not None
    assert answer.update.place == alone.update.place
    assert answer.update.added.pages == alone.update.added.pages == 1
    assert not answer.update.added.containers.rows[:, 2].any()  # no labels


def test_without_an_article_asked_for_the_model_is_not() -> None:
    answer = answered(AROUND, example=True, article=False)

    assert answer.article is None
    assert reason_of(answer) is None


def test_a_page_that_a_rule_is_not_for_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes of it is what the model makes of the page alone."""
    alone = read_article(HTML, URL, ModelState.of(EXTRACTOR.model))
    pages: list[Page] = []
    extract = Extractor.extract_page

    def counted(extractor: Extractor, page: Page, site: SiteContext | None = None) -> Extraction:
        pages.append(page)
        return extract(extractor, page, site)

    monkeypatch.setattr(Extractor, "extract_page", counted)
    answer = answered(BESIDE, article=True)

    assert reason_of(answer) is Reason.NOT_READ
    assert answer.article is not None
    assert len(pages) == 1
    assert replace(answer.article, seconds=0) == replace(alone, seconds=0)
    trusted = answered(replace(BESIDE, drop_misses=True)).article
    assert trusted is not None
    assert trusted.reason == "wrapper_miss"


@pytest.mark.parametrize(
    ("share", "probability", "is_read"),
    [(0.09, 1.0, False), (0.11, 1.0, True), (1.0, 0.04, False), (1.0, 0.06, True)],
)
def test_where_the_model_finds_too_little_or_surely_no_article_the_rule_is_for_no_page(
    share: float, probability: float, *, is_read: bool
) -> None:
    page = Page.of(HTML)
    extraction = replace(EXTRACTOR.extract_page(page), probability=probability)
    kept = np.flatnonzero(extraction.kept & page.tokens.is_word)
    inside = np.zeros(len(page.tokens), np.bool_)
    inside[kept[: round(share * len(kept))]] = True
    place = Labelling(AROUND, page.tokens, inside, np.zeros_like(inside))

    assert (read_at(place, page, extraction).reason is None) is is_read


def test_an_explanation_names_the_rule_for_what_it_leaves_out() -> None:
    explanation = EXTRACTOR.explain(HTML, URL)
    first = text_of(1).split("\n")[0]
    lead = replace(AROUND, exclude=(css(".story-text > p:first-child"),))

    found = explained(explanation, lead)

    assert found.extraction.text == read(lead).text
    changed = [
        found.text_of(block)
        for before, block in zip(explanation.blocks, found.blocks, strict=True)
        if before.decision is not block.decision
    ]
    assert changed == [first]
    assert [block.decision for block in found.blocks].count(Decision.LEFT_OUT) == 1
    assert explained(explanation, replace(AROUND, around=(css(".gone"),))) is explanation


def test_what_is_excluded_is_no_reason_to_take_the_place_for_another_one() -> None:
    """Nearly all that the model keeps is excluded, and what is left is at the place."""
    paragraphs = HTML.count("<p>")
    html = HTML.replace("<p>", '<p class="part">', paragraphs - 1)
    rule = replace(AROUND, exclude=(css("p.part"),))

    found = read(rule, html)

    assert found.reason is None
    assert found.text in text_of(1)


TOPICS = "".join(f"<li><a href=/{n}>Topic {n}</a></li>" for n in range(10))
SHORT = f"<div><p>The ferry sails again from the harbour to the island.</p></div><ul>{TOPICS}</ul>"
LIST_URL = "https://news.example/category/news/"


def test_a_check_reads_a_page_as_a_crawl_does_by_its_address() -> None:
    """At the address of a list, and laid out as one, the model gives it a probability near 0."""
    rule = Wrapper(site="news.example", around=(css("div"),), tests=(SamplePage(LIST_URL),))

    (outcome,) = checked([rule], LIST_URL, SHORT, EXTRACTOR)

    assert outcome.status == Reason.NOT_READ.value
    assert reason_of(answered(rule, SHORT, LIST_URL)) is Reason.NOT_READ
    # A further page may be as short as no article is.
    assert reason_of(answered(rule, SHORT, LIST_URL, further=True)) is None
