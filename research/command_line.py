"""What the command lines of research share: errors on one line, exit codes, a progress bar.

A program is a parser whose commands set `perform`, a function of the parsed options and of the
command as it was typed. An error of the user (`UserError`, a bad argument) is one line on stderr
and code 2.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from research.errors import UserError, require

BAD_ARGUMENTS: Final = 2
INTERRUPTED: Final = 130  # what a shell reports for a program that Ctrl-C ended

Advance = Callable[[int, str], None]


class Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, without the usage text."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_ARGUMENTS, f"{self.prog}: error: {' '.join(message.split())}\n")


def at_least(lowest: int) -> Callable[[str], int]:
    """The type of an option that is a whole number from *lowest*."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < lowest:
            raise argparse.ArgumentTypeError(f"expected a number from {lowest}, got {text!r}")
        return int(text)

    return number


def folder(option: str) -> Callable[[str], Path]:
    """The type of an *option* that is a folder: before hours of work, not after."""

    def path(text: str) -> Path:
        if not Path(text).is_dir():
            raise UserError(f"{option}: there is no folder {text}")
        return Path(text)

    return path


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the labelled sets are."""
    kind = folder("--data")
    parser.add_argument("--data", type=kind, required=True, metavar="DIR", help="labelled sets")


def add_out(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where results go."""
    kind = folder("--out")
    parser.add_argument("--out", type=kind, required=True, metavar="DIR", help="where files go")


def run_study(
    program: str,
    description: str,
    perform: Callable[[argparse.Namespace, str], None],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run a study of the labelled sets whose results are files; returns the exit code."""
    parser = Parser(prog=program, description=description)
    add_data(parser)
    add_out(parser)
    parser.set_defaults(perform=perform)
    return run(parser, arguments)


@contextmanager
def progress(total: int) -> Iterator[Advance]:
    """A bar on stderr, if that is a terminal: what counts pages, and names what is at work."""
    tqdm = require("tqdm", "the progress bar").tqdm
    with tqdm(total=total, unit="page", leave=False, disable=None) as bar:

        def advance(pages: int, label: str) -> None:
            bar.set_postfix_str(label, refresh=False)
            bar.update(pages)

        yield advance


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None) -> int:
    """Parse *arguments* (of the process) and perform what they ask for; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parser.parse_args(given)
        options.perform(options, shlex.join([*parser.prog.split(), *given]))
    except UserError as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0
