from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.cleaning import (
    HORIZONTAL_RULE,
    PAPER_RULES,
    Boundary,
    Rule,
    count_sentences,
    cut_at_boundary,
    is_article,
    keep,
    simple_scores,
    span_probability,
    trimmed,
)
from scrapy_mss.core.subsequence import EMPTY, Span
from scrapy_mss.markup.tags import TAG_NAMES
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import OPEN, Bools, Tokens, mask_runs
from tests.helpers.effort import examples
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP, shown


def span_between_bars(source: str) -> tuple[Tokens, Span]:
    """The tokens of *source* without its two bars, and the span between them."""
    before, inside, after = source.split("|")
    tokens = tokenize(before + inside + after)
    start = len(tokenize(before))
    return tokens, Span(start, start + len(tokenize(inside)), 1.0)


def remaining(source: str, rules: tuple[Rule, ...] = PAPER_RULES) -> str:
    """What the rules leave of the span between two bars in *source*."""
    tokens, span = span_between_bars(source)
    kept = keep(tokens, span, rules).tolist()
    return " ".join(text for text, is_kept in zip(shown(tokens), kept, strict=True) if is_kept)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("zero |one| two", "one"),
        # Of the elements that are removed each alone; what they contain is the oracle's matter.
        ("|one <div>two <a>x</a></div> three|", "one three"),
        ("|one <div>two</div> three|", "one <div> two </div> three"),
        ("|one <a>x</a> three|", "one <a> x </a> three"),
        ("|one <iframe>x</iframe> three|", "one three"),
        ("|one <script>x</script> <style>y</style> three|", "one three"),
    ],
)
def test_what_the_paper_s_rules_leave(source: str, expected: str) -> None:
    assert remaining(source) == expected


def test_every_rule_has_its_own_name_and_a_reason() -> None:
    assert len({rule.name for rule in PAPER_RULES}) == len(PAPER_RULES)
    assert all(rule.why for rule in (*PAPER_RULES, HORIZONTAL_RULE))


def removed_one_by_one(tokens: Tokens, span: Span, rule: Rule) -> Bools:
    """The rule as its documentation describes it, element by element."""
    removed = np.zeros(len(tokens), np.bool_)
    names = [TAG_NAMES[tag] for tag in tokens.tag.tolist()]
    opens = [kind == OPEN for kind in tokens.kind.tolist()]
    for i in range(span.start, span.end):
        closing = int(tokens.partner[i])
        if not opens[i] or names[i] not in rule.elements or not i < closing < span.end:
            continue
        contained = {names[j] for j in range(i + 1, closing) if opens[j]}
        if not rule.containing or contained & rule.containing:
            removed[i : closing + 1] = True
    return removed


@st.composite
def pages_and_spans(draw: st.DrawFn) -> tuple[Tokens, Span]:
    """A page and most of it: a span in which there are whole elements."""
    elements = st.lists(st.sampled_from(ELEMENTS), min_size=2, max_size=8).map("".join)
    tokens = tokenize(draw(st.one_of(elements, elements, SOUP, TAG_SOUP, NESTED)))
    start = min(draw(st.integers(0, 3)), len(tokens))
    end = max(start, len(tokens) - draw(st.integers(0, 3)))
    return tokens, Span(start, end, 1.0)


ELEMENTS = """
    <div> <div> </div> </div> <div>one</div> <a>x</a> <img> <table>x</table> <table> </table>
    <script>x</script> <iframe> </iframe> <p> </p> one two
""".split()
# An element does not contain itself.
NESTED_DIV = Rule("nested_div", frozenset({"div"}), "a test", containing=frozenset({"div"}))


@pytest.mark.parametrize("rule", [*PAPER_RULES, NESTED_DIV], ids=lambda rule: rule.name)
@given(pages_and_spans())
@examples(2)
def test_a_rule_removes_what_it_does_element_by_element(
    rule: Rule, drawn: tuple[Tokens, Span]
) -> None:
    tokens, span = drawn

    removed = mask_runs(len(tokens), *rule.matches(tokens, span))

    assert removed.tolist() == removed_one_by_one(tokens, span, rule).tolist()


@given(pages_and_spans())
def test_a_token_is_kept_if_it_is_inside_the_span_and_no_rule_removes_it(
    drawn: tuple[Tokens, Span],
) -> None:
    tokens, span = drawn

    kept = keep(tokens, span, PAPER_RULES)

    removed = [removed_one_by_one(tokens, span, rule) for rule in PAPER_RULES]
    assert kept.tolist() == [
        span.start <= at < span.end and not any(row[at] for row in removed)
        for at in range(len(tokens))
    ]


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


