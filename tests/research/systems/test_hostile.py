"""Pages that nobody means well with: every shape of algorithm answers, none is quadratic.

Cost is processor time, as the ratio of a page of twice the size to the page. A ratio that is too
high is measured again, so that only what is always slow fails; what is quadratic comes to four.
"""

from __future__ import annotations

import random
from functools import cache

import pytest

from research.datasets.pages import Example
from research.systems import create
from research.systems.base import SiteExtractor, TextExtractor, Trainable
from tests.helpers.news_pages import news_page

# One system for each shape of algorithm: what is behind the tokenizer differs in these alone.
SHAPES = {
    "blocks, counts and a network": "mss",
    "features of tokens and one span": "mss-paper",
    "pages of a site, again and again": "mss-selftrained",
    "one span, nothing learned": "simple-mss",
    "windows of tokens": "dsc",
    "a blur of tokens": "ccb",
    "blocks one by one": "lqf",
    "the tree of elements": "lsi",
    "clusters of blocks": "kfe",
    "pages of a site, compared": "largest-pagelet",
    "blocks and learned thresholds": "pso",
    "lines, smoothed and clustered": "cetr",
    "lines in a mixture": "ttr-em",
}

PAGES: dict[str, str] = {
    "empty": "",
    "white space": " \n\t" * 1_000,
    "no tags": "one two three. " * 1_000,
    "one long line": "<p>one two <b>three</b>. " * 5_000,
    "one long word": "a" * 200_000,
    "unclosed boxes": "<div>" * 20_000,
    "nested boxes around text": "<div>" * 3_000 + "one two" + "</div>" * 3_000,
    "unmatched closing tags": "</div></p></td>" * 3_000 + "one two",
    "NUL": "<p>on\0e \0two</p>\0" + "\0" * 1_000,
    "halves of surrogate pairs": "<p>one \ud800 two\udfff</p>" * 10,
    "random bytes": random.Random(0).randbytes(50_000).decode("latin-1"),  # noqa: S311
    "scripts without end": "<p>one two</p>" + "<script " * 50_000,
    "comments without end": "<p>one two</p>" + "<!--" * 50_000,
    "tags without end": "<p>one two</p>" + "<a <" * 5_000,
    "only line ends": "\r\n" * 20_000,
    "empty lines and tags": "<br>\n" * 5_000,
    "attributes": "<p " + "class=a " * 20_000 + ">one two</p>",
    "references without end": "&#&amp&" * 5_000,
}


@cache
def system_of(name: str) -> TextExtractor:
    """The system, with two pages learned where it learns."""
    system = create(name)
    if isinstance(system, Trainable):
        pages = [news_page(number, paragraphs=3) for number in range(2)]
        system.fit([Example(page.html, page.text, f"{n}.example") for n, page in enumerate(pages)])
    return system


@pytest.mark.parametrize("name", SHAPES.values())
def test_every_page_is_answered_with_a_text(name: str) -> None:
    system = system_of(name)

    for page, source in PAGES.items():
        text = system.extract(source)
        assert isinstance(text, str), page
        assert len(text) <= 2 * len(source), page


def test_a_site_of_such_pages_is_answered_page_by_page() -> None:
    made = map(system_of, SHAPES.values())
    systems = [system for system in made if isinstance(system, SiteExtractor)]
    assert systems
    pages = [*PAGES.values(), PAGES["no tags"]]

    for system in systems:
        assert [type(text) for text in system.extract_site(pages)] == [str] * len(pages)
