"""The entries of live blogs: from JSON-LD, from the page, and which of them are new."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss import Article, Extractor
from scrapy_mss.article import ReadOptions
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.wire import PageRequest
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, Tokens
from scrapy_mss.metadata.live_entries import MAX_ENTRIES, MAX_ENTRY, LiveEntry, live_entries
from scrapy_mss.metadata.parsed_page import ParsedPage
from tests.helpers.timing import FACTOR, grows_linearly
from tests.page_cases import PAGES

URL = "https://www.metrowire.example/live/bridge-closure"
CASE = (PAGES / "live-blog" / "source.html").read_text("utf-8")
WORK = PageWork(Extractor().model, ReadOptions())


def found(source: str) -> list[LiveEntry]:
    """The entries of a page of which all text was kept."""
    tokens = tokenize(source)
    return live_entries(ParsedPage(tokens, URL), tokens.kind > CLOSE)


def blog(**values: object) -> str:
    node = json.dumps({"@type": "LiveBlogPosting", **values}).replace("</", "<\\/")
    return f'<script type="application/ld+json">{node}</script>'


def test_entries_of_a_page_have_a_time_a_headline_and_a_text() -> None:
    entries = Extractor().extract(CASE, URL).entries

    assert [(each.time, each.headline) for each in entries] == [
        ("2024-02-09T09:12:00+00:00", "Eastbound lane reopens"),
        ("2024-02-09T08:26:00+00:00", "Schools stay open"),
        ("2024-02-09T07:05:00+00:00", "Ferry to run every ten minutes"),
        ("2024-02-09T05:30:00+00:00", "Crack found at 4am"),
    ]
    assert entries[1].text.startswith("All schools on the south bank remain open")
    assert entries[1].text.endswith("sent a picture of themselves on it.")


def test_entries_are_the_same_whatever_was_read_of_the_page_before() -> None:
    fresh, spent = (Extractor().extract(CASE, URL) for _ in range(2))
    spent.parsed.tree.visits = 0

    assert spent.entries == fresh.entries


def test_other_pages_have_no_entries() -> None:
    article = CASE.replace("LiveBlogPosting", "NewsArticle")

    assert Extractor().extract(article, URL).entries == []


def test_declared_entries_are_text() -> None:
    body = "<p>It <b>rains</b>.</p><script>run()</script><p>It &amp; all stops &lt;i&gt;now."
    updates = [
        {"@type": "BlogPosting", "headline": "Rain &amp; wind", "articleBody": body},
        {"@id": "#2"},
        {"@type": "BlogPosting", "datePublished": "10:42", "articleBody": "One.\nTwo."},
        {"@type": "BlogPosting", "datePublished": "2024-02-09T05:30:00Z"},
        "no entry",
    ]
    known = {"@id": "#2", "@type": "BlogPosting", "name": "Sun", "dateModified": "2024-02-09"}

    assert found(blog(liveBlogUpdate=updates, about=known)) == [
        LiveEntry("", "Rain & wind", "It rains .\n\nrun()\n\nIt & all stops now."),
        LiveEntry("2024-02-09", "Sun", ""),
        LiveEntry("10:42", "", "One.\n\nTwo."),
    ]


def entry(time: str, text: str, kind: str = "entry") -> str:
    return f'<div class="{kind}"><p><time>{time}</time></p><h3>At {time}</h3><p>{text}</p></div>'


ENTRIES = [f"{entry('11:20', 'The rain has come back.')}", f"{entry('9:10', 'It rains today.')}"]
EXPECTED = [
    LiveEntry("11:20", "At 11:20", "The rain has come back."),
    LiveEntry("9:10", "At 9:10", "It rains today."),
]


@pytest.mark.parametrize(
    "source",
    [
        "".join(ENTRIES),
        "<ul><li><time>11:20</time> Rain<li><time>9:10</time> Sun</ul>" + "".join(ENTRIES),
        "".join(f"<section class=day>{each}</section>" for each in ENTRIES),
        "<section class=day><time>Monday</time></section>" * 2 + "".join(ENTRIES),
        blog(liveBlogUpdate=[{"headline": "At 11:20"}]) + "".join(ENTRIES),
    ],
)
def test_entries_are_what_holds_the_text(source: str) -> None:
    assert found(source) == EXPECTED


@pytest.mark.parametrize("source", ["", entry("9:10", "Alone."), "<time>9:10</time>" * 3])
def test_a_single_container_is_no_entry(source: str) -> None:
    assert found(source) == []


def test_entries_are_bounded() -> None:
    many = blog(liveBlogUpdate=[{"articleBody": "It rains. "}] * (MAX_ENTRIES + 1))
    (long,) = found(blog(liveBlogUpdate=[{"articleBody": "It rains.\n" * 9_000}]))

    assert len(found(many)) == len(found(entry("9:10", "It rains.") * 300)) == MAX_ENTRIES
    assert len(long.text) <= MAX_ENTRY


JSON: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["headline", "articleBody", "datePublished", "@id"]), inner
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_any_declared_entries_are_strings(updates: object) -> None:
    for each in found(blog(liveBlogUpdate=updates)):
        assert all(isinstance(value, str) for value in each)
        assert each.headline or each.text


# Revisions


def read(source: str, before: bytes = b"") -> tuple[Article, bytes]:
    result = WORK.answer(PageRequest(source, URL, emitted=before)).article
    assert result is not None
    assert result.article is not None
    return result.article, result.paragraphs


def test_a_revision_has_the_new_entries() -> None:
    added = (
        '<section class="mw-entry" id="e5"><div class="mw-stamp"><time datetime='
        '"2024-02-09T10:40:00Z">10:40</time></div><h2>Both lanes open</h2><p>The bridge is open '
        "in both directions, and the first bus has crossed it with forty people and a dog on "
        "board.</p></section>"
    )
    later = CASE.replace('<section class="mw-entry"', f'{added}<section class="mw-entry"', 1)

    first, paragraphs = read(CASE)
    same, _ = read(CASE, paragraphs)
    revision, _ = read(later, paragraphs)

    assert len(first.entries) == len(same.entries) == 4
    assert first.new_entries == same.new_entries == []
    assert len(revision.entries) == 5
    assert [each["headline"] for each in revision.new_entries] == ["Both lanes open"]


def test_entries_with_numbered_items_are_read_in_linear_time() -> None:
    items = "".join(f"<li>It rains in district {number}.</li>" for number in range(40))
    pages = [
        tokenize("".join(entry(f"{n}:20", f"<ol>{items}</ol>") for n in range(20 * factor)))
        for factor in (1, FACTOR)
    ]

    def entries(page: Tokens) -> list[LiveEntry]:
        return live_entries(ParsedPage(page, URL), page.kind > CLOSE)

    small, large = (partial(entries, page) for page in pages)

    assert len(large()) == 20 * FACTOR
    assert grows_linearly(small, large)
