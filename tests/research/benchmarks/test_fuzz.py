"""The campaign of mutated pages finds planted faults, and nothing wrong with what we read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from research.benchmarks import fuzz_campaign
from research.benchmarks.fuzz import CASES, Tally, count, tell
from research.benchmarks.fuzz_campaign import (
    DIFFERENCE,
    EXCEPTION,
    MEMORY,
    ROWS,
    TIME,
    Campaign,
    PageResult,
)
from research.benchmarks.mutations import Mutant
from research.benchmarks.page_properties import Reader, Reading
from research.benchmarks.synthetic import page
from scrapy_mss.markup.compiled import IS_COMPILED, compiled_part

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="pages are read in forked children")
ROOT = Path(__file__).resolve().parents[3]
MARK = "planted"
PAGES = (f"<p>{MARK}</p>{page(20_000)}", page(20_000, 1))
KEPT: list[object] = []
TAKEN = 50_000_000  # bytes


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return Campaign(PAGES, 1)


def raising(_: Reading) -> NoReturn:
    raise ArithmeticError


def ending(_: Reading) -> NoReturn:
    os._exit(3)


def endless(_: Reading) -> NoReturn:
    while True:
        pass


def greedy(reading: Reading) -> Reading:
    KEPT.append(bytes(2 * fuzz_campaign.MOST_MEMORY))
    return reading


def hungry(reading: Reading) -> Reading:
    KEPT.append(bytearray(b"x") * TAKEN)
    return reading


def with_html(added: str) -> Callable[[Reading], Reading]:
    return lambda reading: replace(reading, html=reading.html + added)


def with_markdown(added: str) -> Callable[[Reading], Reading]:
    return lambda reading: replace(reading, markdown=reading.markdown + added)


def with_field(name: str, value: object) -> Callable[[Reading], Reading]:
    return lambda reading: replace(reading, fields={name: value})


FAULTS: dict[str, tuple[str, Callable[[Reading], Reading]]] = {
    "exception": (EXCEPTION, raising),
    "end": (EXCEPTION, ending),
    "no end": (EXCEPTION, endless),
    "gigabytes": (EXCEPTION, greedy),
    "another title in each process": (
        DIFFERENCE,
        lambda reading: replace(reading, fields={"title": str(os.getpid())}),
    ),
    "control in HTML": ("controls and surrogates", with_html("<p title='\x9b'></p>")),
    "line end in a field": ("controls and surrogates", with_field("title", "a\nb")),
    "surrogate": ("controls and surrogates", with_field("description", "\ud800")),
    "script": ("unsafe HTML", with_html("<script></script>")),
    "handler": ("unsafe HTML", with_html("<p onclick=''></p>")),
    "link to a script": ("unsafe HTML", with_html("<a href=' JavaScript:x'></a>")),
    "comment": ("unsafe HTML", with_html("<!--x-->")),
    "word": (
        "other words in HTML",
        lambda reading: replace(
            reading, html=f"{reading.html}word", markdown=f"{reading.markdown}word"
        ),
    ),
    "word of Markdown": ("other words in Markdown", with_markdown("word")),
    "HTML in Markdown": ("other words in Markdown", with_markdown("<script></script>")),
    "probability": (
        "inconsistent",
        lambda reading: replace(reading, extraction=replace(reading.extraction, probability=2.0)),
    ),
    "address": ("no web address", with_field("main_image", "data:,")),
    "address of a picture": (
        "no web address",
        with_field("media", [{"kind": "image", "url": "data:,"}]),
    ),
    "control in a caption": (
        "controls and surrogates",
        with_field("media", [{"url": "https://x.example/", "caption": "a\0"}]),
    ),
    "time": (TIME, lambda reading: replace(reading, seconds={"extract": 5.0})),
    "memory": (MEMORY, hungry),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_on_its_page_alone(
    name: str, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, fault = FAULTS[name]
    read = Reader.read

    def planted(self: Reader, html: str, url: str) -> Reading:
        reading = read(self, html, url)
        return fault(reading) if MARK in html else reading

    monkeypatch.setattr(Reader, "read", planted)
    monkeypatch.setattr(fuzz_campaign, "mutant", lambda pages, _, n: Mutant(pages[n], ()))
    monkeypatch.setattr(fuzz_campaign, "LONGEST", 0.5)

    wrong, sound = campaign.checked([0, 1])

    assert set(wrong.faults) == {row}
    assert sound.faults == {}


def test_a_page_is_counted_in_the_rows_that_it_was_tried_for() -> None:
    tallies = {row: Tally() for row in ROWS}

    count(PageResult(0, {}, costs={TIME: 2.0}), tallies)
    count(PageResult(1, {TIME: "4"}, costs={TIME: 4.0, MEMORY: 5.0}), tallies)

    assert (tallies[EXCEPTION].tried, tallies[EXCEPTION].wrong) == (2, 0)
    assert (tallies[DIFFERENCE].tried, tallies[MEMORY].tried) == (1, 1)
    assert (tallies[TIME].tried, tallies[TIME].wrong, tallies[TIME].worst) == (2, 1, 4.0)


def test_a_page_that_fails_is_kept_with_the_command_that_reads_it_alone(
    campaign: Campaign,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    tell(campaign, PageResult(7, {EXCEPTION: "why \x1b"}), "fuzz --seed 1")

    file = tmp_path / "build" / "fuzz" / "1-7.html"
    assert file.read_text(errors="surrogatepass") == campaign.page(7).html
    printed = capsys.readouterr().out
    assert "exception, or process ended: why \\x1b" in printed
    assert "again: fuzz --seed 1 --page 7" in printed


def test_the_compiled_part_is_compared_with_python(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Reader.read

    def planted(self: Reader, html: str, url: str) -> Reading:
        reading = read(self, html, url)
        fields = {"title": "Python"} if compiled_part() is None else {"title": "compiled"}
        return replace(reading, fields=fields)

    monkeypatch.setattr(Reader, "read", planted)
    monkeypatch.setattr(fuzz_campaign, "mutant", lambda pages, _, n: Mutant(pages[n], ()))

    twice, once = campaign.checked([0, 1])

    assert (set(twice.faults) == {DIFFERENCE}) == IS_COMPILED
    assert once.faults == {}


def fuzz(*arguments: str) -> str:
    command = [sys.executable, "-m", "research.benchmarks.fuzz", "--jobs", "2", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_short_campaign_finds_nothing() -> None:
    heading, *rows = fuzz("--pages", "60").splitlines()

    assert heading.split()[-4:] == ["pages", "wrong", "worst", "bound"]
    assert [row[:32].strip() for row in rows] == list(ROWS)
    assert {row[41:48].strip() for row in rows} == {"0"}
    assert rows[0].split()[-2:] == ["60", "0"]


def test_a_campaign_goes_on_at_a_page_and_without_the_compiled_part() -> None:
    _, *rows = fuzz("--pages", "20", "--first", "41", "--python-alone").splitlines()

    assert rows[0].split()[-2:] == ["20", "0"]
    assert rows[ROWS.index(DIFFERENCE)].split()[-2:] == ["1", "0"]  # page 60


def test_a_page_that_is_read_alone_is_measured(campaign: Campaign) -> None:
    (result,) = campaign.checked_alone(7)

    assert TIME in result.costs
    assert result.digest == campaign.read(7).digest


def test_the_pages_that_are_mutated_are_those_of_the_tests() -> None:
    assert len(list(CASES.glob("*/source.html"))) > 100
