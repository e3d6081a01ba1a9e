from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.features import (
    ELEMENT_LEVELS,
    EPSILON,
    KEY_LEVELS,
    PATH_LENGTH,
    Columns,
    evidence_mass,
)
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Floats
from tests.helpers.container_shares import container_features
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_ancestors, block_runs

SCORES = st.lists(st.sampled_from([-3.0, -0.5, 0.0, 0.25, 1.0, 4.0]), min_size=1, max_size=7)


def scores_for(page: Page, some: list[float]) -> Floats:
    """A score for each block: *some*, over and over."""
    return np.resize(np.array(some), len(page.blocks))


def features_for(page: Page, score: Floats) -> Columns:
    mass, _ = evidence_mass(page, score)
    return container_features(page, {"": mass})


def sums_of_alike(values: Floats, keys: Sequence[Hashable]) -> list[float]:
    """For each block the sum of *values* over all blocks with its key."""
    pairs = list(zip(keys, values.tolist(), strict=True))
    return [sum(value for other, value in pairs if other == key) for key in keys]


@given(PAGES, SCORES)
@examples(2)
def test_evidence_is_shared_by_the_blocks_whose_ancestors_have_the_same_key(
    source: str, some: list[float]
) -> None:
    page = Page.of(source)
    mass, _ = evidence_mass(page, scores_for(page, some))
    blocks, words = page.blocks, page.blocks.words.astype(np.float64)

    found = container_features(page, {"": mass})

    for level in range(KEY_LEVELS):
        keys = page.ancestor_keys[level].tolist()
        shared, size = np.array(sums_of_alike(mass, keys)), np.array(sums_of_alike(words, keys))
        linked = sums_of_alike(blocks.linked_words.astype(np.float64), keys)
        name = f"same_key_{level}"
        np.testing.assert_allclose(found[f"{name}_mass"], shared, atol=1e-9)
        np.testing.assert_allclose(found[f"{name}_density"], 100 * shared / size, atol=1e-9)
        np.testing.assert_allclose(np.expm1(found[f"{name}_words"]), size)
        np.testing.assert_allclose(np.expm1(found[f"{name}_blocks"]), list(map(keys.count, keys)))
        np.testing.assert_allclose(found[f"{name}_link_share"], linked / size)
    paths = [tuple(tags) for tags in page.ancestor_tags[:PATH_LENGTH].T.tolist()]
    np.testing.assert_allclose(found["same_path_mass"], sums_of_alike(mass, paths), atol=1e-9)


@given(PAGES, SCORES)
@examples(2)
def test_evidence_inside_an_ancestor_is_that_of_the_blocks_in_it(
    source: str, some: list[float]
) -> None:
    page = Page.of(source)
    mass, _ = evidence_mass(page, scores_for(page, some))
    words = page.blocks.words
    ancestors = block_ancestors(page.tokens)
    above = [ancestors[run[0]] for run in block_runs(page.tokens)]

    found = container_features(page, {"": mass})

    for level in range(ELEMENT_LEVELS):
        for number, own in enumerate(above):
            # Beyond the outermost element there is the page, and all of its evidence.
            together = [len(own) <= level or own[level] in other for other in above]
            share = mass[together].sum() if len(own) > level else 1.0
            density = 100 * share / words[together].sum()
            assert found[f"ancestor_{level}_mass"][number] == pytest.approx(share)
            assert found[f"ancestor_{level}_density"][number] == pytest.approx(density)


@given(PAGES, SCORES)
def test_evidence_is_a_share_of_the_page_weighed_by_words(source: str, some: list[float]) -> None:
    page = Page.of(source)
    score = scores_for(page, some)
    evidence = [max(0.0, s) * w for s, w in zip(score, page.blocks.words, strict=True)]

    mass, total = evidence_mass(page, score)

    assert total == pytest.approx(sum(evidence) + EPSILON)
    assert mass.sum() == pytest.approx(1.0 if sum(evidence) else 0.0)
    assert (mass * total).tolist() == pytest.approx(evidence)


@given(PAGES, SCORES)
def test_evidence_before_a_block_in_it_and_after_it_is_all_there_is(
    source: str, some: list[float]
) -> None:
    page = Page.of(source)
    mass, _ = evidence_mass(page, scores_for(page, some))

    found = container_features(page, {"": mass})

    before = found["mass_before"]
    assert before.tolist() == pytest.approx([mass[:n].sum() for n in range(len(mass))])
    assert (before + mass + found["mass_after"]).tolist() == pytest.approx([1.0] * len(mass))


@given(PAGES, SCORES)
def test_evidence_against_the_article_is_ignored(source: str, some: list[float]) -> None:
    page = Page.of(source)
    score = scores_for(page, some)

    found, expected = features_for(page, score), features_for(page, np.maximum(score, 0.0))

    for name, column in expected.items():
        assert found[name].tolist() == column.tolist()


def test_a_certain_block_speaks_for_those_in_the_same_kind_of_container() -> None:
    page = Page.of(
        "<div class=left><p class=story>one two</p><p class=ad>three</p></div>"
        "<div class=right><p class=story>four</p></div>"
    )

    found = features_for(page, np.array([1.0, 0.0, 0.0]))

    assert found["same_key_0_mass"].tolist() == pytest.approx([1, 0, 1])
    assert found["same_key_1_mass"].tolist() == pytest.approx([1, 1, 0])
    assert found["same_path_mass"].tolist() == pytest.approx([1, 1, 1])
    assert found["ancestor_0_mass"].tolist() == pytest.approx([1, 0, 0])
    assert found["ancestor_1_mass"].tolist() == pytest.approx([1, 1, 0])
    assert found["ancestor_2_mass"].tolist() == pytest.approx([1, 1, 1])
