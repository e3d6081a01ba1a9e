"""Settings of hypothesis, and names of parametrized cases, for all tests.

Runs are repeatable: the same examples each time. `pytest --hypothesis-profile=search` looks for
new ones, many more of them.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("search", deadline=None, max_examples=3000)
settings.load_profile("repeatable")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by its number where pytest would by its bytes.

    What is compressed holds the second in which it was, and processes that share the tests out
    among them (`pytest -n`) have to name each the same.
    """
    return argname if isinstance(val, bytes) and not val.isascii() else None
