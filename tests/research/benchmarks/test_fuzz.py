"""The campaign of mutated pages finds planted faults, and nothing wrong with what we read."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import pytest

from research.benchmarks import fuzz_campaign
from research.benchmarks.fuzz import source_pages
from research.benchmarks.fuzz_campaign import DIFFERENCE, EXCEPTION, MEMORY, TIME, TWICE, Campaign
from research.benchmarks.mutations import LENGTHS, MOST_GROWTH, Mutant, mutant
from research.benchmarks.page_properties import Reader, Reading
from research.benchmarks.synthetic import page

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="pages are read in forked children")
MARK = "planted"
PAGES = (f"<p>{MARK}</p>{page(20_000)}", page(20_000, 1))
KEPT: list[object] = []
TAKEN = 50_000_000  # bytes


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return Campaign(PAGES, 1)


def raising(_: Reading) -> NoReturn:
    raise ArithmeticError


def endless(_: Reading) -> NoReturn:
    while True:
        pass


def greedy(reading: Reading) -> Reading:
    KEPT.append(bytes(2 * fuzz_campaign.MOST_MEMORY))
    return reading


def hungry(reading: Reading) -> Reading:
    KEPT.append(bytearray(b"x") * TAKEN)
    return reading


def adding(html: str = "", markdown: str = "", **fields: object) -> Callable[[Reading], Reading]:
    return lambda reading: replace(
        reading,
        html=reading.html + html,
        markdown=reading.markdown + markdown,
        fields=fields or reading.fields,
    )


FAULTS: dict[str, tuple[str, Callable[[Reading], Reading]]] = {
    "exception": (EXCEPTION, raising),
    "no end": (EXCEPTION, endless),
    "gigabytes": (EXCEPTION, greedy),
    "another title in each process": (
        DIFFERENCE,
        lambda reading: replace(reading, fields={"title": str(os.getpid())}),
    ),
    "line end in a field": ("controls and surrogates", adding(title="a\nb")),
    "script": ("unsafe HTML", adding("<script></script>")),
    "handler": ("unsafe HTML", adding("<p onclick=''></p>")),
    "link to a script": ("unsafe HTML", adding("<a href=' JavaScript:x'></a>")),
    "word": ("other words in HTML", adding("word", "word")),
    "HTML in Markdown": ("other words in Markdown", adding(markdown="<script></script>")),
    "probability": (
        "inconsistent",
        lambda reading: replace(reading, extraction=replace(reading.extraction, probability=2.0)),
    ),
    "address": ("no web address", adding(main_image="data:,")),
    "time": (TIME, lambda reading: replace(reading, seconds={"extract": 5.0})),
    "memory": (MEMORY, hungry),
}


@pytest.mark.slow("a campaign for each fault")
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
    monkeypatch.setattr(fuzz_campaign, "mutant", lambda pages, _, n: Mutant(pages[n % 2], ()))
    monkeypatch.setattr(fuzz_campaign, "LONGEST", 0.5)

    # The first is read twice; what it costs is measured if its number is 0, or if it seems much.
    wrong, sound = campaign.checked([0, 1] if row == MEMORY else [TWICE, TWICE + 1])

    assert set(wrong.faults) == {row}
    assert sound.faults == {}


def test_a_page_depends_on_seed_and_number_alone() -> None:
    pages = [*source_pages(None), "<p>one two " * 50_000, "", "<", "\ud800"]
    made = [mutant(pages, 1, number) for number in range(200)]

    assert made == [mutant(pages, 1, number) for number in range(200)]
    assert len({each.html for each in made}) > 150
    assert mutant(pages, 2, 0) != made[0]
    assert max(len(each.html) for each in made) <= MOST_GROWTH * max(LENGTHS)
