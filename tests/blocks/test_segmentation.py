from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given

from scrapy_mss.blocks.segmentation import LEVELS, passages_of
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.effort import examples
from tests.helpers.layouts import ODD, PAGES, blocks_around, runs_of, tag_of
from tests.helpers.markup import shown
from tests.helpers.news_pages import news_page


def texts(source: str) -> list[str]:
    """The words and signs of each passage."""
    tokens = tokenize(source)
    seen, passages = shown(tokens), tokens.passages
    return [
        " ".join(seen[at] for at in np.flatnonzero(passages.of == n) if not tokens.is_tag[at])
        for n in range(len(passages))
    ]


@given(PAGES)
@examples(2)
def test_passages_are_the_runs_of_text_that_a_walk_from_token_to_token_finds(source: str) -> None:
    tokens = tokenize(source)
    runs = runs_of(tokens)

    passages = passages_of(tokens)

    assert len(passages) == len(runs)
    assert passages.first.tolist() == [run[0] for run in runs]
    assert passages.last.tolist() == [run[-1] for run in runs]
    of = [-1] * len(tokens)
    for number, run in enumerate(runs):
        of[run[0] : run[-1] + 1] = [number] * (run[-1] + 1 - run[0])
    assert passages.of.tolist() == of


@given(PAGES)
@examples(2)
def test_around_a_passage_are_the_blocks_of_the_tree(source: str) -> None:
    tokens = tokenize(source)
    around = blocks_around(tokens)

    passages = tokens.passages

    for number, first in enumerate(passages.first.tolist()):
        found = passages.around[:, number].tolist()
        assert found == (around[first] + [-1] * LEVELS)[:LEVELS]
        for level, opened in enumerate(found):
            expected = TAG_NUMBERS[tag_of(tokens, opened)] if opened >= 0 else 0
            assert passages.tags(level)[number] == expected


@given(PAGES)
def test_words_and_links_are_those_of_the_runs(source: str) -> None:
    tokens = tokenize(source)
    runs = runs_of(tokens)
    linked = set()
    for opened in np.flatnonzero(tokens.is_open("a") & (tokens.partner >= 0)).tolist():
        linked |= set(range(opened, tokens.partner[opened]))

    passages = tokens.passages

    words = [[at for at in run if tokens.is_word[at]] for run in runs]
    assert passages.words.tolist() == [len(run) for run in words]
    assert passages.linked_words.tolist() == [len(linked.intersection(run)) for run in words]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("one two", ["one two"]),
        ("<p>one <b>two</b></p><p>three", ["one two", "three"]),
        ("one<div>two</div>three", ["one", "two", "three"]),
        ("<td>1</td><td>2</td>", ["1", "2"]),
        # One line break is a line of the passage, two are the end of it …
        ("one<br>two", ["one two"]),
        ("one<br><br>two", ["one", "two"]),
        ("one <br>\n<br/> two", ["one", "two"]),
        ("one<br><b><br>two</b>", ["one", "two"]),
        # … but not if something stands between them.
        ("one<br>.<br>two", ["one . two"]),
        ("one<br>two<br>three", ["one two three"]),
        # Signs alone are none.
        ("<p>***</p><p>one</p><p>...</p>", ["one"]),
        ("<p>- one!</p>", ["- one !"]),
        ("one<nosuch>two</nosuch>", ["one two"]),
        ("one<!-- two -->three", ["onethree"]),
        ("", []),
        ("<p></p>", []),
        (". , !", []),
    ],
)
def test_passages_of_a_page(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


def test_a_passage_has_the_tags_inside_it_and_not_those_around_it() -> None:
    tokens = tokenize("<p><b>one</b> <i>two</i></p>")

    seen = [text for text, of in zip(shown(tokens), tokens.passages.of, strict=True) if of >= 0]

    assert seen == ["one", "</b>", "<i>", "two"]


def test_the_key_of_a_passage_s_element_is_of_its_tag_and_names() -> None:
    passages = tokenize('<div id="Body"><p class="lead story">one</p></div><p>two').passages

    assert passages.keys(0).tolist() == [crc32(b"p lead story"), 0]
    assert passages.keys(1).tolist() == [crc32(b"div body"), 0]
    assert passages.keys(2).tolist() == [0, 0]


def test_blocks_further_out_than_are_looked_at_count_for_nothing() -> None:
    depth = LEVELS + 3
    passages = tokenize("<div>" * depth + "one" + "</div>" * depth).passages

    assert passages.around[:, 0].tolist() == list(range(depth - 1, depth - 1 - LEVELS, -1))


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_have_passages_of_sound_numbers(name: str) -> None:
    tokens = tokenize(ODD[name])

    passages = tokens.passages

    assert passages.around.shape == (LEVELS, len(passages))
    assert np.all(passages.words > 0)
    assert passages.words.sum() == tokens.is_word.sum()
    assert np.all(passages.linked_words <= passages.words)
    assert np.all(passages.first <= passages.last)


def test_passages_are_found_once() -> None:
    tokens = news_page(1).tokens

    assert tokens.passages is tokens.passages
