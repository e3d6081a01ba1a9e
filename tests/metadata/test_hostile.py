"""Whatever a page contains, its metadata are valid and read in bounded time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss import metadata
from scrapy_mss.items import Article
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.metadata import Metadata, dates
from scrapy_mss.metadata.fields import FIELDS
from tests.helpers.timing import FACTOR, grows_linearly

URL = "https://x.example/2024/03/05/a"
KEYS = sorted({key for field in FIELDS.values() for source in field.sources for key in source.keys})
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
    st.sampled_from(ATTRIBUTE_NAMES), VALUES | st.sampled_from(KEYS), max_size=4
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
    assert found.values.keys() - {"breadcrumbs"} == found.sources.keys()
    assert all(value or value is False for value in found.values.values())
    article = Article(URL, **found.values)
    for text in (article.title, article.description, article.site_name, *article.authors):
        assert text is None or text.encode().decode() == text == " ".join(text.split())
    for moment in (article.published, article.modified):
        assert moment is None or dates.parse(moment) == moment
    for url in (article.canonical_url, article.main_image):
        assert url is None or urlsplit(url).scheme in ("http", "https")


@given(st.lists(ELEMENTS | st.text(max_size=200), max_size=6), st.none() | st.text() | st.just(URL))
def test_any_elements_give_valid_metadata(elements: list[object], url: str | None) -> None:
    assert_valid(metadata.read_html("".join(map(to_html, elements)), url))


def meta(name: str, content: str) -> str:
    return f'<meta property="{name}" content="{content}">'


LONG = "a b c "
SMALL = 5  # what the lengths of the pages are multiplied by; at 20 they have a megabyte and less
PAGES: dict[str, Callable[[int], str]] = {
    "deep": lambda n: "<div>" * (1_000 * n) + "<h1>Rain falls</h1>" + "<p>x</p>",
    "deep with properties": lambda n: (
        "<div itemscope itemprop=author class=author>" * (150 * n) + "<h1>A b</h1>"
    ),
    "many metas": lambda n: (
        meta("og:title", "Rain falls | x") * (1_500 * n) + "<h1>Rain falls</h1>" * (50 * n)
    ),
    "many authors": lambda n: meta("author", "Ann Lee, " * 500) * (100 * n),
    "long title": lambda n: (
        f"<title>{LONG * (1_000 * n)}| {' | ' * (500 * n)}</title><h1>{LONG * (1_000 * n)}</h1>"
        "<h1>a b</h1>"
    ),
    "long author": lambda n: meta("author", LONG * (1_000 * n)) + meta("byl", "/(" * (5_000 * n)),
    "long date": lambda n: meta("date", "1" * (10_000 * n)) + meta("pubdate", "Jan " * (2_500 * n)),
    "many times": lambda n: "<h1>A b</h1>" + "<time class=x>5 May 2024 x</time>" * (1_000 * n),
    "many lines": lambda n: "<h1>A b</h1>" + "<p class=author>By x</p>" * (1_000 * n),
    "many links": lambda n: "<a rel=author href=/author/x>x</a>" * (1_000 * n),
    "spaces": lambda n: "<h1>a b</h1><p>" + " " * (25_000 * n) + "<p>By" + "\n" * (25_000 * n),
    "raw text in raw text": lambda n: "<title><xmp>" * (500 * n) + "</xmp></title>" * (500 * n),
    "persons around stray closing tags": lambda n: (
        "<div itemprop=author>" * 100 + "</x>" * (2_000 * n) + "</div>" * 100
    ),
    "siblings that are closing tags": lambda n: "</x>" * (2_000 * n) + "<h1>A b</h1>" * 20,
    "scripts": lambda n: "<script>" + '"published" : "' * (3_000 * n) + "</script>",
}


@pytest.mark.parametrize("source", PAGES.values(), ids=PAGES.keys())
def test_hostile_pages_are_read_in_linear_time(source: Callable[[int], str]) -> None:
    small, large = (tokenize(source(n)) for n in (SMALL, FACTOR * SMALL))

    assert_valid(metadata.read_tokens(large, URL))
    assert grows_linearly(
        partial(metadata.read_tokens, small, URL), partial(metadata.read_tokens, large, URL)
    )
