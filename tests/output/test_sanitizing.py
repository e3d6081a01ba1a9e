"""HTML that may be shown: what stays, what goes, where links lead, and what that costs.

What a browser makes of it is in test_browser.py; here lxml reads it, which is neither the parser
that nh3 uses nor ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import unescape

import lxml.html
import nh3
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss import Extractor
from scrapy_mss.article import article_of_labels
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.output.sanitizing import (
    ALLOWED,
    ATTRIBUTES,
    EVERYWHERE,
    LINK_REL,
    MAX_DEPTH,
    SCHEMES,
    TAGS,
    address_value,
    base_url,
    rebuilt,
    sanitized,
)
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.labeller import label
from tests.helpers.effort import examples
from tests.helpers.html_payloads import OWN, Payload, payloads
from tests.helpers.timing import FACTOR, grows_linearly
from tests.page_cases import PageCase, read_cases

URL = "https://news.example/2024/story.html"
CASES = read_cases()
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
SHOWN_SCHEMES = ("http://", "https://", "mailto:", "data:image/")

PIECES = (
    "<p> </p> <b> </b> <div> </div> <li> </li> <ul> </ul> <table> </table> <tr> <td> </td> <h2> "
    "</h2> <br> <a/href=/x> </a> <textarea> </textarea> </script> <svg> </svg> <pre> </pre> "
    "<caption> <col> <dd> <dt> <form> </form> <!--x--> <!x> <details> <img/src=y> < & one two three"
).split()
RAGGED = re.findall(r"<[^<>]*>?|[^<>]+", " ".join(each.markup for each in OWN)[:20_000])
MARKUP = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)


def safe(source: str, url: str = URL) -> str:
    """The whole of *source*, sanitized."""
    tokens = tokenize(source)
    return sanitized(tokens, np.ones(len(tokens), np.bool_), url)


def words(html: str) -> list[str]:
    tokens = tokenize(html)
    return render(tokens, np.ones(len(tokens), np.bool_)).split()


def disallowed(html: str) -> list[str]:
    """What is in *html* and on no list."""
    tree = lxml.html.fragment_fromstring(html, create_parent="main")
    found = []
    for element in tree.iter():
        if not isinstance(element.tag, str) or element.tag not in TAGS:
            found.append(str(element.tag))
            continue
        allowed = ATTRIBUTES[element.tag] | EVERYWHERE | ({"rel"} if element.tag == "a" else set())
        found += [name for name in element.attrib if name not in allowed]
        addresses = (element.get("href"), element.get("src"))
        found += [each for each in addresses if each and not each.startswith(SHOWN_SCHEMES)]
    return found


def test_no_element_has_two_rows() -> None:
    names = [name for row in ALLOWED for name in row.elements.split()]

    assert sorted(names) == sorted(TAGS)
    assert all(row.why for row in ALLOWED)


@pytest.mark.parametrize("payload", payloads(), ids=lambda payload: payload.name)
def test_only_allowed_markup_is_left(payload: Payload) -> None:
    assert disallowed(safe(payload.markup)) == []
    assert disallowed(safe(f"<p>The baker said {payload.markup} and meant it.</p>", "")) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p class=x id=y style=z>one</p>", "<p>one</p>"),
        ("<P LANG=de DIR='rtl'>one</P>", '<p lang="de" dir="rtl">one</p>'),
        ("<img title alt>", '<img title="" alt="">'),
        ("<ol start=3 type=a><li value=5>one</ol>", '<ol start="3"><li value="5">one</li></ol>'),
        ("1 < 2 & 3 &lt;b&gt;", "1 &lt; 2 &amp; 3 &lt;b&gt;"),
        ("<p>one <!-- a --> two<!x>three", "<p>one  two three</p>"),
        (
            "<pre>one\n  two <b>three</b>\n  four</pre>",
            "<pre>one\n  two <b>three</b>\n  four</pre>",
        ),
        # Elements that are not shown: what is in them is, in a block where it was in one.
        ("<form>one</form>two", "<div>one</div>two"),
        ("<font color=red>one</font>", "one"),
        ("<noscript><b>one</b></noscript>", "<div><b>one</b></div>"),
        ("one<script>two</script><style>three</style>", "one"),
        # Badly nested: each element ends where it has to.
        ("<p>one<div>two</div>", "<p>one</p><div>two</div>"),
        ("<p><b>one<p>two</b>", "<p><b>one</b></p><p>two</p>"),
        ("<dl><dt>one<dd>two</dl>", "<dl><dt>one</dt><dd>two</dd></dl>"),
        ("<b>one<i>two</b>three</i>", "<b>onetwo</b>three"),
        ("<section>one<section>two", "<p>one</p><p>two</p>"),
        ("one</div>two</b>three", "one twothree"),
        # Tables: their parts outside of one are blocks, and text outside of a cell ends one.
        (
            "<table><tr><td colspan=2>one<td>two</table>",
            '<table><tbody><tr><td colspan="2">one</td><td>two</td></tr></tbody></table>',
        ),
        (
            "<table><td>one<tr>two<td>three</table>",
            "<table><tbody><tr><td>one</td></tr><tr></tr></tbody></table>two<p>three </p>",
        ),
        ("<tr><td>one</td><td>two</td></tr>", "<div><div>one</div><div>two</div></div>"),
        ("<table>one<tr><td>two</td></tr></table>", "<table></table>one<div><div>two</div></div> "),
        # What no page shows.
        ("<img alt='one\ud800&#xd800;\x07two'>", '<img alt="one \ufffd two">'),
        ("one\x1b]0;two&#27;[31m&#x9b;\x00\ud800", "one ]0;two[31m\u203a"),
    ],
)
def test_markup_is_rebuilt(source: str, expected: str) -> None:
    assert safe(source) == expected


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("https://a.example/x?y=1&amp;z", "https://a.example/x?y=1&amp;z"),
        ("/x", "https://news.example/x"),
        ("other.html", "https://news.example/2024/other.html"),
        ("?page=2", "https://news.example/2024/story.html?page=2"),
        ("#note", "https://news.example/2024/story.html#note"),
        ("/x?a=1&section=2&copy=3", "https://news.example/x?a=1&amp;section=2&amp;copy=3"),
        ("//a.example/x", "https://a.example/x"),
        ("\\\\a.example/x", "https://a.example/x"),
        ("mailto:desk@news.example", "mailto:desk@news.example"),
        # Line ends and tabs are left out, as all readers do.
        ("ht&NewLine;tps://a.example/b", "https://a.example/b"),
        ("https:/&#9;/a.example/&#10;b", "https://a.example/b"),
        ("javascript:x()", None),
        ("jAvA&#9;sCrIpT&colon;x()", None),
        ("data:text/html,x", None),
        (" " * 200 + "data:text/html,x", None),
        (PIXEL, None),
        ("blob:https://news.example/1", None),
        ("file:///etc/passwd", None),
        ("tel:123", None),
        ("//[", None),
        ("", None),
    ],
)
def test_links_are_absolute_or_gone(href: str, expected: str | None) -> None:
    attribute = "" if expected is None else f' href="{expected}"'

    assert safe(f'<a href="{href}">x</a>') == f'<a{attribute} rel="noopener noreferrer">x</a>'


@pytest.mark.parametrize(
    ("src", "expected"),
    [
        ("/a.jpg", "https://news.example/a.jpg"),
        (PIXEL, PIXEL),
        ("DATA:image/PNG;base64,AA==", "DATA:image/PNG;base64,AA=="),
        ("data:image/svg+xml;base64,AA==", None),
        ("data:image/gif,<script>", None),
        ("data:text/html,x", None),
        ("javascript:x()", None),
        ("", None),
    ],
)
def test_images_are_absolute_or_pictures_in_the_page(src: str, expected: str | None) -> None:
    attribute = "" if expected is None else f' src="{expected}"'

    assert safe(f"<img src='{src}'>") == f"<img{attribute}>"


@pytest.mark.parametrize(
    ("base", "url", "expected"),
    [
        ("", URL, URL),
        ("", "", ""),
        ("<base target=_top>", URL, URL),
        ("<base href=/en/>", URL, "https://news.example/en/"),
        ("<BASE HREF='https://cdn.example/x/'>", URL, "https://cdn.example/x/"),
        ("<base href=https://cdn.example/x/>", "", "https://cdn.example/x/"),
        ("<base href='/a?b&amp;c'><base href=/d>", URL, "https://news.example/a?b&c"),
        ("<base href=javascript:x>", URL, URL),
        ("<base href=data:text/html,x>", URL, URL),
        ("<base href='//['>", URL, URL),
        ("<!-- <base href=/en/> -->", URL, URL),
        ("", "page.html", ""),
        ("", "file:///page.html", ""),
        ("", " HTTPS://news.example/Page ", "https://news.example/Page"),
    ],
)
def test_relative_links_begin_with_the_base_or_the_address(
    base: str, url: str, expected: str
) -> None:
    assert base_url(tokenize(f"{base}<p>one"), url) == expected


@pytest.mark.parametrize("url", ["http://a b/", "http://a:99999/", "http://%/", "https://"])
def test_an_invalid_address_costs_only_relative_links(url: str) -> None:
    html = safe("<p><a href=/x>one</a> <a href=https://a.example/>two</a>", url)

    assert "https://a.example/" in html
    assert disallowed(html) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_html_has_the_words_of_the_text(case: PageCase) -> None:
    extraction = Extractor().extract(case.source, case.url or "")

    assert words(extraction.html) == render(extraction.tokens, extraction.kept).split()
    assert disallowed(extraction.html) == []


@pytest.mark.parametrize("url", [URL, "https://news.example/\ud800"])
@given(source=st.lists(st.sampled_from([*PIECES, *RAGGED]), max_size=30).map("".join))
@examples(2)
def test_any_page_is_sanitized_and_keeps_its_characters(url: str, source: str) -> None:
    html = safe(source, url)

    assert disallowed(html) == []
    assert "".join(words(html)) == "".join(words(source))


@pytest.mark.parametrize(
    "source", ["a &<x-y>eacute; b", "a &no<x-y>t; b", "a &not<x-y>in; b", "&#<x-y>38; b", "&<x-y>b"]
)
def test_words_on_both_sides_of_a_dropped_tag_make_no_reference(source: str) -> None:
    tokens = tokenize(source)

    shown = " ".join(lxml.html.fromstring(safe(source)).text_content().split())

    assert shown == render(tokens, np.ones(len(tokens), np.bool_))


@given(source=MARKUP, data=st.data())
@examples(2)
def test_any_part_of_any_markup_is_sanitized_once_and_for_all(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    size = len(tokens)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)

    html = sanitized(tokens, kept, URL)

    assert disallowed(html) == []
    assert words(safe(html)) == words(html) == render(tokens, kept).split()


def test_the_source_of_an_article_has_no_raw_text_that_the_page_does_not_have() -> None:
    (case,) = (case for case in CASES if case.name == "stray-closing-tags-of-raw-text")

    extraction = Extractor().extract(case.source)

    assert "<script" not in extraction.raw_html
    shown = lxml.html.fragment_fromstring(extraction.raw_html, create_parent="main")
    assert str(shown.text_content()).split() == extraction.text.split()


# What makes a parser of HTML build more than it reads, if it gets it as it is.
BOMBS = {
    "blocks that stay open": "<div>x",
    "formatting that stays open": "<p><b lang=d{}>x",
    "formatting around blocks": "<b lang=d{}><p>x</b>",
    "formatting in list items": "<li><b lang=d{}>x",
    "links in links": "<a href=/{}>x",
    "tables in tables": "<table><b lang=d{}>x",
    "cells": "<table><tr><td><i lang=d{}>x",
    "text between rows": "x<b>y</b><tr>",
    "ampersands in one text": "tea &amp; milk & more ",
    "no-break spaces": "tea\xa0milk\xa0",
    "soft hyphens": "a\xad" * 8,
    "quotation marks": "\xabtea\xbb ",
    "no-break spaces as references": "&nbsp;x",
    "ampersands around tags that are dropped": "x&<custom>",
    "hidden in an attribute": '<a ="><b lang=d{}><p>">x',
    "hidden in a comment": "<!--><b lang=d{}><p>-->x",
}


@pytest.mark.parametrize("shape", BOMBS.values(), ids=list(BOMBS))
def test_any_nesting_takes_linear_time_and_space(shape: str) -> None:
    def run(n: int) -> Callable[[], str]:
        source = "<table>" + "".join(shape.format(number) for number in range(n))
        tokens = tokenize(source)
        return partial(sanitized, tokens, np.ones(len(tokens), np.bool_), URL)

    small, large = run(500), run(FACTOR * 500)  # of tags that are all remembered

    assert len(large()) < 2 * FACTOR * len(small())
    assert grows_linearly(small, large)


def test_a_text_of_many_ampersands_is_whole() -> None:
    words = "".join(f"a{n}&amp;b & &copy;{n}\xa0&nbsp;&lt" for n in range(700))
    tokens = tokenize(f"<p>{words}<x>y</x></p><p>{words}</p>")

    html = sanitized(tokens, np.ones(len(tokens), np.bool_), URL)

    assert lxml.html.fromstring(html).findtext("p") == unescape(words) + "y"
    assert "<!--" not in html


def test_elements_are_never_nested_deeper_than_the_bound() -> None:
    tokens = tokenize("<div>" * 500 + "one" + "</div>" * 500)

    html = rebuilt(tokens, np.ones(len(tokens), np.bool_)).html

    assert html.count("<div>") == html.count("</div>") == MAX_DEPTH


ADDRESS_PARTS = """http:// https:// HTTP:// mailto: data: DATA:image/png;base64,AAAA data:text/html,
    javascript: java&#10;script: // / # ? x.example [ ] %20 &#32; &#0; &#x85; &#9; &amp; \u00e9
    &#x2028; a.png ../ ./ a-b/ .. %2E file:/// x-y.1: : @""".split()
