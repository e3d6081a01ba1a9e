"""The benchmark of a crawl's event loop and memory: it measures crawls, and its bounds can fail."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from research.benchmarks import stall
from research.benchmarks.lists_server import LISTS, serving
from research.benchmarks.stall import BARE, ROWS, made_site, measured, mixed_sizes

Found = dict[str, list[dict[str, Any]]]


def found(longest: float, rss: float) -> Found:
    """What three crawls each way came to, those with workers beyond a bare one by so much."""
    runs: Found = {}
    for row in (BARE, *ROWS):
        one = {"longest": 0.02, "busiest": 0.01, "n_long": 0, "seconds": 1.0, "rss": 90e6}
        more = {"longest": longest, "rss": rss} if row.bounded else {"longest": 9.0, "rss": 9e9}
        runs[row.name] = [{**one, "more": more}] * 3
    return runs


@pytest.mark.parametrize(
    ("table", "bound"),
    [(stall.print_stalls, stall.LONGEST), (stall.print_memory, stall.LARGEST)],
)
def test_a_bound_holds_up_to_its_value_for_crawls_with_workers(
    table: Callable[[Found], bool], bound: float
) -> None:
    assert table(found(bound, bound))
    assert not table(found(bound * 1.01, bound * 1.01))


def test_the_bound_on_stalls_holds_for_lists() -> None:
    one = {"longest": 0.1, "busiest": 0.05, "seconds": 1.0}
    runs = {name: [{**one, "more": {"longest": stall.LONGEST}}] * 3 for name in LISTS}
    assert stall.print_lists(runs)

    runs["gzip bomb"] = [{**one, "more": {"longest": stall.LONGEST * 1.01}}] * 3
    assert not stall.print_lists(runs)


@pytest.mark.skipif(sys.platform != "linux", reason="sites have addresses from 127.0.0.2 on")
def test_crawls_of_lists_are_measured(tmp_path: Path) -> None:
    name = "nested entries"
    with serving() as fronts:
        bare, crawl = stall.list_crawls(fronts[name], LISTS[name][0], tmp_path)

    assert bare["stats"] == {}
    assert "mss/lists/failed/timeout" not in crawl["stats"]
    assert min(bare["longest"], crawl["longest"]) >= 0


def test_one_crawl_beyond_a_bound_is_no_median() -> None:
    runs = found(0.0, 0.0)
    name = next(row.name for row in ROWS if row.bounded)
    runs[name] = [{**runs[name][0], "more": {"longest": 9.0, "rss": 0.0}}, *runs[name][1:]]

    assert stall.print_stalls(runs)


def test_large_pages_are_between_the_small_ones() -> None:
    sizes = list(mixed_sizes())

    assert {size: sizes.count(size) for size in stall.SIZES} == stall.SIZES
    assert max(stall.SIZES) not in {sizes[0], sizes[-1]}


def test_crawls_are_measured(tmp_path: Path) -> None:
    site = made_site(tmp_path / "site.jsonl", [stall.SMALL] * 3)

    bare, default = (measured(row, site) for row in (BARE, ROWS[0]))

    assert bare["stats"] == {}
    assert default["stats"]["mss/train/learned"] == 3
    assert all(crawl["rss"] > 10e6 and crawl["longest"] >= 0 for crawl in (bare, default))
