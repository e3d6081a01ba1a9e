"""What each part of the block classifier is worth, and whether its probabilities hold.

    python -m research.studies.block_classifier ablation --data FOLDER --out research/results
    python -m research.studies.block_classifier decision --data FOLDER --out research/results
    python -m research.studies.block_classifier fits --data FOLDER --out research/results

All go by site over the first four of the sets that the bundled model is made from. For the ablation
one part after the other is taken out, in training and in use, and a third of the sites is asked
about; for the decision, cross-validated, articles are told from the pages of `other_pages_wcxb`.
``fits`` cross-validates several fits that differ in their seeds alone: what is smaller than the
spread between them is noise.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Final
from unittest.mock import patch

import lxml.html
import numpy as np

from research import command_line
from research.bench import metrics
from research.bench.folds import assign
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from research.training import fit
from research.training.cases import Case, case_of, lessons
from research.training.optimization import Config
from research.training.sets import OTHERS
from scrapy_mss.blocks import classifier, selection
from scrapy_mss.blocks.classifier import POOLINGS, BlockInputs
from scrapy_mss.blocks.features import FEATURES, Columns
from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.compiled import python_alone
from scrapy_mss.markup.tokens import Bools, Floats
from scrapy_mss.models.files import write_atomically
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT

PROGRAM: Final = "python -m research.studies.block_classifier"
SETS = ("articles_wcxb", "articles_fundus", "articles_rules", "articles_tools")
FOLDS = 3
TESTED = 1  # folds that the ablation asks about: a third of the sites, unseen, is enough for it
N_FITS = 3
N_FIT_FOLDS = 5
BINS = 10
HALF = 0.5  # from which a page is called an article
Patch = Callable[[], object]


@dataclass(frozen=True, slots=True, eq=False)
class FoldedCase(Case):
    """A page in its fold of the cross-validation."""

    fold: int


def cases(folder: Path, n_folds: int = FOLDS) -> list[FoldedCase]:
    """The labelled articles of all sets, in folds by site."""
    found = [case_of(name, labelled) for name in SETS for labelled in pages(folder, name)]
    folds = assign([case.labelled.site for case in found], n_folds)
    return [
        FoldedCase(case.dataset, case.labelled, case.page, case.examples, fold)
        for case, fold in zip(found, folds, strict=True)
    ]


def pages(folder: Path, name: str) -> tuple[LabelledPage, ...]:
    """The pages of the set *name*."""
    return load(f"jsonl:{folder / name}.jsonl.xz").pages


def trained(known: Sequence[Case], config: Config | None = None) -> Extractor:
    """An extractor that learned from *known* pages."""
    taught = lessons(known)
    bayes, learned = fit.fit(taught.examples, DEFAULT.families, taught.negatives, config)
    return Extractor.of(Model(DEFAULT, learned, bayes))


# Ablation


def score(all_cases: Sequence[FoldedCase]) -> tuple[dict[str, float], float]:
    """F1 by set, and the median cost behind the tokenizer as a multiple of lxml's parse."""
    found: dict[str, list[float]] = {name: [] for name in SETS}
    costs = []
    for fold in range(TESTED):
        system = trained([c for c in all_cases if c.fold != fold])
        for case in (c for c in all_cases if c.fold == fold):
            page = Page(case.page.tokens)  # nothing but the tokens is known of it
            start = perf_counter()
            text = system.extract_page(page).text
            cost = perf_counter() - start
            gold = metrics.words(case.labelled.golds[0])
            found[case.dataset].append(metrics.bag(metrics.words(text), gold).f1)
            costs.append(cost / parse_seconds(case.labelled.source))
    return {name: fmean(values) for name, values in found.items()}, median(costs)


def parse_seconds(source: bytes) -> float:
    """The unit: what lxml takes for the same bytes."""
    start = perf_counter()
    lxml.html.document_fromstring(source or b"<p>")
    return perf_counter() - start


def names_of(group: str, inputs: BlockInputs) -> set[str]:
    """The names of a *group* of inputs, or the one name that it is."""
    features = set(FEATURES)
    evidence = {f"evidence_{pooling.name}" for pooling in POOLINGS}
    neighbours = {name for name in inputs.columns if name.endswith("]")}
    scores = {"score", "score_of_heading_above"}
    rows = [opinion.name for opinion in OPINIONS]
    opinions = {name for name in inputs.columns if any(row in name for row in rows)}
    opinions |= {name for name in inputs.columns if name.startswith("opinions")}
    groups = {
        "features": features,
        "evidence": evidence,
        "neighbours": neighbours,
        "description": {name for name in features if "description" in name},
        "opinions": opinions,
        **{f"opinion {row}": {name for name in opinions if row in name} for row in rows},
        "containers": set(inputs.columns) - features - evidence - neighbours - scores - opinions,
    }
    return groups.get(group, {group})


