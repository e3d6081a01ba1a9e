from __future__ import annotations

import pytest

from research.systems.lqf import LinkQuotaFilter

LINKS = "<ul><li><a>one two</a> three</ul>"


def test_blocks_that_are_mostly_links_are_removed() -> None:
    cases = [
        (f"{LINKS}<p>four</p>", "four"),
        # A half is not the greater part.
        ("<ul><li><a>one</a> two</ul><p>four</p>", "one two\n\nfour"),
        # A link in running text stays; a paragraph that is a link does not.
        ("<p>one <a>two</a> three</p><p><a>four</a></p>", "one two three"),
        # A container goes with all that it holds.
        ("<div><ul><li><a>a b c</a></ul><p>d e</div><p>f</p>", "f"),
        ("<div><ul><li><a>a b c</a></ul><p>d e g</div><p>f</p>", "d e g\n\nf"),
        # Neither the page nor what is not closed is judged.
        ("<html><body><a>one</a></body></html>", "one"),
        ("<div><a>one</a>", "one"),
        ("<div></div>", ""),
        ("", ""),
    ]

    assert [(source, LinkQuotaFilter().extract(source)) for source, _ in cases] == cases


@pytest.mark.parametrize(("quota", "expected"), [(0.66, "four"), (0.67, "one two three\n\nfour")])
def test_the_quota_says_how_many_links_are_too_many(quota: float, expected: str) -> None:
    assert LinkQuotaFilter(quota=quota).extract(f"{LINKS}<p>four</p>") == expected
