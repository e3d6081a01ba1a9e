from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.datasets.pages import Example
from research.systems.block_features import FEATURES
from research.systems.thresholds import OPEN, Scale, Trial

# Two blocks of four terms: a sentence, and a link with another in it.
HTML = "<div>Aa bb cc dd.</div><div><a>ee</a> ff gg hh"
NAMES = [feature.name for feature in FEATURES]


def example(gold: str, html: str = HTML) -> Example:
    return Example(html, gold)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), min_size=1), st.floats(0.001, 0.999)
)
def test_no_more_than_the_share_of_the_words_is_below_the_value(
    blocks: list[tuple[int, int]], share: float
) -> None:
    values, words = np.array(blocks, np.float64).T

    (value,) = Scale.of(values, words).at(np.array([share]))

    below, up_to = words[values < value].sum(), words[values <= value].sum()
    assert value in values
    assert below / words.sum() <= share < up_to / words.sum() + 1e-9


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
