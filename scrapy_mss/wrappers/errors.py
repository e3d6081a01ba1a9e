"""What is wrong with rules, as values that are gathered and one exception that lists them.

A rule's values check themselves when they are made and know nothing of files: they raise a
`WrapperError` whose faults have no place yet. Whoever reads a file catches it, writes the place
into each fault, and goes on to the next value, so that one start shows all that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

LONGEST_SHOWN = 80  # characters of a value in a message: the longest selectors fill a screen


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: where it stands, what was expected there, and what came.

    ``path`` leads to the value inside ``file``, as in ``$.wrappers[0].body.css``.
    """

    expected: str
    got: str
    path: str = ""
    file: str = ""

    def at(self, file: str, path: str) -> Fault:
        """The same fault of the value that stands at *path* in *file*."""
        return replace(self, file=file, path=path + self.path)

    def __str__(self) -> str:
        places = (place for place in (self.file, self.path) if place)
        return ": ".join((*places, f"expected {self.expected}, got {self.got}"))


class WrapperError(ValueError):
    """Rules that cannot be used; ``faults`` has all of them, the message a line for each."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        lines = "".join(f"\n  {fault}" for fault in self.faults)
        return (
            f"{len(self.faults)} faults in wrappers; no rule is used until all are mended:{lines}"
        )


def refuse(expected: str, got: str) -> WrapperError:
    """The exception for a single fault."""
    return WrapperError([Fault(expected, got)])


_KINDS = {
    bool: "the truth value",
    int: "the number",
    float: "the number",
    str: "the text",
    bytes: "the bytes",
    dict: "the mapping",
    list: "the list",
    tuple: "the tuple",
}


def is_text(value: object) -> bool:
    """Whether *value* is a text with anything in it, whatever its annotation says."""
    return isinstance(value, str) and bool(value.strip())


def shown(value: object) -> str:
    """*value* with its kind, short enough for a message."""
    if value is None:
        return "nothing"
    kind = _KINDS.get(type(value), f"a {type(value).__name__},")
    text = repr(value)
    return f"{kind} {text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + ' …'}"
