"""What the soak calls wrong, and a short one of real servers and crawls."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from research.benchmarks.soak import BARE, MAX_ABOVE, MAX_GROWTH, MEGABYTE, MODES, STEADY, Mode, Row
from research.benchmarks.soak_crawl import Measured, Memory
from research.benchmarks.soak_server import own_word, story

ROOT = Path(__file__).resolve().parents[3]
STATS = {"mss/train/seen": 5.0, "mss/train/learned": 5.0}
FLAT = [Memory(100 * MEGABYTE, 50 * MEGABYTE)] * 3
SOUND = Measured(pages=STEADY, items=STEADY, seconds=1.0, memory=FLAT, stats=STATS)
WITHOUT_WRAPPERS, INLINE, ONE, TWO, DISTURBED = MODES[1:]


def broken(measured: Measured, mode: Mode = TWO) -> list[str]:
    return list(Row(mode, measured, bare_memory=FLAT[0].crawl).broken())


def grown(crawl: int = 0, workers: int = 0) -> list[Memory]:
    """Memory that grows by so many megabytes after the middle."""
    end = Memory(FLAT[0].crawl + crawl * MEGABYTE, FLAT[0].workers + workers * MEGABYTE)
    return [*FLAT[:2], end]


def above(megabytes: int) -> list[Memory]:
    return [Memory(FLAT[0].crawl + megabytes * MEGABYTE, 0)] * 3


@pytest.mark.parametrize("mode", MODES[1:], ids=lambda mode: mode.name)
def test_nothing_is_wrong_with_a_sound_crawl(mode: Mode) -> None:
    assert broken(SOUND, mode) == []


@pytest.mark.parametrize(
    ("measured", "fault"),
    [
        (replace(SOUND, items=STEADY - 1), "1 pages lost"),
        (
            replace(SOUND, items=STEADY - 1, stats=STATS | {"mss/extract/failed/timeout": 1.0}),
            "1 pages giv",
        ),
        (replace(SOUND, stats=STATS | {"mss/train/learned": 4.0}), "1 pages lost"),
        (replace(SOUND, items=STEADY + 2), "2 pages counted twice"),
        (replace(SOUND, stats=STATS | {"mss/train/refused/x": 1.0}), "1 pages counted twice"),
        (replace(SOUND, mixed=2), "2 mixed up"),
        (replace(SOUND, memory=grown(crawl=MAX_GROWTH + 1)), "grows by 17 MB"),
        (replace(SOUND, memory=grown(workers=MAX_GROWTH + 1)), "grows by 17 MB"),
        (replace(SOUND, memory=above(MAX_ABOVE + 1)), "61 MB above"),
    ],
)
def test_a_bound_that_is_broken_is_named(measured: Measured, fault: str) -> None:
    (found,) = broken(measured)

    assert fault in found


def test_growth_is_bounded_where_a_crawl_is_long_enough_to_be_steady() -> None:
    measured = replace(SOUND, memory=grown(crawl=MAX_GROWTH + 1))
    short = replace(measured, pages=STEADY - 1, items=STEADY - 1)

    assert len(broken(measured)) == 1
    assert broken(short) == []


def test_the_crawl_s_process_does_not_grow_with_the_workers_that_are_replaced() -> None:
    (found,) = broken(replace(SOUND, memory=grown(crawl=MAX_GROWTH + 1)), DISTURBED)

    assert "grows by 17 MB" in found


@pytest.mark.parametrize(
    ("measured", "mode"),
    [
        (
            replace(
                SOUND,
                items=STEADY - 1,
                disturbed=1,
                stats=STATS | {"mss/extract/failed/crash": 1.0},
            ),
            DISTURBED,
        ),
        (replace(SOUND, stats=STATS | {"mss/train/learned": 4, "mss/train/refused/x": 1}), TWO),
        (replace(SOUND, memory=grown(crawl=MAX_GROWTH)), TWO),
        (replace(SOUND, memory=grown(workers=40)), DISTURBED),  # one that has just been replaced
        (replace(SOUND, memory=above(MAX_ABOVE)), ONE),
        (replace(SOUND, memory=above(MAX_ABOVE + 1)), INLINE),
        (replace(SOUND, items=0, stats={}), BARE),
    ],
)
def test_what_is_within_the_bounds_is_not_named(measured: Measured, mode: Mode) -> None:
    assert broken(measured, mode) == []


def test_each_page_is_an_article_with_a_word_of_its_own() -> None:
    pages = {number: story(number) for number in range(20)}

    for number, html in pages.items():
        at = html.index("<article>")
        assert own_word(number) in html[at:].lower()
        assert all(own_word(other) not in html for other in pages if other != number)


@pytest.mark.skipif(sys.platform != "linux", reason="sites have addresses from 127.0.0.2 on")
def test_a_short_soak_finds_nothing() -> None:
    command = [sys.executable, "-m", "research.benchmarks.soak", "--pages", "40", "--only", "= 0"]

    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    assert done.returncode == 0, done.stdout + done.stderr
    *_, bare, inline, unchecked, verdict = done.stdout.splitlines()
    assert bare.startswith(BARE.name)
    assert inline.split()[-4:] == ["0", "0", "0", "20"]
    assert unchecked == "growth is not checked: that needs 2,000 pages"
    assert verdict == "all bounds hold"
