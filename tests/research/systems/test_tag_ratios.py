"""What holds for every system of lines and tag ratios."""

from __future__ import annotations

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


@given(st.sampled_from(BY_LINES), st.one_of(SOUP, TAG_SOUP))
@examples(2)
def test_no_soup_is_too_thick(name: str, source: str) -> None:
    system = create(name)
    assert isinstance(system, TokenExtractor)

    located = system.locate(source)

    assert len(located.kept) == len(located.tokens)
    assert system.extract(source) == located.text
