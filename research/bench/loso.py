"""`python -m research.bench loso`: leave one set out, the measure of pages that nobody labelled.

Each set is read by a model made from the other sets, without any site of the set that is read. So
the model knows neither the set's sites nor its selection of pages, nor what those who labelled it
take for the text; in a cross-validation it knows the latter two. Decisions about features are
taken on the mean of these scores, over several fits that differ in their seeds alone.

The peers learn nothing. They are asked once about each page, and their answers are kept
(`systems.remembered`), as are the tokenized pages of a run: what is left is the fits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from research import systems
from research.bench import measurement, metrics, report
from research.bench.folds import assign
from research.bench.left_out_tables import OURS, Pages, Scores, tables
from research.bench.runner import site_keys
from research.command_line import Advance, at_least, progress
from research.datasets.languages import language_of
from research.datasets.sets import evenly, load
from research.errors import UserError
from research.systems.remembered import Remembered
from research.training.cases import Case, case_of, lessons
from research.training.fit import fit_text
from research.training.optimization import Config
from research.training.sets import ARTICLES, OTHERS
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT

PEERS: Final = (
    "trafilatura",
    "trafilatura-fast",
    "trafilatura-precision",
    "readability",
    "resiliparse",
    "newspaper4k",
    "turbohtml",
)
FOLDS: Final = 5  # of the cross-validation


def add_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command to those of the bench."""
    loso = commands.add_parser("loso", help="leave one set out: how good it is on unseen sets")
    add = loso.add_argument
    add("--data", type=Path, required=True, metavar="DIR", help="the folder of the labelled sets")
    add("--fits", type=at_least(1), default=1, metavar="N", help="to average over (default: 1)")
    peers = ",".join(PEERS)
    add("--peers", default=peers, metavar="A,B", help=f"systems beside ours (default: {peers})")
    add(
        "--answers",
        type=Path,
        default=Path("build/answers"),
        metavar="DIR",
        help="where the peers' answers are kept (default: build/answers)",
    )
    add("--limit", type=at_least(1), metavar="N", help="use N pages of every set")
    add("--cross-validation", action="store_true", help="the sets in one pool, in folds, besides")
    add("--json", type=Path, metavar="FILE", help="write the score of every page here")
    add("--markdown", type=Path, metavar="FILE", help="write the tables here")
    return loso


def run(options: argparse.Namespace, _command: str) -> None:
    """Measure what *options* ask for, and show it."""
    peers = measurement.names(options.peers, systems.SYSTEMS, systems.DRAWN)
    for spec in peers:
        measurement.check(spec, systems.create, trained=False, model=None)
    for path in filter(None, (options.json, options.markdown)):
        report.writable(path)
    cases = read(options.data, ARTICLES, options.limit)
    others = read(options.data, (OTHERS,))
    asked = len(cases) * (len(peers) + options.fits * (1 + options.cross_validation))
    with progress(asked) as advance:
        scores = [_peer(spec, cases, options.answers, advance) for spec in peers]
        scores.append(Scores(OURS, fitted(cases, left_out(cases, others), options.fits, advance)))
        if options.cross_validation:
            f1 = fitted(cases, folds(cases, others), options.fits, advance)
            scores.append(Scores(f"{OURS}, cross-validated", f1))
    shown = tables(pages_of(cases), scores, 1 + options.cross_validation)
    print(shown, end="")
    if options.markdown:
        report.write(options.markdown, shown)
    if options.json:
        report.write(options.json, as_json(cases, scores))


def read(folder: Path, names: Iterable[str] = ARTICLES, limit: int | None = None) -> list[Case]:
    """The pages of the sets *names*; each is tokenized once for all fits."""
    return [
        case_of(name, labelled)
        for name in names
        for labelled in evenly(load(f"jsonl:{folder / name}.jsonl.xz").pages, limit)
    ]


class Split(NamedTuple):
    """The numbers of the cases that are asked about, and those that were learned from before."""

    asked: list[int]
    known: list[Case]


def left_out(cases: Sequence[Case], others: Sequence[Case] = ()) -> Iterator[Split]:
    """For each set its pages, and those of the other sets whose sites it does not have.

    From *others*, which are no articles, is learned as well; they are never asked about.
    """
    for name in dict.fromkeys(case.dataset for case in cases):
        asked = [i for i, case in enumerate(cases) if case.dataset == name]
        sites = {key for i in asked for key in site_keys(cases[i].labelled)}
        rest = (case for case in (*cases, *others) if case.dataset != name)
        known = [case for case in rest if sites.isdisjoint(site_keys(case.labelled))]
        yield Split(asked, known)


def folds(cases: Sequence[Case], others: Sequence[Case] = ()) -> Iterator[Split]:
    """The pages of all sets in one pool, in folds by site; *others* are never asked about."""
    pool = [*cases, *others]
    side = assign([case.labelled.site for case in pool], FOLDS)
    for fold in range(FOLDS):
        asked = [i for i, each in enumerate(side[: len(cases)]) if each == fold]
        known = [case for case, each in zip(pool, side, strict=True) if each != fold]
        yield Split(asked, known)


def fitted(cases: Sequence[Case], splits: Iterable[Split], fits: int, advance: Advance) -> Floats:
    """float64[n_fits, n_pages]: the F1 of our system, in fits that differ in their seeds."""
    f1 = np.full((fits, len(cases)), np.nan)
    for asked, known in splits:
        if not known:
            raise UserError("no page to learn from: all sites are those of the set left out")
        taught = lessons(known).examples
        for number in range(fits):
            # Each fit is the mean of several networks, whose seeds follow one another.
            config = Config(seed=1 + number * Config().networks)
            bayes, classifier, _ = fit_text(taught, DEFAULT.families, config)
            extractor = Extractor.of(Model(DEFAULT, classifier, bayes))
            for i in asked:
                f1[number, i] = f1_of(extractor.extract_page(cases[i].page).text, cases[i])
            advance(len(asked), OURS)
    return f1


def _peer(spec: str, cases: Sequence[Case], answers: Path, advance: Advance) -> Scores:
    system = Remembered(spec, answers)
    f1 = np.zeros((1, len(cases)))
    for i, case in enumerate(cases):
        f1[0, i] = f1_of(system.extract(case.labelled.html), case)
        advance(1, spec)
    return Scores(spec, f1)


def f1_of(text: str, case: Case) -> float:
    """The word F1 of *text* against the short gold."""
    return metrics.bag(metrics.words(text), metrics.words(case.labelled.golds[0])).f1


def pages_of(cases: Sequence[Case]) -> Pages:
    """The sets, the sites and the languages of the *cases*."""
    labelled = [case.labelled for case in cases]
    return Pages(
        [case.dataset for case in cases],
        [page.site for page in labelled],
        [language_of(page.golds[0]) for page in labelled],
    )


def as_json(cases: Sequence[Case], scores: Sequence[Scores]) -> str:
    """The score of every page by every system, for looking at the worst."""
    rows = [
        {
            "set": case.dataset,
            "id": case.labelled.id,
            "language": language,
            "f1": {
                each.system: round(float(each.f1[:, i].mean()), report.DIGITS) for each in scores
            },
        }
        for i, (case, language) in enumerate(zip(cases, pages_of(cases).languages, strict=True))
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
