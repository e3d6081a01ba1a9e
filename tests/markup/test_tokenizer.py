from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from html.entities import html5

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup import tokenizer
from scrapy_mss.markup.references import ANY_REFERENCE, decode
from scrapy_mss.markup.rendering import decode_all
from scrapy_mss.markup.stemming import normalizer, porter, porter_nltk
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import DENSEST, MIN_TOKENS, tokenize
from scrapy_mss.markup.tokens import CLOSE
from tests.helpers.effort import examples
from tests.helpers.markup import SOUP, TAG_SOUP, shown, tag_id

# (source, its tokens); each is tokenized in several contexts.
CASES: list[tuple[str, str]] = [
    ("", ""),
    (" \n\t\x0b\xa0\u3000", ""),
    ("<p>one</p>", "<p> one </p>"),
    ("one, two.", "one , two ."),
    ("it's", "it ' s"),
    ("snake_case _x", "snake_case _x"),
    ("3 1984 3.5", "3 1984 3 . 5"),
    ("<br/>", "<br>"),
    ("<p/x>", "<p>"),
    ("<p\nclass=a\n>", "<p>"),
    ("</p class=a>", "</p>"),
    ('<a href="x>y">', "<a>"),
    ("<a href='x>y'>", "<a>"),
    ("<a href = \n'x>y'>", "<a>"),
    ('<a title="it\'s > 1">', "<a>"),
    # A quote that does not follow a "=" is no quote.
    ('<a "x>y">', '<a> y " >'),
    ("<a x=y'z>", "<a>"),
    ("<a x=>y", "<a> y"),
    ('<a x=="y>z">', "<a>"),
    ("<nosuch>", "<unknown>"),
    ("<p2>", "<unknown>"),
    ("<h2>", "<h2>"),
    ("<p\u00e9>", "<unknown>"),
    # What is no tag: declarations, a closing tag without a name, a "<" before anything else.
    ("<!DOCTYPE html>", ""),
    ("<?xml version='1.0'?>", ""),
    ("<![CDATA[ x ]]>", ""),
    ("</>", ""),
    ("</ p>", ""),
    ("</3>", ""),
    ("</\u00e9>", ""),
    ("< p>", "< p >"),
    ("1 < 2", "1 < 2"),
    ("<3", "< 3"),
    ("<<p>>", "< <p> >"),
    # Comments.
    ("<!-- x -->", ""),
    ("<!-->one", "one"),
    ("<!--->one", "one"),
    ("<!-- <p> -- > --> one", "one"),
    ("<!-- <script> -->one", "one"),
    ("on<!-- x -->e", "one"),
    ("<p<!-- x -->>", "<p>"),
    # Scripts and style sheets; other names that begin so are no scripts.
    ("<style>x</style>", "<style> </style>"),
    ("<ScRiPt>x</sCrIpT>", "<script> </script>"),
    ("<script>'</p>' <!-- </script >one", "<script> </script> one"),
    ("<script>x</style></script>", "<script> </script>"),
    ("<script>x</scripts></script>", "<script> </script>"),
    ('<script src="a>b">x</script>', "<script> </script>"),
    ("<script/>x</script>", "<script> </script>"),
    ("<style\n>x</style\n>one", "<style> </style> one"),
    ("<scripts>x", "<unknown> x"),
    ("<\u017fcript>x", "< \u017fcript > x"),
    ("<scr\u0131pt>x", "<unknown> x"),
    # References.
    ("caf&eacute;s", "caf\u00e9s"),
    ("caf&eacutes", "caf\u00e9s"),
    ("caf&#233s", "caf\u00e9s"),
    ("caf&#XE9;s", "caf\u00e9s"),
    ("x&nbsp;y", "x y"),
    ("x&#10;y", "x y"),
    ("x&amp;y", "x &amp; y"),
    ("AT&T", "AT & T"),
    ("x &copy 2009", "x &copy 2009"),
    ("&copyright", "&copy right"),
    ("&notin;", "&notin;"),
    ("&notit;", "&notit;"),
    ("&nosuch", "& nosuch"),
    ("&;", "& ;"),
    ("&#;", "& # ;"),
    ("&#x;", "& # x ;"),
    ("&#x g", "& # x g"),
    ("&#\u0661;", "& # \u0661 ;"),
    ("&#0;", "&#0;"),
    ("&#1;", ""),
    ("&fjlig;ord", "fjord"),
    ("&frac12;", "\u00bd"),
    ("&lt;p&gt;", "&lt; p &gt;"),
    # Scripts without spaces, character by character; other characters next to them are symbols.
    ("\u4e2d\u6587", "\u4e2d \u6587"),
    ("\u4e2d&#25991;", "\u4e2d \u6587"),
    ("HTML\u6587\u5b57x", "HTML \u6587 \u5b57 x"),
    ("\u30ab\u30fc\u30fb\u4eba\u3005", "\u30ab \u30fc \u30fb \u4eba \u3005"),
    ("\uac00\ub098 \ub2e4", "\uac00\ub098 \ub2e4"),
    # Other scripts.
    ("\u0645\u0631\u062d\u0628\u0627 \u0628\u0643", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643"),
    ("\u00b2 \u0661\u0662", "\u00b2 \u0661\u0662"),
    ("\U0001f600\U0001f600", "\U0001f600 \U0001f600"),
    ("e\u0301", "e \u0301"),
    # What no page shows is blank.
    ("a\0b", "a b"),
    ("a\x1bb", "a b"),
    ("a\x9fb", "a b"),
    ("a\ud800b", "a b"),
    ("a\u200bb", "a \u200b b"),
    # Four symbols in a row are one; of angles and ampersands all but the last.
    ("...", ". . ."),
    ("....", "...."),
    ("....<b>", ".... <b>"),
    ("...&amp;", ". . . &amp;"),
    ("1 <<<< 2", "1 <<< < 2"),
    ("<<<p>", "<< <p>"),
    ("&&&", "&& &"),
    ("&&amp;", "& &amp;"),
    ("&#&#&#", "&#&# & #"),
    ("&####", "& ####"),
]

# What is never closed takes the rest of the page with it, or only a tag's worth.
UNFINISHED: list[tuple[str, str]] = [
    ("one <p", "one <p>"),
    ("one <", "one <"),
    ("one </", "one"),
    ("one <!", "one"),
    ("one <!DOCTYPE two three", "one"),
    ("one <p class='two> three", "one <p>"),
    ('one <p class="two> three', "one <p>"),
    ("one <p class= two three", "one <p>"),
    ("one <!-- two <p> three", "one three"),
    ("one <!-- two > three <!-- four > five", "one three five"),
    ("one <!-- two <!-- three --> four", "one four"),
    ("one <!-- two three", "one"),
    ("one <!--", "one"),
    ("one <script> two <p> three", "one <script>"),
    ("one <script two three", "one <script>"),
    ("one <style> two </style", "one <style>"),
    ("one <script></script", "one <script>"),
    ("one <script", "one <script>"),
    ("one &amp", "one &amp"),
    ("one &", "one &"),
    ("one &#", "one & #"),
]

NAME = re.compile(r"</?[a-zA-Z]+")


def in_contexts(source: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """*source* among other things: (source, tokens before it, tokens after it)."""
    yield source, [], []
    yield f"before {source} after", ["before"], ["after"]
    yield f"{source}\n", [], []
    yield f"<div>{source}</div>", ["<div>"], ["</div>"]
    yield f"<!-- > -->{source}<!-- < -->", [], []
    yield f"&eacute;t&eacute; {source} &eacute;", ["\u00e9t\u00e9"], ["\u00e9"]
    raw = ["<script>", "</script>"], ["<style>", "</style>"]
    yield f"<script>x</script>{source}<style>y</style>", *raw
    yield NAME.sub(lambda name: name[0].upper(), source), [], []


def nesting(tags: Sequence[tuple[int, bool]]) -> tuple[list[int], list[int]]:
    """For (name, is it closing) of each tag: the top of the stack after it, and its partner."""
    stack: list[int] = []
    tops, partners = [], [-1] * len(tags)
    for i, (name, closing) in enumerate(tags):
        if not closing:
            stack.append(i)
        elif any(tags[j][0] == name for j in stack):
            while tags[stack[-1]][0] != name:
                stack.pop()
            partners[i] = stack.pop()
            partners[partners[i]] = i
        tops.append(stack[-1] if stack else -1)
    return tops, partners


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_tokens_of_a_case_are_the_same_in_any_context(source: str, expected: str) -> None:
    for presented, before, after in in_contexts(source):
        found = shown(tokenize(presented))

        assert found == [*before, *expected.split(" ") * bool(expected), *after], presented


@pytest.mark.parametrize(("source", "expected"), UNFINISHED)
def test_unclosed_markup_ends_as_documented(source: str, expected: str) -> None:
    found = shown(tokenize(source))

    assert found == expected.split(" ")


@given(SOUP)
@examples(2)
def test_tokens_are_in_order_and_do_not_overlap(source: str) -> None:
    tokens = tokenize(source)

    assert np.all(tokens.start < tokens.end)
    assert np.all(tokens.end[:-1] <= tokens.start[1:])
    assert np.all(tokens.clean_start < tokens.clean_end)
    assert np.all(tokens.clean_end[:-1] <= tokens.clean_start[1:])
    assert not len(tokens) or (tokens.start[0] >= 0 and tokens.end[-1] <= len(source))
    assert all(source[start] == "<" for start in tokens.start[tokens.is_tag].tolist())


@given(st.one_of(SOUP, TAG_SOUP))
@examples(4)
def test_nesting_is_that_of_a_plain_stack(source: str) -> None:
    tokens = tokenize(source)
    at = np.flatnonzero(tokens.is_tag).tolist()
    tops, partners = nesting([(int(tokens.tag[i]), tokens.kind[i] == CLOSE) for i in at])

    unclosed, partner, top = [], [-1] * len(tokens), -1
    for i in range(len(tokens)):
        if i in at:
            top = tops[at.index(i)]
            mate = partners[at.index(i)]
            partner[i] = at[mate] if mate >= 0 else -1
        unclosed.append(at[top] if top >= 0 else -1)
    assert tokens.unclosed.tolist() == unclosed
    assert tokens.partner.tolist() == partner


def test_a_word_of_references_is_located_at_the_references() -> None:
    source = "x <b>&eacute;t&#233;</b>"

    tokens = tokenize(source)

    assert tokens.words() == ["x", "\u00e9t\u00e9"]
    assert tokens.html(2, 3) == "&eacute;t&#233;"


def test_the_html_of_a_span_includes_the_comments_inside_it_only() -> None:
    tokens = tokenize("<!-- a -->one<!-- b -->two<!-- c --> three<!-- d -->")

    assert tokens.words() == ["onetwo", "three"]
    assert tokens.html(0, 1) == "one<!-- b -->two"
    assert tokens.html(0, 2) == "one<!-- b -->two<!-- c --> three"


def test_every_known_tag_has_its_own_id() -> None:
    for name in TAG_NUMBERS:
        tokens = tokenize(f"<{name}></{name.upper()}>")

        assert tokens.token_id[:2].tolist() == [tag_id(name), tag_id(name, CLOSE)], name


@given(st.text(max_size=12), st.text(max_size=12))
def test_words_have_equal_ids_exactly_when_their_stems_are_equal(one: str, other: str) -> None:
    normal_form = normalizer(porter_nltk)
    ids = [
        dict(zip(t.words(), t.token_id[t.is_word].tolist(), strict=True))
        for t in (tokenize(one, porter_nltk), tokenize(other, porter_nltk))
    ]

    for first, first_id in ids[0].items():
        for second, second_id in ids[1].items():
            assert (first_id == second_id) == (normal_form(first) == normal_form(second))


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("&CounterClockwiseContourIntegral;", "\u2233"),  # the longest name there is
        ("&" + "a" * 39 + ";", "&" + "a" * 39 + ";"),
        ("&#" + "0" * 35 + "65;", "A"),
        ("&#" + "0" * 36 + "65;", "\ufffd"),
        ("&#" + "9" * 5000 + ";", "\ufffd"),
        ("&#x" + "f" * 5000 + ";", "\ufffd"),
    ],
)
def test_references_of_any_length_decode(reference: str, expected: str) -> None:
    assert decode(reference) == expected
    assert decode_all(f"({reference})") == f"({expected})"


