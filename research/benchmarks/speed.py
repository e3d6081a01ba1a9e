"""What the article of a page costs, stage by stage, in multiples of lxml's parse of its bytes.

Pages come in the order of a crawl and each is read once, after some others that only make the
words of its language known, so that words which the tables have not met are paid for. The unit is
taken just before each page, in the same process; all times are of the processor. The stages
together are `Extractor.extract`, which the text that they come to is compared with; what else an
`Article` has is measured after them. Small pages, whose costs are those of calls and not of
characters, are measured in milliseconds.
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

from research.bench.timing import parse_milliseconds
from research.benchmarks.soak_server import story
from research.benchmarks.synthetic import page as synthetic_page
from research.command_line import at_least
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from research.errors import UserError
from scrapy_mss import Extractor, metadata
from scrapy_mss.article import ModelState, read_article
from scrapy_mss.blocks.classifier import block_evidence, block_inputs, block_scores
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import ReadPage, confidence_features, page_features
from scrapy_mss.blocks.selection import article_tokens, of_story, select
from scrapy_mss.core.cleaning import remove
from scrapy_mss.extractor import MIN_ARTICLE_PROBABILITY, Extraction, facts_of
from scrapy_mss.items import Article
from scrapy_mss.markup.compiled import IS_COMPILED, python_alone
from scrapy_mss.markup.rendering import readable
from scrapy_mss.metadata import Metadata
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.metadata.languages import language_of
from scrapy_mss.models.files import bundled_model
from scrapy_mss.models.model import Model
from scrapy_mss.output.media import Medium, kept_media, media_fields
from scrapy_mss.pages.kinds import verdict_of

SETS = ("articles_wcxb", "articles_manual")
N_PAGES = 300
N_WARM = 100  # pages before those that are measured
LARGE = 20_000  # bytes: on smaller pages the multiple is of a unit of next to nothing
WAYS: dict[str, Callable[[], AbstractContextManager[None]]] = {"Python alone": python_alone}
if IS_COMPILED:
    WAYS = {"compiled": nullcontext, **WAYS}
BOUNDS = {"compiled": 1.35, "Python alone": 15.0}  # multiples of lxml
ARTICLE_BOUND = 2.4  # with HTML and metadata, compiled
SMALL_BOUND = 1.4  # of an article of a page of 10 KB, in multiples of lxml on the median page
N_SMALL = 200
TOLERANCE = 1.2  # of each target, since a busy machine measures worse


class Target(NamedTuple):
    """What is measured, how much it is, and how much it may be."""

    name: str
    found: float
    bound: float

    def __str__(self) -> str:
        """A line of the report."""
        mark = "" if self.found <= self.bound else "  missed"
        return f"{self.name:52} {self.found:8.2f} {self.bound:8.2f}{mark}"


@dataclass
class Costs:
    """Milliseconds of each stage on each page, of what is beyond the text, and of lxml."""

    sizes: list[int] = field(default_factory=list)
    units: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)
    beyond: dict[str, list[float]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def multiples(self, times: list[float]) -> list[float]:
        return [taken / unit for taken, unit in zip(times, self.units, strict=True)]

    def of_text(self) -> list[float]:
        """Milliseconds of all stages together, on each page."""
        return _sums(self.stages)

    def of_article(self) -> list[float]:
        """The same with HTML and metadata."""
        return _sums(self.stages | self.beyond)


def _sums(columns: dict[str, list[float]]) -> list[float]:
    return [sum(row) for row in zip(*columns.values(), strict=True)]


class Clock:
    """Processor time between one lap and the next, by the name of what was done."""

    def __init__(self, laps: dict[str, list[float]]) -> None:
        self._laps = laps
        self._began = process_time()

    def lap(self, stage: str) -> None:
        now = process_time()
        self._laps.setdefault(stage, []).append(1000 * (now - self._began))
        self._began = process_time()


def read_in_stages(html: str, url: str, model: Model, clock: Clock) -> str:
    """The text of *html* at *url* as `Extractor.extract` makes it, with a lap for each stage."""
    classifier, profile = model.classifier, model.profile
    assert classifier is not None
    page = Page.of(html, profile.stem, url)
    clock.lap("tokenize")
    _ = page.blocks
    clock.lap("segment")
    _ = page.attributes
    clock.lap("attributes")
    evidence = block_evidence(page, model.bayes)
    score = block_scores(evidence, classifier.evidence_weights)
    clock.lap("evidence")
    inputs = block_inputs(page, evidence, score)
    clock.lap("features")
    _ = page.declarations.declare_no_article
    clock.lap("declarations")
    probability = classifier.networks.probabilities(page, inputs)
    clock.lap("network")
    chosen = select(page, probability, profile.bias)
    clock.lap("select")
    read = ReadPage(page, inputs, probability, chosen.kept, chosen.threshold)
    likely = classifier.article_probability(page_features(read))
    classifier.confidence(confidence_features(read))
    clock.lap("page features")
    if likely >= MIN_ARTICLE_PROBABILITY:
        chosen = of_story(page, chosen, probability, profile.bias)
    clock.lap("story")
    kept = article_tokens(page, chosen)
    remove(page.tokens, chosen.span, profile.rules, kept)
    text = readable(page.tokens, kept)
    clock.lap("render")
    verdict_of(facts_of(read, kept, text, likely))
    clock.lap("kind")
    return text


def measure(pages: list[LabelledPage]) -> Costs:
    """The costs of *pages* but the first, which are read without a clock."""
    costs, model = Costs(), bundled_model()
    for page in pages[:N_WARM]:
        language_of(Extractor.of(model).extract(page.html).text, None)
    for page in pages[N_WARM:]:
        unit = parse_milliseconds(page.source, process_time)
        if unit is None:
            continue
        costs.units.append(unit)
        costs.sizes.append(len(page.source))
        costs.texts.append(read_in_stages(page.html, page.url or "", model, Clock(costs.stages)))
        extraction = Extractor.of(model).extract(page.html, page.url or "")
        if costs.texts[-1] != extraction.text:
            raise AssertionError(f"page {page.id}: the stages give another text than extract does")
        clock = Clock(costs.beyond)
        _ = extraction.html
        clock.lap("html")
        found = metadata.read_page(extraction.parsed)
        clock.lap("metadata")
        media = kept_media(extraction.parsed.tree, extraction.kept, extraction.parsed.base)
        clock.lap("media")
        language = language_of(extraction.text, found.values.get("language"))
        clock.lap("language")
        _item(extraction, found, media, language)
        clock.lap("item")
    return costs


def _item(
    extraction: Extraction, found: Metadata, media: list[Medium], language: str | None
) -> Article:
    """The item with what the stages have found."""
    moments = Moments(found.values.get("published"), found.values.get("modified")).settled()
    values = found.values | moments._asdict() | media_fields([*media, *found.media])
    return Article(
        extraction.url,
        text=extraction.text,
        probability=round(extraction.probability, 4),
        **values | {"language": language},
    )


def sample(folder: Path, n_pages: int) -> list[LabelledPage]:
    """The pages to warm up with and *n_pages* others, evenly out of each of `SETS`, alternating."""
    n_each = -(-(N_WARM + n_pages) // len(SETS))
    chosen = [_evenly(load(f"jsonl:{folder / name}.jsonl.xz").pages, n_each) for name in SETS]
    alternating = (page for pages in zip(*chosen, strict=True) for page in pages)
    return list(islice(alternating, N_WARM + n_pages))


def _evenly(pages: tuple[LabelledPage, ...], n: int) -> list[LabelledPage]:
    return [pages[number * len(pages) // n] for number in range(n)]


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def report(name: str, costs: Costs) -> None:
    print(f"\n{name}: {len(costs.units)} pages, median {median(costs.sizes) / 1000:.0f} KB, lxml's")
    print(f"parse {median(costs.units):.2f} ms; multiples of it:\n")
    print(f"{'stage':16} {'median':>8} {'mean':>8} {'p95':>8} {'ms':>8}")
    rows = {**costs.stages, "text": costs.of_text(), **costs.beyond, "article": costs.of_article()}
    for row, times in rows.items():
        _row(row, costs.multiples(times), times)


def _row(name: str, multiples: list[float], times: list[float]) -> None:
    mean = sum(multiples) / len(multiples)
    print(
        f"{name:16} {median(multiples):8.2f} {mean:8.2f} {percentile(multiples, 0.95):8.2f} "
        f"{median(times):8.2f}"
    )


def targets(name: str, costs: Costs) -> Iterator[Target]:
    """The targets of each of the two ways to read a page."""
    totals = costs.multiples(costs.of_text())
    yield Target(f"{name}: text, median x lxml", median(totals), BOUNDS[name])
    if name == "compiled":
        of_article = median(costs.multiples(costs.of_article()))
        yield Target(f"{name}: article, median x lxml", of_article, ARTICLE_BOUND)
        of_small = small_page_milliseconds() / median(costs.units)
        yield Target(f"{name}: article of 10 KB, x lxml of the median", of_small, SMALL_BOUND)
    large = [m for m, size in zip(totals, costs.sizes, strict=True) if size >= LARGE]
    spread = percentile(large, 0.95) / median(totals)
    yield Target(f"{name}: p95 of pages from 20 KB / median", spread, 2.0)
    extractor = Extractor.of(bundled_model())
    small, large_page = synthetic_page(10**6), synthetic_page(10**7)
    extractor.extract(small)
    growth = _least(partial(extractor.extract, large_page)) / _least(
        partial(extractor.extract, small)
    )
    yield Target(f"{name}: 10 MB / 1 MB", growth, 12.0)


def small_page_milliseconds() -> float:
    """The median over pages of some 10 KB, which are all articles."""
    state, times = ModelState.of(bundled_model()), {"article": list[float]()}
    for number in range(N_WARM + N_SMALL):
        html, clock = story(number), Clock(times)
        result = read_article(html, f"https://news.example/{number}", state)
        clock.lap("article")
        assert result.article is not None
    return median(times["article"][N_WARM:])


def loading_targets() -> Iterator[Target]:
    """What loading the bundled model may cost."""
    yield Target("loading the bundled model, ms", _least(bundled_model, 9), 15.0)
    yield Target("loading the bundled model, MB at its height", loading_memory(), 15.0)


def _least(call: Callable[[], object], repeats: int = 3) -> float:
    """Processor milliseconds of the fastest of *repeats* calls."""
    best = float("inf")
    for _ in range(repeats):
        began = process_time()
        call()
        best = min(best, 1000 * (process_time() - began))
    return best


def loading_memory() -> float:
    """Megabytes that are allocated at most while the bundled model is loaded."""
    tracemalloc.start()
    bundled_model()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    parser.add_argument("--pages", type=at_least(1), default=N_PAGES, help="how many are measured")
    options = parser.parse_args()
    try:
        pages = sample(options.data, options.pages)
    except UserError as error:
        parser.error(str(error))
    checked, texts = list(loading_targets()), []
    for name, way in WAYS.items():
        with way():
            costs = measure(pages)
            report(name, costs)
            checked += targets(name, costs)
            texts.append(costs.texts)
    print(f"\n{'target':52} {'found':>8} {'at most':>8}")
    print(*checked, sep="\n")
    if any(each != texts[0] for each in texts):
        print("the two ways give different texts")
        return 1
    return int(any(target.found > TOLERANCE * target.bound for target in checked))


if __name__ == "__main__":
    sys.exit(main())
