"""Rules that are found without a label: what they select, whom they refuse, and that they load."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.suggest import NoRuleError, Suggestion, suggest
from scrapy_mss.suggest.readings import NO_ARTICLE, agreements, read_pages
from scrapy_mss.wrappers import Labelling, Wrapper, css
from scrapy_mss.wrappers.reading import read_by
from tests.helpers.suggested_sites import article, front_page, text_of

N_PAGES = 5


@pytest.fixture(scope="module")
def suggestion(extractor: Extractor) -> Suggestion:
    return suggest([article(number) for number in range(N_PAGES)], extractor)


def by_rule(rule: Wrapper, html: str, extractor: Extractor) -> Labelling:
    return read_by(rule, Page.of(html), extractor)


def test_the_rule_gives_the_text_of_pages_that_it_has_not_seen(
    suggestion: Suggestion, extractor: Extractor
) -> None:
    for number in range(100, 110):
        found = by_rule(suggestion.rule, article(number).html, extractor)

        assert found.text == text_of(number)
        assert found.title.endswith(f"report {number}")
        assert found.authors == ("Ann Miller",)
        assert found.published.startswith(f"2024-03-{number % 28 + 1:02}")


def test_a_box_that_no_page_had_is_left_to_the_model(
    suggestion: Suggestion, extractor: Extractor
) -> None:
    box = '<div class="teaser-box"><p><a href="/walks">Ten walks for the weekend</a></p></div>'
    page = article(100).html.replace("</p><p>", f"</p>{box}<p>", 1)

    assert box in page
    assert by_rule(suggestion.rule, page, extractor).text == text_of(100)


def test_the_rule_names_what_the_site_names_and_nothing_of_one_page(suggestion: Suggestion) -> None:
    assert suggestion.rule.site == "news.example"
    assert "story-text" in suggestion.yaml
    for generated in ("css-", "post-", "page-", "nth-of-type"):
        assert generated not in suggestion.yaml
    assert [test.url for test in suggestion.rule.tests] == [article(n).url for n in range(N_PAGES)]


def test_the_rule_in_the_docs_is_the_one_that_is_suggested(suggestion: Suggestion) -> None:
    docs = Path(__file__).resolve().parents[2] / "docs" / "suggest.md"

    assert f"```yaml\n{suggestion.yaml}```\n" in docs.read_text("utf-8")


def test_pages_that_are_no_articles_have_no_vote(
    suggestion: Suggestion, extractor: Extractor
) -> None:
    odd = [front_page(), StoredPage("https://news.example/empty", "")]

    found = suggest([*odd, *(article(number) for number in range(N_PAGES))], extractor)

    assert found.rule.around == suggestion.rule.around
    assert dict(found.left_out) == {odd[0].url: NO_ARTICLE, odd[1].url: "empty page"}
    assert [(page.matched, page.agreement) for page in found.pages[:2]] == [(False, 1.0)] * 2


def test_pages_of_another_site_have_no_vote(extractor: Extractor) -> None:
    other = article(9, host="paper.example")

    found = suggest([other, article(1), article(2)], extractor)

    assert found.rule.site == "news.example"
    assert [url for url, _ in found.left_out] == [other.url]


def test_one_page_is_enough_for_a_rule_of_less_confidence(
    suggestion: Suggestion, extractor: Extractor
) -> None:
    found = suggest([article(1)], extractor)

    assert by_rule(found.rule, article(100).html, extractor).text == text_of(100)
    assert found.confidence < suggestion.confidence <= 1


def test_pages_without_an_article_get_no_rule(extractor: Extractor) -> None:
    with pytest.raises(NoRuleError, match="no rule, as none of 1 pages is of use: 1 no article"):
        suggest([front_page()], extractor)


def test_pages_without_an_address_get_no_rule(extractor: Extractor) -> None:
    with pytest.raises(NoRuleError, match="no page has an address"):
        suggest([StoredPage("", article(1).html)], extractor)


def test_any_rule_is_compared_with_the_model(suggestion: Suggestion, extractor: Extractor) -> None:
    pages = read_pages([article(number) for number in range(N_PAGES)], extractor)
    wide = Wrapper(site="news.example", body=(css("div.column"),))
    none = Wrapper(site="news.example", body=(css(".absent"),))

    assert agreements(suggestion.rule, pages) == suggestion.pages
    assert all(0.5 < page.agreement < 1 for page in agreements(wide, pages))
    assert [page.matched for page in agreements(none, pages)] == [False] * N_PAGES
