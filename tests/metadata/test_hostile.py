"""Whatever a page contains, its metadata are valid and read in bounded time."""

from __future__ import annotations

from time import perf_counter
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from scrapy_mss import metadata
from scrapy_mss.metadata import Metadata, dates
from scrapy_mss.metadata.field_sources import FIELD_SOURCES

URL = "https://x.example/2024/03/05/a"
KEYS = sorted({key for source in FIELD_SOURCES for key in source.keys})
TAGS = ["h1", "h2", "p", "a", "time", "div", "span", "title", "meta", "link", "base", "script"]
VALUES = st.sampled_from(
    [
        *("2024-03-05", "5 March 2024", "http://[", "//", "/a", "By Ann Lee", "x", " ", "author"),
        *("byline", "published", "https://schema.org/Article", "canonical", "en-GB", "{", "\ud800"),
        *("application/ld+json", '{"@type": "Article", "author": [{"@id": 1}, null]}', "[" * 999),
    ]
) | st.text(st.characters(exclude_characters="\0"), max_size=12)
ATTRIBUTE_NAMES = """class content datetime href itemprop itemscope itemtype lang name property
    pubdate rel type""".split()
ATTRIBUTES = st.dictionaries(
    st.sampled_from(ATTRIBUTE_NAMES),
    VALUES | st.sampled_from(KEYS),
    max_size=4,
)
ELEMENTS = st.recursive(
    VALUES,
    lambda inner: st.tuples(st.sampled_from(TAGS), ATTRIBUTES, st.lists(inner, max_size=4)),
    max_leaves=20,
)


def to_html(element: object) -> str:
    if isinstance(element, str):
        return element
    assert isinstance(element, tuple)
    tag, attributes, inner = element
    quoted = (f'{name}="{value.replace(chr(34), "&quot;")}"' for name, value in attributes.items())
    return f"<{tag} {' '.join(quoted)}>{''.join(map(to_html, inner))}</{tag}>"


def assert_valid(found: Metadata) -> None:
    for name, value in found.fields().items():
        assert value, name
        assert found.source(name), name
    for text in (found.title, found.description, found.site_name, *found.authors):
        assert text is None or text.encode().decode() == text == " ".join(text.split())
    for moment in (found.published, found.modified):
        assert moment is None or dates.parse(moment) == moment
    for url in (found.canonical_url, found.main_image):
        assert url is None or urlsplit(url).scheme in ("http", "https")


@given(st.lists(ELEMENTS, max_size=6))
def test_any_elements_give_valid_metadata(elements: list[object]) -> None:
    assert_valid(metadata.read_html("".join(map(to_html, elements)), URL))


@given(st.text(max_size=200), st.none() | st.text(max_size=30))
def test_any_text_gives_valid_metadata(source: str, url: str | None) -> None:
    assert_valid(metadata.read_html(source, url))


def meta(name: str, content: str) -> str:
    return f'<meta property="{name}" content="{content}">'


LONG = "a b c " * 20_000
PAGES = {
    "deep": "<div>" * 20_000 + "<h1>Rain falls</h1>" + "<p>x</p>",
    "deep with properties": "<div itemscope itemprop=author class=author>" * 3_000 + "<h1>A b</h1>",
    "many metas": meta("og:title", "Rain falls | x") * 30_000 + "<h1>Rain falls</h1>" * 1_000,
    "many authors": meta("author", "Ann Lee, " * 500) * 2_000,
    "long title": f"<title>{LONG}| {' | ' * 10_000}</title><h1>{LONG}</h1><h1>a b</h1>",
    "long author": meta("author", LONG) + meta("author", "(" * 100_000) + meta("byl", "/" * 99_999),
    "long date": meta("date", "1" * 200_000) + meta("article:published", "Jan " * 50_000),
    "many times": "<h1>A b</h1>" + "<time class=x>5 May 2024 x</time>" * 20_000,
    "many lines": "<h1>A b</h1>" + "<p class=author>By x</p>" * 20_000,
    "many links": "<a rel=author href=/author/x>x</a>" * 20_000,
    "spaces": "<h1>a b</h1><p>" + " " * 500_000 + "<p>By" + "\n" * 500_000,
    "scripts": "<script>" + '"published" : "' * 60_000 + "</script>",
}


@pytest.mark.parametrize("source", PAGES.values(), ids=PAGES.keys())
def test_hostile_pages_are_read_in_bounded_time(source: str) -> None:
    root = etree.fromstring(source, etree.HTMLParser(huge_tree=True))
    start = perf_counter()

    assert_valid(metadata.read(root, URL))

    assert perf_counter() - start < 5
