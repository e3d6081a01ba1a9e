from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import category

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup.rendering import (
    INVISIBLE,
    _unpaired_raw_text,
    decode_all,
    readable,
    render,
    run_bounds,
    well_formed,
)
from scrapy_mss.markup.tags import TAG_NAMES, VOID_TAGS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, Bools, Tokens
from tests.helpers.effort import examples
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP, marked, shown

# Lists and tables that may be cut, nested and left open.
LISTS = st.lists(
    st.sampled_from(
        "<ul> </ul> <ol> </ol> <li> </li> <table> </table> <tr> </tr> <td> </td> <th> <p> <br> one "
        "two. 3".split()
    ),
    max_size=40,
).map(" ".join)


def rendered(source: str) -> str:
    """The text of all tokens."""
    tokens = tokenize(source)
    return render(tokens, np.ones(len(tokens), np.bool_))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ""),
        ("one", "one"),
        ("one  two\n three\tfour", "one two three four"),
        ("  one, two.  ", "one, two."),
        # An inline tag separates nothing.
        ("one<b> two </b>three", "one two three"),
        ("one<nosuch>two</nosuch>", "onetwo"),
        # A block begins a paragraph.
        ("one<p>two", "one\n\ntwo"),
        ("<p>one</p> \n <p>two</p>", "one\n\ntwo"),
        ("<div>one<div>two</div>three</div>", "one\n\ntwo\n\nthree"),
        ("<ul><li>one<li>two</ul>", "one\n\ntwo"),
        ("one<hr>two", "one\n\ntwo"),
        ("<td>one</td><td>two</td>", "one\n\ntwo"),
        ("one<P CLASS=x>two", "one\n\ntwo"),
        ("one<b><p>two</p></b>", "one\n\ntwo"),
        # A line break breaks the line, two of them the paragraph.
        ("one<br>two", "one\ntwo"),
        ("one <br/> two", "one\ntwo"),
        ("one<br> <b><br></b>two", "one\n\ntwo"),
        ("one<br><br><br><br>two", "one\n\ntwo"),
        ("one<p><br>two", "one\n\ntwo"),
        ("<br>one<br>", "one"),
        # What is not shown separates nothing: comments, declarations, code.
        ("Hello<!-- -->World", "HelloWorld"),
        ("Hello,<!-- --> <!-- -->World", "Hello, World"),
        ("one<script>x</script>two", "onetwo"),
        ("one<style>x</style>, two", "one, two"),
        ("one <![if !IE]> two", "one two"),
        ("one </> two", "one two"),
        ("one <!x", "one"),
        ("one <2 two > one", "one <2 two > one"),
        # Non-breaking blanks are blanks.
        ("one&nbsp; &#160;two", "one two"),
        ("one\xa0two", "one two"),
        ("one<b>&nbsp;</b>two", "one two"),
        ("&nbsp;one&nbsp;", "one"),
        # References.
        ("caf&eacute;s &amp; &lt;b&gt;", "caf\u00e9s & <b>"),
        ("&amp;amp; &amp;eacute;", "&amp; &eacute;"),
        ("AT&T &c. &nosuch; &", "AT&T &c. &nosuch; &"),
        # What no page shows is blank, and does not stay.
        ("a \0 b", "a b"),
        ("\0a\ud800", "a"),
        ("!!!!\0\0!!!!", "!!!! !!!!"),
        ("a\0 \0b", "a b"),
        ("!!!!\0<br>b", "!!!!\nb"),
        ("a\x1b[0mb", "a [0mb"),
    ],
)
def test_rendered_text(source: str, expected: str) -> None:
    assert rendered(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{one} two {three}", "two"),
        ("{one <b>}two{</b> three}", "two"),
        ("{<p>}one</p><p>two{</p>}", "one\n\ntwo"),
        ("<p>{one</p><p>two</p>}", ""),
        ("{<p>one</p>}", ""),
        # What is left out separates as if its tags were there without content.
        ("one {<div>x</div>} two", "one\n\ntwo"),
        ("one {x} two", "one two"),
        ("one{<b>x</b>}two", "onetwo"),
        ("one {<b>x</b>}two", "one two"),
        ("one{<br>x<br>}two", "one\n\ntwo"),
    ],
)
def test_text_of_the_tokens_outside_the_braces(source: str, expected: str) -> None:
    assert render(*marked(source)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # The items of a list.
        ("<ul><li>one</li><li>two</li></ul>three", "- one\n- two\n\nthree"),
        ("zero<ul><li>one<li>two</ul>", "zero\n\n- one\n- two"),
        ("<ul><li><p>one</p></li><li><p>two</p></li></ul>", "- one\n\n- two"),
        ("<ul><li>one<br>more</li><li>two</li></ul>", "- one\nmore\n- two"),
        ("<ul><li></li><li>two</li></ul>three", "- two\n\nthree"),
        ("<ul><li>one</li></ul>two<ul><li>three</ul>", "- one\n\ntwo\n\n- three"),
        # With what is in them.
        ("<ul><li>one<ul><li>two</li></ul></li><li>three</ul>", "- one\n- two\n- three"),
        # What is laid out as a list has several paragraphs, and no marks.
        ("<ul><li><h3>one</h3><p>two</p><li>three</ul>", "one\n\ntwo\n\n- three"),
        # Numbers are those that a browser shows.
        ("<ol start=7><li>one<li>two</ol>", "7. one\n8. two"),
        ("<ol start='12345678901'><li>one</ol>", "1. one"),
        ("<ol><li></li><li>two</li></ol>", "2. two"),
        ("<ol><li>one<ol><li>a<li>b</ol><li>two</ol>", "1. one\n1. a\n2. b\n2. two"),
        ("<ol><li>one<ul><li>a</ul><li>two</ol>", "1. one\n- a\n2. two"),
        ("<ol><li>1</ol><ol><li>one</ol>", "1. 1\n1. one"),
        # No list.
        ("<li>one", "- one"),
        ("one</li></ul><p>two", "one\n\ntwo"),
        ("<li><p></p></li>one", "one"),
        # The rows of a table, with empty cells.
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "1\t2\n3\t4"),
        ("0<table><tr><th><th>1<th>2<tr><th>3<td><td>4</table>5", "0\n\n\t1\t2\n3\t\t4\n\n5"),
        ("<table><caption>0</caption><tr><td>1<td>2<tr><td>3</table>", "0\n\n1\t2\n3"),
        ("<table><tr><td><p>1</p></td><td><b>2</b> x<tr><td>3</table>", "1\t2 x\n3"),
        ("<table><tr><td>1\t\0 1<td>2<tr><td>3</table>", "1 1\t2\n3"),
        # What lays out a page: one row, one column, cells with lines or tables.
        ("<table><tr><td>1<td>2</table>", "1\n\n2"),
        ("<table><tr><td>1<tr><td>2</table>", "1\n\n2"),
        ("<table><tr><td>1<td>2<br>2<tr><td>3</table>", "1\n\n2\n2\n\n3"),
        ("<table><tr><td>1<td><p>2<p>2<tr><td>3</table>", "1\n\n2\n\n2\n\n3"),
        (
            "<table><tr><td>1<td><table><tr><td>a<td>b<tr><td>c</table><tr><td>2<td>3</table>",
            "1\n\na\tb\nc\n\n2\n\n3",
        ),
        ("<td>1<td>2<tr><td>3", "1\n\n2\n\n3"),
        # What nobody sees.
        ("<p>one<p>\u200b<p>two", "one\n\ntwo"),
        ("<p>&#8203;&nbsp;\ufeff</p>one<p>&shy;", "one"),
        ("<ul><li>one<li>\u2060<li>two</ul>", "- one\n- two"),
        ("<table><tr><td>1<td>\u200b<td>2<tr><td>3</table>", "1\t\t2\n3"),
        ("one<b>\u200b</b>two, three <i>\u200d</i>four", "onetwo, three four"),
        # What is in a word stays.
        (
            "<p>\u0645\u06cc\u200c\u0631\u0648\u062f<p>co\u00adoperate",
            "\u0645\u06cc\u200c\u0631\u0648\u062f\n\nco\u00adoperate",
        ),
    ],
)
def test_text_as_it_is_read(source: str, expected: str) -> None:
    tokens = tokenize(source)

    assert readable(tokens, np.ones(len(tokens), np.bool_)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{<ul><li>zero}<li>one{</ul>}", "- one"),
        ("{<ul><li>}one<li>two</ul>", "- one\n- two"),
        ("<ol><li>one{<li>two}<li>three</ol>", "1. one\n3. three"),
        ("<ul>{<li>one</li>}</ul>two", "two"),
        ("<table><tr><td>1{<td>2}<td>3<tr><td>4</table>", "1\t\t3\n4"),
    ],
)
def test_text_as_it_is_read_of_the_tokens_outside_the_braces(source: str, expected: str) -> None:
    assert readable(*marked(source)) == expected


