"""A data table is kept or dropped as a whole, in the text, the HTML and the Markdown."""

from __future__ import annotations

import re
from itertools import count

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from parsel import Selector

from scrapy_mss import Extractor
from scrapy_mss.markup.rendering import TABLE, are_data, tables_with_rows
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Indices, Tokens, element_starts
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from tests.helpers.classifiers import counts_of, random_classifier
from tests.helpers.compiled import both
from tests.helpers.effort import examples

Rows = list[list[str]]
PARSER = MarkdownIt("commonmark").enable("table")
COUNTS = counts_of([0])

# Names that no two cells share, alone and among words; a mark that is no word; an empty cell.
CELLS = st.sampled_from(["%s", "%s and %s", "price of %s", "5, %s", "--", ""])
TEXTS = st.sampled_from(["<p>One line of text, and more of it. </p>", "<p>Menu</p>", "<hr>", "x"])
NAME = re.compile(r"n\d{4}")


def written(rows: Rows, *, has_head: bool, is_closed: bool) -> str:
    """The HTML of a table, with a row of headers or without, its cells closed or left open."""
    html = ""
    for number, row in enumerate(rows):
        name = "th" if has_head and not number else "td"
        end = f"</{name}>" if is_closed else ""
        html += "<tr>" + "".join(f"<{name}>{cell}{end}" for cell in row)
    return f"<table>{html}</table>"


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, list[Rows]]:
    """A page of paragraphs and tables, and the cells of these."""
    names = (f"n{number}" for number in count(1000))
    html, tables = "", list[Rows]()
    for _ in range(draw(st.integers(1, 3))):
        width = draw(st.integers(2, 4))
        row = st.lists(CELLS, min_size=width, max_size=width)
        forms = draw(st.lists(row, min_size=2, max_size=5))
        tables.append([[re.sub("%s", lambda _: next(names), cell) for cell in r] for r in forms])
        html += "".join(draw(st.lists(TEXTS, max_size=3)))
        html += written(tables[-1], has_head=draw(st.booleans()), is_closed=draw(st.booleans()))
    return html + "".join(draw(st.lists(TEXTS, max_size=3))), tables


def data_tables(tokens: Tokens) -> Indices:
    """The opening tags of the tables that have data."""
    tables = tables_with_rows(tokens)
    every = np.arange(len(tables[0]))
    return tables[0][are_data(tokens, tables, every)] if len(every) else tables[0]


def rows_of(html: str) -> list[Rows]:
    """The cells of each table of *html*."""
    return [
        [
            [" ".join(cell.xpath("string()").get("").split()) for cell in row.css("td, th")]
            for row in table.css("tr")
        ]
        for table in Selector(html or "<p>").css("table")
    ]


@given(pages(), st.integers(0, 19))
@examples(2)
def test_a_data_table_is_kept_or_dropped_as_a_whole(
    page: tuple[str, list[Rows]], seed: int
) -> None:
    html, tables = page
    extractor = Extractor.of(Model(DEFAULT, random_classifier(seed), COUNTS))

    found = extractor.extract(html)

    is_data = np.isin(
        np.flatnonzero(element_starts(found.tokens, TABLE)), data_tables(found.tokens)
    )
    lines = {line.strip("\t") for line in found.text.split("\n")}
    in_html, in_markdown = rows_of(found.html), rows_of(PARSER.render(found.markdown))
    for rows in (rows for rows, holds in zip(tables, is_data.tolist(), strict=True) if holds):
        names = set(NAME.findall(str(rows)))
        if names & set(NAME.findall(found.text + found.html + found.markdown)):
            assert {"\t".join(row).strip("\t") for row in rows} <= lines | {""}
            assert rows in in_html
            assert rows in in_markdown


@pytest.mark.parametrize(
    ("table", "n_tables"),
    [
        ("<tr><td>one<td>1<tr><td>two<td>2", 1),
        ("<tr><td>one<td><a>two</a><tr><td>3<td>4", 1),
        # Links to other pages; notes beside their marks; an article with a column beside it.
        ("<tr><td>1<td><a>one</a><tr><td>2<td><a>two</a>", 0),
        (f"<tr><td>*<td>{'one ' * 50}<tr><td>**<td>two", 0),
        ("<tr><td>Menu<td><h1>One</h1><p>Two.</p><tr><td>3<td>4", 0),
    ],
)
def test_tables_that_lay_out_have_no_data(table: str, n_tables: int) -> None:
    assert len(data_tables(tokenize(f"<p>x<table>{table}</table>y"))) == n_tables


TAGS = "table /table tr td th /td caption /caption a /a br p /p div /div b".split()
PIECES = st.sampled_from([*(f"<{name}>" for name in TAGS), "one ", ". ", "two " * 45])
GRID = "<tr><td>1<td>one<tr><td>2<td>two"


@given(st.lists(PIECES | st.sampled_from([f"<table>{GRID}", f"{GRID}</table>"])))
@examples(6)
@example(["<table><tr><td>1<td>one<tr><td>2<td>two<table><tr><td>", "<table>", GRID])
def test_both_ways_find_the_same_tables(pieces: list[str]) -> None:
    tokens = tokenize("".join(pieces))

    one, other = both(lambda: [each.tolist() for each in tables_with_rows(tokens)])

    assert one == other
