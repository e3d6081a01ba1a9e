"""How many examples a property is tried on, as a share of what hypothesis's profile says."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def examples(share: float) -> settings:
    """*share* times the profile's number of examples; see `conftest.py` for the profiles."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))


def examples_in_stores(share: float = 1 / 3) -> settings:
    """The same for what makes a store for each example, by a fixture of all examples."""
    return settings(examples(share), suppress_health_check=[HealthCheck.function_scoped_fixture])
