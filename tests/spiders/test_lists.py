"""Feeds, sitemaps and lists of sites, whoever wrote them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import HtmlResponse, TextResponse, XmlResponse

from scrapy_mss.crawl.hosts import Scope, is_public
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.spiders import lists
from scrapy_mss.spiders.lists import (
    FEED,
    FRONT,
    MAX_ENTRIES,
    MAX_LINKS,
    MOST,
    SITEMAP,
    About,
    Contents,
    ListAnswer,
    Listed,
    ListReader,
    entries,
    feeds_of,
    named_in_robots,
    newest_first,
    read,
    sitemap_entries,
    web_url,
)
from scrapy_mss.spiders.site_lists import Entry, SiteListError, entries_of, sites_of

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
    found = entries(XmlResponse(URL, body=body.encode()))

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
    first, other = entries(XmlResponse(URL, body=body.encode()))

    assert (first.moments, other.moments) == (moments, (None, None))


SITE = Scope(frozenset({"news.example"}))
ABOUT = About(FEED, URL, "", "news.example", SITE, 0)
# What breaks addresses, and texts around it.
ADDRESSES = st.text(
    st.sampled_from("htps:/[]@?#%.:0129a\\\0 \ud800\u0660\u3002") | st.characters(), max_size=40
)


@given(st.sampled_from(["", "http://", "//", "http://a.example:", "/"]), ADDRESSES)
def test_a_request_can_be_made_of_every_web_address(start: str, rest: str) -> None:
    url = web_url(start + rest, URL)

    assert url is None or Request(url).url.startswith(("http://", "https://"))


@example(b"'\x01")  # an attribute of which lxml does not give the name
@given(st.binary(max_size=80) | ADDRESSES.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_list_raises_whatever_is_in_it(body: bytes) -> None:
    rss = b"<rss><channel><item><link>%s</link></item></channel></rss>" % body
    link = b"<link rel=alternate type=application/rss+xml href='%s'><a href='%s'>x" % (body, body)
    json = b'{"items": [{"url": "%s"}]}' % body
    packed = b"\x1f\x8b\x08" + body
    for each in (body, b"{" + body, json, rss, link, packed, gzip.compress(body)[:-9] + body):
        response = TextResponse(URL, body=each, encoding="utf-8")
        assert isinstance(entries(response), list)
        sitemap_entries(response)
        named_in_robots(response)
        feeds_of(HtmlResponse(URL, body=each, encoding="utf-8"))


def contents(kind: str, body: str, **known: Any) -> Contents:
    """What a list says of which no more is *known* than its site."""
    return read(ABOUT._replace(kind=kind, **known), body.encode())


def test_lists_of_a_site_name_that_site_alone() -> None:
    found = contents(FEED, RSS)

    assert [each.url for each in found.articles] == ["https://news.example/a"]
    assert found.off_site == "https://other.example/b"


def test_a_list_dates_the_articles_of_its_own_site() -> None:
    """Another site's are taken where the list of sites allows it, and date themselves."""
    scope = Scope(frozenset({"news.example"}), frozenset({"other.example"}))
    rss = RSS.replace("/a<", "https://other.example/a<")

    assert contents(FEED, RSS, scope=scope).articles[0].minute == MINUTE
    assert contents(FEED, rss, scope=scope).articles[0] == Listed("https://other.example/a", 0)
    elsewhere = contents(FEED, rss, url="https://other.example/feed", scope=scope)
    assert elsewhere.articles[0].minute == MINUTE  # it is their own list


def test_what_is_older_is_left_out() -> None:
    assert len(contents(FEED, RSS, since=MINUTE).articles) == 1
    assert contents(FEED, RSS, since=MINUTE + 1).articles == []


def test_a_sitemap_names_what_it_dates_and_an_index_without_dates_both_its_ends() -> None:
    names = [f"https://news.example/{year}.xml" for year in range(2000, 2026)]
    index = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in names)
    undated = "<urlset><url><loc>/a</loc></url></urlset>"

    named = [each.url for each in contents(SITEMAP, f"<x>{index}</x>").lists[SITEMAP]]

    assert contents(SITEMAP, undated).articles == []
    assert {names[0], names[-1]} < set(named)
    assert len(named) == MOST[SITEMAP]


