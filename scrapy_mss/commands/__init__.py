"""``scrapy mss …``: its actions, each in a module of the same name, with errors of one line.

Every `scrapy` command imports this module, ours or not. It therefore imports nothing heavy, and the
module of an action only when that action is called.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TextIO

from scrapy.commands import ScrapyCommand

from scrapy_mss.files.untrusted import printable, without_controls

if TYPE_CHECKING:
    from scrapy.settings import Settings

# Names of actions and their summaries in `scrapy mss -h`.
ACTIONS: Mapping[str, str] = {
    "extract": "print the articles in files and at URLs",
    "explain": "explain the extraction of a page, block by block",
    "train": "train a model on stored pages that wrappers label",
    "bulk": "extract archives to Parquet files",
    "merge": "add models together",
    "check": "check that wrappers still match their test pages",
    "suggest": "suggest a rule for a site from some of its pages",
    "info": "print what is in a model or a store",
    "report": "report each site: errors, articles, extraction quality, and alarms",
    "workbench": "edit rules for sites in the browser",
}

GOOD, NOT_FOUND, BAD_ARGUMENTS = 0, 1, 2
NOBODY_READS = 128 + 13  # what shells report of a program that SIGPIPE has ended
EXIT_CODES = (
    "Exit codes: 0 on success, 1 if a page has no article or a check failed, 2 for\n"
    "invalid arguments or files."
)

_CONTROLS = re.compile("[\x7f-\x9f]")


class CommandError(Exception):
    """An error in the arguments or in the files that they name; the message is for the user."""


def error_line(program: str, message: object) -> str:
    """*message* as *program* prints it: one line, without what would control a terminal."""
    text = " ".join(str(message).split())
    return f"{program}: error: {printable(text)}\n"


def print_line(text: object, file: TextIO | None = None) -> None:
    """Print *text* on one line, without what would control a terminal."""
    print(printable(str(text)), file=file)


def print_text(text: str) -> None:
    """Print what a page says: as it is, or, on a terminal, without what would control it."""
    print(without_controls(text) if sys.stdout.isatty() else text)


def print_json(values: Mapping[str, object]) -> None:
    """Print *values* as a line of JSON, in letters but for what controls a terminal."""
    text = json.dumps(values, ensure_ascii=False)
    # JSON itself escapes the others. Outside strings it has none of these.
    print(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _drop_output() -> None:
    """Lead what is still to be written to nowhere: Python flushes once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class ActionParser(argparse.ArgumentParser):
    """The parser of an action, which gets its arguments when it first parses.

    It reports errors on one line, without the usage text.
    """

    def __init__(self, *, action: str, **options: Any) -> None:
        options |= {
            "prog": f"scrapy mss {action}",
            "formatter_class": argparse.RawDescriptionHelpFormatter,
        }
        super().__init__(**options)
        self.action = action

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_ARGUMENTS, error_line(self.prog, message))

    def load(self) -> None:
        action = import_module(f"{__name__}.{self.action}")
        self.description = action.__doc__
        exit_codes = getattr(action, "EXIT_CODES", EXIT_CODES)
        self.epilog = f"Example: {action.EXAMPLE}\n\n{exit_codes}"
        action.add_arguments(self)
        self.set_defaults(perform=action.perform)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401
        """Parse *args*; a command line has one action, so this is called once."""
        self.load()
        return super().parse_known_args(args, namespace)


class MssCommand(ScrapyCommand):
    """The command; what follows it chooses one of `ACTIONS`."""

    requires_project = False
    settings: Settings  # there whenever it runs
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        return "ACTION …"

    def short_desc(self) -> str:
        return "Extract and explain articles; train models; suggest and check rules; report quality"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options, and an own parser for each action."""
        super().add_options(parser)
        parser.prog = "scrapy mss"
        parser.error = partial(ActionParser.error, parser)  # type: ignore[method-assign,arg-type]
        actions = parser.add_subparsers(
            dest="action", required=True, metavar="ACTION", parser_class=ActionParser
        )
        for name, summary in ACTIONS.items():
            actions.add_parser(name, help=summary, action=name)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Perform the action; errors of the user and of the output are printed on one line.

        Where nobody reads the output any more, as in ``… | head -1``, the end is quiet.
        """
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # terminals lack some characters
        program = f"scrapy mss {opts.action}"
        try:
            self.exitcode = self._perform(program, args, opts)
            sys.stdout.flush()  # Python does it later, where its error cannot be caught
        except BrokenPipeError:
            self.exitcode = NOBODY_READS
            _drop_output()
        except OSError as error:  # the disk is full
            self.exitcode = BAD_ARGUMENTS
            sys.stderr.write(error_line(program, error))
            _drop_output()

    def _perform(self, program: str, args: list[str], opts: argparse.Namespace) -> int:
        from scrapy_mss.files.stored_pages import SourceError
        from scrapy_mss.models.format import ModelError
        from scrapy_mss.settings import SettingError
        from scrapy_mss.storage.tables import StoreError
        from scrapy_mss.wrappers import WrapperError

        errors = (ModelError, SettingError, SourceError, StoreError, WrapperError, OverflowError)
        if args:  # Scrapy leaves arguments that no parser knows to the command
            sys.stderr.write(
                error_line(program, f"unknown argument {args[0]!r}; see: {program} -h")
            )
            return BAD_ARGUMENTS
        try:
            return int(opts.perform(opts, self))
        except (CommandError, *errors) as error:
            sys.stderr.write(error_line(program, error))
            return BAD_ARGUMENTS
