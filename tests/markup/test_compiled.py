"""The compiled part gives what Python gives, for every text; and both give what is right."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from hashlib import blake2b
from html.entities import html5
from importlib import import_module
from operator import mul
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import MIN_BLOCKS, Blocks, Containers, segment
from scrapy_mss.blocks.selection import kept_tokens
from scrapy_mss.core.subsequence import best_span
from scrapy_mss.markup import compiled
from scrapy_mss.markup.attributes import (
    TagPlaces,
    attribute_values,
    attributes_of_tag,
    rows_with,
)
from scrapy_mss.markup.rendering import CONTROLS, _runs_of, decode_all, has_controls
from scrapy_mss.markup.stemming import porter_nltk
from scrapy_mss.markup.tags import TAG_NAMES, TAG_NUMBERS
from scrapy_mss.markup.tokenizer import _text_code, tokenize
from scrapy_mss.markup.tokens import CLOSE, OPEN, SYMBOL, WORD, Bools, Tokens
from scrapy_mss.pages.declarations import occurrences
from scrapy_mss.pages.tree import IS_RAW, MAX_VISITS, PageTree, TagRows, tag_rows, text_runs
from tests.helpers.compiled import both
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES
from tests.helpers.markup import SOUP, TAG_SOUP

_compiled = pytest.importorskip("scrapy_mss.markup._compiled", reason="it was not built")

TEXTS = st.one_of(SOUP, TAG_SOUP, st.text(st.characters(), max_size=80))
CASES = Path(__file__).parents[1] / "pages"
REPOSITORY = Path(__file__).parents[2]

# Attributes as they are written, and what is nearly one.
ATTRIBUTES = st.lists(
    st.sampled_from(
        [
            *(" ", "\t", "\x1c", "=", '"', "'", ">", "/", "-", "_", "\u00e9", "\u017f", "\u212a"),
            *("class", "CLASS", "id", "ID=", "itemprop", "role", "data-testid", "data-component"),
            *("classy", "aclass", "hidden", " HIDDEN", "style", 'style="', "display:none", "None"),
            *("visibility : hidden", "display:", "\nnone", "hidden/", "=hidden", "word", "Word"),
            *("storyBody", "HTMLBox", "aB", "AB", "Ab", "b"),
            *(' class="', " id='", " class=x", "cla\u017fs=word", " \u0130d=word", "x" * 2048),
        ]
    ),
    max_size=24,
).map("".join)

# What may be taken out of a source, and what is nearly that.
HIDING = st.lists(
    st.sampled_from(
        [
            *("<!--", "-->", "<!-->", "<!-", "--", "-", ">", "<", "/", "/>", " ", "\n", "\x1c"),
            *("<script", "<SCRIPT>", "</script", "</Script >", "<style>", "<style", "</style/"),
            *("<scripts>", "<\u017fcript>", "script", "'", '"', "=", "x"),
            *("\u00e9", "\u4e2d", "\U0001f600"),
            *("&eacute;", "&#233", "&amp;", "&frac12;", "&#x1d504;", "&", ";"),
        ]
    ),
    max_size=24,
).map("".join)


LETTERS = ("a", "Z", "1", "\u00e9", "\u0130", "\u0436", "\u4e2d", "\U00020000", "\ufb01", "_", "&")
ENDINGS = ("", " ", "x", ".", "&amp;", "\u00e9", "\u0436", "\u4e2d", "\U0001f600", "\ud800", "\0")


# Words of each length at each distance from the end of the text.
WORDS = st.tuples(
    st.sampled_from(("", "\u0436 ", "\U0001f600 ")),
    st.builds(mul, st.sampled_from(LETTERS), st.integers(1, 40)),
    st.builds(mul, st.sampled_from(ENDINGS), st.integers(0, 30)),
).map("".join)


def columns(tokens: Tokens | Blocks | Containers) -> dict[str, object]:
    """Everything about *tokens* or blocks that can be compared, types included."""
    return {field.name: comparable(getattr(tokens, field.name)) for field in fields(tokens)}


def comparable(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    return columns(value) if isinstance(value, Containers) else value


BLANK = " " * 24  # so that what is before it is looked up among the pieces that are remembered


def attribute_columns(source: str) -> list[list[object]]:
    return [column.tolist() for column in Page.of(source).attributes]


@given(st.one_of(TEXTS, HIDING, WORDS))
@examples(10)
@example("<script a='>&eacute;' b=&eacute;>&eacute;</script>&eacute;")
@example("<script>&eacute;</style></script/>&eacute;<style>")
@example("<!-->&eacute;--><!--->-->&eacute;<!--x->&eacute;--")
@example("<script>a</script")
@example("<script></script>")
@example("<script>\xa0</script>")  # what is left is narrower than the source
@example("<style>\U00020000</style>\xe9&eacute;<!--\u4e2d-->&#x10400;")
@example(
    "<a href = 'x>y'>&amp;&eacute;&notit;<!-- --><script>x</script><<&#&&####...\x00\U0001f600"
)
@example("\u4e2d\u6587 word\ud800 \U00020000x")
@example("<a" + "b" * 100 + ">" + "w" * 100)
def test_both_ways_give_the_same_tokens(source: str) -> None:
    one, other = both(lambda: [columns(tokenize(text)) for text in (source, source + BLANK)])

    assert one == other


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_both_ways_read_a_page_case_alike(case: str) -> None:
    source = (CASES / case / "source.html").read_text(encoding="utf-8")

    one, other = both(
        lambda: (
            columns(tokenize(source)),
            columns(tokenize(source, porter_nltk)),
            attribute_columns(source),
        )
    )

    assert one == other


# White space, what is none though it looks like it, what no text shows, and references to these.
SPACED = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(" ", "  ", "\n", "\t", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "\u200b"),
                *("one", "\xe9", "\u4e00", "\U0001f600", "\ud800", "\x7f", "\xad"),
                *("<!-- a -->", "</>", "\0", "&ampx;"),
                *("<", "&", "&amp;", "&nbsp;", "&#10;", "&#x1F600;", "&#0;", "&lt;!", "&copy"),
                *("&nGt;", "&hellip;", "&Xx1;", "&#X2d;", "&#;", "&#x;", "&#39", "&#x27g;"),
                *("&" + "a" * 38 + ";", "&" + "a" * 39 + ";", f"&#{'0' * 50}65;", "&\xe9;"),
            ]
        ),
        st.characters(),
    ),
    max_size=20,
).map("".join)


# Text or a tag, a space before it or none, and whether it is kept.
PIECES = st.lists(
    st.tuples(
        SPACED,
        st.sampled_from([OPEN, CLOSE, WORD, SYMBOL]),
        st.sampled_from([TAG_NUMBERS[name] for name in ("p", "br", "em", "ul", "li", "td")]),
        st.sampled_from(["", " "]),
        st.booleans(),
    ),
    max_size=8,
)


def pieces(found: list[tuple[str, int, int, str, bool]]) -> tuple[SimpleNamespace, Bools]:
    columns = list(zip(*found, strict=True)) if found else [()] * 5
    kind, tag = (np.array(each, np.uint8) for each in columns[1:3])
    clean, starts, ends = "", list[int](), list[int]()
    for text, blank in zip(columns[0], columns[3], strict=True):
        starts.append(len(clean) + len(blank))
        clean += blank + text
        ends.append(len(clean))
    tokens = SimpleNamespace(
        clean=clean,
        clean_start=np.array(starts, np.int32),
        clean_end=np.array(ends, np.int32),
        kind=kind,
        tag=tag,
        is_tag=kind <= CLOSE,
    )
    return tokens, np.array(columns[4], np.bool_)


@given(PIECES)
@examples(8)
@example([(text, WORD, 0, "", True) for text in ("a" * 9, "&#x1F600;", "")])
@example([("\xe9 &nbsp; \x01", WORD, 0, "", True)])
def test_both_ways_find_the_same_runs_of_text(found: list[tuple[str, int, int, str, bool]]) -> None:
    tokens, kept = pieces(found)

    one, other = both(lambda: _runs_of(cast("Tokens", tokens), kept))

    assert one[2:] == other[2:]
    assert [column.tobytes() for column in one[:2]] == [column.tobytes() for column in other[:2]]


def test_runs_beyond_a_text_are_refused() -> None:
    tokens, kept = pieces([("ab", WORD, 0, "", True)])
    for start, end in ((1, 3), (3, 1), (3, 3)):
        tokens.clean_start[:], tokens.clean_end[:] = start, end
        with pytest.raises(ValueError, match=r"from \d to \d of 2"):
            _runs_of(cast("Tokens", tokens), kept)
    with pytest.raises(ValueError, match="expected 1 values, got 0"):
        _runs_of(cast("Tokens", tokens), kept[:0])


@given(
    st.text(st.characters() | st.characters(max_codepoint=0x2FF), max_size=40),
    st.text("\n\t\x0b\x7f\x80\x9f\xa0\xad\u202f\ud800\udfff\U0001f600", max_size=4),
)
def test_no_control_is_overlooked(text: str, blanks: str) -> None:
    assert has_controls(text + blanks) == (CONTROLS.search(text + blanks) is not None)


@given(ATTRIBUTES, st.sampled_from(["div", "p", "template", "TD", "h2"]))
@examples(8)
@example(
    """
 class="one two" id='three'
