"""Explanations, and the page that shows them."""

from __future__ import annotations

import re

import pytest
from lxml import html as lxml_html

from scrapy_mss import Extractor, metadata
from scrapy_mss.blocks.explanation import Decision
from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Explanation
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.workbench.drawing import MARK, drawn_page, marked_source, why_page
from tests.helpers.layouts import ODD
from tests.helpers.news_pages import news_page

EXTRACTOR = Extractor()
URL = "https://news.example/2026/ferry"
PAGE = news_page(3).html
COPIED = re.sub("(<p>.*</p>)", r"\1<hr><section>\1</section>", PAGE, count=1, flags=re.DOTALL)


def shown(html: str, url: str = URL) -> str:
    read = metadata.read_html(html, url)
    return why_page(EXTRACTOR.explain(html, url), read.values, read.sources)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def kept_words(explanation: Explanation) -> list[str]:
    kept = (each for each in explanation.blocks if each.decision is Decision.KEPT)
    return [word for block in kept for word in words(explanation.text_of(block))]


def test_blocks_that_are_kept_are_the_text_and_probable() -> None:
    explanation = EXTRACTOR.explain(PAGE, URL)

    assert kept_words(explanation) == words(EXTRACTOR.extract(PAGE, URL).text)
    for block in explanation.blocks:
        if block.decision is Decision.KEPT:
            assert block.probability > explanation.threshold
        if block.decision is Decision.IMPROBABLE:
            assert block.probability <= explanation.threshold
        effects = [abs(reason.effect) for reason in block.reasons]
        assert effects == sorted(effects, reverse=True)


def test_a_second_copy_is_recognized() -> None:
    decisions = {block.decision for block in EXTRACTOR.explain(COPIED, URL).blocks}

    assert {Decision.KEPT, Decision.COPY} <= decisions


def test_an_explanation_is_of_the_reading_with_what_is_known_of_the_site() -> None:
    seen = [SiteContext(SiteMemory(), 0, URL) for _ in range(12)]
    for number, context in enumerate(seen):
        EXTRACTOR.extract_page(news_page(number).page, context)
    known = SiteMemory.total([context.update.added for context in seen])

    extraction = EXTRACTOR.extract_page(Page.of(PAGE, url=URL), SiteContext(known, 0, URL))
    explanation = EXTRACTOR.explain_page(Page.of(PAGE, url=URL), SiteContext(known, 0, URL))

    assert explanation.extraction.probability == extraction.probability
    assert kept_words(explanation) == words(extraction.text)
    alone = EXTRACTOR.explain(PAGE, URL).blocks
    assert [each.probability for each in explanation.blocks] != [each.probability for each in alone]


def test_a_model_of_the_paper_cannot_explain() -> None:
    with pytest.raises(ValueError, match=r"block classifier.*profile 'paper'"):
        Extractor(profile="paper").explain(PAGE)


def test_marks_change_no_word_of_the_page() -> None:
    explanation = EXTRACTOR.explain(PAGE, URL)

    before, after = (
        lxml_html.document_fromstring(source).text_content()
        for source in (PAGE, marked_source(explanation, "x-mss-1-"))
    )

    assert after == before


def test_each_block_with_text_has_one_stop_of_the_keyboard() -> None:
    explanation = EXTRACTOR.explain(PAGE, URL)
    tree = lxml_html.document_fromstring(drawn_page(explanation))
    stops = tree.xpath(f"//span[contains(@class, '{MARK}')][@tabindex]")

    drawn = [each for each in explanation.blocks if each.decision is not Decision.TITLE]
    assert len(stops) == len(drawn)


def test_blocks_deep_in_a_page_are_marked() -> None:
    deep = re.sub("(<body[^>]*>)", r"\1" + "<div>" * 60, PAGE)

    shown = drawn_page(EXTRACTOR.explain(deep, URL))

    assert shown.count("mss-kept") >= len(re.findall("<p>", PAGE)) / 2


def test_a_page_cannot_pretend_to_be_marked() -> None:
    spoofed = PAGE.replace("<p>", '<p><span lang="x-mss-3">spoofed</span> ', 1)

    for tree in map(lxml_html.document_fromstring, [drawn_page(EXTRACTOR.explain(spoofed, URL))]):
        (span,) = tree.xpath("//span[@lang='x-mss-3']")
        assert span.get("aria-description") is None


def test_the_page_has_no_script_and_lets_nothing_be_fetched() -> None:
    tree = lxml_html.document_fromstring(shown(PAGE))

    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (frame,) = tree.xpath("//iframe")
    assert policy.startswith("default-src 'none';")
    assert "script" not in policy
    assert frame.get("sandbox") == ""
    assert not tree.xpath("//script | //link | //@*[starts-with(name(), 'on')]")
    assert "<script" not in frame.get("srcdoc")


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_are_explained(name: str) -> None:
    page = shown(ODD[name])

    assert "mss-block mss-p" not in lxml_html.document_fromstring(page).text_content()
    assert len(page) < 60 * len(ODD[name]) + 60_000