ADDRESSES = st.lists(st.sampled_from([*ADDRESS_PARTS, " ", "\n"]), max_size=4).map("".join)


# Addresses of pages that relative links can begin with.
BASES = (
    URL,
    "http://x.example/a/b.html?c=d/e&f=g",
    "https://ann:pass@x.example:8080/a/b",
    "http://x.example",
    "http:///x.example/a/",
    "http://\\\\x.example/a/",
    "https://x.example/a#b",
    "https://x.example:443",
)
NO_BASES = ("", "http://[", "http://1.2.3.4.5/", "ftp://x.example/")


NESTED = "a b em span p div h1 h2 ul li dl dd figure blockquote section br hr img nosuch".split()
TABLE = "table caption thead tbody tr th".split()
ADDRESSED = st.builds(
    '<{}="{}">x</a>'.format, st.sampled_from(["a href", "img src", "img alt", "a title"]), ADDRESSES
)
PARTS = st.sampled_from(
    [
        *(f"<{end}{name}>" for end in ("", "/") for name in (*NESTED, "td", "pre", "rt")),
        *(
            "<a href='/x?a=1&b=2'>",
            "<a href=#x>",
            "<a title='\"<&nbsp;' HREF=/%2e/x>",
            "<p lang=de>",
        ),
        *("<img src=//a.example/b>", "<img alt=x src='data:text/html,x' width=1>", "<!x>"),
        *("<pre>\n", "<pre dir=rtl>", "&NewLine;"),
        *("<a href=../x-y.html#a-b>", "<img src='a/b.png?c=../d'>", "<a href=./>", "<a href=..>"),
        *(f"<{end}{name}>" for end in ("", "/") for name in TABLE),
        *("<table><tbody><tr><td>", "</td><th>", "</td></tr><tr><td>", "</td></tr></table>"),
        *(
            "<a href=javascript:x>",
            "<a href=https://xn--a.example/>",
            "<a href='https://a.b/\xe9'>",
        ),
        *("one", " ", "\xa0", "&", "&amp", "&nbsp;", "&#8217;", "&#146;", "&#xFFFE;", "<", ">"),
        *(f"<img src={PIXEL}>", "AT&T", "&#P", "&#x", "41;", "\ufeff", "\x85", '"', "\u3000"),
    ]
)


