from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from research.systems.lsi import LargestSizeIncrease
from scrapy_mss.markup.elements import element_starts
from scrapy_mss.markup.tokens import Tokens
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP


def test_the_element_wins_that_has_most_beyond_its_largest_child() -> None:
    cases = [
        # 7 - 3 characters for the box, 3 for the largest paragraph.
        ("<b>x</b><div><p>aaa</p><p>bbb</p><p>c</p></div>", "aaa\n\nbbb\n\nc"),
        # 7 - 4 for the outer box, 4 for the first inner one.
        ("<div><div>aaaa</div><div>bbb</div></div>", "aaaa"),
        # What wraps adds nothing, and is not the winner.
        ("<div><div><p>aa</p><p>bb</p>c</div></div>", "aa\n\nbb\n\nc"),
        # The page counts: 5 - 2, and before an element with as much.
        ("<p>aa</p>bbb", "aa\n\nbbb"),
        ("<p>aa</p>bb", "aa\n\nbb"),
        ("<p>aa</p>b", "aa"),
        # What is not closed is none.
        ("<div>aaaa<p>b</p>", "aaaa\n\nb"),
        # Markup and code are no size.
        (f"<p>aa</p><i title={'x' * 99}></i><script>{'x' * 99}</script>", "aa"),
        ("", ""),
    ]

    assert [(source, LargestSizeIncrease().extract(source)) for source, _ in cases] == cases


@given(st.one_of(SOUP, TAG_SOUP, NESTED))
def test_no_element_has_a_larger_increase(source: str) -> None:
    system = LargestSizeIncrease()
    tokens = system.locate(source).tokens

    span = system.span(tokens)

    opens = np.flatnonzero(element_starts(tokens)).tolist()
    spans = [(0, len(tokens)), *((at, int(tokens.partner[at]) + 1) for at in opens)]
    sizes = {(start, end): size(tokens, start, end) for start, end in spans}
    increases = [
        own - max((sizes[other] for other in spans[1:] if inside(other, outer)), default=0)
        for outer, own in sizes.items()
    ]
    assert (span.start, span.end) in sizes
    assert span.value == max(increases)


def inside(other: tuple[int, int], outer: tuple[int, int]) -> bool:
    """An element is in another, and each is in the page, which may be no longer than it."""
    is_page = outer[0] == 0 and outer[1] >= other[1]
    return other != outer and (is_page or outer[0] < other[0] < other[1] <= outer[1])


def size(tokens: Tokens, start: int, end: int) -> int:
    words = range(start, end)
    return sum(
        int(tokens.clean_end[at] - tokens.clean_start[at]) for at in words if not tokens.is_tag[at]
    )
