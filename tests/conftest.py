"""Settings of hypothesis, shared fixtures and the order of files, for all tests.

Runs are repeatable: the same examples each time, a third of them in `make test`. `pytest
--hypothesis-profile=search` looks for new ones, many more of them.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

from scrapy_mss import Extractor

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("search", deadline=None, max_examples=3000)
# What an example reads and writes counts, and each takes several times as long: make sanitized.
settings.register_profile("sanitized", derandomize=True, deadline=None, max_examples=20)
settings.load_profile("repeatable")

pytest_plugins = ("tests.helpers.redis", "tests.helpers.shelves", "tests.helpers.stores")


@pytest.fixture(scope="session")
def extractor() -> Extractor:
    """The extractor of the bundled model, which no test teaches."""
    return Extractor()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with slow tests first, the others after them in the order they came in.

    So that none is what one process still works on when the others are done: `pytest -n` gives a
    file to one process.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