""",
    "div",
)
@example(" ".join(f" class={chr(97 + n) * 3}" for n in range(20)), "p")
def test_both_ways_read_the_same_attributes(attributes: str, name: str) -> None:
    source = f"<{name}{attributes}>x</{name}>"

    one, other = both(lambda: attribute_columns(source))

    assert one == other


@given(TEXTS, st.sampled_from([4, 5, 6, 7, 9]))  # the longer, the fewer places are looked at
@examples(4)
@example("'author''author'", 7)
@example("forumforum", 5)
def test_occurrences_are_those_of_a_regular_expression(text: str, shortest: int) -> None:
    strings = ["'author'", "forum", "thread", 'e="a', "\u0001\u0001\u0001\u0001", "addtocart"]
    wanted = [each for each in strings if len(each) >= shortest]
    whole = text + "".join(strings) + text

    for found in both(lambda: occurrences(whole, wanted)):
        for each, places in zip(wanted, found, strict=True):
            assert places == [hit.start() for hit in re.finditer(re.escape(each), whole)]


@given(st.one_of(PAGES, TEXTS), st.integers(0, 2**32 - 1))
@examples(4)
@example("one<br><b></b><br>two<br>three<br> . <br>four<br></p><br>five", 0)
@example("<a>one<p>two</a> three</p><a>four<a href>five</a> six", 0)
@example("<p>a<p>,<div>b</div></p>" * MIN_BLOCKS, 0)
def test_both_ways_find_the_same_blocks_and_keep_the_same_tokens(source: str, seed: int) -> None:
    page = Page.of(source)
    kept = np.random.default_rng(seed).random(len(page.blocks)) < 0.5

    one, other = both(lambda: columns(segment(page.tokens)))
    of_one, of_other = both(lambda: kept_tokens(page, kept).tolist())

    assert one == other
    assert of_one == of_other


@given(st.lists(st.integers(-6, 6).map(lambda n: n / 2)) | st.lists(st.floats(-9, 9)))
def test_both_ways_find_the_same_best_span(scores: list[float]) -> None:
    one, other = both(lambda: best_span(np.array(scores, np.float64)))

    assert one == other


def test_a_failure_of_what_is_asked_is_no_token() -> None:
    def callback(text: str) -> int:
        raise KeyError(text)

    with pytest.raises(KeyError, match="one"):
        _compiled.Tokenizer(lambda _: (len, callback, len, len, blake2b()), len, (), 1)(
            "<one>", str
        )
    with pytest.raises(KeyError, match="one"):
        _compiled.Tokenizer(lambda _: (callback, len, len, len, blake2b()), len, (), 1)(
            "<one>" + BLANK, str
        )


def test_codes_are_right_whatever_was_forgotten() -> None:
    """There is room for a quarter of a million."""
    words = [str(number) for number in range(400_000)]
    expected = np.array([_text_code(word, str) for word in words], np.uint64)
    hashed = blake2b(digest_size=8)
    read = _compiled.Tokenizer(lambda _: (len, len, len, str, hashed), len, (), 1 << 11)

    for _ in range(2):
        _, codes, *_ = read(" ".join(words) + BLANK, str)

        assert (codes == expected).all()


def test_places_outside_of_a_text_are_rejected() -> None:
    read, starts = _compiled.TagReader((), TAG_NAMES, 0, 12, str, 9), np.zeros(1, np.intp)
    columns = {**vars(tokenize("<p></p>"))}
    for name in ("clean_start", "clean_end"):
        with pytest.raises(ValueError, match="expected 2 values, got 1"):
            read(SimpleNamespace(**{**columns, name: columns[name][1:]}), starts)
    with pytest.raises(ValueError, match="from 0 to 3 of 2"):
        read(SimpleNamespace(**{**columns, "clean": "<p"}), starts)
    with pytest.raises(IndexError, match="255 is not from 0"):
        read(SimpleNamespace(**{**columns, "tag": columns["tag"] | 255}), starts)
    with pytest.raises(IndexError, match="2 is not from 0"):
        read(SimpleNamespace(**columns), starts + 2)
    with pytest.raises(ValueError, match="cannot seek"):
        occurrences("one", ["on"])
    with pytest.raises(ValueError, match="17 names where 16 have room"):
        _compiled.Tokenizer(str, str, (b"x",) * 17, 0)


def tags_at(bounds: Sequence[tuple[int, int]]) -> TagPlaces:
    """A tag between each two places."""
    starts, ends = (array("i", [each[edge] for each in bounds]) for edge in range(2))
    return TagPlaces(array("i", range(len(bounds))), starts, ends)


@given(ATTRIBUTES, st.sampled_from(["", "x\u00e9", "\u4e00", "\U0001f600"]))
@example('a="&copy=1&amp;b" B=\'2', "")
@example("\u212a=1 k=2 CLASS class=3", "")
def test_both_ways_read_the_attributes_of_a_tag_alike(inside: str, around: str) -> None:
    source = f"{around}<p {inside}>{around}"
    start, end = len(around), len(source) - len(around)
    places = tags_at([(start, end), (start, start + len(inside) // 2)])
    compiled, python = both(
        lambda: (
            attributes_of_tag(source, start, end),
            attribute_values(("class", "itemprop", "id", "b"), source, places),
            rows_with("itemprop", source, places).tolist(),
        )
    )

    assert compiled == python


@given(
    st.lists(st.sampled_from("aAbBnN=\u00e9\u4e00\u212a\U0001f600"), max_size=60).map("".join),
    st.text("abn=", min_size=1, max_size=5),
)
@example("aaabaab", "aab")
@example("banan=", "anan=")
def test_both_ways_find_a_name_in_a_tag_wherever_it_begins(tag: str, name: str) -> None:
    places = range(0, len(tag) + 1, 3)
    tags = tags_at([(start, max(start, end)) for start in places for end in places])

    compiled, python = both(lambda: rows_with(name, tag, tags).tolist())

    assert compiled == python


@pytest.mark.parametrize("filler", ["x", "a", "n", "\u4e00", "\U0001f600"])
def test_both_ways_find_a_name_wherever_it_is_in_a_long_tag(filler: str) -> None:
    n = 70  # more than two blocks of what is looked at together
    text = filler * n + "aBn" + filler * n
    places = [(start, end) for start in range(n + 3) for end in (n + 2, n + 3, n + 4, 2 * n + 3)]
    holding = [row for row, (start, end) in enumerate(places) if start <= n and end >= n + 3]

    compiled, python = both(lambda: rows_with("abn", text, tags_at(places)).tolist())

    assert compiled == python == holding


@given(TEXTS)
@example("<title><p></title><b><p><title>")
@example("<p><i></p></i><textarea><p></textarea><p>")
def test_both_ways_find_the_same_tags_and_what_is_around_them(source: str) -> None:
    tokens = tokenize(source)

    compiled, python = both(lambda: [list(column) for column in tag_rows(tokens, IS_RAW)])

    assert compiled == python


@given(TEXTS, st.integers(0, 9))
@example("a<p> <br>\n<script>b</script>c<!-- d --><svg>e<p>f", MAX_VISITS)
@example("<p>a", MAX_VISITS)
def test_both_ways_read_the_same_texts_between_tags(source: str, visits: int) -> None:
    def read() -> tuple[list[list[tuple[str, int]]], int]:
        tree = PageTree(tokenize(source), visits)
        behind = (None, *tree.called("p", 9))
        return [list(tree.fragments_after(each)) for each in behind], tree.visits

    compiled, python = both(read)

    assert compiled == python


def test_texts_outside_of_the_rows_are_refused() -> None:
    rows = TagRows(*tag_rows(tokenize("<p>a</p>"), IS_RAW))
    ended = rows._replace(start=rows.start + array("i", [8]))

    with pytest.raises(ValueError, match="expected 2 values, got 1"):
        list(text_runs("<p>a</p>", rows, bytes(256), (0, 2, 9)))
    with pytest.raises(ValueError, match="a tag from 3 to 4 of 3"):
        list(text_runs("<p>", ended, bytes(256), (0, 2, 9)))
    for row, stop in ((-2, 2), (3, 3), (0, 3)):
        with pytest.raises(IndexError, match=r"is not from 0 to [23]"):
            list(text_runs("<p>a</p>", ended, bytes(256), (row, stop, 9)))


@pytest.mark.parametrize("bounds", [(-1, 2), (2, 1), (0, 99)])
def test_a_tag_outside_of_its_text_is_refused(bounds: tuple[int, int]) -> None:
    places = tags_at([bounds])

    with pytest.raises(ValueError, match="a tag from"):
        attributes_of_tag("<p a=1>", *bounds)
    with pytest.raises(ValueError, match="a tag from"):
        rows_with("a", "<p a=1>", places)


@pytest.mark.parametrize("row", [-1, 1])
def test_a_row_without_a_tag_is_refused(row: int) -> None:
    _, starts, ends = tags_at([(0, 2)])

    for found, n in ((ends, 1), (array("i"), 0)):
        with pytest.raises(IndexError, match=f"{row} is not from 0 to {n - 1}"):
            rows_with("a", "<p>", TagPlaces(array("i", [row]), starts, found))


def test_values_are_not_looked_for_by_names_that_have_several_forms() -> None:
    with pytest.raises(ValueError, match="several in upper case"):
        attribute_values(("link",), "<p>", tags_at([]))


@pytest.mark.parametrize("name", ["", "\u00e9x"])
def test_a_name_that_is_none_is_not_looked_for(name: str) -> None:
    with pytest.raises(ValueError, match="is no name of ASCII"):
        rows_with(name, "<p>", tags_at([]))


@pytest.mark.parametrize("ending", ["", ";", "x;", "1"])
def test_both_ways_read_all_references_alike(ending: str) -> None:
    source = " ".join(f"a&{name}{ending}b" for name in html5)

    one, other = both(lambda: columns(tokenize(source)))

    assert one == other


def test_lines_are_no_longer_than_those_of_python() -> None:
    """Ruff reads no Cython."""
    settings = (REPOSITORY / "pyproject.toml").read_text()
    found = re.search(r"^line-length = (\d+)$", settings, re.MULTILINE)
    assert found
    sources = sorted((REPOSITORY / "scrapy_mss").rglob("*.p[yx][xi]"))
    assert sources
    for source in sources:
        for number, line in enumerate(source.read_text().splitlines(), 1):
            assert len(line) <= int(found[1]), f"{source.name}:{number}"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("blocks.segmentation", "_ENDS_RUN _BREAKS_LINE _IS_LINK"),
        ("markup.attributes", "MAX_ATTRIBUTES"),
        ("markup.tokenizer", "_LETTER_BITS"),
        ("output.sanitizing", "TEXT APART GAP"),
    ],
)
def test_constants_of_c_are_those_of_python(module: str, names: str) -> None:
    sources = (REPOSITORY / "scrapy_mss" / "markup").glob("_*.pxi")
    constant = re.compile(r"^    ([A-Z_]+) = (\d+)", re.MULTILINE)
    in_c = dict(pair for source in sources for pair in constant.findall(source.read_text()))
    python = import_module(f"scrapy_mss.{module}")

    for name in names.split():
        assert int(in_c[name.removeprefix("_")]) == getattr(python, name)


def test_a_compiled_part_of_other_sources_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "IS_COMPILED", True)
    monkeypatch.setattr(compiled, "_compiled", SimpleNamespace(__file__="_compiled.so"))

    with pytest.raises(ImportError, match="built of other sources: it has no tag_rows; install"):
        compiled.accelerated()(tag_rows)


REFERENCES = [*"&#x;19aAlt <\u201d\U0001f600", "&amp", "&notin", "&#x2019;"]


@given(st.lists(st.sampled_from(REFERENCES)).map("".join))
@example("&#" + "1" * 5000)
def test_both_ways_decode_the_same_references(text: str) -> None:
    compiled, alone = both(partial(decode_all, text))

    assert compiled == alone