MARK = re.compile(r"^(?:- |\d+\. )", re.MULTILINE)


@given(source=st.one_of(SOUP, TAG_SOUP, LISTS), data=st.data())
@examples(2)
def test_marks_are_all_that_readable_text_has_more(source: str, data: st.DataObject) -> None:
    tokens = tokenize(source)
    kept = any_choice(tokens, data)

    text = readable(tokens, kept)

    without = (MARK.sub("", each).strip(INVISIBLE) for each in (text, render(tokens, kept)))
    ours, all_words = ([word for word in each.split() if word.strip(INVISIBLE)] for each in without)
    assert ours == all_words
    assert "  " not in text
    assert "\n\n\n" not in text
    assert text == text.strip()


def is_visible(letter: str) -> bool:
    return not letter.isspace() and category(letter) not in {"Cc", "Cs"}


def any_choice(tokens: Tokens, data: st.DataObject) -> Bools:
    """Any tokens, mostly in runs."""
    edges = data.draw(st.lists(st.integers(0, len(tokens)), max_size=6))
    edges_before = np.searchsorted(sorted(edges), np.arange(len(tokens)), side="right")
    return np.equal(edges_before % 2, 1)


@given(source=st.one_of(SOUP, TAG_SOUP), data=st.data())
@examples(2)
def test_text_has_every_visible_character_of_the_kept_tokens_in_order(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    kept = any_choice(tokens, data)

    text = render(tokens, kept)

    chosen = np.flatnonzero(kept & ~tokens.is_tag).tolist()
    pieces = [tokens.clean[tokens.clean_start[i] : tokens.clean_end[i]] for i in chosen]
    expected = "".join(filter(is_visible, "".join(decode_all(piece) for piece in pieces)))
    assert "".join(filter(is_visible, text)) == expected


@given(source=st.one_of(SOUP, TAG_SOUP))
@examples(2)
def test_text_is_stripped_has_no_double_blanks_and_encodes(source: str) -> None:
    text = rendered(source)

    assert text == text.strip()
    assert "  " not in text
    assert "\n\n\n" not in text
    assert all(line == line.strip() for line in text.split("\n"))
    assert text.encode().decode() == text


@given(st.lists(st.booleans()))
def test_runs_are_where_values_are_true(values: list[bool]) -> None:
    found = list(zip(*run_bounds(np.array(values, np.bool_)), strict=True))

    assert [i for start, end in found for i in range(start, end)] == [
        i for i, value in enumerate(values) if value
    ]
    assert all(start > end for (_, end), (start, _) in pairwise(found))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("one", "one"),
        ("", ""),
        # A closing tag whose opening tag was cut off gets it back as it was in the page.
        ('{<p class="x">}one</p> two', '<p class="x">one</p> two'),
        ("{<div><p>}one</p> two</div> three", "<div><p>one</p> two</div> three"),
        # An opening tag whose closing tag was cut off gets one.
        ("one <b>two{</b>}", "one <b>two</b>"),
        ("one <b><i>two{ three</i></b>}", "one <b><i>two</i></b>"),
        ("one <nosuch-tag>two{</nosuch-tag>}", "one <nosuch-tag>two</nosuch-tag>"),
        # Raw text is kept whole or not at all: alone, its tags would turn what is next to them into
        # a script or into text.
        ("<p>one</p></script><p>two</p>", "<p>one</p> <p>two</p>"),
        ("one</STYLE >two", "onetwo"),
        ("<p>one</p></textarea><b>two</b>", "<p>one</p> <b>two</b>"),
        ("{<iframe>}one</iframe>two", "one two"),
        ("one<plaintext>two", "one two"),
        ("one <noscript>two</noscript>", "one <noscript>two</noscript>"),
        # Void elements get none.
        ("one<br>two<img src=x>", "one<br>two<img src=x>"),
        ("<p>one<br>{</p>}", "<p>one<br></p>"),
        # Both at once.
        ("{<p>}one</p><p>two{</p>}", "<p>one</p><p>two</p>"),
        ("{<b>}one</b> <i>two{</i>}", "<b>one</b> <i>two</i>"),
        # Comments and blanks inside stay, those around go.
        ("{x <!-- a -->}one<!-- b --> two{<!-- c -->}", "one<!-- b --> two"),
        # What the page never opened is opened, what it never closed is closed.
        ("one</b> two", "<b>one</b> two"),
        ("one <b>two", "one <b>two</b>"),
        ("<ul><li>one<li>two</ul>", "<ul><li>one<li>two</ul>"),
        # Words that only removed tokens separate stay separate, others do not.
        ("one {<div>x</div>}two", "one two"),
        ("one{<script>x</script>}two", "onetwo"),
        ("one{<script>x</script><style>x</style>} two", "one two"),
        ("<p>one{<table>x</table>}</p>", "<p>one </p>"),
        ("{<table>x</table>}one", "one"),
        ("{<p>}one {<div>x</div>}two</p><p>three{</p>}", "<p>one two</p><p>three</p>"),
    ],
)
def test_html_of_the_tokens_outside_the_braces(source: str, expected: str) -> None:
    assert well_formed(*marked(source)) == expected


