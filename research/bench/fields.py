"""`python -m research.bench fields`: title, authors and date, ours next to other libraries'.

Strategy: every library gets the same page and gives a title, a list of authors and a date
(`field_libraries`). Scores are means over the pages whose answer is known, with intervals from
resampled sites; an empty answer is a wrong one. All answers and all golds go through the same
normalising functions.

The order of our sources was settled on `TUNED` sites, half of two sets, told apart by a hash of
their names. The report is about all other sites unless `--sites tuned` asks for those.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import numpy as np

from research import command_line
from research.bench import metrics
from research.bench.field_libraries import LIBRARIES, Answer, Library, ask
from research.bench.markdown import table
from research.bench.report import writable, write
from research.bench.resampling import Resampler, interval
from research.datasets.pages import LabelledPage, site_of
from research.datasets.sets import evenly, load
from research.errors import UserError
from scrapy_mss.metadata.authors import DEGREES
from scrapy_mss.pages.text import folded

SETS: Final = ("articles_fundus", "articles_rules", "articles_tools", "articles_wcxb")
TUNED: Final = frozenset({"articles_fundus", "articles_rules"})
NAN: Final = float("nan")


class Known(NamedTuple):
    """What is known of a page, normalised; what is not known is empty."""

    title: str
    authors: frozenset[str]
    days: frozenset[str]

    @classmethod
    def of(cls, page: LabelledPage) -> Known:
        return cls(title_key(page.title or ""), author_keys(page.authors), days(page.date or ""))


# --- pages ----------------------------------------------------------------------------------------


def load_pages(folder: Path, *, tuned: bool, limit: int | None) -> list[LabelledPage]:
    """The pages of the tuned sites, or of all others; *limit* of each set, evenly spaced."""
    files = {name: file for name in SETS if (file := folder / f"{name}.jsonl.xz").is_file()}
    if not files:
        raise UserError(f"--data: {folder} has none of {', '.join(SETS)} (.jsonl.xz)")
    sets = {name: load(f"jsonl:{file}").pages for name, file in files.items()}
    seen = {site_of(page.url, page.site) for name in TUNED & sets.keys() for page in sets[name]}
    kept = {site for site in seen if is_tuned(site)}
    return [
        page
        for pages in sets.values()
        for page in evenly([p for p in pages if (site_of(p.url, p.site) in kept) == tuned], limit)
    ]


def is_tuned(site: str) -> bool:
    """Whether the sources were ordered by looking at *site*; half of all names."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest()[0] % 2 == 1


# --- what counts as equal -------------------------------------------------------------------------

_NOT_LETTERS: Final = re.compile(r"[\W_]+")
_BETWEEN_NAMES: Final = re.compile(r"[,;|\n/]| and | & | und | et | y ", re.IGNORECASE)
_BEFORE_NAME: Final = re.compile(r"^\W*(?:written by|by|von|por|par)\s+", re.IGNORECASE)
_NO_NAME: Final = re.compile(r"\([^)]*\)|\S+@\S+|https?:\S+")
_MOMENT: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?)?"
)


def title_key(text: str) -> str:
    """Letters and digits in lower case: quotes and dashes are spelled in many ways."""
    return " ".join(_NOT_LETTERS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())


def author_keys(texts: Iterable[str]) -> frozenset[str]:
    """The names in *texts* without case, accents, degrees and punctuation."""
    parts = chain.from_iterable(_BETWEEN_NAMES.split(_NO_NAME.sub(" ", each)) for each in texts)
    return frozenset(map(_name_key, parts)) - {""}


def _name_key(name: str) -> str:
    words = folded(_BEFORE_NAME.sub("", name).replace(".", "")).split()
    return " ".join(word for word in words if word not in DEGREES)


def days(text: str) -> frozenset[str]:
    """The day that *text* names where it was written, and in UTC where it has a zone."""
    match = _MOMENT.match(text)
    if not match:
        return frozenset()
    day, time, zone = match.groups()
    if not zone:
        return frozenset({day})
    moment = datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone == 'Z' else zone}")
    return frozenset({day, moment.astimezone(timezone.utc).date().isoformat()})


# --- scores ---------------------------------------------------------------------------------------

# Heading, name of the score, and whether it has an interval in the table.
COLUMNS: Final[tuple[tuple[str, str, bool], ...]] = (
    ("title exact", "exact", True),
    ("title F1", "title_f1", False),
    ("title there", "title_there", False),
    ("authors P", "author_p", False),
    ("authors R", "author_r", False),
    ("authors F1", "author_f1", True),
    ("authors there", "author_there", False),
    ("date right", "date", True),
    ("date there", "date_there", False),
)


