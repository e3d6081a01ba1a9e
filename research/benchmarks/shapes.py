"""Bounded work for any page: what each shape of page costs, as a table; exit code 1 beyond a bound.

Each operation on each shape runs in a child of its own, forked from one warm process, so that all
begin with the same caches. Memory is what the peak of the child grew by in the first call, less
what lxml's tree of the same page and any call take, in bytes for each byte of page. Processor time
is the least of some calls, each next to lxml's parse of an ordinary page of the same size, whose
least time is the unit: the two share the machine's load. What an operation may take of that unit
is a constant (`ORDINARY`), so that a bound does not move when ordinary pages become cheaper.
Metadata are read from tokens, which `extract` has made.

A new shape is one row of `SHAPES`.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cache, partial
from itertools import count
from multiprocessing import get_context
from string import ascii_letters, digits
from time import process_time
from typing import Any, NamedTuple

from lxml import etree

from research.benchmarks.synthetic import page
from scrapy_mss import Extractor, metadata
from scrapy_mss.markup.compiled import python_alone
from scrapy_mss.markup.parser_limits import without_surplus_attributes
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.output.markdown import markdown
from scrapy_mss.workbench.drawing import drawn_page
from scrapy_mss.wrappers.labeller import label
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.selectors import css

MAX_COST = 3.0  # times an ordinary page's processor time
# Processor time of an ordinary page in parses by lxml, when the bounds were set: medians of two
# runs over 100 KB, 1 MB and 5 MB at commit d95f0df.
# Those of what is made of an article, `html` and what follows, are what a second for each megabyte
# is at a parse of 5 ms: most of it is objects of Python, and ordinary pages take a tenth of it.
ORDINARY = {"extract": 16.0, "metadata": 3.4, "label": 15.0}
ORDINARY |= dict.fromkeys(("html", "markdown", "explain"), 1 / 0.005 / 3)
MAX_MEMORY = 60.0  # bytes a byte of page, above lxml's tree
SIZES = (100_000, 1_000_000, 5_000_000)
FIXED = 2_000  # bytes of an ordinary page whose memory is what any call takes
TRIES = 3  # a busy machine may spoil some: the least cost counts
CALLS = 3  # in one child
N_WORST = 10  # rows that are printed again at the end
URL = "https://news.example/2024/03/05/story"
KILOBYTE = 1024  # of ru_maxrss on Linux

Make = Callable[[int], str]  # a page of about so many bytes


class Operation(NamedTuple):
    """What is measured: *perform*, on what *prepare* makes of a page beforehand."""

    perform: Callable[[Any], object]
    prepare: Callable[[Any], Any] = str


def repeated(part: str, head: str = "") -> Make:
    """*part* again and again after *head*."""
    return lambda size: head + part * (size // len(part))


def noise(size: int) -> str:
    return random.Random(0).randbytes(size).decode("latin-1")


def nested(opening: str, closing: str, inside: str = "x") -> Make:
    """Elements that contain one another."""
    pair = len(opening) + len(closing)
    return lambda size: opening * (size // pair) + inside + closing * (size // pair)


def layered(opening: str, n: int, part: str) -> Make:
    """*n* elements in one another, and *part* again and again in the innermost."""
    return lambda size: HEADING + opening * n + part * (size // len(part))


def numbered(form: str) -> Make:
    """*form* again and again, each time with another number."""
    return lambda size: "".join(form % n for n in range(size // (len(form) + 4)))


def ever_other(part: Callable[[int], str]) -> Make:
    """What *part* has for one number after the other: no page repeats what the one before had."""
    parts = map(part, count(0x1000))

    def make(size: int) -> str:
        taken: list[str] = []
        length = 0
        while length < size:
            taken.append(next(parts))
            length += len(taken[-1].encode())
        return "".join(taken)

    return make


def _base62(number: int) -> str:
    """The last three digits of *number*, written with digits and letters."""
    return "".join(LETTERS[number // 62**place % 62] for place in range(3))


def crowded(form: str, per_tag: int) -> Make:
    """Tags with *per_tag* attributes."""
    tag = "<p " + "".join(form % n for n in range(per_tag)) + ">one two</p>"
    return lambda size: tag * max(1, size // len(tag)) if len(tag) < size else tag[:size] + ">"


HEADING = "<title>Rain falls in May</title><h1>Rain falls in May</h1>"
ARTICLE = HEADING + "<p>It rained all day, and most of the night, in the north.</p>" * 5
# Hexadecimal digits that are written otherwise.
GREEK = str.maketrans("01", "\u03b1\u03b2")
SYMBOLS = str.maketrans(digits + "abcdef", "!#$%()*+,-./:;=?")
LATIN = str.maketrans(digits, ascii_letters[:10])
LETTERS = digits + ascii_letters
JSON_LD = f"{HEADING}<script type=application/ld+json>["
SHAPES: dict[str, Make] = {
    "an ordinary page": page,
    "no tags": repeated("word "),
    "only tags": repeated("<p></p>"),
    "one word": repeated("a"),
    "nested divs": repeated("<div>"),
    "closed, never opened": repeated("</div>"),
    "nested, closed by others": nested("<div>", "</p>", ""),
    "open angles": repeated("<"),
    "angle, letter": repeated("<a "),
    "angle, slash": repeated("</"),
    "unclosed quotes": repeated('<a b="'),
    "both quotes": repeated("<a b=\"'"),
    "unclosed comments": repeated("<!-- "),
    "unclosed scripts": repeated("<script>"),
    "script, almost closed": repeated("</scrip ", "<script>"),
    "a million attributes": repeated('b="c" ', "<a "),
    "equals signs": repeated("= ", "<a "),
    "ampersands": repeated("&"),
    "references": repeated("&#233;"),
    "references cut short": repeated("&#"),
    "one endless number": repeated("1", "&#"),
    "ideographs": repeated("\u4e2d\u6587"),
    "right to left": repeated("\u0645\u0631\u062d\u0628\u0627 "),
    "surrogates and NUL": repeated("\ud800\x00 "),
    "random bytes": noise,
    "paragraphs of a letter": repeated("<p>a"),
    "items of two letters": repeated("<li>a b"),
    "cells of a number": repeated("<tr><td>1</td><td>22</td></tr>", "<table>"),
    "soft hyphens": repeated("a\xad", ARTICLE),
    "no-break spaces": repeated("a\xa0", ARTICLE),
    "quotation marks": repeated("\xab ab \xbb ", ARTICLE),
    "ampersands between letters": repeated("a&amp;", ARTICLE),
    "a wide table": repeated("<td>ab</td>", f"{ARTICLE}<table><tr><td>a<tr>"),
    "a ragged table": repeated("<tr><td>a<tr><td>b<td>c<td>d", f"{ARTICLE}<table>"),
    "tables in one another": repeated("<table><tr><td>one two", ARTICLE),
    "lists of a letter": repeated("<ul><li>a</li></ul>", ARTICLE),
    "emphasized letters": repeated("<b>a</b> ", ARTICLE),
    "links of a letter": numbered('<a href="%d">x</a>'),
    "nested <a>": repeated("<a>x"),
    "nested <b>": nested("<b>", "</b>"),
    "nested <div>": nested("<div>", "</div>"),
    "nested <div>, each with a text": repeated("<div><div><b>x</b>"),
    "nested class=author": nested("<div class=author>", "</div>", "Ann Lee"),
    "empty elements": repeated("<i></i>", HEADING),
    "empty items": repeated("<li></li>", HEADING),
    "comments": repeated("<!---->", HEADING),
    "white space and paragraphs": repeated("<p> ", HEADING),
    "nested itemprop=author": layered("<div itemprop='author name datePublished'>", 500, "<i></i>"),
    "nested itemscope": layered("<div itemscope itemprop=author>", 500, "<b itemprop=name>a</b>"),
    "nested <time>": layered("<time>", 160, "<i></i>"),
    "nested <time class=posted>": layered("<time class=posted>", 160, "5 May <b>2</b>"),
    "nested <h1>": layered("<h1>", 20, "<i></i>"),
    "nested rel=author": layered("<div rel=author><a rel=author>", 100, "<i></i>"),
    "nested byline": layered("<div class=byline>", 200, "<i></i>"),
    "properties": repeated("<b itemprop=author></b>", HEADING),
    "times": repeated("<time class=posted>5 May 2024</time>", HEADING),
    "short lines": repeated("<p class=author>By x", HEADING),
    "metas": repeated("<meta name=author content='Ann Lee'>", HEADING),
    "author links": repeated("<a rel=author>x</a>", HEADING),
    "dates": repeated("<p>5 May 2024</p>", HEADING),
    "attributes of one tag": crowded("a%d ", 10**6),
    "quoted attributes of one tag": crowded("a%d='>' ", 10**6),
    "attributes of many tags": crowded("a%d ", 1000),
    "attributes behind a quoted comment": lambda n: "<p title='<!--' " + numbered("a%d ")(n) + ">",
    "words, each another": ever_other(lambda n: f"{n:x} "),
    "words of three letters": ever_other(lambda n: f"{_base62(n)} "),
    "Greek words, each another": ever_other(lambda n: f"{n:b} ".translate(GREEK)),
    "ideographs, each another": ever_other(lambda n: chr(0x20000 + n % 0x12000)),
    "symbols, each another": ever_other(lambda n: chr(0x1D000 + n % 0x2FFF) + " "),
    "runs of symbols, each another": ever_other(lambda n: f"{n:x} ".translate(SYMBOLS)),
    "numbers of letters, each another": ever_other(lambda n: f"&#{0x20000 + n % 0x12000};"),
    "numbers of ideographs, each another": ever_other(lambda n: f"&#{0x4E00 + n % 0x5200};"),
    "numbers of symbols, each another": ever_other(lambda n: f"&#{0x1D000 + n % 0x2FFF};"),
    "names of references, each another": ever_other(lambda n: f"&a{n:x};"),
    "beginnings of names, each another": ever_other(lambda n: f"&gt{n:x};"),
    "tags, each another": ever_other(lambda n: f"<a{n:x}>"),
    "class words, each another": ever_other(lambda n: f"<p class={n:x}>".translate(LATIN)),
    "class words of one tag": crowded("class='ab cd%x' ", 100),
    "one letter as a reference": repeated("&eacute;", HEADING),
    "references in one another": repeated("&a", HEADING),
    "hidden elements": repeated("<p hidden>a</p>", HEADING),
    "excluded in nested <b>": layered("<b>", 500, "<i>x</i> one two three four "),
    "excluded in 60 <b>": layered("<b>", 60, "<i>x</i> one two three four "),
    "pairs excluded in 60 <b>": layered("<b>", 60, f"<i><u>x</u></i> {'two words ' * 4}"),
    "scripts": repeated("<script>var a</script>", HEADING),
    "links of the head": repeated("<link rel=canonical href=/>", HEADING),
    "headings": repeated("<h1>Rain falls</h1>", "<title>Rain falls in May</title>"),
    "times around a text": layered("<time>", 160, "one two three "),
    "JSON-LD nodes": repeated('{"@type":"Article"},', JSON_LD),
    "JSON-LD lists": repeated("[],", JSON_LD),
    "JSON-LD in one another": repeated('{"@graph":[', JSON_LD),
    "JSON-LD authors": repeated('"Ann Lee, Bob May",', f'{JSON_LD}{{"@type":"Article","author":['),
    "JSON-LD with commas too many": repeated('",],",', JSON_LD),
    "dates in scripts": repeated('"published": "5 May 2024 x"\n', f"{HEADING}<script>"),
}

WRAPPER = Wrapper(
    site="news.example",
    body=(css("article"), css("p"), css("a"), css("b"), css("div")),
    exclude=(css("[class*=teaser]"), css("aside"), css("i")),
    title=(css("h1"),),
    authors=(css(".author"),),
    published=(css("time"),),
)


# The last of each 32 characters where blocks are short, and one of each 2,048 elsewhere.
BLOCKS = (
    *range(0x3F, 0x3000, 0x20),
    *range(0x3000, 0xD800, 0x800),
    *range(0xE000, 0x110000, 0x800),
)
CHARACTERS = (20_000, 80_000)  # in a text; in shorter ones what is linear hides what is not
LINEAR = 8
HTML = Operation(lambda found: found.html, lambda found: found)


def _parsed(html: str) -> object:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    return etree.fromstring(html.encode("utf-8", "replace"), parser)


PARSE = Operation(_parsed)


def _operations() -> dict[str, Operation]:
    """What is measured, after each ran once."""
    extractor = Extractor()
    operations: dict[str, Operation] = {
        "extract": Operation(extractor.extract),
        "html": Operation(HTML.perform, extractor.extract),
        "markdown": Operation(markdown, lambda html: extractor.extract(html, URL).html),
        "explain": Operation(lambda html: drawn_page(extractor.explain(html, URL))),
        "metadata": Operation(lambda tokens: metadata.read_tokens(tokens, URL), tokenize),
        "label": Operation(partial(label, WRAPPER)),
    }
    for operation in operations.values():
        _timed(operation, page(50_000))
    return operations


OPERATIONS: dict[str, Operation] = {}  # made once, before the first fork


def _timed(operation: Operation, html: object) -> float:
    prepared = operation.prepare(html)
    began = process_time()
    kept = operation.perform(prepared)  # what it returns is freed after the clock was read
    seconds = process_time() - began
    del kept
    return seconds


def _n_bytes(html: str) -> int:
    return len(html.encode("utf-8", "replace"))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE


def _in_child(run: Callable[[], float]) -> float:
    """What *run* returns in a process of its own."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(run()))
    child.start()
    sender.close()
    found: float = receiver.recv()
    child.join()
    return found


