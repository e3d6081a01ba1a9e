"""Problems of wrappers as values, and one exception that lists all of them.

The values of a wrapper validate themselves when they are created and know nothing of files, so the
problems that they raise have no path yet. Each reader prepends its part of the path (a key, an
index, a file) and continues with the next value: all problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from scrapy_mss.files.untrusted import printable

LONGEST_SHOWN: Final = 80  # characters of a value in a message: the longest selectors fill a screen
LONGEST_PART: Final = 500  # characters of what a message says was found, or of where
MAX_LISTED: Final = 20  # problems in one message


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: where it is, what was expected there, and what was found.

    ``path`` leads to the value inside ``file``, as in ``$.wrappers[0].body.css``; ``line`` is where
    it begins there, counted from 1, and 0 if that is not known.
    """

    expected: str
    got: str
    path: str = ""
    file: str = ""
    line: int = 0

    def at(self, path: str = "", file: str = "") -> Problem:
        """The same problem, its path prepended with *path*, in *file* unless it has one."""
        return replace(self, path=path + self.path, file=self.file or file)

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        places = (_part(place) for place in (self.file, line, self.path) if place)
        return ": ".join((*places, f"expected {self.expected}, got {_part(self.got)}"))


def _part(text: str) -> str:
    """*text* as a part of a message: of a bounded length, without control characters."""
    short = text if len(text) <= LONGEST_PART else text[:LONGEST_PART] + " \N{HORIZONTAL ELLIPSIS}"
    return printable(short)


class WrapperError(ValueError):
    """Wrappers that cannot be used; ``problems`` has all of them, the message the first ones."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = "".join(f"\n  {problem}" for problem in self.problems[:MAX_LISTED])
        more = len(self.problems) - MAX_LISTED
        rest = f"\n  and {more:,} more" if more > 0 else ""
        return f"fix all {len(self.problems)} problems before a crawl can start:{lines}{rest}"


class Problems:
    """The problems found so far, for a reader that goes on after each."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    @contextmanager
    def at(self, path: str = "", file: str = "") -> Iterator[None]:
        """Keep the problems that the block raises, as those of the value at *path* in *file*."""
        try:
            yield
        except WrapperError as error:
            self.found += (problem.at(path, file) for problem in error.problems)


@contextmanager
def gathered() -> Iterator[Problems]:
    """Raise one `WrapperError` at the end of the block with all problems found in it."""
    problems = Problems()
    yield problems
    if problems.found:
        raise WrapperError(problems.found)


@contextmanager
def located(path: str = "", file: str = "") -> Iterator[None]:
    """Raise the problems of the block as those of the value at *path* in *file*."""
    with gathered() as problems, problems.at(path, file):
        yield


def rejected(expected: str, got: str) -> WrapperError:
    """The exception for a single problem."""
    return WrapperError([Problem(expected, got)])


_KINDS: Final = {
    bool: "the boolean",
    int: "the number",
    float: "the number",
    str: "the string",
    bytes: "the bytes",
    dict: "the mapping",
    list: "the list",
    tuple: "the tuple",
}


def shown(value: object) -> str:
    """*value* with its type, short enough for a message."""
    if value is None:
        return "nothing"
    kind = _KINDS.get(type(value), f"a {type(value).__name__},")
    text = repr(value)
    return f"{kind} {text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + ' …'}"
