"""The sites as a crawler and an extractor meet them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urldefrag
from urllib.request import ProxyHandler, build_opener
from xml.sax.saxutils import escape

import demo_web
import pytest
from demo_web import LATER, SITES, RenderedPage
from demo_web.feeds import FEEDS, entries
from lxml import html

EVERY_SITE = pytest.mark.parametrize("name", SITES)
LISTS = {"home", "section", "tag", "author", "search"}
WORD = re.compile(r"\w+")
CHECKSUM = """
import demo_web, zlib
print(zlib.crc32(repr([list(demo_web.pages(name)) for name in demo_web.SITES]).encode()))
"""


@cache
def pages(name: str) -> dict[str, RenderedPage]:
    return {page.url: page for page in demo_web.pages(name)}


def shown(source: str) -> list[str]:
    return WORD.findall(html.document_fromstring(source).text_content())


def links(page: RenderedPage) -> set[str]:
    tree = html.document_fromstring(page.html, base_url=page.url)
    tree.make_links_absolute()
    return {urldefrag(url).url for url in tree.xpath("//a/@href")}


@EVERY_SITE
def test_a_site_has_pages_of_all_kinds_and_articles_have_an_expected_text(name: str) -> None:
    kinds = {page.kind for page in pages(name).values()}
    with_text = {page.kind for page in pages(name).values() if page.expected}

    assert kinds == {"article", "live", "gallery", "video", "about"} | LISTS
    assert with_text == {"article", "live"}
    assert len(pages(name)) == len(SITES[name].pages)  # no address twice


@EVERY_SITE
def test_the_expected_words_are_in_the_page_in_order_with_no_trace_of_a_pattern(name: str) -> None:
    for page in pages(name).values():
        words = iter(shown(page.html))

        assert [word for word in WORD.findall(page.expected) if word not in words] == []
        assert not re.search(r"[{}|\[\]/]|  ", page.expected)


@EVERY_SITE
def test_links_lead_from_the_front_page_to_every_page_and_nowhere_else(name: str) -> None:
    front = f"http://{SITES[name].host}/"
    known, waiting = {front}, [front]
    while waiting:
        found = {url for url in links(pages(name)[waiting.pop()]) if url.startswith(front)} - known
        known |= found
        waiting.extend(found)

    assert known == set(pages(name))


def test_pages_are_the_same_whatever_the_hash_seed() -> None:
    first, second = (
        subprocess.check_output(
            [sys.executable, "-c", CHECKSUM],
            cwd=Path(demo_web.__file__).parents[1],
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    )

    assert first == second


def test_the_server_answers_for_each_site_in_its_encoding_and_for_no_other() -> None:
    with demo_web.serving() as address:
        browser = build_opener(ProxyHandler({"http": address}))
        for name, site in SITES.items():
            page = next(iter(pages(name).values()))
            assert shown(browser.open(page.url).read().decode(site.encoding)) == shown(page.html)
            with pytest.raises(HTTPError, match="404"):
                browser.open(f"http://{site.host}/elsewhere")


def test_an_hour_later_there_are_new_changed_and_copied_stories() -> None:
    counts = Counter[str]()
    for name, site in LATER.items():
        before = {page.url: page.expected for page in demo_web.pages(name)}
        after = {page.url: page.expected for page in demo_web.pages(name, LATER)}
        new = after.keys() - before.keys()
        changed = {url for url in before if before[url] != after[url]}
        counts.update({"new": len(new), "changed": len(changed)})

        assert before.keys() < after.keys()
        assert {f"http://{site.host}{path}" for path in site.latest} == new | changed
        for number, original in site.hour.copies.items():
            paper, _, story = original.partition("/")
            copied, first = site.page("article", number), LATER[paper].page("article", int(story))
            assert (copied.title, copied.expected) == (first.title, first.expected)
            assert copied.path in site.latest
    assert counts == {"new": 19, "changed": 5}


@EVERY_SITE
def test_a_feed_lists_all_stories_and_dates_later_what_has_changed(name: str) -> None:
    now = datetime.now(timezone.utc)
    first, later = ({e.url: e.moment for e in entries(s[name], now)} for s in (SITES, LATER))
    articles = {page.url for page in demo_web.pages(name) if page.expected}
    host = f"http://{SITES[name].host}"

    assert first.keys() == articles
    assert min(first.values()) > now - timedelta(days=3)
    newer = {url for url in later if later[url] != first.get(url)}
    assert newer == {host + path for path in LATER[name].latest}
    assert {later[url] for url in newer} == {now}
    feed = FEEDS[SITES[name].feed]
    assert all(
        escape(url) in feed.write(LATER[name], [*entries(LATER[name], now)]) for url in later
    )
