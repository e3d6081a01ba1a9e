"""Blocks, their features, the similarity of texts, and the fitness of thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from research.datasets.pages import Example
from research.systems.block_features import FEATURES, features
from research.systems.blocks import blocks
from research.systems.similarity import PageTerms, Similarity
from research.systems.thresholds import OPEN, Trial
from scrapy_mss.markup.tokenizer import tokenize


def texts(source: str) -> list[str]:
    """The words of each block of *source*."""
    tokens = tokenize(source)
    numbers = blocks(tokens).number[tokens.is_word].tolist()
    found: dict[int, list[str]] = {}
    for word, number in zip(tokens.words(), numbers, strict=True):
        found.setdefault(number, []).append(word)
    found.pop(-1, None)
    return [" ".join(words) for _, words in sorted(found.items())]


def test_blocks_are_the_text_between_tags_that_are_neither_removed_nor_pruned() -> None:
    cases = [
        # Figure 1 of the paper: a link in a sentence does not break it into three blocks.
        (
            "<div>a press <a href='x'>release of</a> yesterday</div>",
            ["a press release of yesterday"],
        ),
        ("<div><h1>one</h1><p>two<p>three<ul><li>four</ul></div>", ["one two three four"]),
        ("<tr><td>one<td>two", ["one", "two"]),
        ("<div>one <div>two</div> three</div>", ["one", "two", "three"]),
        # What is pruned leaves no gap, and what has no word is no block.
        ("one <select><option>x</select> two", ["one two"]),
        ("one <script>x</script><style>y</style> two", ["one two"]),
        ("<div>one</div> | <div> <img> </div>* <div>two</div>", ["one", "two"]),
        ("<select>one", ["one"]),
        # A tag that nobody knows parts.
        ("one <x-y>two</x-y>", ["one", "two"]),
        ("", []),
    ]

    assert [(source, texts(source)) for source, _ in cases] == cases


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


def page(blocks: list[list[str]], gold: list[str]) -> PageTerms:
    """A page with these terms in its blocks."""
    terms = [term for block in blocks for term in block]
    numbers = [number for number, block in enumerate(blocks) for _ in block]
    return PageTerms(terms, numbers, len(blocks), gold)


def test_similarity_is_the_cosine_times_the_ratio_of_lengths() -> None:
    cases = [
        # The paper's example: twice the same has the cosine 1 and half the similarity.
        ("aa bb aa bb", "aa bb", 0.5),
        ("aa bb", "bb aa", 1.0),
        # (3 · 4) / (5 · 4) · 4 / 7
        ("aa aa aa bb bb bb bb", "bb bb bb bb", 16 / 20 * 4 / 7),
        ("", "aa", 0.0),
        ("aa", "", 0.0),
        ("", "", 1.0),
    ]

    pages = [page([text.split()], gold.split()) for text, gold, _ in cases]

    scores = Similarity.of(pages).scores(np.ones((1, len(cases)), np.bool_))

    assert scores.tolist() == [pytest.approx([expected for *_, expected in cases])]


# Two blocks of four terms: a sentence, and a link with another in it.
HTML = "<div>Aa bb cc dd.</div><div><a>ee</a> ff gg hh"
NAMES = [feature.name for feature in FEATURES]


def example(gold: str, html: str = HTML) -> Example:
    return Example(html, gold)


def test_fitness_is_the_mean_similarity_of_what_passes() -> None:
    trial = Trial.of([example("aa bb cc dd"), example("aa bb cc dd ee ff gg hh")])
    links = OPEN.copy()
    links[NAMES.index("words in links")] = 0.0
    nothing = links.copy()
    nothing[NAMES.index("letters and digits")] = 1.0

    found = trial.fitness(np.array([OPEN, links, nothing]))

    # Both blocks and one: a cosine of 4 / √(8 · 4) and a ratio of 1 / 2. Signs are in the one
    # without links, so none is left that passes both.
    half = 4 / np.sqrt(32) / 2
    assert found.tolist() == pytest.approx([(half + 1) / 2, (1 + half) / 2, 0.0])
