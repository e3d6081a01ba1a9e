from __future__ import annotations

from collections import Counter
from math import log, log1p

import numpy as np
import pytest
from hypothesis import given

from scrapy_mss.blocks.features import (
    AROUND,
    CLOSERS,
    COMMAS,
    FAR,
    HEADINGS,
    LONGEST_HEADLINE,
    OWN_TAGS,
    QUOTES,
    SENTENCE_ENDS,
    columns,
    first_characters,
    heading_level,
    last_heading,
)
from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Tokens
from tests.helpers.layouts import ODD, PAGES, blocks_around, runs_of, tag_of
from tests.helpers.markup import shown
from tests.helpers.news_pages import news_page

Row = dict[str, float]


def measured(source: str) -> list[Row]:
    """The measures of each passage."""
    found = columns(tokenize(source).passages)
    n = len(found["words"])
    return [{name: float(column[i]) for name, column in found.items()} for i in range(n)]


def row(source: str) -> Row:
    """The measures of the first passage."""
    return measured(source)[0]


def text_by_hand(tokens: Tokens, run: list[int]) -> Row:
    """What the characters of a passage say, one token after the other."""
    seen = shown(tokens)
    words = [seen[at] for at in run if tokens.is_word[at]]
    firsts = [seen[at][0] for at in run]
    ends = sum(first in SENTENCE_ENDS for first in firsts)
    return {
        "words": log1p(len(words)),
        "letters": log1p(sum(map(len, words))),
        "word_length": sum(map(len, words)) / len(words),
        "capitals": sum(first.isupper() for first in firsts) / len(words),
        "digits": sum(first.isdigit() for first in firsts) / len(words),
        "ends": log1p(ends),
        "end_share": ends / len(words),
        "commas": log1p(sum(first in COMMAS for first in firsts)),
        "quotes": log1p(sum(first in QUOTES for first in firsts)),
        "signs": (len(run) - len(words)) / len(words),
        "closed": float(firsts[-1] in CLOSERS),
        "colon": float(firsts[-1] == ":"),
        "capital_first": float(firsts[0].isupper()),
    }


@given(PAGES)
def test_what_a_text_looks_like_is_counted_from_its_characters(source: str) -> None:
    tokens = tokenize(source)
    expected = [text_by_hand(tokens, run) for run in runs_of(tokens)]

    found = measured(source)

    assert len(found) == len(expected)
    for one, row_by_hand in zip(found, expected, strict=True):
        assert {name: one[name] for name in row_by_hand} == pytest.approx(row_by_hand)


@given(PAGES)
def test_where_a_text_stands_is_read_off_the_tree(source: str) -> None:
    tokens = tokenize(source)
    around, runs = blocks_around(tokens), runs_of(tokens)

    found = measured(source)

    for one, run in zip(found, runs, strict=True):
        tags = [tag_of(tokens, at) for at in around[run[0]][:LEVELS]]
        assert one["depth"] == len(tags) / 10
        for name in OWN_TAGS:
            assert one[f"is_{name}"] == (tags[:1] == [name])
        for name in AROUND:
            assert one[f"in_{name}"] == (name in tags)


@given(PAGES)
def test_the_place_in_the_page_is_counted_in_words_and_passages(source: str) -> None:
    tokens = tokenize(source)
    sizes = [sum(bool(tokens.is_word[at]) for at in run) for run in runs_of(tokens)]
    total = sum(sizes)

    found = measured(source)

    for number, one in enumerate(found):
        before = sum(sizes[:number])
        assert one["place"] == pytest.approx(before / total)
        assert one["order"] == pytest.approx(number / len(sizes))
        assert one["before"] == pytest.approx(log1p(before))
        assert one["after"] == pytest.approx(log1p(total - before - sizes[number]))
        assert one["page"] == pytest.approx(log1p(total))


@given(PAGES)
def test_headings_are_counted_and_looked_for_backwards(source: str) -> None:
    tokens = tokenize(source)
    around, runs = blocks_around(tokens), runs_of(tokens)
    own = [tag_of(tokens, around[run[0]][0]) if around[run[0]] else "" for run in runs]
    levels = [HEADINGS.index(name) + 1 if name in HEADINGS else 0 for name in own]
    sizes = [sum(bool(tokens.is_word[at]) for at in run) for run in runs]

    passages, found = tokens.passages, measured(source)

    assert heading_level(passages).tolist() == levels
    for number, one in enumerate(found):
        last = max((i for i in range(number) if levels[i]), default=-1)
        assert last_heading(passages)[number] == last
        assert one["heading"] == (7 - levels[number] if levels[number] else 0)
        assert one["heading_above"] == (7 - levels[last] if last >= 0 else 0)
        distance = log1p(sum(sizes[last:number])) if last >= 0 else FAR
        assert one["below_heading"] == pytest.approx(distance)
        assert one["main_headings"] == min(levels[: number + 1].count(1), 4)


@given(PAGES)
def test_a_text_that_comes_again_is_counted(source: str) -> None:
    tokens = tokenize(source)
    texts = [tuple(tokens.token_id[run].tolist()) for run in runs_of(tokens)]
    counts = Counter(texts)

    found = measured(source)

    repeated = [one["repeated"] for one in found]
    assert repeated == pytest.approx([log(counts[text]) for text in texts])


