"""Each folder of tests/pages is a page that was read wrongly once, or its twin that was not."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_mss import Extractor

PAGES = Path(__file__).parent / "pages"
CASES = sorted(path.parent.name for path in PAGES.glob("*/source.html"))


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES)
def test_page_gives_its_text(case: str) -> None:
    source = (PAGES / case / "source.html").read_text(encoding="utf-8")
    expected = (PAGES / case / "expected.txt").read_text(encoding="utf-8").rstrip("\n")

    text = Extractor().extract(source).text

    paragraphs = zip(text.split("\n\n"), expected.split("\n\n"), strict=False)
    for number, (found, wanted) in enumerate(paragraphs, 1):
        assert found == wanted, f"paragraph {number}"
    assert text == expected
