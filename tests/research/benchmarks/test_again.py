"""What `make again` finds wrong, and that its sites are there."""

from __future__ import annotations

from collections import Counter
from urllib.request import urlopen

from research.benchmarks.again import N_SITES, Measured, faults, line
from research.benchmarks.again_server import serving


def test_articles_that_are_fetched_again_are_a_fault() -> None:
    good = [
        (Measured(1, 1, count, count), Counter({"article 200": count, "feed 304": 20}))
        for count in (100, 0, N_SITES)
    ]
    again = [good[0], (good[1][0], Counter({"article 304": 1})), good[2]]
    lost = [good[0], good[1], (Measured(1, 1, 19, 19), good[2][1])]

    assert faults(good, 100) == []
    assert faults(again, 100) == ["crawl 2: 1 articles fetched and 0 items, expected 0"]
    assert faults(lost, 100) == ["crawl 3: 20 articles fetched and 19 items, expected 20"]
    assert line("all", *good[0]).split()[0] == "all"


def fetched(url: str) -> str:
    with urlopen(url) as answer:  # noqa: S310 - our own server
        body: bytes = answer.read()
    return body.decode()


def test_the_sites_name_their_articles_and_count_requests() -> None:
    with serving(2, 3) as web:
        feeds = [fetched(f"{front}feed") for front in web.fronts]
        web.publish()
        sitemap = fetched(f"{web.fronts[1]}news.xml")
        page = fetched(sitemap.partition("<loc>")[2].partition("</loc>")[0])
        counts = web.counts()

    assert [feed.count("<item>") for feed in feeds] == [3, 3]
    assert sitemap.count("<loc>") == 4
    assert "<article>" in page
    assert counts == {"feed 200": 2, "sitemap 200": 1, "article 200": 1}
