"""`python -m research.bench.fields`: title, authors and date, ours beside other libraries'.

Strategy: every library gets the same page, parsed once by the library's own parser before the
clock runs, and gives a title, a list of authors and a date. Scores are means over the pages whose
answer is known, with intervals from resampled sites; an empty answer is a wrong one. All answers
and all golds go through the same normalising functions.

The order of our sources was settled on `TUNED` sites, half of two sets, told apart by a hash of
their names. The report is about all other sites unless `--sites tuned` asks for those.

Nothing is downloaded: a library that could is told not to.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime, timezone
from importlib import import_module
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Final, NamedTuple

import lxml.html
import numpy as np
from lxml import etree

from research.bench import metrics
from research.bench.errors import BenchError
from research.bench.markdown import table
from research.bench.pages import site_of
from research.bench.progress import Progress
from research.bench.readers import DAMAGED
from research.bench.resampling import Resampler, interval
from scrapy_mss import metadata

PROGRAM: Final = "python -m research.bench.fields"
SETS: Final = ("articles_fundus", "articles_rules", "articles_tools", "articles_wcxb")
TUNED: Final = frozenset({"articles_fundus", "articles_rules"})
NAN: Final = float("nan")


class Labelled(NamedTuple):
    """A page and what is known of it; what is not known is empty."""

    site: str
    url: str | None
    html: str
    title: str
    authors: frozenset[str]
    days: frozenset[str]


class Answer(NamedTuple):
    """What a library says, and how long it took with the tree at hand."""

    title: str
    authors: Sequence[str]
    date: str
    ms: float
    unit: float


# --- libraries ------------------------------------------------------------------------------------

Said = tuple[str | None, Sequence[str], str | None]


class Library(NamedTuple):
    """*parse* makes a tree of a page, *read* asks the tree and its address; only it is timed."""

    name: str
    parse: Callable[[str], Any]
    read: Callable[[Any, str | None], Said]


def _ours() -> Library:
    def parse(source: str) -> object:
        """As in a crawl: Scrapy's selectors use this parser."""
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
        return etree.fromstring(_bytes(source), parser=parser)

    def read(tree: Any, url: str | None) -> Said:  # noqa: ANN401 - lxml's tree
        found = metadata.read(tree, url)
        return found.title, found.authors, found.published

    return Library("scrapy-mss", parse, read)


def _trafilatura() -> Library:
    load = _peer("trafilatura").load_html
    extract = _peer("trafilatura.metadata").extract_metadata

    def read(tree: Any, url: str | None) -> Said:  # noqa: ANN401 - lxml's tree
        found = extract(tree, default_url=url)
        return found.title, (found.author or "").split(";"), found.date

    return Library("trafilatura", load, read)


def _newspaper4k() -> Library:
    parsers = _peer("newspaper.parsers")
    extractors = _peer("newspaper.extractors")
    settings = _peer("newspaper.configuration").Configuration()
    settings.fetch_images = False

    def read(tree: Any, url: str | None) -> Said:  # noqa: ANN401 - lxml's tree
        extractor = extractors.ContentExtractor(settings)
        title, authors = extractor.get_title(tree), extractor.get_authors(tree)
        extractor.get_metadata(url or "", tree)
        date = extractor.get_publishing_date(url or "", tree)
        return title, authors, date.isoformat() if date else None

    return Library("newspaper4k", parsers.fromstring, read)


PACKAGES: Final = {"trafilatura": "trafilatura", "newspaper": "newspaper4k"}
LIBRARIES: Final[Mapping[str, Callable[[], Library]]] = {
    "scrapy-mss": _ours,
    "trafilatura": _trafilatura,
    "newspaper4k": _newspaper4k,
}


def _peer(module: str) -> Any:  # noqa: ANN401 - a module has no better type here
    try:
        return import_module(module)
    except ImportError as error:
        package = PACKAGES[module.partition(".")[0]]
        remedy = f"run: pip install {package}, or leave it out: --libraries scrapy-mss"
        raise BenchError(f"{package} is not installed; {remedy}") from error


def _bytes(source: str) -> bytes:
    return source.encode("utf-8", "replace")


def ask(library: Library, page: Labelled) -> Answer:
    """What *library* says about *page*; whatever it raises is an empty answer."""
    unit = _parse_ms(page.html)
    start = process_time()
    try:
        tree = library.parse(page.html)
        start = process_time()
        title, authors, date = library.read(tree, page.url)
    except Exception as error:  # noqa: BLE001 - the page is the library's failure
        print(f"{library.name}: {page.url}: {type(error).__name__}: {error}", file=sys.stderr)
        title, authors, date = None, (), None
    return Answer(title or "", authors, date or "", (process_time() - start) * 1000, unit)


def _parse_ms(source: str) -> float:
    """The unit of cost: lxml's parse of the page; 0 for a page that it refuses."""
    data = _bytes(source)
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    start = process_time()
    with suppress(etree.LxmlError):
        lxml.html.document_fromstring(data, parser=parser)
        return (process_time() - start) * 1000
    return 0.0


# --- pages ----------------------------------------------------------------------------------------


def load(folder: Path, *, tuned: bool, limit: int | None) -> list[Labelled]:
    """The pages of the tuned sites, or of all others; *limit* of each set, evenly spaced."""
    files = [file for name in SETS if (file := folder / f"{name}.jsonl.xz").is_file()]
    if not files:
        raise BenchError(f"--data: {folder} has none of {', '.join(SETS)} (.jsonl.xz)")
    records = {file.name.partition(".")[0]: list(_records(file)) for file in files}
    sites = {_site(each) for name in TUNED for each in records.get(name, ())}
    kept = {site for site in sites if is_tuned(site)}
    sets = (
        [each for each in found if (_site(each) in kept) == tuned] for found in records.values()
    )
    return [load_page(record) for each in sets for record in _evenly(each, limit)]


