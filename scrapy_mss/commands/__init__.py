"""``scrapy mss …``: its actions, each in a module of the same name.

Every `scrapy` command imports this module, ours or not. It therefore imports nothing heavy, and the
module of an action only when that action is called.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand

from scrapy_mss.commands.cli import CommandError, OneLineParser, guarded

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from scrapy_mss.commands.base import Action

# Names of actions and their summaries in `scrapy mss -h`.
ACTIONS: Mapping[str, str] = {
    "extract": "print the articles in files and at URLs",
    "explain": "explain the extraction of a page, block by block",
    "train": "train a model on stored pages that wrappers label",
    "bulk": "extract archives to Parquet files",
    "merge": "add models together",
    "check": "check that wrappers still match their test pages",
    "suggest": "suggest a rule for a site from some of its pages",
    "info": "print what is in a model file",
    "report": "report each site: errors, articles, extraction quality, and alarms",
    "unsure": "list the pages on which the model was least certain",
    "workbench": "edit rules for sites in the browser",
}


def load_action(name: str) -> Action:
    """The action of that *name*; its module is imported."""
    action: Action = import_module(f"{__name__}.{name}").ACTION
    return action


class ActionParser(OneLineParser):
    """The parser of an action, which gets its arguments when it first parses."""

    def __init__(self, *, action: str, **options: Any) -> None:
        options |= {
            "prog": f"scrapy mss {action}",
            "formatter_class": argparse.RawDescriptionHelpFormatter,
        }
        super().__init__(**options)
        self.action = action

    def load(self) -> None:
        """Import the action and take over its help and its arguments."""
        action = load_action(self.action)
        self.description = action.description
        self.epilog = f"Example: {action.example}\n\n{action.exit_codes}"
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
        parser.error = partial(OneLineParser.error, parser)  # type: ignore[method-assign,arg-type]
        actions = parser.add_subparsers(
            dest="action", required=True, metavar="ACTION", parser_class=ActionParser
        )
        for name, summary in ACTIONS.items():
            actions.add_parser(name, help=summary, action=name)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Perform the action."""
        from scrapy_mss.files.stored_pages import SourceError
        from scrapy_mss.settings import SettingError
        from scrapy_mss.wrappers import WrapperError

        program = f"scrapy mss {opts.action}"
        perform = partial(self._perform, args, opts)
        self.exitcode = guarded(program, perform, SettingError, SourceError, WrapperError)

    def _perform(self, args: list[str], opts: argparse.Namespace) -> int:
        if args:  # Scrapy leaves what no parser knows to the command
            raise CommandError(f"unknown argument {args[0]!r}; see: scrapy mss {opts.action} -h")
        return int(opts.perform(opts, self))
