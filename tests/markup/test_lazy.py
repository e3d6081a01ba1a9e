from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from scrapy_mss.markup.lazy import lazy


@dataclass(frozen=True)
class Page:
    asked: list[str] = field(default_factory=list)

    @lazy
    def words(self) -> int:
        """How many words it has."""
        self.asked.append("words")
        if len(self.asked) == 1:
            raise ValueError("not yet")
        return 7


def test_a_value_is_computed_once_and_a_failure_again() -> None:
    page = Page()
    assert page.asked == []

    with pytest.raises(ValueError, match="not yet"):
        _ = page.words

    assert page.words == page.words == 7
    assert page.asked == ["words", "words"]
    assert Page.words.__doc__ == "How many words it has."
