"""What the made-up sites publish, before any markup: ``sorts.yaml``, filled with words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from research.webs.prose import Prose

SORTS: Final[dict[str, dict[str, list[Any]]]] = yaml.safe_load(
    (Path(__file__).parent / "sorts.yaml").read_text(encoding="utf-8")
)
NOT_FREE: Final = ("metered", "teaser")  # what is declared to be for subscribers
FIRST_DAY: Final = datetime(2019, 3, 4, 5, 40)  # noqa: DTZ001 - made-up papers print local time
DAYS: Final = 2400
UNTIL_SUBHEAD: Final = 5  # paragraphs
COPIES: Final = 2  # pages of a sort; twice as many if its kind has one or two sorts


class Part(NamedTuple):
    """A piece of a page: the role that it has there, its text, and a title or a label."""

    role: str
    text: str = ""
    title: str = ""


@dataclass(frozen=True)
class Document:
    """A page of a site."""

    kind: str
    sort: str
    title: str
    summary: str
    author: str
    number: int
    published: datetime
    parts: tuple[Part, ...]


def documents(prose: Callable[[str], Prose]) -> Iterator[Document]:
    """Pages of all sorts, by what writes a page for the seed that it is given."""
    for kind, sorts in SORTS.items():
        copies = COPIES if len(sorts) > COPIES else 2 * COPIES
        for sort in sorts:
            for copy in range(copies):
                yield document(prose(f"{sort}/{copy}"), kind, sort)


def document(prose: Prose, kind: str, sort: str) -> Document:
    """A page of that *sort*."""
    title, *steps = SORTS[kind][sort]
    minutes = prose.random.randint(0, DAYS * 24 * 60)
    return Document(
        kind,
        sort,
        prose.title(title),
        prose.write("summary"),
        prose.write("people"),
        prose.random.randint(1_000, 9_999_999),
        FIRST_DAY + timedelta(minutes=minutes),
        tuple(parts(prose, steps)),
    )


def parts(prose: Prose, steps: Sequence[Any]) -> Iterator[Part]:
    """The parts that the *steps* say."""
    for step in steps:
        if isinstance(step, list):
            for _ in range(number(prose, step[0])):
                yield from parts(prose, step[1:])
            continue
        role, _, rest = step.partition(" ")
        title, bar, text = rest.partition("|")
        if role == "all":
            yield from (Part("p", prose.write(rest)) for _ in prose.words[rest])
        elif role == "prose":
            yield from paragraphs(prose, number(prose, rest))
        elif role == "cut":
            yield from beginning(prose, number(prose, rest))
        elif bar:
            yield Part(role, prose.text(text), prose.text(title))
        else:
            yield Part(role, prose.text(rest))


def number(prose: Prose, given: str | int) -> int:
    """*given*, or a number between two of them, of which the low ones are more frequent."""
    low, _, high = str(given).partition("-")
    first, last = int(low), int(high or low)
    return first + int((last - first) * prose.random.random() ** 2)


def paragraphs(prose: Prose, n_words: int) -> Iterator[Part]:
    """Running text of at least *n_words*, with a subhead now and then."""
    count = 0
    while n_words > 0:
        count += 1
        if count % UNTIL_SUBHEAD == 0:
            yield Part("h", prose.write("subhead"))
        text = prose.paragraph()
        n_words -= prose.length(text)
        yield Part("p", text)


def beginning(prose: Prose, n_words: int) -> Iterator[Part]:
    """The first *n_words* of a report."""
    while n_words > 0:
        text = prose.paragraph()
        length = prose.length(text)
        yield Part("p", text if length < n_words else f"{prose.first(text, n_words)}…")
        n_words -= length