@given(
    source=st.lists(PARTS | ADDRESSED, max_size=30).map("".join),
    cut=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    url=st.sampled_from([*BASES, *NO_BASES]),
)
@examples(7)
@example(source="<img src='mailto://:'>", cut=(0, 0), url=URL)
def test_html_that_is_not_parsed_again_is_what_nh3_makes_of_it(
    source: str, cut: tuple[int, int], url: str
) -> None:
    tokens = tokenize(source)
    kept = np.zeros(len(tokens), np.bool_)
    kept[cut[0] : len(tokens) - cut[1]] = True
    html = rebuilt(tokens, kept, url).html
    cleaner = nh3.Cleaner(
        tags=set(TAGS),
        attributes={"*": set(EVERYWHERE), **{k: set(v) for k, v in ATTRIBUTES.items()}},
        attribute_filter=address_value,
        url_schemes=set(SCHEMES),
        url_relative=("rewrite_with_base", url) if url in BASES else "deny",
        link_rel=LINK_REL,
    )

    shown = sanitized(tokens, kept, url)

    assert shown == re.sub("[\x80-\x9f\ud800-\udfff]", "", cleaner.clean(html))


def test_most_html_is_not_parsed_again() -> None:
    extractions = [Extractor().extract(case.source, case.url or "") for case in CASES[::9]]

    found = [rebuilt(each.tokens, each.kept, each.url).reads_back for each in extractions]

    assert sum(found) > len(found) / 2


