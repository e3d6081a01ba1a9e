from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.similarity import BATCH, PageTerms, Similarity, is_term

BLOCK = st.lists(st.sampled_from("aa bb Bb cc dd ee".split()), max_size=5)
PAGE = st.tuples(st.lists(BLOCK, max_size=5), BLOCK)


def page(blocks: list[list[str]], gold: list[str]) -> PageTerms:
    """A page with these terms in its blocks."""
    terms = [term for block in blocks for term in block]
    numbers = [number for number, block in enumerate(blocks) for _ in block]
    return PageTerms(terms, numbers, len(blocks), gold)


def of_texts(one: list[str], other: list[str]) -> float:
    """The similarity of two texts by its definition."""
    if not one or not other:
        return float(one == other)
    ours, theirs = Counter(map(str.lower, one)), Counter(map(str.lower, other))
    product = sum(ours[term] * theirs[term] for term in ours)
    norms = sqrt(sum(n * n for n in ours.values()) * sum(n * n for n in theirs.values()))
    return product / norms * min(len(one) / len(other), len(other) / len(one))


def test_similarity_is_the_cosine_times_the_ratio_of_lengths() -> None:
    cases = [
        # The paper's example: twice the same has the cosine 1 and half the similarity.
        ("aa bb aa bb", "aa bb", 0.5),
        ("aa bb", "aa bb aa bb", 0.5),
        ("aa bb", "bb aa", 1.0),
        ("aa bb cc dd", "aa bb ee ff", 0.5),
        ("aa aa bb bb bb bb", "aa bb bb", 0.5),
        # (3 · 4) / (5 · 4) · 4 / 7
        ("aa aa aa bb bb bb bb", "bb bb bb bb", 16 / 20 * 4 / 7),
        ("aa", "bb", 0.0),
        ("", "aa", 0.0),
        ("aa", "", 0.0),
        ("", "", 1.0),
    ]

    pages = [page([text.split()], gold.split()) for text, gold, _ in cases]

    scores = Similarity.of(pages).scores(np.ones((1, len(cases)), np.bool_))

    assert scores.tolist() == [pytest.approx([expected for *_, expected in cases])]


@given(st.lists(PAGE, min_size=1, max_size=4), st.lists(st.integers(0, 2**20), max_size=4))
def test_a_choice_of_blocks_scores_as_their_text_does(
    pages: list[tuple[list[list[str]], list[str]]], choices: list[int]
) -> None:
    n_blocks = sum(len(blocks) for blocks, _ in pages)
    chosen = np.array([[c >> i & 1 for i in range(n_blocks)] for c in choices], np.bool_)
    chosen = chosen.reshape(len(choices), n_blocks)

    scores = Similarity.of([page(*each) for each in pages]).scores(chosen)

    for row, found in zip(chosen, scores, strict=True):
        left = iter(row)
        texts = [[t for block in blocks if next(left) for t in block] for blocks, _ in pages]
        golds = [gold for _, gold in pages]
        assert found.tolist() == pytest.approx(list(map(of_texts, texts, golds)))


@given(st.integers(0, 300), st.integers(1, 2**18))
def test_batches_leave_no_choice_out(n: int, n_entries: int) -> None:
    similarity = Similarity.of([page([["aa"]], ["aa"])])
    wide = replace(similarity, length=np.zeros(n_entries))

    parts = [list(range(n))[part] for part in wide.batches(n)]

    assert [i for part in parts for i in part] == list(range(n))
    assert all(len(part) * n_entries <= BATCH for part in parts)


def test_terms_are_longer_than_a_letter() -> None:
    words = ["of", "a", "7", "42", "語", "é"]

    assert [word for word in words if is_term(word)] == ["of", "42", "語"]
