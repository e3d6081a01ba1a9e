from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.cleaning import (
    CODE,
    EMBEDDED,
    LINKED_DIV,
    PAPER_RULES,
    UNCLEANED,
    Rule,
    keep,
    runs,
    trimmed,
    well_formed,
)
from scrapy_mss.core.labels import span_labels
from scrapy_mss.core.subsequence import EMPTY, Span
from scrapy_mss.markup.tags import TAG_NAMES, VOID_TAGS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import CLOSE, OPEN, Bools, Tokens
from tests.helpers.effort import examples
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP, shown


def span_between_bars(source: str) -> tuple[Tokens, Span]:
    """The tokens of *source* without its two bars, and the span between them."""
    before, inside, behind = source.split("|")
    tokens = tokenize(before + inside + behind)
    start = len(tokenize(before))
    return tokens, Span(start, start + len(tokenize(inside)), 1.0)


def left(source: str, rules: tuple[Rule, ...] = PAPER_RULES) -> str:
    """What stays of the span between two bars in *source*."""
    tokens, span = span_between_bars(source)
    return " ".join(token for token, kept in _with_kept(tokens, keep(tokens, span, rules)) if kept)


def _with_kept(tokens: Tokens, kept: Bools) -> list[tuple[str, bool]]:
    return list(zip(shown(tokens), kept.tolist(), strict=True))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("|one|", "one"),
        ("zero |one| two", "one"),
        ("||", ""),
        # A box that holds a link, a picture or what is embedded is dropped …
        ("|one <div>two <a>x</a></div> three|", "one three"),
        ("|one <div><img></div> three|", "one three"),
        ("|one <div><img></div>|", "one"),
        ("|<div><a>x</a></div> one|", "one"),
        ("|one <div>x<embed>x</div> three|", "one three"),
        ("|one <div><applet></applet></div> three|", "one three"),
        ("|one <div><object></object></div> three|", "one three"),
        ("|one <DIV CLASS=x><A>x</A></DIV> three|", "one three"),
        # … and one that does not is kept,
        ("|one <div>two</div> three|", "one <div> two </div> three"),
        ("|one <div>two <b>x</b></div>|", "one <div> two <b> x </b> </div>"),
        ("|one <div></div>|", "one <div> </div>"),
        # as is a link that is in no box, or in a box of another name.
        ("|one <a>x</a> three|", "one <a> x </a> three"),
        ("|one <p><a>x</a></p> three|", "one <p> <a> x </a> </p> three"),
        ("|one <span><a>x</a></span>|", "one <span> <a> x </a> </span>"),
        ("|one <div>two</div><a>x</a>|", "one <div> two </div> <a> x </a>"),
        ("|<a>x</a><div>two</div> one|", "<a> x </a> <div> two </div> one"),
        # Only an opened link counts.
        ("|one <div>two</a></div> three|", "one <div> two </a> </div> three"),
        ("|one <div><abbr>x</abbr></div>|", "one <div> <abbr> x </abbr> </div>"),
        # A box that the span cuts is never judged.
        ("|one <div><a>x</a>|</div>", "one <div> <a> x </a>"),
        ("<div>|<a>x</a></div> one|", "<a> x </a> </div> one"),
        ("<div>|one <a>x</a>|</div>", "one <a> x </a>"),
        ("|one <div><a>x</a>|", "one <div> <a> x </a>"),
        ("|one</div><a>x</a>|", "one </div> <a> x </a>"),
        # Nested: the box that holds it goes with all that is in it, its neighbours stay.
        ("|<div>a <div>b <a>x</a></div> c</div> d|", "d"),
        ("|<div>a</div><div>b <a>x</a></div> d|", "<div> a </div> d"),
        ("<div>|a <div>b <a>x</a></div> c|</div>", "a c"),
        ("|<div>a <div>b|</div> <a>x</a></div>", "<div> a <div> b"),
        ("|a <div><div>b</div></div> <div><p><a>x</a></p></div>|", "a <div> <div> b </div> </div>"),
        # Frames and tables go whatever they hold.
        ("|one <table><tr><td>x</table> three|", "one three"),
        ("|one <iframe>x</iframe> three|", "one three"),
        ("|one <div><table>x</table></div> three|", "one three"),
        ("|one <table><table>x</table>y</table> three|", "one three"),
        ("|one <table><tr><td>x| </table>", "one <table> <unknown> <td> x"),
        ("|one <tr><td>x</td></tr>|", "one <tr> <td> x </td> </tr>"),
        # Code goes too.
        ("|one <script>x</script> <style>y</style> three|", "one three"),
        ("|one <script>x|", "one <script>"),
    ],
)
def test_what_the_rules_of_the_paper_leave(source: str, expected: str) -> None:
    assert left(source) == expected.replace("<unknown>", "<tr>")


