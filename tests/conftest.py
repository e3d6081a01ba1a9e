"""Settings of hypothesis for all tests.

Runs are repeatable: the same examples each time. `pytest --hypothesis-profile=search` looks for
new ones, many more of them.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("search", deadline=None, max_examples=3000)
settings.load_profile("repeatable")
