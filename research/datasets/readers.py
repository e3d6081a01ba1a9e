"""The layouts of labelled sets, one reader each; `READERS` is the table of them.

Strategy: a reader walks a folder or file and tries to make a page of every record. Making a page
raises `FieldError` at the first field that is not as expected; `attempt` turns that into a
`Broken` value. Only what makes the whole set unreadable (no such folder, a truncated archive)
is an error of the run.

Where a layout does not say it: the site is the registered domain of the URL, the language is
what `<html lang>` declares, and the page type is what the benchmark collected.
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from research.datasets.pages import Broken, LabelledPage, site_of
from research.errors import UserError

Reader = Callable[[Path], Iterator[LabelledPage | Broken]]
Record = Mapping[str, object]

DAMAGED: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)
# Every subset of the optional paragraphs is a gold up to this many (8 golds a page); beyond it
# only none and all of them, which is what the benchmark itself falls back to.
MAX_OPTIONAL: Final = 3


class FieldError(Exception):
    """A field of one record is not as expected."""

    def __init__(self, field: str, reason: str) -> None:
        """Keep the *field* and the *reason* apart, for the report."""
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


def attempt(where: str, make: Callable[[], LabelledPage]) -> LabelledPage | Broken:
    """Make a page, or say what is wrong with the record at *where*."""
    try:
        return make()
    except FieldError as error:
        return Broken(where, error.field, error.reason)


# --- jsonl: one object a line, plain or compressed ------------------------------------------------

OPENERS: Final[Mapping[str, Callable[..., Any]]] = {".gz": gzip.open, ".xz": lzma.open}


def read_jsonl(path: Path) -> Iterator[LabelledPage | Broken]:
    """Lines of id, html, golds, and what else is known; authors are a text or a list of texts."""
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield attempt(f"{path.name}:{number}", partial(_jsonl_page, line))
    except DAMAGED as error:
        raise UserError(f"{path} cannot be read: {str(error) or type(error).__name__}") from error


def _jsonl_page(line: bytes) -> LabelledPage:
    record = _json_object(line, "line")
    name, url = text_field(record, "id"), optional_text(record, "url")
    return LabelledPage(
        id=name,
        site=optional_text(record, "site") or site_of(url, name),
        html=text_field(record, "html"),
        golds=_golds_field(record),
        url=url,
        lang=optional_text(record, "lang"),
        page_type=optional_text(record, "page_type"),
        group=optional_text(record, "group"),
        title=optional_text(record, "title"),
        authors=_authors_field(record),
        date=optional_text(record, "date"),
    )


def _authors_field(record: Record) -> tuple[str, ...]:
    """One author as a text, or several as a list."""
    authors = record.get("author") or []
    if isinstance(authors, str):
        return (authors,)
    if not isinstance(authors, list) or not all(isinstance(each, str) for each in authors):
        raise FieldError("author", f"expected a text or a list of texts, got {_shown(authors)}")
    return tuple(authors)


def _golds_field(record: Record) -> tuple[str, ...]:
    golds = record.get("golds")
    if not isinstance(golds, list) or not golds:
        raise FieldError("golds", f"expected a list of texts, got {_shown(golds)}")
    for gold in golds:
        if not isinstance(gold, str):
            raise FieldError("golds", f"expected texts in the list, got {_shown(gold)}")
    return tuple(golds)


# --- scrapinghub/article-extraction-benchmark -----------------------------------------------------


def read_scrapinghub(root: Path) -> Iterator[LabelledPage | Broken]:
    """Walk ground-truth.json {id: {articleBody, url}} and html/<id>.html.gz."""
    for name, record in _json_file(root / "ground-truth.json").items():
        where = f"ground-truth.json[{name}]"
        yield attempt(where, partial(_scrapinghub_page, root, name, record))


def _scrapinghub_page(root: Path, name: str, value: object) -> LabelledPage:
    record = _as_object(value, "entry")
    golds = (text_field(record, "articleBody", empty=True),)
    known = Known(name, golds, optional_text(record, "url"), "article")
    return _folder_page(root / "html", known)


# --- WCXB, the Web Content eXtraction Benchmark ---------------------------------------------------

GOLD_AT: Final = (("main_content",), ("ground_truth", "main_content"))
TITLE_AT: Final = (("title",), ("ground_truth", "title"))
TYPE_AT: Final = (
    ("page_type",),
    ("_internal", "page_type", "primary"),
    ("_internal", "page_type"),
    ("ground_truth", "page_type"),
)
# The benchmark's own script takes both for granted.
TYPE_NAMES: Final = MappingProxyType({"category": "collection", None: "article"})


def read_wcxb(root: Path) -> Iterator[LabelledPage | Broken]:
    """Walk one split: ground-truth/*.json and html/*.html.gz; PATH is the folder of the split."""
    truth = root / "ground-truth"
    if not truth.is_dir():
        splits = [split for split in ("dev", "test") if (root / split / "ground-truth").is_dir()]
        remedy = f"; name the split: {root / splits[0]}" if splits else ""
        raise UserError(f"{root} has no folder ground-truth{remedy}")
    for file in sorted(truth.glob("*.json")):
        yield attempt(f"ground-truth/{file.name}", partial(_wcxb_page, root, file))


def _wcxb_page(root: Path, file: Path) -> LabelledPage:
    record = _json_object(_content(file, "file"), "file")
    gold, title, kind = (_first(record, places) for places in (GOLD_AT, TITLE_AT, TYPE_AT))
    if gold is None:
        raise FieldError("main_content", "expected a text, got nothing")
    golds = (gold, f"{title}\n\n{gold}") if title and not gold.startswith(title) else (gold,)
    page_type = TYPE_NAMES.get(kind, kind)
    known = Known(file.stem, golds, optional_text(record, "url"), page_type)
    return _folder_page(root / "html", known)


def _first(record: Record, places: Sequence[Sequence[str]]) -> str | None:
    """The first text that stands at one of *places*."""
    for place in places:
        value: object = record
        for key in place:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str):
            return value
    return None


# --- fundus-evaluation ----------------------------------------------------------------------------


def read_fundus(root: Path) -> Iterator[LabelledPage | Broken]:
    """Walk ground_truth.json {file: {url, body}} and html/<file>; a paragraph in [] is optional."""
    folder = root / "dataset" if (root / "dataset").is_dir() else root
    for name, record in _json_file(folder / "ground_truth.json").items():
        where = f"ground_truth.json[{name}]"
        yield attempt(where, partial(_fundus_page, folder, name, record))


def _fundus_page(folder: Path, name: str, value: object) -> LabelledPage:
    record = _as_object(value, "entry")
    golds = optional_golds(list(_paragraphs(record.get("body"))))
    stem = name.removesuffix(".gz").removesuffix(".html")
    known = Known(stem, golds, optional_text(record, "url"), "article")
    return _folder_page(folder / "html", known)


def _paragraphs(body: object) -> Iterator[str]:
    """Flatten a body: a text, a list of texts, or sections of them."""
    if isinstance(body, str):
        yield body.strip()
    elif isinstance(body, list):
        for part in body:
            yield from _paragraphs(part)
    elif isinstance(body, Mapping):
        yield from _paragraphs(list(body.values()))
    else:
        raise FieldError("body", f"expected paragraphs, got {_shown(body)}")


def optional_golds(paragraphs: Sequence[str]) -> tuple[str, ...]:
    """The texts that are right: without the optional paragraphs first, then with them."""
    optional = [i for i, text in enumerate(paragraphs) if text[:1] == "[" and text[-1:] == "]"]
    few = len(optional) <= MAX_OPTIONAL
    sizes = range(len(optional) + 1) if few else (0, len(optional))
    taken = (set(some) for size in sizes for some in combinations(optional, size))
    return tuple(_body(paragraphs, set(optional) - some, some) for some in taken)


def _body(paragraphs: Sequence[str], without: set[int], marked: set[int]) -> str:
    kept = (i for i in range(len(paragraphs)) if i not in without)
    texts = (paragraphs[i][1:-1] if i in marked else paragraphs[i] for i in kept)
    return "\n\n".join(text for text in texts if text)


# --- CleanEval ------------------------------------------------------------------------------------

MARKUP: Final = re.compile(r"</?[phl]\s*/?>|\n\s*\n", re.IGNORECASE)
GOLD_MARK: Final = "-cleaned"


