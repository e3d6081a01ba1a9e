from __future__ import annotations

import numpy as np
import pytest

from research.systems.similarity import PageTerms, Similarity


def page(blocks: list[list[str]], gold: list[str]) -> PageTerms:
    """A page with these terms in its blocks."""
    terms = [term for block in blocks for term in block]
    numbers = [number for number, block in enumerate(blocks) for _ in block]
    return PageTerms(terms, numbers, len(blocks), gold)


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
