"""Feeds, sitemaps and lists of sites, whoever wrote them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, TextResponse, XmlResponse

from scrapy_mss.metadata.moments import Moments
from scrapy_mss.spiders import feeds, sitemaps
from scrapy_mss.spiders.listed import Listed, newest_first
from scrapy_mss.spiders.site_lists import SiteListError, sites_of

URL = "https://news.example/lists/feed"
MINUTE = 29_877_660  # 2026-10-22T09:00Z

RSS = """<rss version="2.0"><channel><link>https://news.example/</link>
<item><link>/a</link><pubDate>Thu, 22 Oct 2026 11:00:00 +0200</pubDate></item>
<item><link>https://other.example/b</link></item><item><title>no link</title></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/a"/>
<published>2026-10-21T09:00:00Z</published><updated>2026-10-22T09:00:00Z</updated></entry>
<entry><link href="https://other.example/b"/></entry></feed>"""
JSON = """{"version": "https://jsonfeed.org/version/1.1", "items": [
{"url": "/a", "date_published": "2026-10-22T09:00:00Z"},
{"url": "https://other.example/b"}, {"id": "no address"}, 5]}"""


@pytest.mark.parametrize("body", [RSS, ATOM, JSON])
def test_a_feed_of_any_format_gives_addresses_and_dates(body: str) -> None:
    found = feeds.entries(XmlResponse(URL, body=body.encode()))

    assert [(each.url, each.minute) for each in found] == [
        ("https://news.example/a", MINUTE),
        ("https://other.example/b", 0),
    ]


@pytest.mark.parametrize(
    ("body", "moments"),
    [
        (RSS, ("2026-10-22T11:00:00+02:00", None)),
        (RSS.replace(" +0200", ""), ("2026-10-22T11:00:00", None)),  # nobody knows the zone
        (ATOM, ("2026-10-21T09:00:00+00:00", "2026-10-22T09:00:00+00:00")),
        (ATOM.replace("10-22", "10-21"), ("2026-10-21T09:00:00+00:00", None)),
        (JSON, ("2026-10-22T09:00:00+00:00", None)),
        (JSON.replace("_published", "_modified"), (None, "2026-10-22T09:00:00+00:00")),
    ],
)
def test_a_feed_tells_publication_from_change(body: str, moments: tuple[str, str | None]) -> None:
    first, other = feeds.entries(XmlResponse(URL, body=body.encode()))

    assert (first.moments, other.moments) == (moments, (None, None))


@given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: f"<rss>{text}".encode()))
def test_no_list_raises_whatever_is_in_it(body: bytes) -> None:
    for given_body in (body, b"{" + body, b'{"items": [{"url": "' + body + b'"}]}'):
        response = TextResponse(URL, body=given_body, encoding="utf-8")
        assert isinstance(feeds.entries(response), list)
        sitemaps.read(response)
        sitemaps.named_in_robots(response)


def test_a_page_names_its_feeds_but_not_those_of_comments() -> None:
    page = """<head><link rel="alternate" type="application/rss+xml" href="/rss">
    <link rel="ALTERNATE home" type="application/rss+xml" href="/upper">
    <link rel="alternate" type="application/atom+xml; charset=utf-8" href=" atom ">
    <link rel="alternate" type="application/rss+xml" href="/comments/feed/">
    <link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">
    <link rel="alternate" hreflang="de" href="/de/"><link rel="stylesheet" href="x.css"></head>"""

    found = feeds.feeds_of(HtmlResponse("https://news.example/", body=page, encoding="utf-8"))

    assert found == [
        "https://news.example/rss",
        "https://news.example/upper",
        "https://news.example/atom",
    ]


def test_a_sitemap_gives_the_latest_of_its_dates() -> None:
    body = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
    <url><loc> https://news.example/a </loc><lastmod>2026-10-21</lastmod>
    <news:news><news:publication_date>2026-10-22T09:00:00+00:00</news:publication_date></news:news>
    </url><url><loc>https://news.example/b</loc></url><url></url></urlset>"""
    plain = sitemaps.read(XmlResponse(URL, body=body))
    packed = sitemaps.read(XmlResponse(f"{URL}.gz", body=gzip.compress(body)))

    assert plain == packed
    moments = Moments("2026-10-22T09:00:00+00:00", "2026-10-21")
    assert plain.pages == [
        Listed("https://news.example/a", MINUTE, moments),
        Listed("https://news.example/b", 0),
    ]
    assert plain.sitemaps == []