def test_letters_of_latin_that_are_left_out_leave_plain_ones() -> None:
    assert tokenize("<!-- \xe9 --><p>Rain<!--x--> falls").clean == "<p>Rain falls"


@pytest.mark.parametrize("symbol", ["&", "\u4e2d", "\u2026"])
def test_a_page_has_as_many_tokens_as_its_length_pays_for(symbol: str) -> None:
    source = f"{symbol}a" * MIN_TOKENS * DENSEST

    n_tokens = len(tokenize(source))

    n_bytes = len(source.encode())
    assert n_tokens == min(len(source), n_bytes // DENSEST)


def test_a_short_page_may_have_a_token_for_each_character() -> None:
    assert len(tokenize("&a" * (MIN_TOKENS // 2))) == MIN_TOKENS


@pytest.mark.parametrize(
    "first", [0, 0x9F, 0xD7FF, 0xDFFF, 0xFDCF, 0xFFFD, 0x1FFFD, 0x2FFFD, 0x10FFFF]
)
def test_numbers_decode_as_in_the_standard_library(first: int) -> None:
    for number in range(first, first + 4):
        for reference in (f"&#{number};", f"&#x{number:x}", f"&#X{number:X};"):
            assert decode(reference) == unescape(reference)


@pytest.mark.parametrize("ending", ["", ";", "x;", "1 "])
def test_names_decode_as_in_the_standard_library(ending: str) -> None:
    for name in html5:
        for reference in ANY_REFERENCE.findall(f"&{name}{ending}"):
            assert decode(reference) == unescape(reference)


def test_the_cache_of_pieces_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer._Codes, "LIMIT", 100)  # noqa: SLF001
    codes = tokenizer._Codes(porter)  # noqa: SLF001
    wanted = {str(n): codes[str(n)] for n in range(9)}

    for n in range(350):
        codes[f"w{n}"]

    assert len(codes) <= 100
    assert {piece: codes[piece] for piece in wanted} == wanted


def test_long_pieces_are_not_cached() -> None:
    codes = tokenizer._Codes(porter)  # noqa: SLF001
    kept, left = "x" * codes.LONGEST_KEPT, "x" * (codes.LONGEST_KEPT + 1)

    assert [codes[kept], codes[left]] == [codes[kept], codes[left]]

    assert list(codes) == [kept]
    assert codes.LIMIT * codes.LONGEST_KEPT < 4_000_000