def cut(source: str, boundaries: tuple[Boundary, ...] = (HORIZONTAL_RULE,)) -> str:
    """What a cut leaves of the span between two bars, and the span's new value."""
    tokens, span = span_between_bars(source)
    scores = np.exp2(np.arange(len(tokens), dtype=np.float64))  # so that sums tell tokens
    value = float(scores[span.start : span.end].sum())

    found = cut_at_boundary(Span(span.start, span.end, value), tokens, scores, boundaries)

    assert found.start == span.start
    assert found.value == sum(2**at for at in range(found.start, found.end))
    return " ".join(shown(tokens)[found.start : found.end])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("|a b c|", "a b c"),
        ("|a b <hr> c|", "a b"),
        # The first of several.
        ("|a <hr> b <hr> c|", "a"),
        # One outside the span does not count.
        ("a <hr> |b| <hr> c", "b"),
        # Nothing is before one at the span's beginning.
        ("a |<hr> b|", ""),
        # Near misses: a closing tag, another tag, a comment, the tag's name as a word.
        ("|a </hr> b|", "a </hr> b"),
        ("|a <h1> b|", "a <h1> b"),
        ("|a <hrx> b|", "a <unknown> b"),
        ("|a <!--<hr>--> b|", "a b"),
        ("|a hr b|", "a hr b"),
    ],
)
def test_a_span_ends_before_its_first_horizontal_rule(source: str, expected: str) -> None:
    assert cut(source) == expected


def test_the_first_of_several_kinds_of_boundaries_cuts() -> None:
    aside = Boundary("aside", "is next to the text")

    assert cut("|a b <aside> c <hr> d|", (HORIZONTAL_RULE, aside)) == "a b"
    assert cut("|a b <hr> c <aside> d|", (HORIZONTAL_RULE, aside)) == "a b"
    assert cut("|a <hr> b|", ()) == "a <hr> b"


def test_words_and_symbols_score_1_and_tags_the_penalty() -> None:
    tokens = tokenize("<p>one, <b>2</b></p>")

    assert simple_scores(tokens, -2.0).tolist() == [-2, 1, 1, -2, 1, -2, -2]
    assert simple_scores(tokens)[0] == -3.25  # the paper's


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        # Eight sentences and two paragraphs are enough, one less of either is not.
        ("One. " * 4 + "\n\n" + "Two. " * 4, True),
        ("One. " * 4 + "\n\n" + "Two. " * 3, False),
        ("One. " * 7 + "\n\n" + "Two.", True),
        ("One. " * 7 + "\n\n" + "Two", False),
        ("One. " * 8, False),
        ("One. " * 4 + "\n" + "Two. " * 4, False),
        ("One. " * 4 + "\n\n" + "Two\n\n" + "Three. " * 4, True),
        ("One.\n\n" * 8, True),
    ],
)
def test_an_article_has_two_paragraphs_and_eight_sentences(text: str, *, expected: bool) -> None:
    assert is_article(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("One.", 1),
        ("One. Two.", 2),
        ("One! Two? Three\u2026 Four.", 4),
        ("One.\nTwo.\n\nThree.", 3),
        # Quotes and brackets may follow the full stop.
        ('"One." (Two.) \u201cThree.\u201d \u00abFour.\u00bb', 4),
        ('He said "one.") Two.', 2),
        # Near misses: full stops within a number, an address, an abbreviation; several in a row.
        ("3.5 www.example.com e.g.this", 0),
        ("One.Two", 0),
        ("One...", 1),
        ("One?!", 1),
        # Other scripts; in those without spaces the full stop alone is enough.
        ("\u4e00\u3002\u4e8c\uff01\u4e09\uff1f\u56db", 3),
        ("\u0645\u0631\u062d\u0628\u0627\u061f \u0646\u0639\u0645.", 2),
        ("\u0939\u093e\u0901\u0964 \u0939\u093e\u0901\u0964", 2),
    ],
)
def test_sentences_are_counted_by_their_ends(text: str, expected: int) -> None:
    assert count_sentences(text) == expected


def test_the_probability_of_a_span_is_the_mean_of_its_tokens() -> None:
    scores = np.array([-0.5, 0.5, 0.25, 0.0, -0.5])

    assert span_probability(scores, Span(1, 4, 0.75)) == 0.75
    assert span_probability(scores, Span(0, 5, -0.25)) == 0.45
    assert span_probability(scores, EMPTY) == 0


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=9))
def test_a_probability_is_between_0_and_1_for_any_scores(scores: list[float]) -> None:
    """Scores of simple MSS are no probabilities, and a bias lifts scores over one half."""
    assert 0 <= span_probability(np.array(scores), Span(0, len(scores), sum(scores))) <= 1
