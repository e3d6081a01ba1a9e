"""``scrapy mss …``: extract, train, merge, check and info, each in a module of its name."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any, ClassVar, NoReturn

from scrapy.commands import ScrapyCommand

from scrapy_mss.commands import check, extract, info, merge, train
from scrapy_mss.commands.base import Action, CommandError
from scrapy_mss.models.format import ModelError
from scrapy_mss.settings import SettingError
from scrapy_mss.stored_pages import SourceError
from scrapy_mss.wrappers import WrapperError

ACTIONS: tuple[Action, ...] = (
    extract.ACTION,
    train.ACTION,
    merge.ACTION,
    check.ACTION,
    info.ACTION,
)
BAD_ARGUMENTS = 2
EPILOG = "Exit codes: 0 if all went well, 1 if a check failed, 2 for arguments that cannot be used."


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong on one line, without the usage text."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_ARGUMENTS, f"{self.prog}: error: {' '.join(message.split())}\n")


class MssCommand(ScrapyCommand):
    """The command; what follows it chooses one of `ACTIONS`."""

    requires_project = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        return "ACTION …"

    def short_desc(self) -> str:
        return "Articles from pages: extract, train, merge, check, info"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options, and an own parser for each action."""
        super().add_options(parser)
        parser.prog = "scrapy mss"
        parser.error = partial(OneLineParser.error, parser)  # type: ignore[method-assign,arg-type]
        actions = parser.add_subparsers(
            dest="action", required=True, metavar="ACTION", parser_class=OneLineParser
        )
        for action in ACTIONS:
            added = actions.add_parser(
                action.name,
                prog=f"scrapy mss {action.name}",
                help=action.summary,
                description=action.description,
                epilog=f"Example: {action.example}\n\n{EPILOG}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            action.add_arguments(added)
            added.set_defaults(perform=action.perform)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Perform the action; a fault of the arguments is one line and exit code 2."""
        try:
            self.exitcode = self._performed(args, opts)
        except (CommandError, ModelError, SettingError, SourceError, WrapperError) as error:
            print(f"scrapy mss {opts.action}: error: {error}", file=sys.stderr)
            self.exitcode = BAD_ARGUMENTS

    def _performed(self, args: list[str], opts: argparse.Namespace) -> int:
        if args:  # Scrapy leaves what no parser knows to the command
            raise CommandError(f"unknown argument {args[0]!r}; see: scrapy mss {opts.action} -h")
        return int(opts.perform(opts, self))
