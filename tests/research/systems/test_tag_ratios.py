"""What holds for every system of lines and tag ratios."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems import SYSTEMS, create
from research.systems.base import TokenExtractor
from tests.helpers.effort import examples
from tests.helpers.markup import SOUP, TAG_SOUP

BY_LINES = [
    name for name, row in SYSTEMS.items() if row.home.partition(":")[0].endswith((".cetr", ".ttr"))
]


def test_there_are_seven() -> None:
    assert len(BY_LINES) == 7


@pytest.mark.parametrize("name", BY_LINES)
@given(source=st.one_of(SOUP, TAG_SOUP))
@examples(0.3)
def test_no_soup_is_too_thick(name: str, source: str) -> None:
    system = create(name)
    assert isinstance(system, TokenExtractor)

    located = system.locate(source)

    assert len(located.kept) == len(located.tokens)
    assert system.extract(source) == located.text
