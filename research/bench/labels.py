"""How well public per-site rules still label stored pages, and how well those labels are right.

    python -m research.bench labels --data DIR --rules RULES

For each set of articles in DIR: how many of its pages have a rule by their URL, how many of those
the rule labels, how many of those the default profile would learn from, and the word-bag scores of
the labelled text against the gold that fits best, as means over the labelled pages. The rules carry
no dates and the pages are years old: what does not match today's page any more is part of the
answer.

The last column is what a label costs, tokens and tree included: the median over labelled pages of
its processor time divided by that of `lxml.html.document_fromstring` for the same bytes, each the
shortest of three.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Final

from lxml import html as lxml_html

from research.bench import markdown, metrics
from research.datasets.pages import LabelledPage
from research.datasets.public_rules import load_rules
from research.datasets.sets import load
from research.errors import UserError
from scrapy_mss.core.labels import check_example
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.wrappers import Registry, WrapperError, label

SETS: Final = ("articles_*.jsonl.xz", "sites_*.jsonl.xz")
RUNS: Final = 3
GOOD: Final = 0.9  # F1 of a page whose label is right but for a line or two
HEAD: Final = (
    *("set", "pages", "with a rule", "labelled", "learnable"),
    *("P", "R", "F1", "F1 > .9", "× lxml"),  # noqa: RUF001 - the sign of multiplication
)


@dataclass(frozen=True, slots=True)
class Label:
    """A page that was labelled: its scores, whether it passes the filter of examples, its cost."""

    scores: metrics.PRF
    learnable: bool
    times_lxml: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the rules made of one set."""

    name: str
    pages: int
    with_rule: int
    labels: tuple[Label, ...]

    def row(self) -> list[str]:
        """The cells of `HEAD`."""
        counts = self.pages, self.with_rule, len(self.labels), sum(e.learnable for e in self.labels)
        scores = zip(*(each.scores for each in self.labels), strict=True)
        means = [f"{fmean(column):.3f}" for column in scores] or [markdown.NONE] * 3
        good = sum(each.scores.f1 > GOOD for each in self.labels)
        costs = [each.times_lxml for each in self.labels]
        cost = f"{median(costs):.1f}" if costs else markdown.NONE
        return [self.name, *map(str, counts), *means, str(good), cost]


def agreement(data: Path, rules: Path) -> tuple[Agreement, ...]:
    """For each set in the folder *data*, how the labels of *rules* agree with its golds."""
    files = [file for pattern in SETS for file in sorted(data.glob(pattern))]
    if not files:
        raise UserError(f"--data: there is no {' or '.join(SETS)} in {data}")
    try:
        registry = load_rules(rules)
    except WrapperError as error:
        raise UserError(f"--rules: {error}") from error
    return tuple(_of_set(file, registry) for file in files)


def _of_set(file: Path, registry: Registry) -> Agreement:
    pages = load(f"jsonl:{file}").pages
    with_rule = sum(registry.find(page.url or "") is not None for page in pages)
    labels = tuple(each for page in pages for each in _labels(page, registry))
    return Agreement(file.name.partition(".")[0], len(pages), with_rule, labels)


def _labels(page: LabelledPage, registry: Registry) -> Iterator[Label]:
    wrapper = registry.find(page.url or "")
    if wrapper is None:
        return
    found = label(wrapper, page.html)
    if found.reason is None:
        golds = [metrics.words(gold) for gold in page.golds]
        _, scores = metrics.best_bag(metrics.words(found.text), golds)
        learnable = check_example(found.tokens, found.inside, DEFAULT.max_tag_share) is None
        parsing = partial(lxml_html.document_fromstring, page.source)
        times_lxml = _seconds(partial(label, wrapper, page.html)) / _seconds(parsing)
        yield Label(scores, learnable, times_lxml)


def _seconds(work: Callable[[], object]) -> float:
    """The shortest of some runs: what else the machine does only adds to a time."""

    def once() -> float:
        started = process_time()
        work()
        return process_time() - started

    return min(once() for _ in range(RUNS))


def add_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command to those of the bench."""
    labels = commands.add_parser("labels", help="how well site rules label stored pages")
    add = labels.add_argument
    add("--data", type=Path, required=True, metavar="DIR", help="folder of labelled sets")
    add("--rules", type=Path, required=True, metavar="RULES", help="a folder of rules")
    return labels


def run(options: argparse.Namespace, _command: str) -> None:
    """Print the table of the sets and rules that *options* name."""
    rows = [each.row() for each in agreement(options.data, options.rules)]
    print(markdown.table(HEAD, rows))