def test_of_a_list_that_is_too_long_the_first_are_read() -> None:
    links = "".join(f"<a href='/{n}'>x</a>" for n in range(MAX_LINKS + 9))
    items = "".join(f"<item><link>/{n}</link></item>" for n in range(MAX_ENTRIES + 9))

    found = contents(FRONT, links).articles
    assert [each.url for each in found] == [f"https://news.example/{n}" for n in range(MAX_LINKS)]
    assert len(contents(FEED, f"<rss>{items}</rss>").articles) == MAX_ENTRIES


SCOPE = Scope(frozenset({"example.com"}), frozenset({"feeds.example.org", "10.0.0.7"}))


@pytest.mark.parametrize(
    "url",
    """https://example.com/a http://sub.EXAMPLE.com.:80/a http://10.0.0.7/
    https://feeds.example.org/a https://x.feeds.example.org/a""".split(),
)
def test_the_scope_of_a_site_is_its_domain_and_the_hosts_beside_it(url: str) -> None:
    assert SCOPE.has(url)


@pytest.mark.parametrize(
    "url",
    """https://example.org/a https://xfeeds.example.org/a https://example.com@example.org/a
    https://example.com.example.org/a http://10.0.0.8/ http://9.10.0.0.7.example.org/
    ftp://example.com/a file://example.com/a https://[example.com/a https:/example.com/a""".split(),
)
def test_all_else_is_beyond_it(url: str) -> None:
    assert not SCOPE.has(url)
    assert not SCOPE.has("")


@pytest.mark.parametrize(
    "address",
    """10.0.0.1 172.16.0.1 192.168.1.1 127.0.0.1 127.9.9.9 169.254.169.254 0.0.0.0 100.64.0.1
    224.0.0.1 255.255.255.255 240.0.0.1 192.0.2.1 :: ::1 fe80::1 fc00::1 fec0::1 ff02::1
    ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::10.0.0.1 64:ff9b::10.0.0.1 2001:db8::1""".split(),
)
def test_addresses_of_this_machine_and_its_networks_are_not_public(address: str) -> None:
    assert not is_public(address)
    assert all(map(is_public, ("8.8.8.8", "93.184.216.34", "2606:4700:4700::1111")))


@pytest.fixture
def reader() -> Iterator[ListReader]:
    reader = ListReader(seconds=0.3)
    yield reader
    reader.close()


def reason(answer: Future[ListAnswer]) -> str:
    """Why a list was not read."""
    return answer.result().reason


def processes() -> list[psutil.Process]:
    """Those that read lists; other tests may have others."""
    children = psutil.Process().children()
    running = [each for each in children if each.status() != psutil.STATUS_ZOMBIE]
    return [each for each in running if lists.PROCESS in each.cmdline()]


def urls(answer: Future[ListAnswer]) -> list[str]:
    return [each.url for some in answer.result().chunks() for each in some]


def test_a_list_that_takes_too_long_or_ends_its_process_costs_itself(reader: ListReader) -> None:
    links = "".join(f"<a href='/{n}'>x</a>" for n in range(60_000))
    quick = RSS.encode()

    assert reason(reader.read(ABOUT._replace(kind=FRONT), links.encode())) == "timeout"
    assert urls(reader.read(ABOUT, quick)) == ["https://news.example/a"]
    (process,) = processes()
    process.kill()
    assert reason(reader.read(ABOUT, quick)) == "crash"
    assert reason(reader.read(ABOUT._replace(kind="none"), quick)) == "error"
    assert urls(reader.read(ABOUT, quick)) == ["https://news.example/a"]


def test_a_reader_that_is_closed_ends_what_it_is_doing() -> None:
    reader = ListReader(seconds=600)
    answers = [reader.read(ABOUT, b"<rss>" + b"<" * 10**6) for _ in range(2)]
    reader.close()

    assert all(each.done() for each in answers)
    assert processes() == []


def test_without_processes_lists_are_read_in_the_thread(
    reader: ListReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "can_have_workers", lambda: False)

    assert urls(reader.read(ABOUT, RSS.encode())) == ["https://news.example/a"]
    assert processes() == []


