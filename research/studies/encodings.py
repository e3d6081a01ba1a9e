"""How many pages are decoded as they were meant, though they are declared otherwise.

    python -m research.studies.encodings --data FOLDER --out research/results

Pages of the labelled sets are encoded in legacy encodings of their languages and declared as UTF-8,
and the other way round: by the header, by the page, or by both. F1 is that of the text, decoded as
it is declared by both, and as it is decoded now. Pages that are declared as they are must be
decoded so: in UTF-8, in the encoding that they declare, and in those of their language.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Final

from lxml.html import document_fromstring
from w3lib.encoding import html_body_declared_encoding, html_to_unicode

from research import command_line
from research.bench.metrics import best_bag, words
from research.datasets.pages import LabelledPage
from research.datasets.sets import evenly, load
from research.errors import UserError
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.charsets import UTF8, charset_of, decoded, is_usable
from scrapy_mss.models.files import write_atomically

PROGRAM: Final = "python -m research.studies.encodings"
SETS: Final = ("articles_*", "cleaneval_*", "other_*", "sites_*")
ENCODINGS: Final = {
    **dict.fromkeys("da de en es fr is it nb nl no pt sv".split(), ("cp1252",)),
    **dict.fromkeys("cs hu pl ro sk".split(), ("cp1250", "iso8859-2")),
    **dict.fromkeys("lt lv".split(), ("cp1257",)),
    "ar": ("cp1256",),
    "el": ("cp1253", "iso8859-7"),
    "ja": ("cp932", "euc_jp"),
    "ko": ("cp949",),
    "ru": ("cp1251", "koi8-r", "iso8859-5"),
    "th": ("cp874",),
    "tr": ("iso8859-9",),
    "uk": ("cp1251",),
    "zh": ("gb18030", "big5hkscs"),
}
AT_MOST: Final = 20  # pages of a language and an encoding
ENCODED: Final = 0.9  # of what is not ASCII; the rest becomes references, as programs write it
WAYS: Final = ("header", "meta", "both")
TABLE: Final = (
    "| language | encoding | pages | UTF-8 mended: header, meta, both | F1 before, after "
    "| mended where declared as UTF-8 | F1 before, after | mended wrongly |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
_DECLARED: Final = re.compile(
    r"""(<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?)[\w-]+""", re.IGNORECASE
)


def declaring(html: str, name: str) -> str:
    """*html* that declares to be in the encoding *name*, and nothing else."""
    own = _DECLARED.sub(lambda found: found[1] + name, html)
    return f'<meta charset="{name}">{own}'


def fits(html: str, name: str, least: float) -> bool:
    """Whether so much of *html* that is not ASCII is in the encoding *name*."""
    odd = re.sub("[\0-\x7f\ufffd]+", "", html)
    return bool(odd) and len(odd.encode(name, "ignore").decode(name)) >= least * len(odd)


def plainly(body: bytes, header: str | None = None) -> str:
    """A page as it is declared, by its *header* or by itself."""
    return html_to_unicode(header, body)[1]


def f1(page: LabelledPage, html: str, extractor: Extractor) -> float:
    """How well the text of *page* is extracted if it is decoded as *html*."""
    found = words(extractor.extract(html, page.url or "").text)
    return best_bag(found, [words(gold) for gold in page.golds])[1].f1


class Pair:
    """What came of the pages of a language in one of its encodings."""

    def __init__(self) -> None:
        self.pages = self.wrong = 0
        self.mended: Counter[tuple[bool, str]] = Counter()
        self.scores: defaultdict[tuple[bool, str], list[float]] = defaultdict(list)

    def add(self, page: LabelledPage, name: str, extractor: Extractor) -> None:
        """Declare *page* wrongly, in the encoding *name* and in UTF-8."""
        self.pages += 1
        html = page.html.replace("\ufffd", "?")
        for real, said in ((UTF8, name), (name, UTF8)):
            for way in WAYS:
                body = declaring(html, real if way == "header" else said)
                encoded = body.encode(real, "xmlcharrefreplace")
                header = None if way == "meta" else f"text/html; charset={said}"
                found = decoded(encoded, header)
                self.mended[real == UTF8, way] += found == encoded.decode(real)
                if way == "both":
                    before = plainly(encoded, header)
                    self.wrong += found not in {encoded.decode(real), before}
                    for when, text in (("before", before), ("now", found)):
                        self.scores[real == UTF8, when].append(f1(page, text, extractor))

    def cells(self) -> Iterator[str]:
        """The cells of the table."""
        yield str(self.pages)
        for is_utf8 in (True, False):
            yield " ".join(f"{self.mended[is_utf8, way] / self.pages:.0%}" for way in WAYS)
            yield " ".join(f"{mean(self.scores[is_utf8, when]):.3f}" for when in ("before", "now"))
        yield str(self.wrong)


def mended(pages: Sequence[LabelledPage]) -> str:
    """The table of pages that are declared wrongly."""
    pairs: defaultdict[tuple[str, str], Pair] = defaultdict(Pair)
    extractor = Extractor()
    for language, names in ENCODINGS.items():
        own = [page for page in pages if page.language == language and page.golds]
        for name in names:
            for page in evenly([each for each in own if fits(each.html, name, ENCODED)], AT_MOST):
                pairs[language, name].add(page, name, extractor)
    rows = (f"| {' | '.join((*key, *pair.cells()))} |\n" for key, pair in sorted(pairs.items()))
    return TABLE + "".join(rows)


def healthy(pages: Sequence[LabelledPage]) -> Iterator[str]:
    """How many of the pages that are declared as they are were mended, and the time it takes."""
    counts: Counter[str] = Counter()
    odd: Counter[str] = Counter()  # what is not ASCII in pages that are mended
    seconds = [0.0, 0.0, 0.0]
    for page in pages:
        own = html_body_declared_encoding(page.source) or UTF8
        names = dict.fromkeys(ENCODINGS.get(page.language, ()), "encodings of its language")
        names |= {own: "the encoding that it declares"} if is_usable(own) else {}
        for name, way in (names | {UTF8: "UTF-8"}).items():
            if name == UTF8 or fits(page.html, name, 1.0):
                body = declaring(page.html, name).encode(name, "replace")
                counts[way] += 1
                if charset_of(body).is_mended:
                    counts[f"{way}, mended"] += 1
                    odd.update([re.sub(r"[\0-\x7f]+", " ", page.html).strip()[:12]])
        calls: tuple[Callable[[bytes], object], ...] = (plainly, decoded, document_fromstring)
        for number, call in enumerate(calls):
            started = process_time()
            call(page.source)
            seconds[number] += process_time() - started
    yield from (f"- declared right, {way}: {n:,}\n" for way, n in sorted(counts.items()))
    yield f"- what is not ASCII in those mended, as the sets have it: {dict(odd)}\n"
    before, now, parsing = seconds
    shares = f"{before / parsing:.4f} before, {now / parsing:.4f} now"
    yield f"- time of that of lxml's parser: {shares}\n"


def run(options: argparse.Namespace, _: str) -> None:
    """Print and write the table."""
    paths = sorted({path for name in SETS for path in options.data.glob(f"{name}.jsonl.xz")})
    if not paths:
        raise UserError(f"--data: no labelled sets in {options.data}")
    pages = [page for path in paths for page in load(f"jsonl:{path}").pages]
    text = "".join((mended(pages), "\n", *healthy(pages)))
    print(text)
    write_atomically(Path(options.out) / "encodings.md", text.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run_study(PROGRAM, "Pages in other encodings.", run, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