def read_cleaneval(root: Path) -> Iterator[LabelledPage | Broken]:
    """Pair N.html with N-cleaned.txt or N.txt, in the same folder or in another one below PATH."""
    golds: dict[str, list[Path]] = {}
    for file in sorted(root.rglob("*.txt")):
        golds.setdefault(file.stem.removesuffix(GOLD_MARK), []).append(file)
    for file in sorted([*root.rglob("*.html"), *root.rglob("*.htm")]):
        where = file.relative_to(root).as_posix()
        yield attempt(where, partial(_cleaneval_page, file, golds.get(file.stem, [])))


def _cleaneval_page(file: Path, candidates: Sequence[Path]) -> LabelledPage:
    gold = _gold_file(file, candidates)
    first, _, rest = decoded(_content(gold, "gold")).lstrip().partition("\n")
    url = first[4:].strip() if first[:4].upper() == "URL:" else None
    text = rest if url is not None else f"{first}\n{rest}"
    parts = (" ".join(part.split()) for part in MARKUP.split(text))
    golds = ("\n\n".join(part for part in parts if part),)
    return _page(decoded(_content(file)), Known(file.stem, golds, url or None))


def _gold_file(file: Path, candidates: Sequence[Path]) -> Path:
    """The one gold text: N.txt beside an N-cleaned.txt is the uncleaned text."""
    marked = [path for path in candidates if path.stem.endswith(GOLD_MARK)] or list(candidates)
    if len(marked) != 1:
        found = ", ".join(str(path.parent.name) for path in marked) or "none"
        wanted = f"{file.stem}.txt or {file.stem}{GOLD_MARK}.txt"
        raise FieldError("gold", f"expected one {wanted}, found in: {found}")
    return marked[0]


