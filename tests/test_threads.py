"""Pages that threads read at once are read as one thread reads them, with the GIL and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from scrapy_mss import Extraction, Extractor
from tests.page_cases import PageCase, read_cases

N_THREADS = 8
CASES = [case for case in read_cases() if not case.untrained]
TAUGHT = [case for case in CASES if case.is_article][:12]


@pytest.fixture(autouse=True)
def often_interrupted() -> Iterator[None]:
    """Threads that take turns a thousand times as often as by default."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


def taught() -> Extractor:
    """An extractor that has yet to work out what it was taught."""
    extractor = Extractor()
    for n, case in enumerate(TAUGHT):
        assert extractor.learn(case.source, case.text, f"https://news{n}.example/a") is None
    return extractor


def seen(extraction: Extraction) -> tuple[object, ...]:
    return (
        extraction.text, extraction.html, extraction.kind, extraction.probability,
        extraction.confidence, extraction.is_complete, len(extraction.entries),
    )  # fmt: skip


def read(extractor: Extractor, case: PageCase) -> tuple[object, ...]:
    return seen(extractor.extract(case.source.encode(), case.url or ""))


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(CASES[::8], id="some"),
        pytest.param(CASES[::2], id="1000", marks=pytest.mark.slow("a thousand pages")),
    ],
)
def test_eight_threads_read_pages_as_one_does(cases: list[PageCase]) -> None:
    one, shared, start = taught(), taught(), Barrier(N_THREADS)
    expected = {case.name: read(one, case) for case in cases}

    def read_all(thread: int) -> dict[str, tuple[object, ...]]:
        start.wait()
        at = thread * len(cases) // N_THREADS
        return {case.name: read(shared, case) for case in cases[at:] + cases[:at]}

    with ThreadPoolExecutor(N_THREADS) as threads:
        found = list(threads.map(read_all, range(N_THREADS)))

    for each in found:
        assert each == expected
