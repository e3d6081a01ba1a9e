"""What pages and sites say on their use by machines, and crawls that leave reserved pages out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from scrapy_mss import metadata
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.crawl.pages import FED, LISTED_TEXT, PROXY_LOGIN
from scrapy_mss.crawl.reservations import Reservations
from scrapy_mss.pages.reservations import (
    AI_CRAWLERS,
    MAX_KEPT,
    STATEMENTS,
    Reservation,
    SiteFiles,
    is_reserved,
    stated,
)
from scrapy_mss.pipelines import NoArticleError
from tests.page_cases import read_cases
from tests.plugin.crawling import Job, crawl
from tests.plugin.parts import URL, items_of, page, processed, reading_parts
from tests.plugin.site import plain
from tests.spiders.paper import Paper, printing

CASES = {case.name: case.source for case in read_cases()}
NOAI = "<meta name=robots content=noai>"
DOCS = Path(__file__).parents[2] / "docs" / "metadata.md"
ROBOTS = """
User-agent: *
Content-Signal: search=yes, ai-train=no
Disallow: /private

User-agent: GPTBot  # of two names
User-agent: CCBot
Disallow: /news/
Allow: /news/*.free$

User-agent: otherbot
Content-Signal: ai-input=no
Disallow: /
"""
TDMREP = """[
    {"location": "/news/", "tdm-reservation": 1, "tdm-policy": "https://a.example/licence"},
    {"location": "/news/open/", "tdm-reservation": 0}, {"location": 5}, 7
]"""
FILES = SiteFiles().with_robots(ROBOTS).with_tdmrep(TDMREP)
SIGNAL = ("robots.txt", "content-signal", "search=yes, ai-train=no")
FORBIDDEN = ("robots.txt", "disallow", "ccbot, gptbot")
RESERVED = ("tdmrep.json", "tdm-reservation", "1")
LICENCE = ("tdmrep.json", "tdm-policy", "https://a.example/licence")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", [SIGNAL]),
        ("/private", [SIGNAL]),
        ("/news/1", [SIGNAL, FORBIDDEN, RESERVED, LICENCE]),
        ("/news/1.free", [SIGNAL, RESERVED, LICENCE]),
        ("/news/open/1", [SIGNAL, FORBIDDEN, ("tdmrep.json", "tdm-reservation", "0")]),
    ],
)
def test_files_of_a_site_speak_of_its_pages(path: str, expected: list[tuple[str, ...]]) -> None:
    assert list(FILES.of(path)) == expected


def test_headers_name_agents_and_reservations() -> None:
    tags = ["noai, max-snippet: 5, googlebot: noindex, NOARCHIVE", "unavailable_after: 25 Jun"]

    assert stated("header", {"x-robots-tag": tags, "tdm-reservation": ["1"]}) == (
        ("header", "x-robots-tag", "noai"),
        ("header", "googlebot", "noindex, noarchive"),
        ("header", "tdm-reservation", "1"),
    )


def test_meta_of_a_page_name_agents_and_reservations() -> None:
    page = (
        "<meta name=ROBOTS content='index, NOAI, noimageai'><meta name=gptbot content=noindex>"
        "<meta name=tdm-reservation content=1><meta name=robots content=all>"
    )

    assert metadata.read_html(page).reservations == (
        ("meta", "robots", "noai, noimageai"),
        ("meta", "gptbot", "noindex"),
        ("meta", "tdm-reservation", "1"),
    )


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda each: each.text)
def test_the_table_says_what_reserves_a_page_and_the_documentation_shows_it(
    statement: tuple[str, str, bool],
) -> None:
    text, meaning, reserves = statement
    name, colon, value = text.partition(": ")
    found = Reservation("meta", name if colon else "robots", value if colon else text)
    if text == "disallow":
        found = Reservation(*FORBIDDEN)

    assert is_reserved([found]) == reserves
    row = f"| `{text}` | {meaning} | {'yes' if reserves else 'no'} |"
    assert row in DOCS.read_text("utf-8")


PATHS = st.text("ab/$*.", max_size=12)


@given(PATHS, PATHS)
def test_patterns_match_as_in_robots_txt(pattern: str, path: str) -> None:
    parts = map(re.escape, pattern.removesuffix("$").split("*"))
    end = r"\Z" if pattern.endswith("$") else ""
    site = SiteFiles(rules={"gptbot": [(pattern, False)]})

    is_forbidden = bool(pattern) and re.match(".*".join(parts) + end, path) is not None
    assert bool(site.of(path)) == is_forbidden


@given(st.text())
@pytest.mark.parametrize(
    "start", ["", "User-agent: gptbot\nDisallow:", "[" * 100_000, '[{"location"']
)
def test_whatever_is_in_a_file_of_a_site_it_is_read(start: str, text: str) -> None:
    SiteFiles().with_robots(start + text).with_tdmrep(start + text).of("/" + text)


def test_a_rule_of_many_stars_is_left_out() -> None:
    many = f"/{'*a' * 400}"
    found = SiteFiles().with_robots(f"User-agent: GPTBot\nDisallow: {many}\nDisallow: /b")
    assert found.rules == {"gptbot": [("/b", False)]}
    assert SiteFiles().with_tdmrep(f'[{{"location": "{many}", "tdm-reservation": 1}}]').tdm == ()


def test_what_is_kept_of_a_file_is_bounded() -> None:
    long = "x" * 200
    groups = (f"User-agent: {agent}\n" + f"Disallow: /{long}\n" * 99 for agent in AI_CRAWLERS)
    row = f'{{"location": "/{long}", "tdm-policy": "{long}"}}'
    found = SiteFiles().with_robots("".join(groups)).with_tdmrep(f"[{row}{f', {row}' * 499}]")

    kept = [rule for rules in found.rules.values() for rule, _ in rules]
    for texts in (kept, [text for row in found.tdm for text in row.values()]):
        assert MAX_KEPT / 2 < sum(map(len, texts)) < MAX_KEPT


def test_files_are_asked_for_once_by_the_proxy_of_the_page_and_not_for_long() -> None:
    asked: list[Request] = []

    async def fetch(request: Request) -> Response:
        asked.append(request)
        raise TimeoutError

    meta = {"proxy": "http://p.example", "_auth_proxy": "http://p.example"}
    first = Request(URL, headers={PROXY_LOGIN: "x"}, meta={**meta, "playwright": True})
    reservations = Reservations(fetch)
    for _ in range(2):
        assert asyncio.run(reservations.of(HtmlResponse(URL, request=first), ())) == ()

    assert len(asked) == 2
    for request in asked:
        assert meta.items() <= request.meta.items()
        assert request.headers[PROXY_LOGIN] == b"x"
        assert request.meta["download_timeout"] <= 15
        assert "playwright" not in request.meta


LONG = "<p>" + "The ferry sails again, and all are glad. " * 20


@pytest.mark.parametrize(
    ("settings", "html", "flags"),
    [
        ({"MSS_LANGUAGES": "de"}, LONG, [FED]),
        ({"MSS_EMIT": "unreserved"}, NOAI + CASES["teaser-of-piano"], []),
        ({"MSS_EMIT": "all,unreserved"}, NOAI + plain(1), []),
    ],
)
def test_what_is_refused_gets_no_item_without_a_text(
    crawler_of: Callable[..., Crawler], settings: dict[str, str], html: str, flags: list[str]
) -> None:
    articles, pipeline = reading_parts(crawler_of(MSS_WORKERS=0, **settings))
    response = page(html, URL, **{LISTED_TEXT: FedText.of(LONG)}).replace(flags=flags)
    (item,) = items_of(articles, response)

    with pytest.raises(NoArticleError):
        processed(pipeline, item)


@pytest.mark.slow("three crawls")
def test_reserved_pages_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    with printing(Paper()) as paper:
        free, by_meta, by_header, by_robots, by_file = (paper.publish(n, "feed") for n in range(5))
        html = "<meta name=robots content=noai>" + paper._article(by_meta)
        paper.faults[by_meta] = 200, html
        paper.headers[by_header] = {"TDM-Reservation": "1"}
        paper.robots = f"User-agent: GPTBot\nDisallow: {by_robots}"
        file = "/.well-known/tdmrep.json"
        paper.texts[file] = f'[{{"location": "{by_file}", "tdm-reservation": 1}}]'
        stories = {paper.url(path) for path in paper.stories}
        given = {"ROBOTSTXT_OBEY": True}
        left_out, plain, shown = crawl(
            tmp_path,
            [
                Job("news", {"sites": paper.url("/")}, {**given, "MSS_STORE": store, **more})
                for store, more in (
                    ("a", {"MSS_EMIT": "unreserved"}),
                    ("b", {}),
                    ("c", {"MSS_FIELDS": "reservations"}),
                )
            ],
        )

    assert left_out.by_url().keys() == {paper.url(free)}
    assert left_out.mss("extract/dropped/reserved") == 4
    assert plain.by_url().keys() == stories
    assert paper.asked[file] == 2
    assert paper.asked["/robots.txt"] == 6  # in each by the spider and Scrapy, not once more
    places = {
        url.removeprefix(paper.url("")): [each["place"] for each in item["reservations"]]
        for url, item in shown.by_url().items()
    }
    assert places == {
        free: [],
        by_meta: ["meta"],
        by_header: ["header"],
        by_robots: ["robots.txt"],
        by_file: ["tdmrep.json"],
    }
    assert not left_out.logged("ERROR")