def test_each_rule_removes_its_own_elements_only() -> None:
    source = "|a <script>x</script> <table>b</table> <div><img>c</div> d|"

    assert left(source, (CODE,)) == "a <table> b </table> <div> <img> c </div> d"
    assert left(source, (EMBEDDED,)) == "a <script> </script> <div> <img> c </div> d"
    assert left(source, (LINKED_DIV,)) == "a <script> </script> <table> b </table> d"
    assert left(source, ()) == "a <script> </script> <table> b </table> <div> <img> c </div> d"
    assert UNCLEANED == (CODE,)


def test_every_rule_has_a_name_and_a_reason() -> None:
    assert len({rule.name for rule in PAPER_RULES}) == len(PAPER_RULES)
    assert all(rule.why for rule in PAPER_RULES)


def removed_one_by_one(tokens: Tokens, span: Span, rule: Rule) -> Bools:
    """The rule as its documentation has it, element by element."""
    removed = np.zeros(len(tokens), np.bool_)
    names = [TAG_NAMES[tag] for tag in tokens.tag.tolist()]
    opens = [kind == OPEN for kind in tokens.kind.tolist()]
    for i in range(span.start, span.end):
        closing = int(tokens.partner[i])
        if not opens[i] or names[i] not in rule.elements or not i < closing < span.end:
            continue
        held = {names[j] for j in range(i + 1, closing) if opens[j]}
        if not rule.holding or held & rule.holding:
            removed[i : closing + 1] = True
    return removed


@pytest.mark.parametrize("rule", PAPER_RULES, ids=lambda rule: rule.name)
@given(source=st.one_of(SOUP, TAG_SOUP, NESTED), data=st.data())
def test_a_rule_removes_what_it_says_element_by_element(
    rule: Rule, source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))
    span = Span(start, end, 1.0)

    removed = rule.matches(tokens, span)

    assert removed.tolist() == removed_one_by_one(tokens, span, rule).tolist()


@given(source=st.one_of(SOUP, TAG_SOUP), data=st.data())
def test_nothing_outside_the_span_is_kept(source: str, data: st.DataObject) -> None:
    tokens = tokenize(source)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))

    kept = keep(tokens, Span(start, end, 1.0), PAPER_RULES)

    assert not kept[:start].any()
    assert not kept[end:].any()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("|one|", "one"),
        ("|<p>one</p>|", "one"),
        ("|</p><p>one <b>two</b>.</p><div>|", "one <b> two </b> ."),
        ("|<p></p>|", ""),
        ("one||two", ""),
    ],
)
def test_a_trimmed_span_begins_and_ends_with_text(source: str, expected: str) -> None:
    tokens, span = span_between_bars(source)

    found = trimmed(tokens, span)

    assert " ".join(shown(tokens)[found.start : found.end]) == expected
    assert found.value == span.value * bool(expected)


def test_an_empty_span_is_trimmed_to_an_empty_span() -> None:
    assert trimmed(tokenize("one"), EMPTY) == EMPTY