def memory(operation: Operation, html: str) -> float:
    """The bytes that the first call of *operation* takes."""

    def run() -> float:
        prepared = operation.prepare(html)
        before = _peak()
        kept = operation.perform(prepared)  # what it returns is part of what it takes
        after = _peak()
        del kept
        return after - before

    return _in_child(run)


def parses(operation: Operation, pages: Sequence[str], ordinary: str) -> float:
    """The processor time of *operation* for a byte of *pages*, in parses of *ordinary*."""

    def run() -> float:
        _timed(operation, pages[0])
        pairs = [(_timed(PARSE, ordinary), _timed(operation, html)) for html in pages[1:]]
        unit = min(unit for unit, _ in pairs) / _n_bytes(ordinary)
        return min(time for _, time in pairs) / _n_bytes(pages[0]) / unit

    return _in_child(run)


@cache
def _ordinary(size: int) -> str:
    return page(size)


@cache
def _memory_of_any_call(name: str) -> float:
    return memory(OPERATIONS[name], page(FIXED))


def multiples(pages: Sequence[str], name: str, ordinary: str) -> tuple[float, float]:
    """The cost as a multiple of that of an ordinary page; bytes a byte above lxml's tree."""
    operation, html = OPERATIONS[name], pages[0]
    time = taken = float("inf")
    for _ in range(TRIES):
        if time > MAX_COST:
            time = min(time, parses(operation, pages, ordinary) / ORDINARY[name])
        if taken > MAX_MEMORY:
            tree = memory(PARSE, without_surplus_attributes(html))  # else minutes, for some
            above = memory(operation, html) - tree - _memory_of_any_call(name)
            taken = min(taken, max(0, above / _n_bytes(html)))
    return time, taken


