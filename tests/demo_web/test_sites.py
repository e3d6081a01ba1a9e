"""The eight sites as a crawler and an extractor meet them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

import demo_web
import pytest
from demo_web import SITES, Page
from demo_web.running import PROJECT
from lxml import html

# Over all pages of all sites. It has to be the same on every version of Python and every machine.
# Whoever changes a template or the words sees the new one in the failure and puts it here.
CHECKSUM = "ad7ef897da0991e4656b9fce3d9ef9f7ec8fd1ae997f0532f536efa8297ef5c6"

NAMES = list(SITES)
WORD = re.compile(r"\w+")
MARKUP = ("article", "liveblog", "gallery", "home", "section", "tag", "author", "notice")
CHECKSUM_SCRIPT = """
import demo_web, hashlib
total = hashlib.sha256()
for name in demo_web.SITES:
    for page in demo_web.pages(name):
        total.update(repr((name, page.path, page.status, page.headers, page.gold)).encode())
        total.update(page.body)
print(total.hexdigest())
"""


@cache
def pages(name: str) -> dict[str, Page]:
    return {page.path: page for page in demo_web.pages(name)}


class Seen(NamedTuple):
    """What a parser sees of a page: words of the body, scripts aside, and where links lead."""

    words: list[str]
    links: frozenset[str]
    pictures: frozenset[str]


@cache
def seen(name: str, path: str) -> Seen:
    parser = html.HTMLParser(encoding=SITES[name].encoding)
    tree = html.document_fromstring(pages(name)[path].body, parser=parser)
    texts = tree.xpath("//body//text()[not(ancestor::script or ancestor::style)]")
    words = [sys.intern(word) for word in WORD.findall(" ".join(texts))]
    return Seen(words, frozenset(tree.xpath("//@href")), frozenset(tree.xpath("//@src")))


def articles(name: str) -> list[Page]:
    return [page for page in pages(name).values() if page.kind == "article"]


def inside(name: str, page: Page, values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Host and path of those addresses on *page* that lead into the demo web."""
    hosts = {site.host for site in SITES.values()}
    base = SITES[name].url(page.path)
    for value in values:
        parts = urlsplit(urldefrag(urljoin(base, value)).url)
        if parts.hostname in hosts:
            yield str(parts.hostname), parts._replace(scheme="", netloc="").geturl()


