"""Write the reference pages of the documentation from the tables of the code.

    python tools/reference.py            # write the pages of `PAGES` in docs
    python tools/reference.py --check    # say which of them is out of date; exit code 1 if one is

Settings come from `settings.SETTINGS`, stats from `stats.STATS`, commands from their own help,
systems from `research.systems.SYSTEMS`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from research.systems import SYSTEMS, System, titled
from scrapy_mss.cli import OneLineParser
from scrapy_mss.commands import ACTIONS, parser_options
from scrapy_mss.settings import SETTINGS
from scrapy_mss.stats import PREFIX, STATS

# The versions whose argparse lays out a help text as in the committed page.
HELP_VERSIONS = {(3, 11), (3, 12)}
DOCS = Path(__file__).parent.parent / "docs"
MADE = "<!-- Made by tools/reference.py from the tables of the code; change those. -->\n"
HELP_WIDTH = "90"
SETTINGS_INTRODUCTION = """\
All are read from the crawl's settings: `settings.py`, a spider's `custom_settings`, or
`-s NAME=VALUE`. A value that cannot be used stops the crawl at its start, with what is expected; a
name that begins with `MSS_` and is not one of these is pointed out.

Two keys of `Request.meta` leave single pages out: `mss_skip_training` and `mss_skip_extraction`,
with a true value."""


def settings_page() -> str:
    """One section a setting."""
    parts = ["# Settings", MADE.strip(), SETTINGS_INTRODUCTION]
    for row in SETTINGS:
        facts = f"Default: `{row.default!r}`. Expects {row.expected}."
        parts += [f"## {row.name}", facts, row.summary]
    return "\n\n".join(parts) + "\n"


def stats_page() -> str:
    """One row a stat."""
    rows = [f"| `{PREFIX}{row.name}` | {row.summary} |" for row in STATS]
    table = "\n".join(["| stat | what it is |", "| --- | --- |", *rows])
    text = (
        "Numbers in Scrapy's stats under one prefix; what stands in braces varies. With "
        '`PERIODIC_LOG_STATS = {"include": ["mss/"]}` and the extension '
        "`scrapy.extensions.periodic_log.PeriodicLog` they are logged while the crawl runs."
    )
    return f"# Stats\n\n{MADE}\n{text}\n\n{table}\n"


def commands_page() -> str:
    """The help of each command."""
    os.environ["COLUMNS"] = HELP_WIDTH
    parts = ["# Commands", MADE.strip(), "In a Scrapy project or anywhere else:"]
    for action in ACTIONS:
        parser = OneLineParser(**parser_options(action))
        action.add_arguments(parser)
        parts += [f"## scrapy mss {action.name}", f"```text\n{parser.format_help()}```"]
    return "\n\n".join(parts) + "\n"


def systems_table() -> str:
    """One row a system, for a page to include."""
    rows = [f"| {_named(n)} | {s.summary} | {_options(s)} |" for n, s in SYSTEMS.items()]
    head = ["| system | what it is | options |", "| --- | --- | --- |"]
    return f"{MADE}\n" + "\n".join([*head, *rows]) + "\n"


def _named(name: str) -> str:
    """The name as code, and what else tables say of it."""
    return titled(name).replace(name, f"`{name}`", 1)


def _options(system: System) -> str:
    """The options that the row of *system* leaves open."""
    module, name = system.home.split(":")
    parameters = inspect.signature(getattr(import_module(module), name)).parameters
    return ", ".join(f"`{each}`" for each in parameters if each not in system.options)


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "stats.md": stats_page,
    "commands.md": commands_page,
    "systems-table.md": systems_table,
}


def main() -> int:
    """Write the pages, or compare them."""
    check = sys.argv[1:] == ["--check"]
    stale = []
    for name, make in PAGES.items():
        if check and make is commands_page and sys.version_info[:2] not in HELP_VERSIONS:
            continue
        path, text = DOCS / name, make()
        if check and (not path.exists() or path.read_text(encoding="utf-8") != text):
            stale.append(name)
        elif not check:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"out of date: {', '.join(stale)}; run: python tools/{Path(__file__).name}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