def report(shapes: Iterable[str], sizes: Iterable[int]) -> bool:
    """Print the table; return whether all bounds hold."""
    columns = [(name, size) for name in OPERATIONS for size in sizes]
    print(f"{'x ordinary CPU | B/B above tree':32}", *(f"{n} {s // 1000}K" for n, s in columns))
    found: list[tuple[float, float, str]] = []
    for shape in shapes:
        cells = []
        pages = {size: [SHAPES[shape](size) for _ in range(1 + CALLS)] for size in sizes}
        for name, size in columns:
            times, taken = multiples(pages[size], name, _ordinary(size))
            found.append((times, taken, f"{name} {size // 1000}K, {shape}"))
            cells.append(f"{times:5.2f}|{taken:3.0f}{'!' if _is_broken(times, taken) else ' '}")
        print(f"{shape:32}", *cells, flush=True)
    for times, taken, of in sorted(found, reverse=True)[:N_WORST]:
        print(f"{times:5.2f}|{taken:3.0f}  {of}")
    broken = sum(_is_broken(times, taken) for times, taken, _ in found)
    print(f"{broken} of the costs beyond {MAX_COST:g} x or {MAX_MEMORY:g} bytes a byte")
    return not broken


def growing_characters() -> list[str]:
    """The characters, of one a block, whose repetition makes `html` take more than linear time.

    The text is four times as long, and its least time may be eight times as long.
    """
    extractor = Extractor()

    def grows(character: str) -> bool:
        small, large = (extractor.extract(ARTICLE + f"a{character}" * n) for n in CHARACTERS)
        return all(
            _timed(HTML, large) > LINEAR * min(_timed(HTML, small) for _ in range(CALLS))
            for _ in range(TRIES)
        )

    return [f"U+{code:04X}" for code in BLOCKS if grows(chr(code))]


def _is_broken(times: float, taken: float) -> bool:
    return times > MAX_COST or taken > MAX_MEMORY


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="bytes of the pages")
    parser.add_argument("--operations", nargs="+", default=ORDINARY, choices=ORDINARY)
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    parser.add_argument("--characters", action="store_true", help="html of each block of Unicode")
    parser.add_argument("--python", action="store_true", help="without the compiled part")
    options = parser.parse_args()
    if options.characters:
        print("more than linear:", ", ".join(found := growing_characters()) or "none")
        return 1 if found else 0
    with python_alone() if options.python else nullcontext():
        return _measure(options)


def _measure(options: argparse.Namespace) -> int:
    OPERATIONS.update({n: o for n, o in _operations().items() if n in options.operations})
    gc.collect()
    gc.freeze()  # what this program loaded is not for a page's collections to visit
    shapes = [name for name in SHAPES if options.only in name]
    return 0 if report(shapes, options.sizes) else 1


if __name__ == "__main__":
    sys.exit(main())