@contextmanager
def without_inputs(group: str) -> Iterator[None]:
    """The network without a group of its inputs, or a feature: they are 0 on every page."""
    whole = classifier.block_inputs

    def reduced(page: Page, evidence: Floats, score: Floats) -> BlockInputs:
        inputs = whole(page, evidence, score)
        taken = names_of(group, inputs)
        stays = np.array([name not in taken for name in inputs.columns], np.float64)
        rows = inputs.columns.rows * stays[:, np.newaxis]
        return BlockInputs(inputs.score, Columns(inputs.columns.places, rows))

    with (
        patch.object(classifier, "block_inputs", reduced),
        patch.object(fit, "block_inputs", reduced),
    ):
        yield


@contextmanager
def without_family(family: str) -> Iterator[None]:
    """Evidence without what is pooled from *family*: its rows are 0 on every page."""
    whole = classifier.block_evidence
    kept = np.array([[pooling.family != family] for pooling in POOLINGS])

    def reduced(page: Page, bayes: NaiveBayes[Page]) -> Floats:
        evidence: Floats = whole(page, bayes) * kept
        return evidence

    with (
        patch.object(classifier, "block_evidence", reduced),
        patch.object(fit, "block_evidence", reduced),
    ):
        yield


@contextmanager
def threshold_at_one_half() -> Iterator[None]:
    """Blocks above one half are kept, whatever the page."""
    with python_alone(), patch.object(selection, "threshold", lambda *_: 0.5):
        yield


@contextmanager
def without_span() -> Iterator[None]:
    """All that is above the threshold is kept, wherever on the page."""
    instead = patch.object(selection, "in_span", lambda _of_texts, above: above)
    with python_alone(), instead:
        yield


@contextmanager
def without_cleaning() -> Iterator[None]:
    """The whole span is kept."""
    in_span = selection.in_span

    def whole(of_texts: Floats, above: Bools) -> Bools:
        return in_span(of_texts, np.ones_like(above))

    with python_alone(), patch.object(selection, "in_span", whole):
        yield


@contextmanager
def without_rejoining() -> Iterator[None]:
    """What is beyond the span is lost."""
    with patch.object(selection, "rejoined", lambda _page, kept, _above: kept):
        yield


@contextmanager
def with_duplicates() -> Iterator[None]:
    """Duplicates stay."""
    with patch.object(selection, "duplicates", lambda _page, kept: np.zeros_like(kept)):
        yield


STAGES: dict[str, Callable[[], object]] = {
    "features of the block": lambda: without_inputs("features"),
    "evidence one by one (its sum stays)": lambda: without_inputs("evidence"),
    "the page's description among them": lambda: without_inputs("description"),
    "whether it is hidden among them": lambda: without_inputs("hidden"),
    "features of the containers": lambda: without_inputs("containers"),
    "neighbours": lambda: without_inputs("neighbours"),
    "opinions": lambda: without_inputs("opinions"),
    **{f"opinion `{row.name}`": partial(without_inputs, f"opinion {row.name}") for row in OPINIONS},
    "threshold at half the expected F1 (1/2 instead)": threshold_at_one_half,
    "maximum subsequence": without_span,
    "cleaning inside the span": without_cleaning,
    "rejoining of split articles": without_rejoining,
    "removal of duplicates": with_duplicates,
}


def ablation(folder: Path) -> str:
    """A Markdown table: each part taken out in turn."""
    all_cases = cases(folder)
    lines = [
        f"| without | {' | '.join(SETS)} | mean | lxml parses behind the tokenizer |",
        f"| --- |{' ---: |' * (len(SETS) + 2)}",
    ]

    def add(name: str) -> None:
        by_set, cost = score(all_cases)
        cells = (*by_set.values(), fmean(by_set.values()))
        row = f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} | {cost:.1f} |"
        print(row, flush=True)
        lines.append(row)

    add("nothing")
    for stage, altered in STAGES.items():
        with altered():  # type: ignore[attr-defined]
            add(stage)
    for family in DEFAULT.families[1:]:  # without words there is nothing left to weigh
        with without_family(family):
            add(f"family `{family}`")
    all_cases = [replace(case, examples=case.examples[:1]) for case in all_cases]
    add("stripped copies among the training pages")
    return "\n".join(lines) + "\n"


# Fits


def fits(folder: Path) -> str:
    """A Markdown table: the cross-validated F1 by set of fits with different seeds."""
    all_cases = cases(folder, N_FIT_FOLDS)
    lines = [f"| fit | {' | '.join(SETS)} | mean |", f"| --- |{' ---: |' * (len(SETS) + 1)}"]
    rows = []
    for number in range(N_FITS):
        # Each fit is the mean of several networks, whose seeds follow one another.
        config = Config(seed=1 + number * Config().networks)
        rows.append(cross_validated(all_cases, config))
        lines.append(fit_row(f"seed {config.seed}", rows[-1]))
        print(lines[-1], flush=True)
    means = {name: fmean(row[name] for row in rows) for name in SETS}
    return "\n".join([*lines, fit_row("mean", means)]) + "\n"


