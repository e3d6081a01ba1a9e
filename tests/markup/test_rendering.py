from __future__ import annotations

from unicodedata import category

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.labels import span_labels
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import decode_all, tokenize
from tests.helpers.effort import examples
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP


def rendered(source: str) -> str:
    """The text of all tokens."""
    tokens = tokenize(source)
    return render(tokens, np.ones(len(tokens), np.bool_))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ""),
        ("<p></p>", ""),
        ("one", "one"),
        ("one  two\n three\tfour", "one two three four"),
        ("  one, two.  ", "one, two."),
        # An inline tag parts nothing.
        ("<b>o</b>ne", "one"),
        ("one<b>two</b>", "onetwo"),
        ("one <b>two</b> three", "one two three"),
        ("one<b> two </b>three", "one two three"),
        ("one <b> </b> two", "one two"),
        ("one<nosuch>two</nosuch>", "onetwo"),
        ("(<a>one</a>),", "(one),"),
        # A block begins a paragraph.
        ("one<p>two", "one\n\ntwo"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<p>one</p> \n <p>two</p>", "one\n\ntwo"),
        ("<div>one<div>two</div>three</div>", "one\n\ntwo\n\nthree"),
        ("<ul><li>one<li>two</ul>", "one\n\ntwo"),
        ("<h1>one</h1>two", "one\n\ntwo"),
        ("one<hr>two", "one\n\ntwo"),
        ("<td>one</td><td>two</td>", "one\n\ntwo"),
        ("one<P CLASS=x>two", "one\n\ntwo"),
        ("one<b><p>two</p></b>", "one\n\ntwo"),
        # A line break breaks the line, two of them the paragraph.
        ("one<br>two", "one\ntwo"),
        ("one <br/> two", "one\ntwo"),
        ("one<br><br>two", "one\n\ntwo"),
        ("one<br> <b><br></b>two", "one\n\ntwo"),
        ("one<br><br><br><br>two", "one\n\ntwo"),
        ("one<p><br>two", "one\n\ntwo"),
        ("<br>one<br>", "one"),
        # What is not shown parts nothing: comments, declarations, code.
        ("Hello<!-- -->World", "HelloWorld"),
        ("Hello,<!-- --> <!-- -->World", "Hello, World"),
        ("one<script>x</script>two", "onetwo"),
        ("one <script>x</script> two", "one two"),
        ("one<style>x</style>, two", "one, two"),
        ("one <![if !IE]> two", "one two"),
        ("one <?php echo 1 ?> two", "one two"),
        ("one </> two", "one two"),
        ("one <!x", "one"),
        ("one <2 two > one", "one <2 two > one"),
        # Non-breaking blanks are blanks.
        ("one&nbsp;two", "one two"),
        ("one&nbsp; &#160;two", "one two"),
        ("one\xa0two", "one two"),
        ("one<b>&nbsp;</b>two", "one two"),
        ("&nbsp;one&nbsp;", "one"),
        # References.
        ("caf&eacute;s &amp; &lt;b&gt;", "caf\u00e9s & <b>"),
        ("&ldquo;one&rdquo;&hellip;", "\u201cone\u201d\u2026"),
        ("&amp;amp; &amp;eacute;", "&amp; &eacute;"),
        ("AT&T &c. &nosuch; &", "AT&T &c. &nosuch; &"),
        ("&CounterClockwiseContourIntegral;", "\u2233"),
        ("x&" + "a" * 50 + ";y", "x&" + "a" * 50 + ";y"),
        ("x&#" + "1" * 5000 + ";y", "x\ufffdy"),
        ("&#0;&#xd800;&#1114112;", "\ufffd\ufffd\ufffd"),
        # What no page shows is blank, and does not stay.
        ("a\0b", "a b"),
        ("a \0 b", "a b"),
        ("\0a\ud800", "a"),
        ("!!!!\0\0!!!!", "!!!! !!!!"),
        ("a\0 \0b", "a b"),
        ("!!!!\0<br>b", "!!!!\nb"),
        ("a\x1b[0mb", "a [0mb"),
        ("\ud83d", ""),
        # Text of any script stays as it is.
        ("\u4e2d\u6587\u3002", "\u4e2d\u6587\u3002"),
        (
            "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643\u061f",
            "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643\u061f",
        ),
        ("e\u0301t\u00e9 \U0001f600", "e\u0301t\u00e9 \U0001f600"),
    ],
)
def test_rendered_text(source: str, expected: str) -> None:
    assert rendered(source) == expected


@pytest.mark.parametrize(
    ("source", "first", "last", "expected"),
    [
        ("one two three", 1, 2, "two"),
        ("one <b>two</b> three", 2, 3, "two"),
        ("<p>one</p><p>two</p>", 1, 5, "one\n\ntwo"),
        ("<p>one</p><p>two</p>", 0, 0, ""),
        ("<p>one</p><p>two</p>", 0, 1, ""),
    ],
)
def test_only_kept_tokens_are_rendered(source: str, first: int, last: int, expected: str) -> None:
    tokens = tokenize(source)

    assert render(tokens, span_labels(len(tokens), first, last)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("one <div>x</div> two", "one\n\ntwo"),
        ("one x two", "one two"),
        ("one<b>x</b>two", "onetwo"),
        ("one <b>x</b>two", "one two"),
        ("one<br>x<br>two", "one\n\ntwo"),
    ],
)
def test_what_is_left_out_parts_as_if_it_stood_there_empty(source: str, expected: str) -> None:
    tokens = tokenize(source)
    kept = np.array([word in {"one", "two"} for word in tokens.words()], np.bool_)
    words = np.flatnonzero(tokens.is_word)

    assert render(tokens, np.isin(np.arange(len(tokens)), words[kept])) == expected


def shows(letter: str) -> bool:
    return not letter.isspace() and category(letter) not in {"Cc", "Cs"}


@given(source=st.one_of(SOUP, TAG_SOUP), data=st.data())
@examples(2)
def test_all_that_is_shown_of_the_kept_tokens_is_in_the_text_in_order(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))

    text = render(tokens, span_labels(len(tokens), start, end))

    chosen = [i for i in range(start, end) if not tokens.is_tag[i]]
    pieces = [tokens.clean[tokens.clean_start[i] : tokens.clean_end[i]] for i in chosen]
    expected = "".join(filter(shows, "".join(decode_all(piece) for piece in pieces)))
    assert "".join(filter(shows, text)) == expected


@given(source=NESTED)
def test_words_of_a_page_are_words_of_its_text(source: str) -> None:
    words = tokenize(source.replace("><", "> <")).words()

    assert tokenize(rendered(source.replace("><", "> <"))).words() == words


@given(source=st.one_of(SOUP, TAG_SOUP))
@examples(2)
def test_text_has_no_edges_no_double_blanks_and_encodes(source: str) -> None:
    text = rendered(source)

    assert text == text.strip()
    assert "  " not in text
    assert "\n\n\n" not in text
    assert all(line == line.strip() for line in text.split("\n"))
    assert text.encode().decode() == text