def is_tuned(site: str) -> bool:
    """Whether the sources were ordered by looking at *site*; half of all names."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest()[0] % 2 == 1


def _records(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines)
    except (*DAMAGED, ValueError) as error:
        raise BenchError(f"{file} cannot be read: {error}") from error


def _evenly(records: list[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    count = len(records)
    if limit is None or limit >= count:
        return records
    return [records[number * count // limit] for number in range(limit)]


def _site(record: Mapping[str, Any]) -> str:
    return site_of(record.get("url"), str(record.get("site")))


def load_page(record: Mapping[str, Any]) -> Labelled:
    """The page of one line of a set."""
    authors = record.get("author") or []
    return Labelled(
        site=_site(record),
        url=record.get("url"),
        html=record["html"],
        title=title_key(record.get("title") or ""),
        authors=author_keys([authors] if isinstance(authors, str) else authors),
        days=days(record.get("date") or ""),
    )


# --- what counts as equal -------------------------------------------------------------------------

_NO_LETTERS: Final = re.compile(r"[\W_]+")
_BETWEEN_NAMES: Final = re.compile(r"[,;|\n/]| and | & | und | et | y ", re.IGNORECASE)
_BEFORE_NAME: Final = re.compile(r"^\W*(?:written by|by|von|por|par)\s+", re.IGNORECASE)
_NO_NAME: Final = re.compile(r"\([^)]*\)|\S+@\S+|https?:\S+")
_SUFFIXES: Final = frozenset("md phd ms mph mba jr sr rd rdn ma ba esq facc".split())
_MOMENT: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?)?"
)


def title_key(text: str) -> str:
    """Letters and digits in lower case: quotes and dashes are spelled in many ways."""
    return " ".join(_NO_LETTERS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())


def author_keys(texts: Iterable[str]) -> frozenset[str]:
    """The names in *texts* without case, accents, degrees and punctuation."""
    parts = chain.from_iterable(_BETWEEN_NAMES.split(_NO_NAME.sub(" ", each)) for each in texts)
    return frozenset(map(_name_key, parts)) - {""}


def _name_key(name: str) -> str:
    name = _BEFORE_NAME.sub("", name).casefold().replace(".", "")
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    words = _NO_LETTERS.sub(" ", plain).split()
    return " ".join(word for word in words if word not in _SUFFIXES)


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


def score(page: Labelled, answer: Answer) -> dict[str, float]:
    """The scores of one answer by name; nan where the page has no gold for them."""
    title = title_key(answer.title)
    authors = author_keys(answer.authors)
    found = metrics.prf(len(authors & page.authors), len(authors), len(page.authors))
    bag = metrics.bag(metrics.words(title), metrics.words(page.title))
    return {
        **_where(bool(page.title), exact=title == page.title, title_f1=bag.f1),
        **_where(bool(page.authors), author_r=found.r, author_f1=found.f1),
        **_where(bool(page.authors and authors), author_p=found.p),
        **_where(bool(page.days), date=bool(days(answer.date) & page.days)),
        "title_there": float(bool(title)),
        "author_there": float(bool(authors)),
        "date_there": float(bool(answer.date)),
    }


def _where(known: bool, **scores: float) -> dict[str, float]:  # noqa: FBT001 - reads as a sentence
    return {name: float(value) if known else NAN for name, value in scores.items()}


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


def measure(pages: Sequence[Labelled], libraries: Sequence[Library]) -> str:
    """The table of *libraries* on *pages*."""
    resampler = Resampler([page.site for page in pages])
    rows = []
    with closing(Progress(len(libraries) * len(pages))) as progress:
        for library in libraries:
            answers = []
            for page in pages:
                answers.append(ask(library, page))
                progress.advance(1, library.name)
            scores = [score(*pair) for pair in zip(pages, answers, strict=True)]
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


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog=PROGRAM, description=(__doc__ or "").partition("\n")[0])
    top.add_argument("--data", type=Path, required=True, metavar="DIR", help="labelled sets")
    top.add_argument("--limit", type=int, metavar="N", help="pages of each set, evenly spaced")
    top.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here too")
    top.add_argument(
        "--sites",
        choices=("held-out", "tuned"),
        default="held-out",
        help="those that nobody looked at, or those that the order of sources was settled on",
    )
    top.add_argument("--libraries", default=",".join(LIBRARIES), help="names with commas between")
    return top


def report(options: argparse.Namespace) -> str:
    """The table that *options* ask for, with what it is about."""
    names = options.libraries.split(",")
    unknown = [name for name in names if name not in LIBRARIES]
    if unknown:
        raise BenchError(f"--libraries: {unknown[0]!r} is unknown; known: {', '.join(LIBRARIES)}")
    libraries = [LIBRARIES[name]() for name in names]
    pages = load(options.data, tuned=options.sites == "tuned", limit=options.limit)
    explained = EXPLAINED.format(
        pages=len(pages),
        sites=len({page.site for page in pages}),
        titles=sum(bool(page.title) for page in pages),
        authors=sum(bool(page.authors) for page in pages),
        days=sum(bool(page.days) for page in pages),
    )
    return f"{measure(pages, libraries)}\n\n{explained}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        text = report(options)
        if options.markdown:
            options.markdown.write_text(text, encoding="utf-8")
    except (BenchError, OSError) as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return 2
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