def unmatched(html: str) -> list[str]:
    """Closing tags without an opening tag, and opening tags that need a closing tag."""
    tokens = tokenize(html)
    single = np.flatnonzero(tokens.is_tag & (tokens.partner < 0)).tolist()
    return [
        shown(tokens)[i]
        for i in single
        if tokens.kind[i] == CLOSE or TAG_NAMES[tokens.tag[i]] not in VOID_TAGS
    ]


@given(source=NESTED, data=st.data())
@examples(2)
def test_html_of_any_part_of_a_well_nested_page_is_well_nested(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))
    at = np.arange(len(tokens))

    html = well_formed(tokens, (at >= start) & (at < end))

    assert unmatched(source) == unmatched(html) == []
    assert tokens.html(start, end) in html
    assert tokenize(html).words() == tokenize(tokens.html(start, end)).words()


@given(source=st.one_of(SOUP, TAG_SOUP), data=st.data())
@examples(2)
def test_html_of_any_choice_of_tokens_has_their_source_in_order(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    kept = any_choice(tokens, data)
    kept &= ~_unpaired_raw_text(tokens, kept)

    html = well_formed(tokens, kept)

    at = 0
    for start, end in zip(*run_bounds(kept), strict=True):
        at = html.index(tokens.html(start, end), at) + len(tokens.html(start, end))
