"""Mutated pages, read in forked children: what fails, differs, or costs too much.

Each page is a function of the seed and its number. Batches of pages are read in a child, so that a
page that ends its process is one finding and not the end. A share of the pages is read again by a
second child, in reverse order and without the compiled part, and has to give the same. What seems
to cost too much, and a share of the rest, is measured anew in children of its own, beside an
ordinary page of its size.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from research.benchmarks.children import ChildEndedError, forked, limit_cpu, limit_memory
from research.benchmarks.mutations import URL, Mutant, mutant
from research.benchmarks.page_costs import PageCosts, size_of
from research.benchmarks.page_properties import PROPERTIES, Reader
from research.benchmarks.synthetic import page
from scrapy_mss.markup.compiled import python_alone

TWICE = 20  # one page of so many is read twice
COSTED = 50  # one page of so many is measured, whether it seems to cost much or not
SEEMS = 0.6  # of the bound: in a batch, where most words have been seen, a page costs less
LONGEST = 10.0  # seconds of processor time for one page; the default of MSS_TIMEOUT
MOST_MEMORY = 2**30  # bytes that reading a batch may take

MAX_COST = 3.0  # times an ordinary page, as for all shapes of page
MAX_MEMORY = 60.0  # bytes a byte of page, above lxml's tree

EXCEPTION, DIFFERENCE = "exception, or process ended", "other when read again"
TIME, MEMORY = "processor time, x ordinary", "memory, bytes a byte"
BOUNDS = {TIME: MAX_COST, MEMORY: MAX_MEMORY}
ROWS = (EXCEPTION, DIFFERENCE, *PROPERTIES, *BOUNDS)


@dataclass(frozen=True, slots=True)
class PageResult:
    """What came of reading one page."""

    number: int
    faults: dict[str, str]  # what is wrong, by row
    digest: bytes = b""
    seconds: dict[str, float] = field(default_factory=dict)  # by operation
    size: int = 0  # bytes
    costs: dict[str, float] = field(default_factory=dict)  # by row, if they were measured


class Campaign:
    """The pages of one seed over some source pages, and all that is tried on them."""

    def __init__(self, sources: Sequence[str], seed: int) -> None:
        self._sources = sources
        self.seed = seed
        self._reader = Reader()
        self._reader.read(page(50_000), URL)  # what is made at the first page is there afterwards
        self._costs = PageCosts(self._reader)

    def page(self, number: int) -> Mutant:
        return mutant(self._sources, self.seed, number)

    def read(self, number: int) -> PageResult:
        """Read one page and check all `PROPERTIES`."""
        html = self.page(number).html
        try:
            reading = self._reader.read(html, URL)
            found = {name: check(reading) for name, check in PROPERTIES.items()}
        except Exception:  # noqa: BLE001 - whatever it is, it is the finding
            return PageResult(number, {EXCEPTION: traceback.format_exc()})
        faults = {name: text for name, text in found.items() if text}
        return PageResult(number, faults, reading.digest, reading.seconds, size_of(html))

    def _read_limited(self, numbers: Iterable[int]) -> Iterator[PageResult]:
        """Read pages in a child, which may end on any of them."""
        limit_memory(MOST_MEMORY)
        for number in numbers:
            limit_cpu(LONGEST)
            result = self.read(number)
            limit_cpu(0)
            yield result

    def results(self, numbers: Sequence[int]) -> Iterator[PageResult]:
        """What comes of pages, of those that end their process too."""
        n_done = 0
        while rest := numbers[n_done:]:
            try:
                for result in forked(partial(self._read_limited, rest)):
                    n_done += 1
                    yield result
            except ChildEndedError as error:
                number = numbers[min(n_done, len(numbers) - 1)]  # it may end after the last, too
                yield PageResult(number, {EXCEPTION: f"the process ended: {error}"})
                n_done += 1

    def checked(self, numbers: Sequence[int]) -> list[PageResult]:
        """All that is found on some pages."""
        found = {result.number: result for result in self.results(numbers)}
        again = [n for n in reversed(numbers) if is_read_twice(n)]
        with python_alone():  # also the oracle of the compiled part
            for result in self.results(again):
                before = found[result.number]
                if result.digest != before.digest:
                    before.faults[DIFFERENCE] = f"{before.digest.hex()}, then {result.digest.hex()}"
        for result in found.values():
            if result.digest and (result.number % COSTED == 0 or self._seems_costly(result)):
                self.measure(result)
        return list(found.values())

    def checked_alone(self, number: int) -> Iterator[PageResult]:
        """All that is found on one page, measured in any case."""
        for result in self.checked([number]):
            if result.digest and not result.costs:
                self.measure(result)
            yield result

    def _seems_costly(self, result: PageResult) -> bool:
        return sum(result.seconds.values()) > SEEMS * MAX_COST * self._costs.ordinary(result.size)

    def measure(self, result: PageResult) -> None:
        """Add what the page costs, in children of its own."""
        html = self.page(result.number).html
        result.costs[TIME], result.costs[MEMORY] = self._costs.relative(html, MAX_COST)
        parts = (f"{name} {1000 * each:.0f} ms" for name, each in result.seconds.items())
        details = {TIME: f" ({', '.join(parts)})", MEMORY: ""}
        for row, value in result.costs.items():
            if value > BOUNDS[row]:
                result.faults[row] = f"{value:.1f}, at most {BOUNDS[row]:g}{details[row]}"


def is_read_twice(number: int) -> bool:
    return number % TWICE == 0
