"""Whole crawls that are killed, or whose disk is full, lose nothing and count nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from research.benchmarks.redis_server import program

COMMAND = [sys.executable, "-m", "research.benchmarks.crash_crawls"]
IN_NAMESPACE = ["unshare", "--map-root-user", "--mount"]
ON_SMALL_DISK = 'mount -t tmpfs -o size=16m none "$0" && exec "$@" --full "$0"'

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="crawls are killed"),
    pytest.mark.slow("dozens of crawls, which are killed"),
]


def campaign(command: list[str], pages: int) -> dict[str, int]:
    """What a short campaign has found, in which nothing is lost and nothing counts twice."""
    short = [*command, "--kills", "3", "--pages", str(pages)]
    done = subprocess.run(short, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    names, row = (line.split() for line in done.stdout.splitlines())
    numbers = dict(zip(names, map(int, row), strict=True))
    assert numbers["learned"] == pages
    return numbers


def test_killed_crawls_that_share_a_folder_lose_nothing() -> None:
    assert campaign(COMMAND, 100)["kills"] >= 1


@pytest.mark.skipif(program() is None, reason="no redis-server or valkey-server is installed")
def test_killed_crawls_that_share_a_server_lose_nothing() -> None:
    numbers = campaign([*COMMAND, "--redis"], 200)

    assert numbers["kills"] >= 3
    assert numbers["restarts"] >= 1


@pytest.mark.skipif(
    not which("unshare") or bool(subprocess.run([*IN_NAMESPACE, "true"], check=False).returncode),
    reason="no disk can be mounted here",
)
def test_crawls_whose_disk_is_full_for_a_while_lose_nothing(tmp_path: Path) -> None:
    """They store later what they could not store then."""
    shell = ["sh", "-c", ON_SMALL_DISK, str(tmp_path)]

    assert campaign([*IN_NAMESPACE, *shell, *COMMAND], 100)["items"] >= 100
