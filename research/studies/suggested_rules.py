"""What a suggested rule is worth: made from five pages of a site, measured on the others.

    python -m research.studies.suggested_rules --data FOLDER --rules RULES --out research/results

Every site of `sites_ctf`, in each of its eras, and of `sites_daniel` gives five pages, drawn at
random, without their labels. On its other pages the rule is compared with the model that reads each
page alone, and with the hand-written rule of RULES on those that it still labels. What a
suggested rule does not match, the model reads, as in a crawl; *rule alone* is the rule without
that. *body* is the same rule with `body` in the place of `around`, which takes for text whatever is
at the place. A site without a rule is one on which no rule was good enough.

Sites are in two halves by a hash of their name. All constants were chosen by the first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final

from research import command_line
from research.bench import metrics
from research.datasets.pages import LabelledPage
from research.datasets.public_rules import load_rules
from research.errors import UserError
from research.studies.site_memory import SETS, sites_of
from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.models.files import write_atomically
from scrapy_mss.suggest import NoRuleError, suggest_of
from scrapy_mss.suggest.readings import read_pages
from scrapy_mss.wrappers import Registry, Wrapper, WrapperError, label
from scrapy_mss.wrappers.reading import read_by

PROGRAM: Final = "python -m research.studies.suggested_rules"
GIVEN: Final = 5  # pages that a rule is made of
SLACK: Final = 0.002  # of F1, by which a rule may be below the model
HEAD: Final = (
    *("sites", "all", "with a rule", "F1 by the model", "by the rule", "as good"),
    *("with one by hand", "F1 by hand", "by the rule", "as good", "rule alone", "body", "as good"),
)
HALVES: Final = ("first half", "second half")


@dataclass(frozen=True, slots=True)
class Measured:
    """A page that the rule was not made of: F1 by the model, the rule, and one written by hand.

    ``body`` is F1 with `body` in the place of `around`, of the model where that selects nothing.
    """

    model: float
    rule: float | None
    hand: float | None
    body: float

    @property
    def in_crawl(self) -> float:
        """F1 in a crawl, where the model reads what the rule does not match."""
        return self.model if self.rule is None else self.rule


@dataclass(frozen=True, slots=True)
class Site:
    """A site in one era, and its pages; *reason* says why it has no rule."""

    name: str
    half: int
    pages: tuple[Measured, ...] = ()
    reason: str = ""

    @property
    def model(self) -> float:
        return fmean(page.model for page in self.pages)

    @property
    def in_crawl(self) -> float:
        return fmean(page.in_crawl for page in self.pages)

    @property
    def body(self) -> float:
        return fmean(page.body for page in self.pages)

    @property
    def alone(self) -> float:
        return fmean(page.rule or 0.0 for page in self.pages)

    @property
    def by_hand(self) -> tuple[float, float] | None:
        """F1 by hand and in a crawl, of the pages that the hand-written rule labels."""
        pages = [page for page in self.pages if page.hand is not None]
        if not pages:
            return None
        return fmean(page.hand or 0.0 for page in pages), fmean(page.in_crawl for page in pages)


def measured(
    name: str, order: Sequence[LabelledPage], extractor: Extractor, hand: Registry
) -> Site:
    """Make a rule of the first pages of the site *name*, and measure it on the others."""
    host = name.partition(" ")[0]
    half = sha256(host.encode()).digest()[0] % len(HALVES)
    given = [StoredPage(f"http://{host}/{n}", page.html) for n, page in enumerate(order[:GIVEN])]
    try:
        rule = suggest_of(host, read_pages(given, extractor)).rule
    except NoRuleError as error:
        return Site(name, half, reason=str(error))
    pages = (_measured(page, rule, extractor, hand) for page in order[GIVEN:])
    return Site(name, half, tuple(pages))


def _measured(page: LabelledPage, rule: Wrapper, extractor: Extractor, hand: Registry) -> Measured:
    written = hand.find(page.url or "")
    read = Page.of(page.html, extractor.profile.stem)
    by_model = extractor.extract_page(read)
    by_rule = read_by(rule, read, extractor)
    as_body = label(replace(rule, body=rule.around, around=()), read.tokens)
    return Measured(
        _f1(by_model.text, page),
        _f1(by_rule.text, page) if by_rule.text else None,
        None if written is None else _by_rule(written, page),
        _f1(as_body.text or by_model.text, page),
    )


def _by_rule(rule: Wrapper, page: LabelledPage) -> float | None:
    text = label(rule, page.html).text
    return _f1(text, page) if text else None


def _f1(text: str, page: LabelledPage) -> float:
    golds = [metrics.words(gold) for gold in page.golds]
    return metrics.best_bag(metrics.words(text), golds)[1].f1


def sites(folder: Path, hand: Registry, seed: int) -> Iterator[Site]:
    """The sites of the sets in *folder* that have more pages than a rule is made of."""
    extractor = Extractor()
    for name in SETS:
        for site, pages in sites_of(folder, name).items():
            if len(pages) > GIVEN:
                order = Random(seed).sample(pages, len(pages))  # noqa: S311 - no secrets
                yield measured(site, order, extractor, hand)


def table(found: Sequence[Site]) -> str:
    """A Markdown table: a row a half, and one for all."""
    lines = [
        f"| {' | '.join(HEAD)} |",
        f"| --- |{' ---: |' * (len(HEAD) - 1)}",
    ]
    for number, half in enumerate(HALVES):
        lines.append(_row(half, [site for site in found if site.half == number]))
    return "\n".join([*lines, _row("all", found)]) + "\n"


def _row(name: str, found: Sequence[Site]) -> str:
    ruled = [site for site in found if site.pages]
    good = sum(site.in_crawl >= site.model - SLACK for site in ruled)
    good_body = sum(site.body >= site.model - SLACK for site in ruled)
    by_hand = [site.by_hand for site in ruled if site.by_hand is not None]
    as_good = sum(rule >= hand for hand, rule in by_hand)
    cells = (
        *(name, str(len(found)), str(len(ruled))),
        *(_mean([site.model for site in ruled]), _mean([site.in_crawl for site in ruled])),
        *(str(good), str(len(by_hand))),
        *(_mean([hand for hand, _ in by_hand]), _mean([rule for _, rule in by_hand])),
        *(str(as_good), _mean([site.alone for site in ruled])),
        *(_mean([site.body for site in ruled]), str(good_body)),
    )
    return f"| {' | '.join(cells)} |"


def _mean(values: Sequence[float]) -> str:
    return f"{fmean(values):.4f}" if values else ""


def worst(found: Sequence[Site], count: int = 10) -> str:
    """A Markdown table of the sites on which rules lose most."""
    lines = ["| site | half | F1 by the model | by the rule |", "| --- | --- | ---: | ---: |"]
    ruled = sorted((s for s in found if s.pages), key=lambda site: site.in_crawl - site.model)
    lines += (
        f"| {site.name} | {HALVES[site.half]} | {site.model:.4f} | {site.in_crawl:.4f} |"
        for site in ruled[:count]
    )
    return "\n".join(lines) + "\n"


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its file."""
    try:
        hand = load_rules(options.rules)
    except WrapperError as error:
        raise UserError(f"--rules: {error}") from error
    found = list(sites(options.data, hand, options.seed))
    refused = [f"- {site.name}: {site.reason}" for site in found if not site.pages]
    text = f"{table(found)}\n{worst(found)}\n" + "\n".join(["Without a rule:\n", *refused]) + "\n"
    print(text)
    write_atomically(options.out / "suggested_rules.md", text.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    parser = command_line.Parser(prog=PROGRAM, description="What a suggested rule is worth.")
    command_line.add_data(parser)
    command_line.add_out(parser)
    parser.add_argument(
        "--rules", type=Path, default=(), metavar="RULES", help="hand-written rules, to compare"
    )
    parser.add_argument(
        "--seed", type=command_line.at_least(0), default=0, metavar="N", help="of the five pages"
    )
    parser.set_defaults(perform=run)
    return command_line.run(parser, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
