"""Whether confidence holds: the expected F1 of a text against the true one, on unseen sets.

    python -m research.studies.confidence --data FOLDER --out research/results

Each of the six sets is read by a model of the other five, without its sites, as in `make loso`; the
confidence of that model was fitted on pages of those five.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from research import command_line
from research.bench import loso
from research.bench.plots import COLOURS, svg, without_box
from research.errors import require
from research.training.cases import lessons
from research.training.fit import fit
from research.training.sets import OTHERS
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.models.files import write_atomically
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT

PROGRAM: Final = "python -m research.studies.confidence"
BINS: Final = 10
BAD: Final = 0.8  # a text of a lower F1 is one that somebody would complain about


def measured(folder: Path) -> Floats:
    """float64[2, n_pages]: the confidence of each page's text, and its true F1."""
    cases = loso.read(folder)
    others = loso.read(folder, (OTHERS,))
    found = np.zeros((2, len(cases)))
    for asked, known in loso.left_out(cases, others):
        taught = lessons(known)
        bayes, classifier = fit(taught.examples, DEFAULT.families, taught.negatives)
        extractor = Extractor.of(Model(DEFAULT, classifier, bayes))
        for i in asked:
            extraction = extractor.extract_page(cases[i].page)
            found[:, i] = extraction.confidence or 0.0, loso.f1_of(extraction.text, cases[i])
        print(f"{cases[asked[0]].dataset}: {summary(found[:, asked])}", flush=True)
    return found


def tenths(found: Floats) -> list[Floats]:
    """The pages in ten parts of the same size, those with the lowest confidence first."""
    return np.array_split(found[:, np.argsort(found[0], kind="stable")], BINS, axis=1)


def summary(found: Floats) -> str:
    """What the lowest tenth holds, and how far confidence is from the truth in the ten parts."""
    parts = tenths(found)
    bad = [int((true < BAD).sum()) for _, true in parts]
    error = np.mean([abs(expected.mean() - true.mean()) for expected, true in parts])
    lowest = f"**{bad[0] / max(sum(bad), 1):.0%}** of these are in the tenth of least confidence"
    return (
        f"{found.shape[1]} pages, {sum(bad)} with an F1 under {BAD:.2f}: {lowest}; confidence is "
        f"**{error:.3f}** from the true F1 in the mean of ten parts."
    )


def table(found: Floats) -> str:
    """A Markdown table: confidence and truth in the ten parts."""
    lines = [
        summary(found),
        "",
        f"| tenth | confidence | true F1 | pages under {BAD:.2f} |",
        "| --- | ---: | ---: | ---: |",
    ]
    for number, (expected, true) in enumerate(tenths(found), 1):
        limits = f"{expected.min():.3f} to {expected.max():.3f}"
        means = f"{expected.mean():.3f} | {true.mean():.3f}"
        lines.append(f"| {number}: {limits} | {means} | {(true < BAD).sum()} |")
    return "\n".join(lines) + "\n"


def plot(found: Floats) -> bytes:
    """Confidence and truth in the ten parts, as SVG; each page is a faint dot."""
    figure = require("matplotlib.figure", "a plot").Figure(figsize=(4.6, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, label="calibrated")
    axes.scatter(*found, 6, color=COLOURS[0], alpha=0.15, linewidths=0, label="pages")
    means = np.array([part.mean(axis=1) for part in tenths(found)]).T
    axes.scatter(*means, 40, color=COLOURS[1], label="means of ten parts", zorder=3)
    axes.set(title="How sure of the text?", xlabel="confidence", ylabel="true F1")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small", loc="upper left")
    without_box(axes)
    return svg(figure, "confidence")


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its files."""
    found = measured(options.data)
    print(table(found))
    write_atomically(options.out / "confidence.md", table(found).encode())
    write_atomically(options.out / "confidence.svg", plot(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run_study(PROGRAM, "Expected F1 against the true one.", run, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
