"""Short campaigns, each by its command: what is killed, full, signalled or mutated ends well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from research.benchmarks.redis_server import program

IN_NAMESPACE = ["unshare", "--map-root-user", "--mount"]
ON_SMALL_DISK = 'mount -t tmpfs -o size=16m none "$0" && exec "$@" --full "$0"'

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, and killed"),
    pytest.mark.slow("campaigns of processes and crawls"),
]
needs_server = pytest.mark.skipif(
    program() is None, reason="no redis-server or valkey-server is installed"
)


def campaign(options: str, *before: str) -> str:
    """What a campaign prints in which nothing is wrong; *before* it is what runs it."""
    command = [*before, sys.executable, "-m", *f"research.benchmarks.{options}".split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(printed: str) -> dict[str, int]:
    names, row = (line.split() for line in printed.splitlines())
    return dict(zip(names, map(int, row), strict=False))


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ("crash --kills 8", {"kills": 8}),
        pytest.param("crash --kills 8 --redis", {"restarts": 2}, marks=needs_server),
        ("crash_crawls --kills 3 --pages 100", {"kills": 1, "learned": 100}),
        pytest.param(
            "crash_crawls --kills 3 --pages 200 --redis",
            {"kills": 3, "restarts": 1, "learned": 200},
            marks=needs_server,
        ),
        ("signals --crawls 2", {"crawls": 2}),
    ],
)
def test_killed_processes_and_crawls_lose_and_repeat_nothing(
    options: str, least: dict[str, int]
) -> None:
    found = numbers(campaign(options))

    assert all(found[name] >= number for name, number in least.items()), found


@pytest.mark.skipif(
    not which("unshare") or bool(subprocess.run([*IN_NAMESPACE, "true"], check=False).returncode),
    reason="no disk can be mounted here",
)
def test_crawls_whose_disk_is_full_for_a_while_lose_nothing(tmp_path: Path) -> None:
    """They store later what they could not store then."""
    shell = ["sh", "-c", ON_SMALL_DISK, str(tmp_path)]

    printed = campaign("crash_crawls --kills 3 --pages 100", *IN_NAMESPACE, *shell)

    assert numbers(printed)["items"] >= 100


def test_mutated_pages_are_read() -> None:
    campaign("fuzz --jobs 2 --pages 60")