def cross_validated(all_cases: Sequence[FoldedCase], config: Config) -> dict[str, float]:
    """The mean F1 of each set, every page read by a model of other sites."""
    scores: dict[str, list[float]] = {name: [] for name in SETS}
    for fold in range(N_FIT_FOLDS):
        system = trained([c for c in all_cases if c.fold != fold], config=config)
        for case in (c for c in all_cases if c.fold == fold):
            text = system.extract_page(case.page).text
            gold = metrics.words(case.labelled.golds[0])
            scores[case.dataset].append(metrics.bag(metrics.words(text), gold).f1)
    return {name: fmean(values) for name, values in scores.items()}


def fit_row(name: str, by_set: Mapping[str, float]) -> str:
    """A row of the table: the scores of all sets and their mean."""
    cells = (*by_set.values(), fmean(by_set.values()))
    return f"| {name} | {' | '.join(f'{cell:.4f}' for cell in cells)} |"


# Decision


def decision(folder: Path) -> tuple[str, bytes]:
    """A Markdown table and a reliability plot."""
    pool = [case_of(name, labelled) for name in (*SETS, OTHERS) for labelled in pages(folder, name)]
    sides = assign([case.labelled.site for case in pool], FOLDS)
    predicted, true = [], []
    for fold in range(FOLDS):
        system = trained([case for case, side in zip(pool, sides, strict=True) if side != fold])
        for case in (case for case, side in zip(pool, sides, strict=True) if side == fold):
            predicted.append(system.extract_page(case.page).probability)
            true.append(float(case.dataset != OTHERS))
    return reliability(np.array(predicted), np.array(true))


def reliability(predicted: Floats, true: Floats) -> tuple[str, bytes]:
    """F1, the expected calibration error, and how often each probability came true."""
    yes = predicted >= HALF
    hits = float((yes & (true == 1)).sum())
    precision, recall = hits / yes.sum(), hits / (true == 1).sum()
    bins = np.minimum((predicted * BINS).astype(int), BINS - 1)
    rows = [(k, predicted[bins == k], true[bins == k]) for k in range(BINS) if (bins == k).any()]
    error = sum(abs(s.mean() - t.mean()) * len(s) for _, s, t in rows) / len(predicted)
    lines = [
        (
            f"{int(true.sum())} articles, {int((1 - true).sum())} other pages: "
            f"precision {precision:.3f}, recall {recall:.3f}, "
            f"**F1 {2 * precision * recall / (precision + recall):.3f}**, "
            f"expected calibration error **{error:.3f}** ({BINS} bins)."
        ),
        "",
        "| probability | pages | mean probability | share of articles |",
        "| --- | ---: | ---: | ---: |",
    ]
    for k, s, t in rows:
        limits = f"{k / BINS:.1f} to {(k + 1) / BINS:.1f}"
        lines.append(f"| {limits} | {len(s)} | {s.mean():.3f} | {t.mean():.3f} |")
    return "\n".join(lines) + "\n", plot(rows)


def plot(rows: Sequence[tuple[int, Floats, Floats]]) -> bytes:
    """The share of articles by their probability, as SVG; dots as large as there are pages."""
    import io

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, label="calibrated")
    sizes = [10 + 120 * np.sqrt(len(s) / 1712) for _, s, _ in rows]
    axes.scatter(
        [s.mean() for _, s, _ in rows],
        [t.mean() for _, _, t in rows],
        sizes,
        color="#0072B2",
        label="ten bins, by number of pages",
        zorder=3,
    )
    axes.set(
        title="Is the page an article?",
        xlabel="probability",
        ylabel="share that were articles",
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small", loc="upper left")
    out = io.BytesIO()
    with rc_context({"svg.hashsalt": "decision", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def write(what: str, data: Path, out: Path) -> None:
    """Measure, and write the files of the results."""
    if what == "ablation":
        write_atomically(out / "ablation.md", ablation(data).encode())
        return
    if what == "fits":
        write_atomically(out / "fits.md", fits(data).encode())
        return
    table, drawn = decision(data)
    print(table)
    write_atomically(out / "decision.md", table.encode())
    write_atomically(out / "decision.svg", drawn)


def run(options: argparse.Namespace, _command: str) -> None:
    """Run one of the studies and write its files."""
    write(options.what, options.data, options.out)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    description = "Measure the parts of the default profile."
    parser = command_line.Parser(prog=PROGRAM, description=description)
    parser.add_argument("what", choices=("ablation", "decision", "fits"))
    command_line.add_data(parser)
    command_line.add_out(parser)
    parser.set_defaults(perform=run)
    return command_line.run(parser, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
