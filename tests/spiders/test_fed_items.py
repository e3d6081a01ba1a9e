"""Articles whose pages cannot be had come out by the texts that their feed has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import TextResponse

from scrapy_mss.article import article_of_feed
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.spiders.lists import entries
from tests.page_cases import read_cases
from tests.plugin.crawling import Crawl, crawl_news
from tests.spiders.paper import Paper, printing

CASES = {case.name: case.source for case in read_cases()}
URL = "https://news.example/a"
CONSENT = "/privacy-gate?consent"
# What pages answer with in place of their stories: too much, in the end.
FAULTS = [
    (404, "Gone"),
    (403, "Forbidden"),
    (503, "Later"),
    (200, CASES["challenge-of-cloudflare"]),
    (200, CASES["teaser-of-piano"]),
    (200, "x" * 2_000_000),
    (403, "Before the feed is read"),
]
FROM = (
    '<p>The post <a href="/a">A story of the day</a> appeared first on <a href="/">Paper</a>.</p>'
)


@pytest.fixture
def paper() -> Iterator[Paper]:
    """A paper with a good page, and others for which only its feed has the text, or a part."""
    with printing(Paper()) as served:
        _, redirected, short, cut, *faulty = (served.publish(n, "feed") for n in range(10))
        faulty.append(served.publish(10, "front"))
        for path in served.stories:
            paragraphs = served.stories[path].story.paragraphs
            text = "".join(f"<p onclick=x()>{each}</p>" for each in paragraphs)
            served.fed[path] = f"<script>x()</script>{text}{FROM}"
        served.fed[short] = f"<p>{served.stories[short].story.paragraphs[0]}</p>"
        served.fed[cut] = served.fed[cut].replace(".</p><p>The post", " [&hellip;]</p><p>The post")
        served.moved[redirected] = CONSENT
        served.faults = dict(zip(faulty, FAULTS, strict=True))
        served.faults |= {short: FAULTS[0], cut: FAULTS[0]}
        served.faults[CONSENT.partition("?")[0]] = 200, CASES["consent-wall"]
        yield served


def read(paper: Paper, folder: Path, **settings: Any) -> Crawl:
    given = {"DOWNLOAD_MAXSIZE": 1_000_000, "MSS_FIELDS": "sources", **settings}
    found = crawl_news(folder, paper.url("/"), **given)
    assert not [each for each in found.logged("ERROR") if "download" not in each.lower()]
    return found


@pytest.mark.slow("several crawls")
def test_whole_texts_of_a_feed_stand_in_for_pages_that_cannot_be_had(
    paper: Paper, tmp_path: Path
) -> None:
    good, redirected, _short, _cut, *faulty = paper.stories

    items = (found := read(paper, tmp_path, MSS_WORKERS=1)).by_url()

    assert set(items) == {paper.url(path) for path in (good, redirected, *faulty)}
    assert items[paper.url(good)]["extractor"].startswith("mss:")
    for path in (redirected, *faulty):
        item, published = items[paper.url(path)], paper.stories[path]
        assert item["extractor"] == "feed"
        of_feed = dict.fromkeys(("text", "title", "published"), "feed")
        assert item["sources"] == {**of_feed, "language": "text"}
        assert item["title"] == published.story.title
        assert item["text"] == "\n\n".join(published.story.paragraphs)
        assert item["published"] == published.moment.isoformat()
        assert (item["kind"], item["language"], item["revision"]) == ("article", "en", 1)
        assert "onclick" not in item["html"]
        assert "<script" not in item["html"]
    assert found.mss("extract/source/feed") == 8
    assert found.mss("train/source/feed") <= 1

    again = read(paper, tmp_path, MSS_ONLY_NEW=0.001)
    assert (again.items, again.mss("extract/source/feed")) == ([], 8)
    assert not read(paper, tmp_path).mss("extract/source/feed")  # none is due


@pytest.mark.slow("several crawls")
def test_a_page_that_comes_back_is_the_article_or_a_revision(paper: Paper, tmp_path: Path) -> None:
    good, _, short, cut, edited, *_ = paper.stories
    read(paper, tmp_path)
    published = paper.stories[edited]
    first, *rest = published.story.paragraphs
    published.story = replace(published.story, paragraphs=(first.upper() + " Or so.", *rest))
    paper.faults = {good: FAULTS[0]}  # whose page says more than the feed
    paper.moved.clear()

    found = read(paper, tmp_path, MSS_ONLY_NEW=0.001).by_url()

    revision = found[paper.url(edited)]
    assert (revision["changed"], revision["removed"]) == (["text"], 0)
    assert revision["added"][-1] == "Or so."  # after the headline, which the feed has beside it

    revisions = {url.removeprefix(paper.url("")): item["revision"] for url, item in found.items()}
    assert revisions == {short: 1, cut: 1, edited: 2}


def test_nothing_beside_a_text_costs_the_list() -> None:
    odd = '"title": "Rain \\ud800", "authors": %s, "author": 5'
    items = [
        f'{{"url": "/{n}", "content_text": "It <rains>. \\ud800", {odd % authors}}}'
        for n, authors in enumerate(("5", "[5]", '[{"name": "Ann Lee"}]', "null"))
    ]
    body = f'{{"items": [{", ".join(items)}]}}'.encode()

    found = entries(TextResponse("https://news.example/feed", body=body, encoding="utf-8"))

    texts = [each.text for each in found]
    assert [text and text.authors for text in texts] == [(), (), ("Ann Lee",), ()]
    assert {text and text.html for text in texts} == {"<p>It &lt;rains&gt;. ?</p>"}
    assert article_of_feed(FedText("<p>One."), URL).article is not None


def test_a_feed_has_no_texts_for_other_sites() -> None:
    urls = ("https://www.news.example/a", "https://other.example/a")
    items = ", ".join(f'{{"url": "{url}", "content_text": "It rains."}}' for url in urls)
    body = f'{{"items": [{items}]}}'.encode()

    own, other = entries(TextResponse("https://news.example/feed", body=body, encoding="utf-8"))

    assert own.text is not None
    assert other.text is None


LONG = "<p>" + "The ferry sails again, and all are glad. " * 20


@pytest.mark.parametrize(
    ("html", "whole"),
    [
        (LONG, True),
        (LONG + FROM, True),
        (LONG + "<p><a href=/a>Read more</a>", True),
        ("<p>" + "渡船今天恢复航行,大家都很高兴。" * 30, True),
        (LONG + "Read more", False),
        (LONG + "Read more »", False),
        (LONG + "[&hellip;]" + FROM, False),
        (LONG + "Continue reading.", False),
        (LONG + "and then", False),
        ("<p>The ferry sails again.", False),
    ],
)
def test_a_text_is_whole_if_it_is_long_and_ends(html: str, *, whole: bool) -> None:
    text = FedText.of(html)

    assert text is not None
    assert text.is_whole == whole
