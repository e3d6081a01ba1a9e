from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.dsc import (
    AdvancedSlopeCurve,
    DocumentSlopeCurve,
    regions,
    slopes_around,
)
from tests.helpers.markup import SOUP, TAG_SOUP


def test_three_windows_begin_a_region_and_three_end_it() -> None:
    cases = [
        ("000111000", "000111000"),
        ("0001101110000", "0000001110000"),  # two flat ones begin nothing
        ("11100111000", "11111111000"),  # two steep ones end nothing
        ("000110", "000000"),
        ("00011", "00011"),  # the last one stands for those behind it
        ("11100", "11100"),
        ("1", "1"),
        ("0", "0"),
        ("", ""),
    ]

    for flat, expected in cases:
        found = regions(np.array([digit == "1" for digit in flat], np.bool_))
        assert "".join(str(int(inside)) for inside in found) == expected, flat


TAGS = "<br>" * 6


def test_text_is_where_the_curve_is_half_as_steep() -> None:
    cases = [
        (f"{TAGS}a b c d e f{TAGS}", 2, "a b c d e f"),
        # Two windows of three tokens are no region.
        (f"{TAGS}a b c d e f{TAGS}", 3, ""),
        # One tag in four is just flat enough where every second token is a tag …
        ("<br>a b c" * 3 + "<br><br><br>x" * 3, 4, "a b c\na b c\na b c"),
        # … and too steep where there are fewer.
        ("<br>a b c" * 3 + "<br><br><br>x" * 2 + "<br><br>x x", 4, ""),
        # A page without tags is as flat as can be.
        ("a b c", 2, "a b c"),
        ("<p><p>", 2, ""),
        ("", 2, ""),
    ]

    found = [DocumentSlopeCurve(width=width).extract(source) for source, width, _ in cases]

    assert found == [expected for *_, expected in cases]


def test_there_are_regions_apart() -> None:
    text, tags = "word " * 60, "<br>" * 120

    found = DocumentSlopeCurve().extract(f"{tags}{text}{tags}{text}{tags}")

    assert found.replace("\n", " ").split() == ["word"] * 120


def test_a_window_is_a_token_at_least() -> None:
    with pytest.raises(ValueError, match="the width is 0"):
        DocumentSlopeCurve(width=0)


def test_a_slope_is_the_share_of_tags_around_a_token() -> None:
    code = np.array([True, False, False, True])

    assert slopes_around(code, 1) == pytest.approx([1 / 2, 1 / 3, 1 / 3, 1 / 2])
    assert slopes_around(code, 9) == pytest.approx([1 / 2] * 4)


def test_the_advanced_curve_takes_links_for_tags() -> None:
    text, tags = "word " * 90, "<br>" * 20
    source = f"{tags}<a>{'link ' * 90}</a>{tags}{text}{tags}"

    assert "link" in DocumentSlopeCurve().extract(source)
    assert set(AdvancedSlopeCurve().extract(source).split()) == {"word"}


@given(st.one_of(SOUP, TAG_SOUP))
def test_all_of_a_page_is_never_flat_unless_it_has_no_tags(source: str) -> None:
    for system in (DocumentSlopeCurve(width=1), AdvancedSlopeCurve()):
        located = system.locate(source)

        code = located.tokens.is_tag
        assert located.kept.all() == (not code.any()) or not len(code)
