"""Addresses: how they are joined, their site, features for the page classifier, next pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
import tldextract
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss import metadata
from scrapy_mss.pages import addresses
from scrapy_mss.pages.addresses import (
    MAX_DIGITS,
    MAX_HOST,
    MAX_SLUG,
    MAX_URL,
    PageUrl,
    absolute_url,
    follows,
    is_first,
    names_in_host,
    plainly_joined,
    public_suffixes,
    site_of,
    split_url,
)

# What is joined without the library is what the library joins

PARTS = """http:// https:// HTTP:// // / ? # ; : @ . .. ./ ../ /. & = %2e [ ] a x.example news
    :80 :x mailto: user@ a.png 1 - _ ~ , é \t é""".split(" ")
ADDRESSES = st.lists(st.sampled_from([*PARTS, " ", "\n", "\0"]), max_size=6).map("".join)
BASES = st.sampled_from(
    [
        "https://x.example/a/b.html?c#d",
        "http://x.example",
        "http://u@x.example:8/a",
        "HTTP://x/",
        "",
    ]
)


@given(BASES | ADDRESSES, ADDRESSES)
@example("https://x.example/a/b", "https://y.example/c/../d?e=f/../g")
@example("https://x.example/a/b", "/c//d.e/f./g?h")
@example("https://x.example/a/b", "/c/../d")
@example("https://x.example\n/a/b", "/c")
def test_an_address_is_joined_as_the_library_does(base: str, address: str) -> None:
    joined = plainly_joined(base, address)

    if joined is not None:
        assert joined == urljoin(base, address)
        assert urlsplit(joined).scheme in ("http", "https")
        assert urlsplit(joined).hostname


@given(BASES, ADDRESSES)
def test_an_address_is_split_as_the_library_does(beginning: str, rest: str) -> None:
    try:
        expected = tuple(urlsplit(beginning + rest))
    except ValueError:
        expected = ("",) * 5

    assert split_url(beginning + rest) == expected


URLS = [
    ("/a", "https://x.example/a"),
    ("a?b=c&d=e", "https://x.example/y/a?b=c&d=e"),
    ("//cdn.example/i.png", "https://cdn.example/i.png"),
    (" http://x.example/a b ", "http://x.example/a%20b"),
    ("HTTPS://x.example/", "https://x.example/"),
]
NOT_URLS = [
    *("", "data:image/png;base64,AAAA", "javascript:void(0)", "mailto:ann@x.example"),
    *("ftp://x.example/", "http://", "http://[::1", "https://x.example/" + "a" * MAX_URL),
]


@pytest.mark.parametrize(("text", "expected"), URLS)
def test_urls_are_made_absolute(text: str, expected: str) -> None:
    assert absolute_url(text, "https://x.example/y/z") == expected


@pytest.mark.parametrize("text", [*NOT_URLS, "/a"])
def test_without_a_base_other_values_and_relative_ones_are_no_urls(text: str) -> None:
    assert absolute_url(text, None) is None


# The site of a host

SITES = [
    ("https://www.bbc.co.uk/news?from=https://other.example/", "bbc.co.uk"),
    ("//cdn.example.com/a.png", "example.com"),
    ("HTTP://News.Example.COM.:8080/a", "example.com"),
    ("user:secret@example.com:80", "example.com"),
    ("http://localhost:6800/a", "localhost"),
    ("http://192.168.1.20:8000/", "192.168.1.20"),
    ("http://[2001:db8::1]:8000/", "2001:db8::1"),
    ("https://www.münchen.de/a", "xn--mnchen-3ya.de"),
]
RULES = sorted(public_suffixes())
# Hosts at and below rules, wildcards and exceptions, and a little wide of them.
LABELS = st.lists(
    st.sampled_from(["a", "www", "city", "com", "kobe", "uk", "xn--p1ai"]), max_size=3
)
HOSTS = st.builds(
    lambda labels, rule: ".".join((*labels, rule.removeprefix("*.").removeprefix("!"))),
    LABELS,
    st.sampled_from(RULES),
)
EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
NO_HOSTS = ["", ".", "http://", "http://[", "https:///a", "/news/a"]


@pytest.mark.parametrize(("host_or_url", "site"), [*SITES, *((text, "") for text in NO_HOSTS)])
def test_the_site_is_the_registrable_domain_or_the_host(host_or_url: str, site: str) -> None:
    assert site_of(host_or_url) == site


@given(BASES | ADDRESSES)
@example("https://www.X.example:80")
@example("http://x.example@y.example/")
def test_names_in_a_host_are_of_the_host_that_the_library_finds(url: str) -> None:
    host = (split_url(url).hostname or "").removeprefix("www.").rstrip(".")

    assert names_in_host(url)[:1] == ([host] if host else [])


@given(st.text())
def test_every_text_has_an_answer_that_is_its_own_site(text: str) -> None:
    site = site_of(text)

    assert site == site_of(f"//{site}") or ":" in site  # IPv6 addresses need brackets in URLs


@given(HOSTS)
def test_the_site_is_what_tldextract_takes_for_the_registered_domain(host: str) -> None:
    plain = host.encode("idna").decode().removeprefix("www.")
    parts = EXTRACTOR(plain)
    registered = f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else plain

    assert site_of(host) == registered


def test_the_rules_are_those_that_tldextract_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = public_suffixes()
    monkeypatch.setattr(addresses, "SNAPSHOT", "elsewhere")

    assert public_suffixes.__wrapped__() == found


# In a process of its own, because what is cached and where is decided when tldextract is imported.
OFFLINE = """
import socket, sys
calls = []
socket.socket.connect = socket.getaddrinfo = lambda *address, **_: calls.append(address)
from scrapy_mss.pages.addresses import site_of
print(site_of("a.b.co.jp"), calls, "requests" in sys.modules)
"""


def test_neither_the_network_nor_a_cache_on_disk_nor_a_library_for_them_is_used(
    tmp_path: Path,
) -> None:
    environment = {**os.environ, "TLDEXTRACT_CACHE": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout == "b.co.jp [] False\n"
    assert list(tmp_path.iterdir()) == []


NAMED_HOSTS = [
    ("https://www.news.example.co.uk/a", ["news.example.co.uk", "news", "example", "newsexample"]),
    ("https://bbc.co.uk/", ["bbc.co.uk", "bbc", "bbc"]),
    ("https://www.example.com./", ["example.com", "example", "example"]),
    ("https://www.münchen.de/", ["münchen.de", "münchen", "münchen"]),
    ("http://localhost:8000/", ["localhost", "localhost", "localhost"]),
    ("http://[", []),
    (f"http://{'a.' * MAX_HOST}example/", []),
    ("/news", []),
    (None, []),
]


@pytest.mark.parametrize(("url", "names"), NAMED_HOSTS)
def test_a_host_names_the_site_without_its_public_suffix(url: str | None, names: list[str]) -> None:
    assert names_in_host(url) == names


# Features for the page classifier

WWW = "https://www.a.example"


DATED = "/2024/05/06/ferry.html /news/2024-5-6/ferry /2024/may/6/ferry /20240506/ferry"
DATED += " /a/ferry-2024-05-06 /2024.12.31/"
UNDATED = "/2024/ferry /1224/05/06/ /2024/13/45 /202/4/05/6 /12024/05/06 /?2024/05/06"


@pytest.mark.parametrize("path", f"{DATED} {UNDATED}".split())
def test_a_date_in_the_path(path: str) -> None:
    assert PageUrl(WWW + path).has_date is (path in DATED.split())


@pytest.mark.parametrize(
    ("path", "words", "digits"),
    [
        ("/news/the-ferry-sails-again-12345", 4, 5),
        ("/the-ferry-sails-again/news.html", 4, 0),
        ("/artikel.php?id=4021", 1, 4),
        ("/a?ref=x7f00ba12&id=7", 1, 1),
        ("/%D0%BF%D0%B0%D1%80%D0%BE%D0%BC-%D1%88%D0%B5%D0%BB", 2, 0),
        ("/" + "-".join("abcdefghijkl"), MAX_SLUG, 0),
        ("/" + "1" * 40, 0, MAX_DIGITS),
        ("/", 0, 0),
    ],
)
def test_the_longest_slug_and_number(path: str, words: int, digits: int) -> None:
    address = PageUrl(WWW + path)

    assert (address.slug_words, address.digits) == (words, digits)


@pytest.mark.parametrize(
    ("paths", "is_root", "is_list"),
    [
        (["", "/", "/#top", "/?"], True, False),
        (["/tag/ferries", "/Category/Sport/", "/index.html", "/a/search"], False, True),
        (["/?p=12", "/tags-of-dogs-are-back", "/story/1"], False, False),
    ],
)
def test_front_pages_and_lists(paths: list[str], *, is_root: bool, is_list: bool) -> None:
    for path in paths:
        address = PageUrl(WWW + path)
        assert (address.is_root, address.is_list) == (is_root, is_list), path


def test_an_unknown_address_has_no_features() -> None:
    page = PageUrl("")

    assert not any((page.is_known, page.is_root, page.is_list, page.has_date))
    assert (page.slug_words, page.digits) == (0, 0)


@given(st.text() | st.text().map(lambda text: f"http://{text}"))
def test_anything_can_be_an_address(url: str) -> None:
    address = PageUrl(url)

    assert 0 <= address.digits <= MAX_DIGITS
    assert 0 <= address.slug_words <= MAX_SLUG
    assert address.is_root in {True, False}
    assert not (address.is_root and (address.is_list or address.has_date))


# Which address is that of the next page of the same article

NEWS = "https://news.example"


# A page, those that follow it, and what looks alike but does not.
@pytest.mark.parametrize(
    ("before", "following", "others"),
    [
        ("/ferry.html", "/ferry-2.html /ferry_2.html", "/harbour-2.html //other.example/ferry-2"),
        ("/ferry,2.html", "/ferry,3.html", "/ferry,2.html /ferry,4.html"),
        ("/ferry", "/ferry/2 /ferry/seite-2", "/harbour /ferry/4 /ferry#page=2"),
        ("/ferry", "/ferry?page=2 /ferry?page=1", "/ferry?page=3"),  # some count from zero
        ("/ferry/", "/ferry/page/2/", "/ferry/page/3/"),
        ("/ferry/page/2/", "/ferry/page/3/", "/ferry/page/1/"),
        ("/ferry?page=1", "/ferry?page=2", "/ferry?page=4"),
        ("/story?id=7", "/story?id=7&p=2", "/story?id=8 /story?id=8&p=2"),
        ("/2024/03/ferry-4", "/2024/03/ferry-4/2", "/2024/03/ferry-3"),
        ("/2024/03/05/", "", "/2024/03/06/"),
        ("/12345", "", "/12346"),
    ],
)
def test_the_next_page_has_the_next_number(before: str, following: str, others: str) -> None:
    urls = {url: urljoin(NEWS, url) for url in f"{following} {others}".split()}

    found = [url for url in urls if follows(urls[url], NEWS + before)]

    assert found == following.split()


def test_pages_are_joined_from_the_first_one() -> None:
    assert is_first(f"{NEWS}/ferry", f"{NEWS}/ferry/2")
    assert is_first(f"{NEWS}/ferry?page=1", f"{NEWS}/ferry?page=2")
    assert not is_first(f"{NEWS}/ferry/2", f"{NEWS}/ferry/3")
    assert not is_first(f"{NEWS}/part-4", f"{NEWS}/part-5")


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("<link rel=next href=/ferry/2>", "", f"{NEWS}/ferry/2"),
        ("", "<a rel='nofollow next' href=/ferry/2>2</a>", f"{NEWS}/ferry/2"),
        ("<link rel=next href=/harbour>", "<a rel=next href=/ferry/2>2</a>", f"{NEWS}/ferry/2"),
        ("<link rel=next href=/harbour>", "", ""),
        ("", "<a rel=nextgen href=/ferry/2>2</a>", ""),
        ("", "<a href=/ferry/2>Next page</a>", ""),
        ("<link rel=next href='https://[/ferry/2'>", "", ""),
    ],
)
def test_a_page_names_its_next_one_by_rel(head: str, body: str, expected: str) -> None:
    source = f"<html><head>{head}</head><body>{body}</body></html>"

    assert metadata.read_html(source, f"{NEWS}/ferry").next_page == expected
    assert metadata.read_html(source).next_page == ""


PAGE_PARTS = st.lists(st.sampled_from("/ferry 2 - ? page= p= & 10 .html 0 é".split()), max_size=8)


@given(PAGE_PARTS, PAGE_PARTS)
def test_no_page_follows_itself(one: list[str], other: list[str]) -> None:
    first, second = (f"{NEWS}/{''.join(parts)}" for parts in (one, other))

    assert not follows(first, first) or "page=" in first or "p=" in first
    follows(first, second)
    is_first(first, second)