def test_texts_of_the_same_words_in_another_order_are_others() -> None:
    assert [one["repeated"] for one in measured("<p>one two<p>two one<p>one one")] == [0, 0, 0]


TITLED = "<title>The ferry sails again this Monday | Daily</title>"


def test_a_headline_is_the_heading_that_says_what_the_title_says() -> None:
    found = measured(
        f"{TITLED}<h1>Daily</h1><p>one two</p><h2>The ferry sails again this Monday</h2>"
        "<p>three four five</p><h2>Other news</h2><p>six</p>"
    )

    titled = [one["titled"] for one in found]
    assert titled[0] == titled[1] == titled[2] == titled[4] == titled[6] == 0
    assert titled[3] == 1
    assert all(one["headline_titled"] == 1 for one in found)
    assert [one["below"] for one in found] == [0, 0, 0, 0, 1, 1, 1]
    assert found[2]["from_headline"] == pytest.approx(-log1p(2))
    assert found[3]["from_headline"] == 0
    assert found[4]["from_headline"] == pytest.approx(log1p(6))
    assert [one["next_headlines"] for one in found[4:]] == pytest.approx([0, log(2), log(2)])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<h1>Anything</h1>", True),
        ("<h1></h1><p>one two", False),
        # A lower heading has to say some of the title, a line without a heading most of it.
        ("<h3>The ferry sails again and something else</h3>", True),
        ("<h3>Something else on Tuesday and Friday</h3>", False),
        ("<div>The ferry sails again this Monday</div>", True),
        ("<div>The ferry sails again and something else</div>", False),
        # Single words, and what is too long for a headline, are none.
        ("<div>Ferry</div>", False),
        ("<div>" + "The ferry sails again this Monday " * (LONGEST_HEADLINE // 6) + "</div>", True),
        ("<div>" + "The ferry sails again this Monday " * 7 + "</div>", False),
    ],
)
def test_what_may_be_a_headline(body: str, found: bool) -> None:  # noqa: FBT001
    last = measured(f"{TITLED}{body}<p>behind")[-1]

    assert last["below"] == found


def test_only_the_first_title_is_the_page_s() -> None:
    page = "<title>One two</title><svg><title>Three four</title></svg><p>three four<p>one two"

    assert [one["titled"] for one in measured(page)][2:] == [0, 1]


SAID = '<meta name="description" content="The ferry sails again this Monday.">'


def test_a_passage_is_compared_with_the_page_s_description_by_pairs_of_words() -> None:
    found = measured(
        f"{SAID}<title>The ferry sails again this Monday</title><li>The ferry</li>"
        "<p>The ferry sails again, this Monday!</p><p>The ferry sails, as it does again this Monday"
    )

    assert [one["describes"] for one in found] == pytest.approx([0, 1 / 5, 1, 4 / 5])
    # Two words that the description has as well may be an accident.
    assert [one["described"] for one in found] == pytest.approx([0, 0, 1, 4 / 8])
    assert [one["below_described"] for one in found] == [-1, -1, 1, 1]
    assert [one["description"] for one in found] == [1] * 4


@pytest.mark.parametrize("head", ["", '<meta name="description" content="The ferry sails">'])
def test_without_a_description_nothing_is_described(head: str) -> None:
    one = measured(f"{head}<p>The ferry sails again this Monday</p>")[0]

    names = ("describes", "described", "below_described", "description")
    assert [one[name] for name in names] == [0] * 4


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("<div hidden><section><p>one</p></section></div>", "hidden", 1),
        ("<template><p>one</p></template>", "hidden", 1),
        ("<div hidden></div><p>one</p>", "hidden", 0),
        ("<div hidden><p>one</p>", "hidden", 0),
        ("<a>one two</a>", "link_share", 1),
        ("<a>one</a> two", "link_share", 0.5),
        ("<a>one two</a>, .", "all_linked", 1),
        ("<a>one</a> two", "all_linked", 0),
        ("One Two three", "capitals", 2 / 3),
        ("\u00c9t\u00e9 \u0416 \u00df", "capitals", 2 / 3),
        ("1 2nd three", "digits", 2 / 3),
        ("one.", "closed", 1),
        ("one", "closed", 0),
        ("one\u3002", "closed", 1),
        ("one:", "colon", 1),
        ("<p>one</p>", "is_p", 1),
        ("<p><b>one</b></p>", "is_p", 1),
        ("<nav><p>one</p></nav>", "in_nav", 1),
        ("<nav></nav><p>one</p>", "in_nav", 0),
        ("<h2>one</h2>", "heading", 5),
        ("<h2><p>one</p></h2>", "heading", 0),
    ],
)
def test_measures_of_a_text(source: str, name: str, expected: float) -> None:
    assert row(source)[name] == pytest.approx(expected)


@pytest.mark.parametrize("name", ODD)
def test_measures_of_odd_pages_are_finite(name: str) -> None:
    passages = tokenize(ODD[name]).passages

    found = columns(passages)

    assert list(found) == list(columns(news_page(0).tokens.passages))
    for column in found.values():
        assert column.dtype == np.float64
        assert column.shape == (len(passages),)
        assert np.isfinite(column).all()


@given(PAGES)
def test_first_characters_are_those_of_the_tokens(source: str) -> None:
    tokens = tokenize(source)

    found = first_characters(tokens).tolist()

    assert found == [ord(tokens.clean[start]) for start in tokens.clean_start.tolist()]
