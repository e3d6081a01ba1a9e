"""Site config files of Full-Text RSS, the public rules of `ftr-site-config` -> wrappers.

A file is for the host in its name; each of its lines is a directive. `DIRECTIVES` has a row for
each that is used; others are counted and ignored. Users do not control these rules, so a selector
that cannot be used is left out and reported, and the rest of the file is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from scrapy_mss.wrappers.errors import Problem, Problems
from scrapy_mss.wrappers.rules import WILDCARD, SamplePage, Wrapper, check_selector
from scrapy_mss.wrappers.selectors import Selector, class_or_id, xpath

SUFFIX: Final = ".txt"
PRIORITY: Final = -100  # below that of one's own wrappers, which is 0 unless stated

# Neither has two runs side by side that white space fits: of a long line of it, each would be tried
# with each part of the other.
_DIRECTIVE: Final = re.compile(r"([a-zA-Z_]+)(?:\s*\([^)]*\))?\s*:")
_NOTE: Final = re.compile(r"\s#")


class Directive(NamedTuple):
    """The wrapper's field that a directive adds to, and how its value becomes a selector."""

    field: str
    read: Callable[[str], Selector]


def _substring(text: str) -> Selector:
    return class_or_id(without_note(text).replace('"', "").replace("'", ""))


def without_note(text: str) -> str:
    """*text* up to white space and a ``#``."""
    note = _NOTE.search(text)
    return text[: note.start()].rstrip() if note else text


def directive_of(line: str) -> tuple[str, str] | None:
    """The name and the value of a line ``name: value`` or ``name(…): value``."""
    line = line.strip()
    start = _DIRECTIVE.match(line)
    return (start[1].lower(), line[start.end() :].lstrip()) if start else None


DIRECTIVES: Final = {
    "body": Directive("body", xpath),
    "strip": Directive("exclude", xpath),
    "strip_id_or_class": Directive("exclude", _substring),
    "title": Directive("title", xpath),
    "author": Directive("authors", xpath),
    "date": Directive("published", xpath),
    "next_page_link": Directive("next_page", xpath),
}


@dataclass(slots=True)
class ImportReport:
    """What was imported from third-party files, and what was left out."""

    files: int = 0
    wrappers: int = 0
    without_body: int = 0
    problems: list[Problem] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        ignored = ", ".join(f"{name} {count}" for name, count in self.ignored.most_common())
        return (
            f"{self.wrappers} wrappers from {self.files} files, {self.without_body} without a "
            f"body, {len(self.problems)} problems; ignored directives: {ignored or 'none'}"
        )


def read_site_config(text: str, file: str, report: ImportReport) -> list[Wrapper]:
    """The wrapper in *text*, the content of *file*; what is left out goes into *report*."""
    selectors: dict[str, list[Selector]] = {row.field: [] for row in DIRECTIVES.values()}
    samples: list[SamplePage] = []
    problems = Problems()
    for number, line in enumerate(text.splitlines(), 1):
        name, value = directive_of(line) or ("", "")  # every other line is a comment
        if name in DIRECTIVES:
            row = DIRECTIVES[name]
            with problems.at(f"line {number}, {name}"):
                selector = row.read(value)
                check_selector(row.field, selector)
                selectors[row.field].append(selector)
        elif name == "test_url":
            samples.append(SamplePage(value))
        elif name == "test_contains" and samples:
            samples[-1] = SamplePage(samples[-1].url, (*samples[-1].contains, value))
        elif name:
            report.ignored[name] += 1
    wrappers = []
    if selectors["body"]:
        fields: dict[str, Any] = {name: tuple(found) for name, found in selectors.items()}
        with problems.at():  # the file's name may not be a host
            site = site_of_file(file)
            tests = tuple(samples)
            wrappers = [Wrapper(site=site, priority=PRIORITY, tests=tests, origin=file, **fields)]
    else:
        report.without_body += 1
    report.files += 1
    report.wrappers += len(wrappers)
    report.problems += (problem.at(file=file) for problem in problems.found)
    return wrappers


def site_of_file(file: str) -> str:
    """The site that a file is for: `.example.com.txt` is for the subdomains of example.com."""
    name = file.replace("\\", "/").rpartition("/")[2].removesuffix(SUFFIX)
    return WILDCARD + name[1:] if name.startswith(".") else name
