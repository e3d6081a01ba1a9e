from __future__ import annotations

from math import log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.container_features import HELD_LEVELS, KEYED_LEVELS, columns, held
from scrapy_mss.blocks.segmentation import Passages
from scrapy_mss.markup.attributes import words_of_tag
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Floats, Tokens
from tests.helpers.effort import examples
from tests.helpers.layouts import ODD, PAGES, blocks_around, runs_of, tag_of

PATH = 5  # tags of a path
SCORES = st.lists(st.sampled_from([-3.0, -0.5, 0.0, 0.25, 1.0, 4.0]), min_size=1, max_size=7)


def scores_for(passages: Passages, some: list[float]) -> Floats:
    """A score for each passage: *some*, over and over."""
    return np.resize(np.array(some), len(passages))


def key_of(tokens: Tokens, around: list[int], level: int) -> str:
    """The tag and names of the element so far out; nothing beyond the outermost."""
    if level >= len(around):
        return ""
    at = around[level]
    source = tokens.clean[tokens.clean_start[at] : tokens.clean_end[at]]
    return " ".join([tag_of(tokens, at), *words_of_tag(source)])


@given(PAGES, SCORES)
@examples(2)
def test_shares_are_sums_over_the_passages_that_stand_alike(source: str, some: list[float]) -> None:
    tokens = tokenize(source)
    runs, around = runs_of(tokens), blocks_around(tokens)
    passages = tokens.passages
    score = scores_for(passages, some)
    words, links = passages.words.tolist(), passages.linked_words.tolist()
    mass = [max(0.0, one) * n for one, n in zip(score.tolist(), words, strict=True)]
    total = sum(mass) + 1e-9
    everything = range(len(runs))

    found = columns(passages, score)

    def check(name: str, expected: list[float]) -> None:
        np.testing.assert_allclose(found[name], expected, atol=1e-9, err_msg=name)

    check("mass", [log1p(total)] * len(runs))
    check("mass_before", [sum(mass[:i]) / total for i in everything])
    check("mass_after", [1 - sum(mass[: i + 1]) / total for i in everything])
    blocks = [around[run[0]] for run in runs]
    for level in range(KEYED_LEVELS):
        keys = [key_of(tokens, block, level) for block in blocks]
        alike = [[j for j in everything if keys[j] == key] for key in keys]
        share = [sum(mass[j] for j in group) / total for group in alike]
        size = [sum(words[j] for j in group) for group in alike]
        check(f"alike_{level}", share)
        check(f"alike_{level}_density", [100 * a / b for a, b in zip(share, size, strict=True)])
        check(f"alike_{level}_count", [log1p(len(group)) for group in alike])
        check(f"alike_{level}_words", [log1p(n) for n in size])
        linked = [sum(links[j] for j in group) for group in alike]
        check(f"alike_{level}_links", [a / b for a, b in zip(linked, size, strict=True)])
    paths = [[tag_of(tokens, at) for at in block[:PATH]] for block in blocks]
    check("alike_path", [sum(mass[j] for j in everything if paths[j] == p) / total for p in paths])
    for level in range(HELD_LEVELS):
        groups = [
            [j for j in everything if len(block) <= level or block[level] in blocks[j]]
            for block in blocks
        ]
        # Beyond the outermost element there is the page, and all of its evidence.
        share = [
            sum(mass[j] for j in group) / total if len(block) > level else 1.0
            for group, block in zip(groups, blocks, strict=True)
        ]
        size = [sum(words[j] for j in group) for group in groups]
        check(f"held_{level}", share)
        check(f"held_{level}_density", [100 * a / b for a, b in zip(share, size, strict=True)])


@given(PAGES, SCORES)
def test_evidence_against_the_article_counts_for_nothing(source: str, some: list[float]) -> None:
    passages = tokenize(source).passages
    score = scores_for(passages, some)

    found, expected = columns(passages, score), columns(passages, np.maximum(score, 0.0))

    for name, column in expected.items():
        assert found[name].tolist() == column.tolist()


def test_a_sure_passage_speaks_for_those_of_the_same_name() -> None:
    passages = tokenize(
        "<div class=left><p class=story>one two</p><p class=ad>three</p></div>"
        "<div class=right><p class=story>four</p></div>"
    ).passages

    found = columns(passages, np.array([1.0, 0.0, 0.0]))

    assert found["alike_0"].tolist() == pytest.approx([1, 0, 1])
    assert found["alike_1"].tolist() == pytest.approx([1, 1, 0])
    assert found["held_0"].tolist() == pytest.approx([1, 0, 0])
    assert found["held_1"].tolist() == pytest.approx([1, 1, 0])
    assert found["held_2"].tolist() == pytest.approx([1, 1, 1])
    assert found["alike_path"].tolist() == pytest.approx([1, 1, 1])


@given(PAGES, SCORES, st.integers(0, HELD_LEVELS - 1))
def test_one_share_alone_is_the_column_s(source: str, some: list[float], level: int) -> None:
    passages = tokenize(source).passages
    score = scores_for(passages, some)

    found = held(passages, score, level)

    assert found.tolist() == columns(passages, score)[f"held_{level}"].tolist()


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("level", [-1e3, 0.0, 1e3])
def test_shares_of_odd_pages_are_finite(name: str, level: float) -> None:
    passages = tokenize(ODD[name]).passages

    found = columns(passages, np.full(len(passages), level))

    ordinary = tokenize("<p>one").passages
    assert list(found) == list(columns(ordinary, np.zeros(1)))
    for column in found.values():
        assert column.shape == (len(passages),)
        assert np.isfinite(column).all()
