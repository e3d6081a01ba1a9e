"""``scrapy mss …``: its actions, each in a module of the same name."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand

from scrapy_mss.cli import CommandError, OneLineParser, guarded
from scrapy_mss.commands import (
    bulk,
    check,
    explain,
    extract,
    info,
    merge,
    report,
    suggest,
    train,
    unsure,
    workbench,
)
from scrapy_mss.commands.base import Action
from scrapy_mss.settings import SettingError
from scrapy_mss.stored_pages import SourceError
from scrapy_mss.wrappers import WrapperError

ACTIONS: tuple[Action, ...] = (
    extract.ACTION,
    explain.ACTION,
    train.ACTION,
    bulk.ACTION,
    merge.ACTION,
    check.ACTION,
    suggest.ACTION,
    info.ACTION,
    report.ACTION,
    unsure.ACTION,
    workbench.ACTION,
)


def parser_options(action: Action) -> dict[str, Any]:
    """What the parser of *action* is made with."""
    return {
        "prog": f"scrapy mss {action.name}",
        "description": action.description,
        "epilog": f"Example: {action.example}\n\n{action.exit_codes}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


class MssCommand(ScrapyCommand):
    """The command; what follows it chooses one of `ACTIONS`."""

    requires_project = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        return "ACTION …"

    def short_desc(self) -> str:
        return "Extract and explain articles; train models; suggest and check rules; report quality"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options, and an own parser for each action."""
        super().add_options(parser)
        parser.prog = "scrapy mss"
        parser.error = partial(OneLineParser.error, parser)  # type: ignore[method-assign,arg-type]
        actions = parser.add_subparsers(
            dest="action", required=True, metavar="ACTION", parser_class=OneLineParser
        )
        for action in ACTIONS:
            added = actions.add_parser(action.name, help=action.summary, **parser_options(action))
            action.add_arguments(added)
            added.set_defaults(perform=action.perform)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Perform the action."""
        program = f"scrapy mss {opts.action}"
        perform = partial(self._perform, args, opts)
        self.exitcode = guarded(program, perform, SettingError, SourceError, WrapperError)

    def _perform(self, args: list[str], opts: argparse.Namespace) -> int:
        if args:  # Scrapy leaves what no parser knows to the command
            raise CommandError(f"unknown argument {args[0]!r}; see: scrapy mss {opts.action} -h")
        return int(opts.perform(opts, self))
