"""How long a campaign goes on that kills processes."""

from __future__ import annotations

import pytest

from research.benchmarks.victims import MOST_KILLS, goes_on


@pytest.mark.parametrize(
    ("kills", "reported", "expected"),
    [
        (3, {7}, True),
        (4, {7}, False),
        (4, set(), True),  # nothing was done before the kills, so that nothing was tried
        (MOST_KILLS * 4, set(), False),
    ],
)
def test_a_campaign_goes_on_until_something_was_done(
    kills: int, reported: set[int], expected: object
) -> None:
    assert goes_on(4, kills, reported) is expected