@pytest.mark.parametrize("name", ["publication_date", "lastmod"])
def test_a_video_of_a_page_does_not_date_it(name: str) -> None:
    old = "2019-01-01T00:00:00+00:00"
    body = f"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
    xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">
    <url><loc>https://news.example/a</loc><lastmod>2026-10-21</lastmod>
    <news:news><news:publication_date>2026-10-22T09:00:00+00:00</news:publication_date></news:news>
    <video:video><video:{name}>{old}</video:{name}></video:video></url>
    <url><loc>https://news.example/b</loc><video:video><video:{name}>{old}</video:{name}>
    </video:video></url></urlset>"""

    assert sitemaps.read(XmlResponse(URL, body=body.encode())).pages == [
        Listed(
            "https://news.example/a", MINUTE, Moments("2026-10-22T09:00:00+00:00", "2026-10-21")
        ),
        Listed("https://news.example/b", 0),
    ]


def test_an_index_gives_its_sitemaps() -> None:
    body = b"<sitemapindex><sitemap><loc>/one.xml</loc></sitemap></sitemapindex>"

    assert sitemaps.read(XmlResponse(URL, body=body)).sitemaps == [
        Listed("https://news.example/one.xml", 0)
    ]


def test_a_packed_sitemap_that_is_too_large_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 10_000)
    body = b"<urlset><url><loc>/a</loc></url>" + b" " * 10**6 + b"</urlset>"

    assert sitemaps.read(XmlResponse(URL, body=gzip.compress(body))).pages == []


def test_no_entity_is_expanded() -> None:
    body = b"""<!DOCTYPE urlset [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY a "aaaa">]>
    <urlset><url><loc>https://news.example/&file;&a;</loc></url></urlset>"""

    found = sitemaps.read(XmlResponse(URL, body=body)).pages
    assert not any("root" in each.url or "aaaa" in each.url for each in found)


def test_what_is_newest_comes_first_and_once() -> None:
    found = newest_first([Listed("a", 0), Listed("b", 5), Listed("c", 9), Listed("a", 7)])

    assert found == [Listed("c", 9), Listed("a", 7), Listed("b", 5)]


def test_sites_are_given_as_names_addresses_lists_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sites.txt"
    path.write_text("\ufeffa.example  # the first\n\n# none\nhttp://b.example/news/\n")
    expected = ["https://a.example/", "http://b.example/news/"]

    assert sites_of(str(path)) == sites_of([str(path), "a.example"]) == expected
    assert sites_of("a.example, http://b.example/news/,a.example") == expected
    assert sites_of(expected) == expected
    assert sites_of("") == []


@pytest.mark.parametrize("name", ["no site", "ftp://a.example", "http://", "https://a:x/", "//"])
def test_what_is_no_site_is_named(name: str) -> None:
    with pytest.raises(SiteListError, match="expected a site such as example"):
        sites_of([name])


def test_a_file_that_is_not_there_is_not_taken_for_a_site(tmp_path: Path) -> None:
    with pytest.raises(SiteListError, match=r"none\.txt: no such file"):
        sites_of(str(tmp_path / "none.txt"))
    with pytest.raises(SiteListError, match=r"sites\.txt: no such file"):
        sites_of(["a.example", "sites.txt"])


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sites.txt"
    path.write_bytes(b"\xff\xfe\xff")

    with pytest.raises(SiteListError, match=r"sites\.txt: the list of sites cannot be read"):
        sites_of(str(path))
