"""Site config files of Full-Text RSS, the public rules of `ftr-site-config` -> wrappers.

A file is for the host in its name; each of its lines is a directive. What each directive becomes
is a row of `DIRECTIVES`, every other directive is counted and ignored. The rules are other
people's: a selector that cannot be used is left out and told, and the rest of the file serves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from scrapy_mss.wrappers.errors import Fault, WrapperError
from scrapy_mss.wrappers.rules import WILDCARD, Example, Wrapper, role_faults
from scrapy_mss.wrappers.selectors import Selector, class_or_id, xpath

SUFFIX: Final = ".txt"
PRIORITY: Final = -100  # a rule of one's own, at 0, goes before one of a public collection

_LINE = re.compile(r"\s*([a-z_]+)\s*(?:\([^)]*\))?\s*:\s*(.*?)\s*", re.IGNORECASE)
_QUOTES_AND_NOTE = re.compile(r"""["']|\s+#.*""")


class Directive(NamedTuple):
    """The wrapper's field that a directive adds to, and how its value becomes a selector."""

    field: str
    read: Callable[[str], Selector]


def _piece(text: str) -> Selector:
    return class_or_id(_QUOTES_AND_NOTE.sub("", text))


DIRECTIVES: Final = {
    "body": Directive("body", xpath),
    "strip": Directive("exclude", xpath),
    "strip_id_or_class": Directive("exclude", _piece),
    "title": Directive("title", xpath),
    "author": Directive("authors", xpath),
    "date": Directive("published", xpath),
}


@dataclass(slots=True)
class Account:
    """What became of third-party files: how many rules, and what was left out."""

    files: int = 0
    wrappers: int = 0
    without_body: int = 0
    faults: list[Fault] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        ignored = ", ".join(f"{name} {count}" for name, count in self.ignored.most_common())
        return (
            f"{self.wrappers} wrappers of {self.files} files, {self.without_body} without a body, "
            f"{len(self.faults)} faults; ignored directives: {ignored or 'none'}"
        )


class _Config:
    """One file while it is read."""

    def __init__(self, file: str, account: Account) -> None:
        self.file = file
        self.account = account
        self.selectors: dict[str, list[Selector]] = {row.field: [] for row in DIRECTIVES.values()}
        self.tests: list[Example] = []

    def read(self, text: str) -> None:
        for number, line in enumerate(text.splitlines(), 1):
            found = _LINE.fullmatch(line)
            if found:  # what is no directive is a note
                name = found[1].lower()
                self._directive(name, found[2], f"line {number}, {name}")

    def _directive(self, name: str, value: str, place: str) -> None:
        if name in DIRECTIVES:
            self._selector(DIRECTIVES[name], value, place)
        elif name == "test_url":
            self.tests.append(Example(value))
        elif name == "test_contains" and self.tests:
            last = self.tests[-1]
            self.tests[-1] = Example(last.url, (*last.contains, value))
        else:
            self.account.ignored[name] += 1

    def _selector(self, row: Directive, value: str, place: str) -> None:
        try:
            selector = row.read(value)
            faults = tuple(role_faults(row.field, selector))
        except WrapperError as error:
            faults = error.faults
        else:
            if not faults:
                self.selectors[row.field].append(selector)
        self.account.faults += [fault.at(self.file, place) for fault in faults]


def read_site_config(text: str, file: str, account: Account) -> list[Wrapper]:
    """The wrapper of *text*, which stands in *file*; what is left out goes to *account*."""
    account.files += 1
    config = _Config(file, account)
    config.read(text)
    selectors = {name: tuple(found) for name, found in config.selectors.items()}
    if not selectors["body"]:
        account.without_body += 1
        return []
    try:
        wrapper = Wrapper(
            site=site_of(file),
            priority=PRIORITY,
            tests=tuple(config.tests),
            origin=file,
            body=selectors["body"],
            exclude=selectors["exclude"],
            title=selectors["title"],
            authors=selectors["authors"],
            published=selectors["published"],
        )
    except WrapperError as error:  # the name is no host's
        account.faults += [fault.at(file, "") for fault in error.faults]
        return []
    account.wrappers += 1
    return [wrapper]


def site_of(file: str) -> str:
    """The site that a file is for: `.example.com.txt` is for all hosts below example.com."""
    name = file.replace("\\", "/").rpartition("/")[2].removesuffix(SUFFIX)
    return WILDCARD + name[1:] if name.startswith(".") else name
