"""Sites whose feeds have the texts of their articles teach themselves, without a rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.blocks.text_labels import MAX_TEXT, TRUST, plain_words
from scrapy_mss.crawl.hosts import Scope
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.spiders.lists import FEED, About, Listed, read
from scrapy_mss.storage.opening import store_at
from tests.plugin.crawling import Crawl, crawl_news
from tests.spiders.paper import Paper, printing

N = 6
URL = "https://news.example/feed"
ABOUT = About(FEED, URL, "", "news.example", Scope(frozenset({"news.example"})), 0)
HTML = "&lt;p&gt;One &lt;b&gt;two&lt;/b&gt;.&lt;/p&gt;"
RSS = f"""<rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item>
<link>/a</link><description>One</description><content:encoded>{HTML}</content:encoded>
</item></channel></rss>"""
ATOM = f"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/a"/>
<summary>One</summary><content type="html">{HTML}</content></entry></feed>"""
JSON = '{"items": [{"url": "/a", "summary": "One", "content_html": "<p>One <b>two</b>.</p>"}]}'
PLAIN = '{"items": [{"url": "/a", "content_text": "One two."}]}'


@pytest.fixture
def paper() -> Iterator[Paper]:
    """A paper whose feed has all of its texts."""
    with printing(Paper()) as served:
        for number in range(N):
            path = served.publish(number, "feed")
            served.fed[path] = text_of(served, path)
        yield served


def text_of(paper: Paper, path: str) -> str:
    return "".join(f"<p>{each}</p>" for each in paper.stories[path].story.paragraphs)


def crawled(paper: Paper, folder: Path, **settings: Any) -> Crawl:
    found = crawl_news(folder, paper.url("/"), **settings)
    assert len(found.items) == N
    return found


def labelled_pages(paper: Paper, folder: Path) -> float:
    """How many pages the memory of the site has labels of."""
    return SiteStore(store_at(str(folder / "store"))).load(paper.host).labelled_pages


@pytest.mark.parametrize("workers", [0, 1])
def test_a_site_with_a_full_feed_teaches_itself_once(
    paper: Paper, tmp_path: Path, workers: int
) -> None:
    found = crawled(paper, tmp_path, MSS_WORKERS=workers)

    assert found.mss("train/learned") == found.mss("train/source/feed") == N
    assert found.mss("train/seen") == found.mss("train/source/wrapper") == 0
    assert found.mss("extract/pages") == N  # read once, for both
    assert found.mss("extract/source/model") == N
    assert labelled_pages(paper, tmp_path) == N
    stored = StoredModel(store_at(str(tmp_path / "store")), DEFAULT).load()
    assert (len(stored.learned_pages), stored.bayes.pages) == (N, 0)
    assert stored.lessons.pages == pytest.approx(N * TRUST, abs=1e-3)

    again = crawled(paper, tmp_path, MSS_WORKERS=workers, MSS_ONLY_NEW=False)
    assert again.mss("train/refused/already_learned") == N
    assert not again.mss("train/learned")


def test_teasers_and_texts_of_other_pages_teach_nothing(paper: Paper, tmp_path: Path) -> None:
    first, second, third, *rest = paper.fed
    paper.fed[first], paper.fed[second] = paper.fed[second], paper.fed[first]
    paper.fed[third] = f"<p>{'word ' * 100_000}</p>"  # too much to be looked at
    for path in rest:
        paper.fed[path] = "".join(text_of(paper, path).partition("</p>")[:2])

    found = crawled(paper, tmp_path)

    assert found.mss("train/refused/not_found") == 2
    assert found.mss("train/refused/disagrees") == len(rest)
    assert not found.mss("train/learned")
    assert labelled_pages(paper, tmp_path) == 0


def test_a_crawl_that_does_not_train_or_has_a_rule_leaves_the_texts_alone(
    paper: Paper, tmp_path: Path
) -> None:
    rules = [{"site": paper.host, "body": "article"}]

    for switch, n_labelled in (({"MSS_TRAIN": False}, 0), ({"MSS_WRAPPERS": rules}, N)):
        found = crawled(paper, tmp_path, MSS_ONLY_NEW=False, **switch)

        assert not found.mss("train/source/feed")
        assert found.mss("train/source/wrapper") == n_labelled


@pytest.mark.parametrize("body", [RSS, ATOM, JSON, PLAIN])
def test_a_feed_of_any_format_gives_the_words_of_its_texts(body: str) -> None:
    (listed,) = read(ABOUT, body.encode()).articles

    assert (listed.url, listed.text and plain_words(listed.text.html)) == (
        "https://news.example/a",
        "One two",
    )


@pytest.mark.parametrize("declared", ["utf-8", "windows-1252"])
def test_the_texts_of_a_feed_with_a_wrong_byte_or_encoding_are_decoded_as_those_of_pages(
    declared: str,
) -> None:
    words = "Café déjà vu, Wörter und слово. "
    rss = RSS.replace(HTML, f"{words * 20}|{words}").encode()
    prolog = f'<?xml version="1.0" encoding="{declared}"?>'.encode()

    (listed,) = read(ABOUT, prolog + rss.replace(b"|", b"\xf6")).articles

    assert listed.text
    assert listed.text.html.count(words.strip()) == 21


@pytest.mark.parametrize("text", ["", "5", "[]", '"' + "word " * MAX_TEXT + '"'])
def test_other_content_is_no_text(text: str) -> None:
    body = f'{{"items": [{{"url": "/a", "content_html": {text or "null"}}}]}}'

    assert read(ABOUT, body.encode()).articles == [Listed("https://news.example/a")]
