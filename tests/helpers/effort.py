"""How many examples a property is tried on, as a share of what hypothesis's profile says."""

from __future__ import annotations

from hypothesis import settings


def examples(share: float) -> settings:
    """*share* times the profile's number of examples; see `conftest.py` for the profiles."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))
