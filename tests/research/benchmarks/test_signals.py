"""Crawls that get signals at any moment end well."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow("whole crawls")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_a_short_campaign_finds_nothing() -> None:
    command = [sys.executable, "-m", "research.benchmarks.signals", "--crawls", "2"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    _, row = done.stdout.splitlines()
    assert row.split() == ["2", "0", "0", "0", "0"]