def test_a_page_names_its_feeds_but_not_those_of_comments() -> None:
    page = """<head><link rel="alternate" type="application/rss+xml" href="/rss">
    <link rel="ALTERNATE home" type="application/rss+xml" href="/upper">
    <link rel="alternate" type="application/atom+xml; charset=utf-8" href=" atom ">
    <link rel="alternate" type="application/rss+xml" href="/comments/feed/">
    <link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">
    <link rel="alternate" hreflang="de" href="/de/"><link rel="stylesheet" href="x.css"></head>"""

    found = feeds_of(HtmlResponse("https://news.example/", body=page, encoding="utf-8"))

    assert found == [
        "https://news.example/rss",
        "https://news.example/upper",
        "https://news.example/atom",
    ]


@pytest.mark.parametrize("name", ["publication_date", "lastmod"])
def test_a_sitemap_gives_the_dates_of_its_pages_and_not_those_of_their_videos(name: str) -> None:
    video = f"<v:video><v:{name}>2019-01-01T00:00:00+00:00</v:{name}></v:video>"
    body = f"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"
    xmlns:v="http://www.google.com/schemas/sitemap-video/1.1">
    <url><loc> https://news.example/a </loc><lastmod>2026-10-21</lastmod>
    <n:news><n:publication_date>2026-10-22T09:00:00+00:00</n:publication_date></n:news>{video}
    </url><url><loc>https://news.example/b</loc>{video}</url><url></url></urlset>""".encode()
    plain = sitemap_entries(XmlResponse(URL, body=body))
    packed = sitemap_entries(XmlResponse(f"{URL}.gz", body=gzip.compress(body)))

    moments = Moments("2026-10-22T09:00:00+00:00", "2026-10-21")
    pages = [
        Listed("https://news.example/a", MINUTE, moments),
        Listed("https://news.example/b", 0),
    ]
    assert plain == packed == (pages, [])


def test_no_entity_is_expanded() -> None:
    body = b"""<!DOCTYPE urlset [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY a "aaaa">]>
    <urlset><url><loc>https://news.example/&file;&a;</loc></url></urlset>"""

    found = sitemap_entries(XmlResponse(URL, body=body))[0]
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


def test_hosts_after_a_site_are_those_that_its_lists_may_name(tmp_path: Path) -> None:
    path = tmp_path / "sites.txt"
    path.write_text("a.example Feeds.example.org 10.0.0.7 ::1  # the first\nb.example\n")
    first = Entry("https://a.example/", ("feeds.example.org", "10.0.0.7", "::1"))

    assert entries_of(str(path)) == [first, Entry("https://b.example/")]
    assert entries_of(["a.example feeds.example.org 10.0.0.7 ::1"]) == [first]


def test_what_has_an_equals_sign_after_a_site_is_meta_of_its_requests() -> None:
    zyte = '{"browserHtml":true}'
    (entry,) = entries_of(
        [f"a.example x=y b.example playwright=true zyte_api={zyte} p=http://p/?a=1"]
    )
    expected = {
        "x": "y",
        "playwright": True,
        "zyte_api": {"browserHtml": True},
        "p": "http://p/?a=1",
    }

    assert (entry.hosts, entry.meta) == (("b.example",), expected)


@pytest.mark.parametrize(
    "key", ["", "redirect_urls", "mss_listed_text", "playwright_page_init_callback"]
)
def test_what_is_no_meta_to_share_is_named(key: str) -> None:
    with pytest.raises(SiteListError, match=f"that requests may share, .* got '{key}'"):
        entries_of([f"a.example {key}=5"])


def test_any_value_of_meta_is_read() -> None:
    (entry,) = entries_of(["a.example x=" + "[" * 100_000])

    assert entry.meta["x"].startswith("[[")


@pytest.mark.parametrize(
    "host", ["word", "b.example/path", "b.example:80", "http://b.example", "."]
)
def test_what_is_no_host_after_a_site_is_named(host: str) -> None:
    with pytest.raises(SiteListError, match=f"such as feeds.example.org, got '{host}'"):
        entries_of([f"a.example {host}"])


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