def run_checksums(*hash_seeds: str) -> list[str]:
    """The checksums that processes of their own print, which run side by side."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CHECKSUM_SCRIPT],
            cwd=PROJECT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in hash_seeds
    ]
    return [process.communicate()[0].strip() for process in started]


# --- the same bytes -------------------------------------------------------------------------------


def test_pages_are_the_same_bytes_whatever_the_hash_seed() -> None:
    first, second = run_checksums("1", "2")

    assert first == second == CHECKSUM


# --- how much there is ----------------------------------------------------------------------------


def test_there_are_eight_sites_half_of_them_wrapped() -> None:
    assert len(SITES) == 8
    assert sum(site.wrapped for site in SITES.values()) == 4
    assert Counter(site.language for site in SITES.values()) == {"en": 6, "de": 1, "ru": 1}


@pytest.mark.parametrize("name", NAMES)
def test_a_site_has_sixty_articles_and_everything_else(name: str) -> None:
    kinds = Counter(page.kind for page in pages(name).values())

    assert kinds["article"] >= 60
    assert min(kinds[kind] for kind in MARKUP) >= 2
    assert len(pages(name)) == len(list(demo_web.pages(name)))  # no path twice


@pytest.mark.parametrize("name", NAMES)
def test_articles_are_short_middling_and_long(name: str) -> None:
    lengths = sorted(len(page.gold.text.split()) for page in articles(name) if page.gold)

    assert lengths[0] < 120
    assert 250 < lengths[len(lengths) // 2] < 1200
    assert 2500 < lengths[-1] < 3500


@pytest.mark.parametrize("name", NAMES)
def test_pages_weigh_what_pages_weigh(name: str) -> None:
    sizes = sorted(len(page.body) for page in articles(name))

    assert sizes[0] > 30_000
    assert sizes[-2] < 120_000


def test_one_page_is_very_large() -> None:
    assert sum(len(page.body) > 1_000_000 for name in NAMES for page in articles(name)) == 1


# --- the gold -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_the_gold_stand_in_the_page_in_order(name: str) -> None:
    for page in pages(name).values():
        if page.gold:
            words = iter(seen(name, page.path).words)
            lost = [word for word in WORD.findall(page.gold.text) if word not in words]

            assert not lost, page.path


@pytest.mark.parametrize("name", NAMES)
def test_much_of_a_page_is_not_its_gold(name: str) -> None:
    gold = sum(len(WORD.findall(page.gold.text)) for page in articles(name) if page.gold)
    shown = sum(len(seen(name, page.path).words) for page in articles(name))

    assert 0.2 < gold / shown < 0.75


@pytest.mark.parametrize("name", NAMES)
def test_title_and_authors_stand_in_the_page(name: str) -> None:
    for page in articles(name):
        assert page.gold is not None
        text = " ".join(seen(name, page.path).words)
        for shown in (page.gold.title, *page.gold.authors):
            assert " ".join(WORD.findall(shown)) in text


@pytest.mark.parametrize("name", NAMES)
def test_gold_by_address_is_the_gold_of_the_pages(name: str) -> None:
    by_page = {page.gold.url: page.gold for page in pages(name).values() if page.gold}

    assert demo_web.gold(name) == by_page
    assert all(re.fullmatch(r"202[45]-\d\d-\d\d", gold.published) for gold in by_page.values())
    assert {gold.language for gold in by_page.values()} == {SITES[name].language}


def test_lists_galleries_and_notices_have_no_gold() -> None:
    kinds = {page.kind for name in NAMES for page in pages(name).values() if page.gold}

    assert kinds == {"article", "liveblog"}


# --- links ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_link_and_picture_inside_the_demo_web_answers(name: str) -> None:
    every = {(SITES[other].host, path) for other in NAMES for path in pages(other)}
    for page in pages(name).values():
        if page.kind in MARKUP:
            found = seen(name, page.path)

            assert set(inside(name, page, found.links | found.pictures)) <= every, page.path


@pytest.mark.parametrize("name", NAMES)
def test_a_crawl_from_the_front_page_finds_every_page(name: str) -> None:
    known, waiting = {"/"}, ["/"]
    while waiting:
        page = pages(name)[waiting.pop()]
        if page.kind in MARKUP:
            found = {path for _, path in inside(name, page, seen(name, page.path).links)} - known
            waiting.extend(found)
            known |= found

    left = {page.kind for page in pages(name).values() if page.path not in known}

    assert left <= {"picture", "robots"}


@pytest.mark.parametrize("name", NAMES)
def test_menus_have_more_than_forty_links(name: str) -> None:
    menu = {path for _, path in SITES[name].menu()}

    assert len(menu) > 40
    assert menu <= seen(name, articles(name)[0].path).links


@pytest.mark.parametrize("name", NAMES)
def test_some_pages_are_errors_redirects_and_files(name: str) -> None:
    answers = {page.kind: page for page in pages(name).values() if page.kind not in MARKUP}

    assert answers["missing"].status == 404
    assert answers["gone"].status == 410
    assert answers["moved"].status == 301
    assert str(answers["moved"].header("location")).startswith(f"http://{SITES[name].host}/")
    assert answers["document"].header("content-type") == "application/pdf"
    assert answers["picture"].body.startswith(b"\x89PNG")
    assert b"Disallow: /private/" in answers["robots"].body
    assert answers["private"].path.startswith("/private/")


# --- encodings and markup -------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_in_the_encoding_that_they_declare(name: str) -> None:
    site, page = SITES[name], articles(name)[0]
    in_header = re.search(r"charset=([\w-]+)", str(page.header("content-type")))
    in_page = re.search(rb"charset=[\"']?([\w-]+)", page.body, re.IGNORECASE)

    assert in_page is not None
    assert in_page[1].decode().lower() == site.encoding
    assert (in_header[1] if in_header else site.encoding) == site.encoding
    page.body.decode(site.encoding)


@pytest.mark.parametrize(
    ("name", "encoding"),
    [("rheinufer-bote", "iso-8859-1"), ("severnye-vesti", "windows-1251")],
)
def test_pages_in_old_encodings_are_no_utf_8(name: str, encoding: str) -> None:
    assert SITES[name].encoding == encoding
    for page in articles(name):
        with pytest.raises(UnicodeDecodeError):
            page.body.decode("utf-8")


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("daily-harbour", b'<article class="story"'),
        ("daily-harbour", b'<hr class="rule">'),
        ("northgate-post", b'class="Paragraph_root__'),
        ("greenbank-gazette", b'[caption id="attachment_'),
        ("greenbank-gazette", b"&#8217;"),
        ("courier-express", b"<amp-img "),
        ("signal-live", b'<span class="post__time">'),
        ("meridian-today", b"<!-- -->"),
        ("meridian-today", b'id="__DATA__"'),
        ("rheinufer-bote", b"<br><br>"),
        ("rheinufer-bote", b"<font face="),
        ("severnye-vesti", b"</br>"),
    ],
)
def test_templates_are_distinct(name: str, mark: bytes) -> None:
    having = {other for other in NAMES if all(mark in page.body for page in articles(other)[:9])}

    assert having == {name}


def test_markup_of_one_site_is_broken() -> None:
    body = b"".join(page.body for page in articles("severnye-vesti")).lower()
    sound = b"".join(page.body for page in articles("signal-live"))

    for name in (b"p", b"li"):
        opened, closed = (len(re.findall(rb"<%s%s[ >]" % (end, name), body)) for end in (b"", b"/"))
        assert closed < opened
    assert re.search(rb"<b><u>[^<]*</b></u>", body)
    assert re.search(rb" & ", body)
    assert re.search(rb"<div class=\w+>", body)
    assert sound.count(b"<p>") == sound.count(b"</p>")
