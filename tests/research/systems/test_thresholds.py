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


def test_a_share_stands_for_the_value_that_so_many_words_are_below() -> None:
    scale = Scale.of(np.array([5.0, 1.0, 2.0, 2.0]), np.array([1.0, 4.0, 2.0, 3.0]))

    found = scale.at(np.array([0.0, 0.39, 0.4, 0.5, 0.89, 0.9, 1.0]))

    assert found.tolist() == [1, 1, 2, 2, 2, 5, 5]


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


def test_curves_change_one_threshold_and_let_the_rest_pass() -> None:
    trial = Trial.of([example("aa bb cc dd")])

    curves = {name: scores.tolist() for name, scores in trial.curves(np.array([0.0, 1.0]))}

    both, one = 4 / np.sqrt(32) / 2, 1.0
    assert list(curves) == NAMES
    assert curves["words in links"] == pytest.approx([one, both])
    assert curves["letters and digits"] == pytest.approx([both, 0.0])
    assert curves["formatting tags"] == pytest.approx([both, both])


def test_pages_without_a_word_take_part() -> None:
    trial = Trial.of([example("aa bb cc dd"), example("aa", "<p>"), example("", "<p>")])

    found = trial.fitness(OPEN[np.newaxis])

    assert found.tolist() == [pytest.approx((4 / np.sqrt(32) / 2 + 0 + 1) / 3)]


@pytest.mark.parametrize("examples", [[], [example("aa", "")], [example("aa", "<p>.</p>")]])
def test_nothing_can_be_learned_from_no_words(examples: list[Example]) -> None:
    with pytest.raises(ValueError, match="no page has a word"):
        Trial.of(examples)
