from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.block_features import FEATURES, features, passing
from research.systems.blocks import blocks
from research.systems.sentences import sentences
from research.systems.stopwords import LANGUAGES, languages_of_words, stop_words
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.markup import SOUP, TAG_SOUP

# Two blocks. The first has 9 words of 29 letters in 3 sentences with 2 signs, 2 words in a link,
# 1 formatting tag, 2 list tags and 1 paragraph; the other has one word.
PAGE = (
    "<title>no</title><div>Rivers <b>reach</b> <a href='x'>the sea</a>.<ul><li>Is it? "
    "<select><option>no</select></ul><p>So say all</div><td>7"
)


def test_the_features_of_a_page_are_its_counts() -> None:
    tokens = tokenize(PAGE)
    found = blocks(tokens)

    values = dict(zip((f.name for f in FEATURES), features(tokens, found).tolist(), strict=True))

    del values["stop words"]
    assert found.words.tolist() == [9, 1]
    assert values == {
        "words a sentence": [3, 1],
        "sentences": [3, 1],
        "letters and digits": [29 / 31, 1],
        "words in links": [2 / 9, 0],
        "formatting tags": [1 / 9, 0],
        "list tags": [2 / 9, 0],
        "structuring tags": [1 / 9, 0],
    }


def test_a_sentence_ends_where_a_reader_ends_it() -> None:
    cases = [
        ("One two. Three four.", 2),
        ("One two", 1),
        ("One! Two? Three… Four", 4),
        ("At 3.14 a.m it is one", 1),
        ('"One." Two', 2),
        ('One said: "two." Three', 2),
        ("<b>One.</b> Two", 2),
        ("<b>One.</b>Two", 1),
        ("One.<br>Two", 2),
        ("One<br>two", 1),
        ("One.&nbsp;Two", 2),
        ("One?!! ) Two", 2),
        ("One. . . Two", 2),
        # A paragraph or an item ends a sentence, with a word in it or not.
        ("<ul><li>One<li>Two</ul>Three<p></p><p>Four", 4),
        ("<h1>One</h1>. <p>.", 1),
        # Ideographic full stops have no blank behind them.
        ("一二。三四。", 2),
        ("one.two", 1),
    ]

    pages = [tokenize(source) for source, _ in cases]

    found = [sentences(tokens, blocks(tokens)).tolist() for tokens in pages]
    assert found == [[expected] for _, expected in cases]


@given(st.one_of(SOUP, TAG_SOUP))
def test_every_block_has_sentences_and_no_more_than_words(source: str) -> None:
    tokens = tokenize(source)
    found = blocks(tokens)

    counts = sentences(tokens, found)

    assert (counts >= 1).all()
    assert (counts <= found.words).all()


@given(st.lists(st.sampled_from(["<div>One. Two", "<td>Three", "<p>four!", "<hr>"]), max_size=8))
def test_a_block_has_the_sentences_that_it_has_alone(parts: list[str]) -> None:
    tokens = tokenize("<div>One. <div>".join(parts))
    found = blocks(tokens)

    alone = [
        tokenize(tokens.html(int(at[0]), int(at[-1]) + 1))
        for number in range(len(found))
        for at in [(found.number == number).nonzero()[0]]
    ]
    counts = [sentences(page, blocks(page)).tolist() for page in alone]
    assert sentences(tokens, found).tolist() == [count for (count,) in counts]


def test_stop_words_are_those_of_the_language_with_the_most() -> None:
    cases = [
        ("the zebra and the giraffe", 3),
        ("Das Zebra und die Giraffe", 3),
        ("le zèbre et la girafe", 3),
        ("Зебра и жираф", 1),  # noqa: RUF001
        # Words of two languages are not added up.
        ("the zebra and the giraffe und die", 3),
        ("zebra giraffe", 0),
    ]

    pages = [tokenize(f"<div>x-ray zebra</div><div>{text}") for text, _ in cases]

    found = [stop_words(tokens, blocks(tokens)).tolist()[-1] for tokens in pages]
    assert found == [expected for _, expected in cases]


def test_there_are_lists_for_fourteen_languages() -> None:
    masks = languages_of_words()

    assert len(LANGUAGES) == 14
    assert all(sum(m >> bit & 1 for m in masks.values()) > 100 for bit in range(14))
    assert masks["the"] == 1 << LANGUAGES.index("en")


def test_without_the_lists_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)

    with pytest.raises(ImportError, match=r"make research"):
        languages_of_words.__wrapped__()


def test_a_block_passes_with_all_features_or_not_at_all() -> None:
    values = np.full((8, 3), 0.5)
    values[1] = (0.4, 0.5, 0.6)  # sentences: at least
    values[4] = (0.4, 0.5, 0.6)  # links: at most
    thresholds = np.full((3, 8), 0.5)
    thresholds[1, 0] = 0.51
    thresholds[2, 6] = 0.49

    assert passing(values, thresholds).tolist() == [
        [False, True, False],
        [False, False, False],
        [False, False, False],
    ]


def test_content_has_more_of_everything_but_links_and_lists() -> None:
    assert [f.name for f in FEATURES if not f.at_least] == ["words in links", "list tags"]
