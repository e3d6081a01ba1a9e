"""`python -m research.bench`: arguments in, a report out.

Strategy: everything that can be wrong is looked at before the first page is read by a system:
arguments, paths to write to, libraries, sets, systems, what they learn from. Then the run, then
the files. The main table goes to stdout.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from research import command_line, systems
from research.bench import (
    compare,
    fields,
    labels,
    loso,
    markdown,
    measurement,
    report,
    runner,
    unseen,
)
from research.bench.resampling import RESAMPLES
from research.command_line import at_least
from research.datasets import sets
from research.datasets.pages import Dataset
from research.datasets.readers import READERS
from research.errors import UserError, require

PROGRAM: Final = "python -m research.bench"
SETS: Final = f"""\
A set is KIND:PATH, where KIND is one of {", ".join(READERS)}; PATH is a file (jsonl, also .gz and
.xz), the benchmark's folder, or the folder of one split (wcxb:DIR/dev). With ?type=article behind
the path only pages of that type are used; several types are separated by commas."""
LIBRARIES: Final = {
    "rapidfuzz.distance": "the CleanEval score",
    "lxml.html": "the unit of speed",
}


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = command_line.Parser(prog=PROGRAM, description="Compare systems on labelled pages.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run systems on sets and report", epilog=SETS)
    _add_sets(run)
    _add_measurement(run)
    run.add_argument("--json", type=Path, metavar="FILE", help="write all numbers and rows here")
    run.add_argument("--markdown", type=Path, metavar="FILE", help="write a readable report here")
    run.set_defaults(perform=_run)
    for module in (compare, fields, labels, loso, unseen):
        module.add_parser(commands).set_defaults(perform=module.run)
    return top


def _add_sets(run: argparse.ArgumentParser) -> None:
    add = run.add_argument
    add("--test", action="append", required=True, metavar="SET", help="pages to ask about")
    add(
        "--train",
        action="append",
        default=[],
        metavar="SET",
        help="pages to learn from; sites that are in a test set are left out",
    )
    add(
        "--folds",
        type=at_least(2),
        metavar="N",
        help="cross-validate every test set by site",
    )
    add(
        "--model",
        type=Path,
        metavar="FILE",
        help="what systems know without --folds and --train (default, for mss: the bundled model)",
    )
    add(
        "--limit",
        type=at_least(1),
        metavar="N",
        help="use N pages of every set, evenly spaced over it",
    )


def _add_measurement(run: argparse.ArgumentParser) -> None:
    add = run.add_argument
    add(
        "--systems",
        required=True,
        metavar="A,B",
        help="names, each with options as name:key=value:key=value; or `all`",
    )
    add(
        "--jobs",
        type=at_least(1),
        default=1,
        metavar="N",
        help="processes (default: 1)",
    )
    add(
        "--rouge",
        action="store_true",
        help="add ROUGE-LSum; it is pure Python and slow, a second a page and more",
    )
    add(
        "--resamples",
        type=at_least(1),
        default=RESAMPLES,
        metavar="N",
        help=f"for the intervals (default: {RESAMPLES})",
    )
    add(
        "--seed",
        type=at_least(0),
        default=0,
        metavar="N",
        help="of the resampling (default: 0)",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run(parser(), arguments)


def _run(options: argparse.Namespace, command: str) -> None:
    _check_options(options)
    specs = measurement.names(options.systems, systems.SYSTEMS, systems.DRAWN)
    trained = bool(options.folds or options.train)
    for spec in specs:
        measurement.check(spec, systems.create, trained=trained, model=options.model)
    tests = _load(options.test, options.limit)
    trains = _load(options.train, options.limit)
    splits = tuple(runner.splits(tests, trains, options.folds))
    plan = runner.Plan(specs, splits, systems.create, options.model, options.rouge)
    pages = sum(len(test.pages) for test in tests)
    with command_line.progress(len(specs) * pages) as advance:
        rows = runner.run(plan, advance, options.jobs)
    done = report.Run(command, _settings(options), specs, tests, trains, splits)
    _publish(report.build(done, rows), options)


def _check_options(options: argparse.Namespace) -> None:
    if options.model and (options.folds or options.train):
        raise UserError("--model is for runs without --folds and --train; leave one of them out")
    if options.model and not options.model.is_file():
        raise UserError(f"--model: there is no file {options.model}")
    for path in filter(None, (options.json, options.markdown)):
        report.writable(path)
    libraries = LIBRARIES | ({"rouge_score.rouge_scorer": "--rouge"} if options.rouge else {})
    for module, purpose in libraries.items():
        require(module, purpose)


def _load(texts: Sequence[str], limit: int | None) -> tuple[Dataset, ...]:
    loaded = sets.load_all(texts, limit)
    for dataset in loaded:
        if dataset.broken:
            skipped, first = len(dataset.broken), dataset.broken[0]
            note = f"{dataset.name}: broken records skipped: {skipped}; the first: {first}"
            print(note, file=sys.stderr)
    return loaded


def _settings(options: argparse.Namespace) -> report.Settings:
    model: Path | None = options.model
    return report.Settings(
        folds=options.folds,
        model=str(model) if model else None,
        model_sha256=hashlib.sha256(model.read_bytes()).hexdigest() if model else None,
        limit=options.limit,
        jobs=options.jobs,
        rouge=options.rouge,
        resamples=options.resamples,
        seed=options.seed,
    )


def _publish(done: report.Report, options: argparse.Namespace) -> None:
    """Show the tables before any file is written: a full disk must not cost the run."""
    for info in done.test_sets:
        results = [done.result(info.name, system) for system in done.systems]
        print(f"{info.name}\n\n{markdown.scores_table(results)}\n")
    if options.json:
        report.write(options.json, report.to_json(done))
    if options.markdown:
        report.write(options.markdown, markdown.render(done))
