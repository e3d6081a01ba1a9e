from __future__ import annotations

import numpy as np

from research.systems.dsc import (
    DocumentSlopeCurve,
    regions,
)


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
