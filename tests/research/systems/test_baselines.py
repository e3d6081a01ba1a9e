from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.baselines import AllText, LongestBlock, SimpleMss
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokens import CLOSE, OPEN
from tests.helpers.markup import SOUP, TAG_SOUP


@given(st.one_of(SOUP, TAG_SOUP))
def test_simple_mss_is_an_extractor_without_a_model_that_cleans_nothing(source: str) -> None:
    located = SimpleMss().locate(source)

    found = Extractor(profile="paper").extract(source)
    words = [i for i in range(len(found.tokens)) if located.kept[i] and not found.tokens.is_tag[i]]
    assert words[:1] == [found.span.start] * bool(words)
    assert words[-1:] == [found.span.end - 1] * bool(words)


@pytest.mark.parametrize(
    ("penalty", "expected"), [(-3.25, "one two"), (-1.0, "one two\n\nthree four")]
)
def test_simple_mss_reaches_over_tags_as_far_as_the_penalty_lets_it(
    penalty: float, expected: str
) -> None:
    source = "<ul><li>x</ul><p>one two<p>three four</p><ul><li>y</ul>"

    assert SimpleMss(penalty=penalty).extract(source) == expected


def test_the_longest_block_is_the_box_with_the_most_text() -> None:
    cases = [
        ("<div>one</div><div>three three</div><div>two</div>", "three three"),
        ("<td>one</td><td>three three</td>", "three three"),
        # Characters count, words do not.
        ("<div>a b c</div><div>abcdef</div>", "abcdef"),
        # A box holds what is in the boxes in it; of equal ones the first.
        ("<div>one<div>two two</div></div><div>three th</div>", "one\n\ntwo two"),
        ("<div><div>one</div></div><div>one</div>", "one"),
        # Markup and code are no characters of text.
        (f"<div>one<a href='{'x' * 99}'></a></div><div>four four</div>", "four four"),
        (f"<div>one<script>{'x' * 99}</script></div><div>four four</div>", "four four"),
        # A box that is never closed is none; without one it is the whole page.
        ("<div>one</div><div>three three", "one"),
        ("<p>one</p><section>two</section>", "one\n\ntwo"),
        ("<div>one", "one"),
        ("", ""),
    ]

    assert [(source, LongestBlock().extract(source)) for source, _ in cases] == cases


@given(st.one_of(SOUP, TAG_SOUP))
def test_the_longest_block_is_a_whole_box_or_the_page(source: str) -> None:
    system = LongestBlock()
    tokens = system.locate(source).tokens

    span = system.span(tokens)

    if (span.start, span.end) != (0, len(tokens)):
        assert (tokens.kind[span.start], tokens.kind[span.end - 1]) == (OPEN, CLOSE)
        assert tokens.partner[span.start] == span.end - 1


@given(st.one_of(SOUP, TAG_SOUP))
def test_all_text_is_all_but_code(source: str) -> None:
    located = AllText().locate(source)

    code = located.tokens.is_open("script") | located.tokens.is_open("style")
    assert located.text == render(located.tokens, located.kept)
    assert located.kept[~located.tokens.is_tag].all()
    assert not (located.kept & code & (located.tokens.partner >= 0)).any()
