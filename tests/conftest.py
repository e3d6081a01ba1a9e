"""Settings of hypothesis, names of parametrized cases and the order of files, for all tests.

Runs are repeatable: the same examples each time, a third of them in `make test`. `pytest
--hypothesis-profile=search` looks for new ones, many more of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("search", deadline=None, max_examples=3000)
# What an example reads and writes counts, and each takes several times as long: make sanitized.
settings.register_profile("sanitized", derandomize=True, deadline=None, max_examples=20)
settings.load_profile("repeatable")

pytest_plugins = ("tests.helpers.redis", "tests.helpers.shelves", "tests.helpers.stores")

TESTS = Path(__file__).parent

# Files that take longest, with their seconds. Begun first, none of them is what one process still
# works on when the others are done (`pytest -n`, which gives a file to one process).
LONGEST = {
    "research/benchmarks/test_crash_crawls.py": 55,
    "plugin/test_commands.py": 45,
    "spiders/test_hostile_sites.py": 40,
    "plugin/test_worker_crawls.py": 35,
    "plugin/test_workers.py": 35,
    "spiders/test_news.py": 35,
    "plugin/test_redis.py": 30,
    "bulk/test_run.py": 30,
    "plugin/test_rendering.py": 25,
    "spiders/test_fed_texts.py": 25,
    "test_packaging.py": 25,
    "research/benchmarks/test_signals.py": 25,
    "plugin/test_memory.py": 25,
    "demo_web/test_learning_on_top.py": 25,
    "workbench/test_in_chromium.py": 25,
    "workbench/test_why_page.py": 20,
    "research/benchmarks/test_crash.py": 20,
    "models/test_learning.py": 20,
    "models/test_store.py": 20,
    "plugin/test_quality.py": 20,
    "plugin/test_store_in_crawls.py": 20,
    "test_browser.py": 20,
    "test_guides.py": 20,
}


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by its number where pytest would by its bytes.

    What is compressed holds the second in which it was, and processes that share the tests out
    among them (`pytest -n`) have to name each the same.
    """
    return argname if isinstance(val, bytes) and not val.isascii() else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of LONGEST first, the others after them in the order they came in."""
    items.sort(key=lambda item: -seconds_of(item.path))


def seconds_of(path: Path) -> int:
    """What the tests of the file *path* take if it is one of LONGEST, else 0."""
    return LONGEST.get(path.relative_to(TESTS).as_posix(), 0)