def score(known: Known, answer: Answer) -> dict[str, float]:
    """The scores of one answer by name; nan where the page has no gold for them."""
    title = title_key(answer.title)
    authors = author_keys(answer.authors)
    found = metrics.prf(len(authors & known.authors), len(authors), len(known.authors))
    bag = metrics.bag(metrics.words(title), metrics.words(known.title))
    return {
        **_where(bool(known.title), exact=title == known.title, title_f1=bag.f1),
        **_where(bool(known.authors), author_r=found.r, author_f1=found.f1),
        **_where(bool(known.authors and authors), author_p=found.p),
        **_where(bool(known.days), date=bool(days(answer.date) & known.days)),
        "title_there": float(bool(title)),
        "author_there": float(bool(authors)),
        "date_there": float(bool(answer.date)),
    }


def _where(there: bool, **scores: float) -> dict[str, float]:  # noqa: FBT001 - reads as a sentence
    return {name: float(value) if there else NAN for name, value in scores.items()}


def row(library: Library, scores: Sequence[Mapping[str, float]], resampler: Resampler) -> list[str]:
    """One line of the table."""
    cells = [f"{library.name} {version(library.name)}"]
    for _, name, with_interval in COLUMNS:
        sample = resampler.sample(np.array([each[name] for each in scores]))
        ends = interval(sample.resampled) if sample and with_interval else None
        brackets = f" [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else ""
        cells.append(f"{sample.mean:.3f}{brackets}" if sample else "")
    return cells


def cost(answers: Sequence[Answer]) -> list[str]:
    """Median milliseconds, the median multiple of the parse, and the 95th percentile of it."""
    ratios = sorted(answer.ms / answer.unit for answer in answers if answer.unit)
    numbers = (median(a.ms for a in answers), median(ratios), ratios[len(ratios) * 95 // 100])
    return [f"{number:.2f}" for number in numbers]


def measure(pages: Sequence[LabelledPage], libraries: Sequence[Library]) -> str:
    """The table of *libraries* on *pages*."""
    resampler = Resampler([site_of(page.url, page.site) for page in pages])
    known = [Known.of(page) for page in pages]
    rows = []
    with command_line.progress(len(libraries) * len(pages)) as advance:
        for library in libraries:
            answers = []
            for page in pages:
                answers.append(ask(library, page))
                advance(1, library.name)
            scores = [score(*pair) for pair in zip(known, answers, strict=True)]
            rows.append([*row(library, scores, resampler), *cost(answers)])
    titles = ["library", *(title for title, *_ in COLUMNS), "ms", "× parse", "× parse p95"]  # noqa: RUF001
    return table(titles, rows)


# --- command --------------------------------------------------------------------------------------

EXPLAINED: Final = """\
{pages} pages of {sites} sites ({titles} with a known title, {authors} with authors, {days} with a \
date). *exact* and *F1* compare letters and digits without case; authors are compared as sets of \
names, P over the pages with an answer; a date is right on the day. *there* is the share of all \
pages with an answer. In brackets: 95 % intervals from resampled sites. *× parse*: the time of \
reading the fields from a parsed tree, as a multiple of lxml's parse of the page (median, 95th \
percentile; CPU time)."""  # noqa: RUF001 - the sign of multiplication


def add_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command to those of the bench."""
    fields = commands.add_parser("fields", help="title, authors and date, by several libraries")
    add = fields.add_argument
    add("--data", type=Path, required=True, metavar="DIR", help="labelled sets")
    add(
        "--limit",
        type=command_line.at_least(1),
        metavar="N",
        help="pages of each set, evenly spaced",
    )
    add("--markdown", type=Path, metavar="FILE", help="write the table here too")
    add(
        "--sites",
        choices=("held-out", "tuned"),
        default="held-out",
        help="those that nobody looked at, or those that the order of sources was settled on",
    )
    add("--libraries", default=",".join(LIBRARIES), help="names with commas between")
    return fields


def run(options: argparse.Namespace, _command: str) -> None:
    """Print the table that *options* ask for, and write it."""
    if options.markdown:
        writable(options.markdown)
    text = report(options)
    print(text)
    if options.markdown:
        write(options.markdown, text)


def report(options: argparse.Namespace) -> str:
    """The table that *options* ask for, with what it is about."""
    names = options.libraries.split(",")
    unknown = [name for name in names if name not in LIBRARIES]
    if unknown:
        raise UserError(f"--libraries: {unknown[0]!r} is unknown; known: {', '.join(LIBRARIES)}")
    libraries = [LIBRARIES[name]() for name in names]
    pages = load_pages(options.data, tuned=options.sites == "tuned", limit=options.limit)
    known = [Known.of(page) for page in pages]
    explained = EXPLAINED.format(
        pages=len(pages),
        sites=len({site_of(page.url, page.site) for page in pages}),
        titles=sum(bool(each.title) for each in known),
        authors=sum(bool(each.authors) for each in known),
        days=sum(bool(each.days) for each in known),
    )
    return f"{measure(pages, libraries)}\n\n{explained}\n"
