"""Whole crawls that are killed, as is their server, lose nothing and count nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from research.benchmarks.redis_server import program


@pytest.mark.skipif(not hasattr(os, "fork"), reason="crawls are killed")
@pytest.mark.skipif(program() is None, reason="no redis-server or valkey-server is installed")
def test_a_short_campaign_finds_nothing() -> None:
    command = [sys.executable, "-m", "research.benchmarks.crash_crawls"]

    done = subprocess.run(
        [*command, "--kills", "3", "--pages", "200"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    names, row = (line.split() for line in done.stdout.splitlines())
    numbers = dict(zip(names, map(int, row), strict=True))
    assert numbers["kills"] >= 3
    assert numbers["restarts"] >= 1
    assert numbers["learned"] == 200
    assert [numbers[name] for name in ("lost", "twice", "more", "again")] == [0, 0, 0, 0]
