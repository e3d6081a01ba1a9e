"""The campaign against the other stores finds what is wrong with them, and nothing with ours."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from research.benchmarks.crash_stores import KINDS, Kind, Wrong, campaign
from research.benchmarks.redis_server import program

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
needs_redis = pytest.mark.skipif(program() is None, reason="no redis-server or valkey-server")
SHORT = Namespace(seed=1, kills=4, redis=False)


@pytest.mark.parametrize("name", KINDS)
def test_a_short_campaign_finds_nothing_in_files(name: str) -> None:
    done = campaign(KINDS[name], SHORT)

    assert done.kills >= SHORT.kills
    assert done.reported
    assert done.found == Wrong()


@needs_redis
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.server])
def test_nor_on_a_server_that_is_killed_too(name: str) -> None:
    done = campaign(KINDS[name], Namespace(**{**vars(SHORT), "kills": 8, "redis": True}))

    assert done.restarts >= 2
    assert done.reported
    assert done.found == Wrong()


def forgotten(_add: Callable[..., object]) -> Callable[[Any, int], None]:
    return lambda _store, _key: None


def repeated(add: Callable[..., object]) -> Callable[[Any, int], None]:
    def adding(store: object, key: int) -> None:
        add(store, key)
        add(store, key)

    return adding


@pytest.mark.parametrize("name", KINDS)
def test_a_store_that_forgets_is_found_out(name: str) -> None:
    kind: Kind = replace(KINDS[name], add=forgotten(KINDS[name].add))

    assert campaign(kind, SHORT).found.lost


@pytest.mark.parametrize("name", ["quality", "sites", "stories"])
def test_a_store_that_counts_twice_is_found_out(name: str) -> None:
    assert campaign(replace(KINDS[name], add=repeated(KINDS[name].add)), SHORT).found.twice
