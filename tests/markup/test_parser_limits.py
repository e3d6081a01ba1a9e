"""A tag keeps so many attributes, and nothing around a tag hides it from that limit."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from scrapy_mss.markup.parser_limits import (
    MAX_ATTRIBUTES,
    attributes,
    long_tags,
    without_surplus_attributes,
)
from scrapy_mss.metadata import read_html
from tests.helpers.news_pages import news_page
from tests.helpers.timing import FACTOR, grows_linearly


def tag(n_attributes: int, form: str = "a%d='>'") -> str:
    return f"<p {' '.join(form % n for n in range(n_attributes))}>one</p>"


@pytest.mark.parametrize("form", ["a%d", "a%d=1", "a%d='>'", 'a%d = ">"'])
def test_a_tag_keeps_its_first_attributes(form: str) -> None:
    source = without_surplus_attributes(tag(1000, form))

    element = etree.fromstring(source, etree.HTMLParser())[0][0]
    assert list(element.attrib) == [f"a{n}" for n in range(MAX_ATTRIBUTES)]
    assert element.text == "one"


@pytest.mark.parametrize("before", ["<title-bar>", "<scripted>", "<Styles>"])
def test_a_tag_counts_after_one_whose_name_begins_as_that_of_raw_text(before: str) -> None:
    assert len(without_surplus_attributes(before + tag(1000))) < len(
        before + tag(MAX_ATTRIBUTES + 1)
    )


@pytest.mark.parametrize(
    "source",
    [
        news_page(0).html,
        tag(MAX_ATTRIBUTES),
        "<p title='" + "word " * 5000 + "'>one",
        f"<!-- {tag(1000)} -->",
        f"<script>{tag(1000)}</script>",
        "<p>one",
    ],
)
def test_other_sources_are_left_alone(source: str) -> None:
    assert without_surplus_attributes(source) == source


def test_metadata_of_a_tag_of_attributes_take_linear_time() -> None:
    small, large = (partial(read_html, tag(n, "a%d")) for n in (5000, FACTOR * 5000))
    assert grows_linearly(small, large)


CROWDED = " ".join(f"a{n}" for n in range(MAX_ATTRIBUTES + 20))
PIECES = """
> ' " = / <!-- --> --!> <!--> - <a <b c=' </b <? <!x </> </
<script> <script/> <script </script> </script <style> </style> <style/> <title> </title> <textarea>
</textarea> <xmp> </xmp> <SCRIPT> </Script> <noscript> </noscript> <svg> <iframe> </iframe>
""".split()
SOURCES = st.lists(st.sampled_from([*PIECES, f"<p {CROWDED}>", f" {CROWDED} "]), max_size=10)

hides = pytest.mark.skipif(
    etree.LIBXML_VERSION < (2, 14), reason="earlier versions do not read pages as HTML's standard"
)


@hides
@given(SOURCES.map("".join))
@example(f'<p b="<!--" {CROWDED}>')
@example(f"<p b='<script>' {CROWDED}>")
@example(f"<title><a b='</title><p {CROWDED}>")
@example(f"<textarea><a b='</textarea><p {CROWDED}>")
@example(f"<!-- --!><p {CROWDED}>-->")
@example(f"<p =' {CROWDED}>")
@example(f"<!x <b c='><p {CROWDED} '>")
@example(f"<style/><p {CROWDED}></style>")
@example(f"<script src=x/><a b=' </script><p {CROWDED} '>")
@example(f"<script><!--<script></script> <a b=' </script><p {CROWDED} '>")
@example(f"<p a='> <b c=' > <p {CROWDED} '>")
def test_the_parser_finds_no_more_attributes_than_the_limit(source: str) -> None:
    tree = etree.HTML(f"<p>{without_surplus_attributes(source)}")

    assert all(len(element.attrib) <= MAX_ATTRIBUTES for element in tree.iter("*"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p class=one title='a > b' hidden>", ["class", "title", "hidden"]),
        ("<p a=b/c d = 'e'f/g>", ["a", "d", "f", "g"]),
        ("<p =' x>", ["='", "x"]),
        ("</p lang=en>", ["lang"]),
    ],
)
def test_attributes_begin_where_their_names_do(source: str, expected: list[str]) -> None:
    (tag,) = long_tags(source, 1)

    assert all(
        source.startswith(name, start)
        for name, start in zip(expected, attributes(source, tag), strict=True)
    )


@pytest.mark.parametrize(
    "source",
    ["<!-- <p a> -->", "<script><p a></script", "<!doctype html>", "<title><p a></title", "a < b"],
)
def test_what_is_inside_comments_and_raw_text_is_no_tag(source: str) -> None:
    found = [source[start:end] for start, end in long_tags(source, 1)]

    assert [tag for tag in found if tag.startswith("p")] == []