# --- what the readers share -----------------------------------------------------------------------

LANGUAGE: Final = re.compile(r"""<html\b[^>]*?\blang\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
CHARSET: Final = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
HEAD: Final = 4096  # characters in which a page declares its language and encoding


class Known(NamedTuple):
    """What a layout says of a page beside its HTML."""

    id: str
    golds: tuple[str, ...]
    url: str | None
    page_type: str | None = None


def _folder_page(folder: Path, known: Known) -> LabelledPage:
    for file in (folder / f"{known.id}.html.gz", folder / f"{known.id}.html"):
        if file.is_file():
            return _page(decoded(_content(file)), known)
    raise FieldError("html", f"there is no {folder.name}/{known.id}.html.gz")


def _page(html: str, known: Known) -> LabelledPage:
    if not html.strip():
        raise FieldError("html", "expected a page, got an empty file")
    declared = LANGUAGE.search(html[:HEAD])
    return LabelledPage(
        id=known.id,
        site=site_of(known.url, known.id),
        html=html,
        golds=known.golds,
        url=known.url,
        lang=declared[1].lower() if declared else None,
        page_type=known.page_type,
    )


def _content(file: Path, field: str = "html") -> bytes:
    try:
        data = file.read_bytes()
        return gzip.decompress(data) if file.suffix == ".gz" else data
    except DAMAGED as error:
        raise FieldError(field, f"{file.name} cannot be read: {error}") from error


def decoded(data: bytes) -> str:
    """Decode a page: as UTF-8 where that is valid, else as it declares, else as Windows-1252."""
    declared = CHARSET.search(data[:HEAD])
    for encoding in ("utf-8-sig", declared[1].decode("ascii", "replace") if declared else "utf-8"):
        try:
            return data.decode(encoding)
        except (ValueError, LookupError):
            continue
    return data.decode("cp1252", "replace")


def _json_file(file: Path) -> Record:
    """Read a file that maps names to records; without it there is no set."""
    try:
        return _json_object(file.read_bytes(), file.name)
    except OSError as error:
        raise UserError(f"{file.parent} has no file {file.name}") from error
    except FieldError as error:
        raise UserError(f"{file}: {error.reason}") from error


def _json_object(data: bytes, field: str) -> Record:
    try:
        value = json.loads(data)
    except ValueError as error:
        raise FieldError(field, f"not JSON: {error}") from error
    return _as_object(value, field)


def _as_object(value: object, field: str) -> Record:
    if not isinstance(value, dict):
        raise FieldError(field, f"expected an object, got {_shown(value)}")
    return value


def text_field(record: Record, field: str, *, empty: bool = False) -> str:
    """A text that must be there; *empty* allows one without letters."""
    value = record.get(field)
    if not isinstance(value, str):
        raise FieldError(field, f"expected a text, got {_shown(value)}")
    if not empty and not value.strip():
        raise FieldError(field, "expected a text, got an empty one")
    return value


def optional_text(record: Record, field: str) -> str | None:
    """A text, or None where the field is absent, null or empty."""
    value = record.get(field)
    if value is not None and not isinstance(value, str):
        raise FieldError(field, f"expected a text or null, got {_shown(value)}")
    return value or None


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {repr(value)[:40]}"


READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "jsonl": read_jsonl,
        "scrapinghub": read_scrapinghub,
        "wcxb": read_wcxb,
        "fundus-evaluation": read_fundus,
        "cleaneval": read_cleaneval,
    }
)
