"""Names of a template and names that were generated for one page or one release."""

from __future__ import annotations

import pytest

from scrapy_mss.suggest.names import is_stable


@pytest.mark.parametrize(
    ("stable", "generated"),
    [
        ("post", "post-48213"),
        ("col-12", "col-20240312"),
        ("css-grid", "css-1q2w3e"),
        ("sc-title", "sc-bdVaJa"),
        ("Article__body", "Article_body__3xTz9"),
        ("story--wide", "story--x7f3q"),
        ("facade", "deadbeef01"),
        ("c-article", "c:article"),
        ("x", ""),
        ("a" * 60, "a" * 61),
    ],
)
def test_a_generated_name_and_its_near_miss(stable: str, generated: str) -> None:
    assert is_stable(stable)
    assert not is_stable(generated)