@pytest.mark.parametrize(
    ("source", "is_parsed_again"),
    [
        ("<table> <caption>a</caption><thead><tr><th>b</thead> <tbody><tr> <td>c</table>", False),
        ("<b><table><tbody><tr><td>a<table><tbody><tr><td>b</table></table></b>", False),
        ("<table><tr><td>a</table>", True),  # a parser adds the group of the row,
        ("<table><tbody><td>a</table>", True),  # or the row,
        ("<table><tbody>\u2003<tr><td>a</table>", True),  # and what is no blank goes before
    ],
)
def test_a_table_is_not_parsed_again_if_it_has_all_parts(
    source: str, *, is_parsed_again: bool
) -> None:
    tokens = tokenize(source)

    found = rebuilt(tokens, np.ones(len(tokens), np.bool_))

    assert found.reads_back != is_parsed_again


def test_what_a_wrapper_selects_is_free_of_controls() -> None:
    page = """<h1>Rain\x1b]0;x\x07 &#8206;falls</h1><i>Ann\x01 Lee</i> <i>\x02</i>
    <article><p>It rained for a day.</p></article>"""
    rule = {"site": "news.example", "body": "article", "title": "h1", "authors": "i"}
    (wrapper,) = load_wrappers([rule])

    article = article_of_labels(label(wrapper, page), URL).article

    assert article is not None
    assert (article.title, article.authors) == ("Rain]0;x falls", ["Ann Lee"])
