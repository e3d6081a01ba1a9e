"""Articles whose pages cannot be had come out by the texts that their feed has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_mss.blocks.fed_text import FedText
from tests.page_cases import read_cases
from tests.plugin.crawling import Crawl, Job, crawl
from tests.spiders.paper import Paper, printing

CASES = {case.name: case.source for case in read_cases()}
CONSENT = "/privacy-gate?consent"
# What pages answer with in place of their stories: too much, in the end.
FAULTS = [
    (404, "Gone"),
    (403, "Forbidden"),
    (503, "Later"),
    (200, CASES["challenge-of-cloudflare"]),
    (200, CASES["teaser-of-piano"]),
    (200, "x" * 2_000_000),
]
FROM = (
    '<p>The post <a href="/a">A story of the day</a> appeared first on <a href="/">Paper</a>.</p>'
)


@pytest.fixture
def paper() -> Iterator[Paper]:
    """A paper with a good page, and others for which only its feed has the text, or a part."""
    with printing(Paper()) as served:
        _, redirected, short, cut, *faulty = (served.publish(n, "feed") for n in range(10))
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


def read(paper: Paper, folder: Path, **settings: object) -> Crawl:
    given = {
        "MSS_STORE": str(folder / "store"),
        "MSS_WORKERS": 0,
        "RETRY_ENABLED": False,
        "DOWNLOAD_MAXSIZE": 1_000_000,
        **settings,
    }
    found, *_ = crawl(folder, [Job("news", {"sites": paper.url("/")}, given)])
    assert not found.error
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
        assert item["title"] == published.story.title
        assert item["text"] == "\n\n".join(published.story.paragraphs)
        assert item["published"] == published.moment.isoformat()
        assert (item["kind"], item["language"], item["revision"]) == ("article", "en", 1)
        assert "onclick" not in item["html"]
        assert "<script" not in item["html"]
    assert found.mss("extract/source/feed") == 7
    assert found.mss("train/source/feed") <= 1

    again = read(paper, tmp_path, MSS_ONLY_NEW=0.001)
    assert (again.items, again.mss("extract/source/feed")) == ([], 7)
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

    revisions = {url.removeprefix(paper.url("")): item["revision"] for url, item in found.items()}
    assert revisions == {short: 1, cut: 1, edited: 2}


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


@pytest.mark.parametrize("given", [None, 5, "text", [], ["a", "b", "c", True], ["a", "b", [1], 1]])
def test_what_is_no_text_of_a_feed_in_a_meta_is_ignored(given: object) -> None:
    assert FedText.from_meta(given) is None
