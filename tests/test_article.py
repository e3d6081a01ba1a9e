"""Reading a page for a crawl, for a worker and for a command is one function."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.benchmarks.soak_server import story
from scrapy_mss import Extractor
from scrapy_mss.article import OTHER_KIND, ModelState, ReadOptions, article_of_labels, read_article
from scrapy_mss.items import SOURCES, Article
from scrapy_mss.models.files import bundled_model
from scrapy_mss.wrappers import Wrapper, css, label
from tests.page_cases import PageCase, read_cases

READ = ReadOptions()
KINDS = [case for case in read_cases() if case.kind == "teaser"]
MODEL = ModelState.of(bundled_model())


def by_model(html: str, url: str, options: ReadOptions = READ) -> Article:
    article = read_article(html, url, MODEL, options).article
    assert article is not None
    return article


def by_rule(rule: Wrapper, html: str, url: str = "", options: ReadOptions = READ) -> Article:
    article = article_of_labels(label(rule, html), url, options).article
    assert article is not None
    return article


@pytest.mark.parametrize("case", read_cases()[:8], ids=lambda case: case.name)
def test_a_page_is_read_with_its_address(case: PageCase) -> None:
    for url in ("https://news.example/", "https://news.example/2026/03/05/rain-falls-in-may.html"):
        extraction = Extractor().extract(case.source, url)
        result = read_article(case.source, url, MODEL)

        found = result.article.probability if result.article else None
        assert found == (round(extraction.probability, 4) if extraction.is_article else None)


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.name)
def test_a_page_of_another_kind_is_read_if_it_is_asked_for(case: PageCase) -> None:
    url = case.url or ""

    dropped = read_article(case.source, url, MODEL)
    found = by_model(case.source, url, ReadOptions(kinds=(case.kind,)))

    assert (dropped.article, dropped.kind, dropped.reason) == (None, case.kind, OTHER_KIND)
    assert (found.kind, found.is_complete) == (case.kind, False)
    assert found.text


LONG_NUMBER = f"&#{'9' * 5000};"  # of more digits than Python reads
ESCAPED = f"{{&quot;a&quot;: &quot;{LONG_NUMBER}&quot;}}"


@pytest.mark.parametrize(
    ("place", "instead"),
    [
        ("</p>", f' <a href="/x{LONG_NUMBER}" title="{LONG_NUMBER}">link</a></p>'),
        ("</p>", f'</p><img src="/rain{LONG_NUMBER}.jpg" alt="{LONG_NUMBER}">'),
        (
            "</title>",
            f'</title><meta property="og:title" content="&amp;#39;&amp;{LONG_NUMBER[1:]}">',
        ),
        ("</title>", f"</title><script type=application/ld+json>{ESCAPED}</script>"),
    ],
    ids=["link", "picture", "meta", "json-ld"],
)
def test_a_reference_to_a_number_of_any_length_costs_nothing_of_an_article(
    place: str, instead: str, caplog: pytest.LogCaptureFixture
) -> None:
    page, hostile = story(1), story(1).replace(place, instead, 3)

    plain, found = (by_model(each, "https://news.example/1") for each in (page, hostile))

    assert hostile != page
    assert found.html
    assert (found.published, found.authors) == (plain.published, plain.authors)
    assert not caplog.records


def test_the_date_of_a_rule_takes_precedence_over_that_of_the_metadata() -> None:
    page = (
        "<html lang=fr><meta property='article:published_time' content='2024-03-09'>"
        "<time>05/03/2024</time><p>Il a plu toute la journée.</p>"
    )
    rule = Wrapper(site="a.example", body=(css("p"),), published=(css("time"),))

    assert by_rule(rule, page, "https://a.example/pluie").published == "2024-03-05"


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("By Ann Lee and Bo Ek, 5 March 2024", ["Ann Lee", "Bo Ek"]),
        ("Ann Lee", ["Ann Lee"]),
        ("Editorial team", ["Editorial team"]),  # whoever selects it wants it
    ],
)
def test_a_rule_may_select_the_whole_byline(byline: str, names: list[str]) -> None:
    rule = Wrapper(site="a.example", body=(css("p"),), authors=(css("i"), css("b")))

    assert by_rule(rule, f"<i>{byline}</i><p>It rained.").authors == names


def test_an_item_names_the_sources_of_its_fields_where_it_is_asked_to() -> None:
    html = story(1).replace(
        "</head>",
        "<meta name=author content='Ann Lee'><meta name=robots content=noai>"
        "<script type=application/ld+json>"
        '{"@type": "NewsArticle", "datePublished": "2024-03-05"}</script></head>',
    )
    url, named = "https://a.example/rain", ReadOptions(("sources", "reservations"))
    rule = Wrapper(site="a.example", body=(css("body"),), title=(css("h1"),))

    read, labelled = by_model(html, url, named), by_rule(rule, html, url, named)

    assert replace(read, sources={}, reservations=[]) == by_model(html, url)
    assert read.reservations == [{"place": "meta", "name": "robots", "value": "noai"}]
    assert set(read.sources.values()) <= set(SOURCES)
    expected = {"text": "page", "title": "page", "authors": "meta", "published": "json-ld"}
    assert {name: read.sources.get(name) for name in expected} == expected
    assert labelled.sources == read.sources | {"text": "wrapper", "title": "wrapper"}
