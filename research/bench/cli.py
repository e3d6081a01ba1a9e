"""`python -m research.bench`: arguments in, a report out.

Strategy: everything that can be wrong is looked at before the first page is read by a system:
arguments, paths to write to, libraries, sets, systems, what they learn from. Then the run, then
the files. A fault of the user is one line on stderr and code 2; the main table goes to stdout.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NoReturn

from research.bench import compare, datasets, markdown, report, runner, study, systems
from research.bench.errors import BenchError, require
from research.bench.pages import Dataset
from research.bench.progress import Progress
from research.bench.readers import READERS
from research.bench.resampling import RESAMPLES
from research.bench.systems import Factory

PROGRAM: Final = "python -m research.bench"
BAD_ARGUMENTS: Final = 2
INTERRUPTED: Final = 130
SETS: Final = f"""\
A set is KIND:PATH, where KIND is one of {", ".join(READERS)}; PATH is a file (jsonl, also .gz and
.xz), the benchmark's folder, or the folder of one split (wcxb:DIR/dev). With ?type=article behind
the path only pages of that type are used; several types are separated by commas."""
LIBRARIES: Final = {
    "rapidfuzz.distance": "the CleanEval score",
    "lxml.html": "the unit of speed",
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, without the usage text."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_ARGUMENTS, f"{self.prog}: error: {' '.join(message.split())}\n")


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top: argparse.ArgumentParser = _Parser(
        prog=PROGRAM, description="Compare systems on labelled pages."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run systems on sets and report", epilog=SETS)
    _add_sets(run)
    _add_measurement(run)
    run.add_argument("--json", type=Path, metavar="FILE", help="write all numbers and rows here")
    run.add_argument("--markdown", type=Path, metavar="FILE", help="write a readable report here")
    run.set_defaults(perform=_run)
    study.add_parser(commands).set_defaults(perform=study.run)
    compare.add_parser(commands).set_defaults(perform=compare.run)
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
    add("--folds", type=_at_least(2), metavar="N", help="cross-validate every test set by site")
    add("--model", type=Path, metavar="FILE", help="what systems know without --folds and --train")
    add(
        "--limit",
        type=_at_least(1),
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
    add("--jobs", type=_at_least(1), default=1, metavar="N", help="processes (default: 1)")
    add(
        "--rouge",
        action="store_true",
        help="add ROUGE-LSum; it is pure Python and slow, a second a page and more",
    )
    add(
        "--resamples",
        type=_at_least(1),
        default=RESAMPLES,
        metavar="N",
        help=f"for the intervals (default: {RESAMPLES})",
    )
    add("--seed", type=_at_least(0), default=0, metavar="N", help="of the resampling (default: 0)")


def _at_least(lowest: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < lowest:
            raise argparse.ArgumentTypeError(f"expected a number from {lowest}, got {text!r}")
        return int(text)

    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(given)
    try:
        options.perform(options, shlex.join([*PROGRAM.split(), *given]))
    except BenchError as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _run(options: argparse.Namespace, command: str) -> None:
    _check_options(options)
    known, factory = _extractors()
    specs = systems.names(options.systems, known)
    trained = bool(options.folds or options.train)
    for spec in specs:
        systems.check(spec, factory, trained=trained, model=options.model)
    tests = _load(options.test, options.limit)
    trains = _load(options.train, options.limit)
    splits = tuple(runner.splits(tests, trains, options.folds))
    plan = runner.Plan(specs, splits, factory, options.model, options.rouge)
    pages = sum(len(test.pages) for test in tests)
    with closing(Progress(len(specs) * pages)) as progress:
        rows = runner.run(plan, progress.advance, options.jobs)
    done = report.Run(command, _settings(options), specs, tests, trains, splits)
    _publish(report.build(done, rows), options)


def _check_options(options: argparse.Namespace) -> None:
    if options.model and (options.folds or options.train):
        raise BenchError("--model is for runs without --folds and --train; leave one of them out")
    if options.model and not options.model.is_file():
        raise BenchError(f"--model: there is no file {options.model}")
    for path in filter(None, (options.json, options.markdown)):
        report.writable(path)
    libraries = LIBRARIES | ({"rouge_score.rouge_scorer": "--rouge"} if options.rouge else {})
    for module, purpose in libraries.items():
        require(module, purpose)


def _extractors() -> tuple[Mapping[str, object], Factory]:
    """The systems there are; imported here, so that `--help` needs none of them."""
    from research import systems as extractors

    return extractors.SYSTEMS, extractors.create


def _load(texts: Sequence[str], limit: int | None) -> tuple[Dataset, ...]:
    loaded = datasets.load_all(texts, limit)
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