@given(st.lists(st.booleans()))
def test_runs_are_where_values_are_true(values: list[bool]) -> None:
    found = runs(np.array(values, np.bool_))

    assert [i for start, end in found for i in range(start, end)] == [
        i for i, value in enumerate(values) if value
    ]
    assert all(start > end for (_, end), (start, _) in pairwise(found))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("|one|", "one"),
        ("||", ""),
        ("<p>|one|</p>", "one"),
        ("|<p>one</p>|", "<p>one</p>"),
        # A closing tag whose opening tag was cut off gets it back as it stood in the page.
        ('<p class="x">|one</p> two|', '<p class="x">one</p> two'),
        ("<P CLASS=x>|one</P>|", "<P CLASS=x>one</P>"),
        ("<div><p>|one</p> two</div> three|", "<div><p>one</p> two</div> three"),
        # An opening tag whose closing tag was cut off gets one.
        ("|one <b>two|</b>", "one <b>two</b>"),
        ("|one <b><i>two| three</i></b>", "one <b><i>two</i></b>"),
        ("|one <B>two|</B>", "one <B>two</b>"),
        ("|one <nosuch-tag>two|</nosuch-tag>", "one <nosuch-tag>two</nosuch-tag>"),
        # Void elements get none.
        ("|one<br>two<img src=x>|", "one<br>two<img src=x>"),
        ("|<p>one<br>|</p>", "<p>one<br></p>"),
        # Both at once.
        ("<p>|one</p><p>two|</p>", "<p>one</p><p>two</p>"),
        ("<b>|one</b> <i>two|</i>", "<b>one</b> <i>two</i>"),
        # Comments and blanks inside stay, those beside go.
        ("x <!-- a -->|one<!-- b --> two|<!-- c -->", "one<!-- b --> two"),
        # What the page never opened is opened, what it never closed is closed.
        ("|one</b> two|", "<b>one</b> two"),
        ("|one <b>two|", "one <b>two</b>"),
        ("|<ul><li>one<li>two</ul>|", "<ul><li>one<li>two</ul>"),
    ],
)
def test_tags_that_the_span_cuts_are_put_right(source: str, expected: str) -> None:
    tokens, span = span_between_bars(source)

    assert well_formed(tokens, keep(tokens, span, ())) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("|one <div><a>x</a></div>two|", "one two"),
        ("|one<div><a>x</a></div> two|", "one two"),
        ("|one<div><a>x</a></div>two|", "one two"),
        ("|one<script>x</script>two|", "onetwo"),
        ("|one<script>x</script> two|", "one two"),
        ("|one<script>x</script><style>x</style> two|", "one two"),
        ("|<p>one<table>x</table></p>|", "<p>one </p>"),
        ("|<table>x</table>one|", "one"),
        ("<p>|one <div><a>x</a></div>two</p><p>three|</p>", "<p>one two</p><p>three</p>"),
    ],
)
def test_words_apart_by_what_is_removed_stay_apart(source: str, expected: str) -> None:
    tokens, span = span_between_bars(source)

    assert well_formed(tokens, keep(tokens, span, PAPER_RULES)) == expected


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
def test_any_span_of_a_page_that_nests_well_becomes_a_block_that_does(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))

    html = well_formed(tokens, span_labels(len(tokens), start, end))

    assert unmatched(source) == unmatched(html) == []
    assert tokens.html(start, end) in html
    assert tokenize(html).words() == tokenize(tokens.html(start, end)).words()


@given(source=NESTED, data=st.data())
def test_what_cleaning_leaves_of_a_page_that_nests_well_does_too(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))
    kept = keep(tokens, Span(start, end, 1.0), PAPER_RULES)

    html = well_formed(tokens, kept)

    assert unmatched(html) == []
    assert all(tokens.html(first, last) in html for first, last in runs(kept))


@given(source=st.one_of(SOUP, TAG_SOUP), data=st.data())
@examples(2)
def test_html_of_any_choice_of_tokens_of_any_markup_holds_their_source(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    size = len(tokens)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)

    html = well_formed(tokens, kept)

    at = 0
    for start, end in runs(kept):
        at = html.index(tokens.html(start, end), at) + len(tokens.html(start, end))
