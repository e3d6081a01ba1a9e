from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.datasets.pages import Example
from research.systems import create
from research.systems.base import Trainable
from research.systems.block_features import passing
from research.systems.pso import Pruned, Pso
from research.systems.stopwords import languages_of_words
from research.systems.swarm import Swarm, fly
from research.systems.thresholds import Trial
from tests.helpers.markup import SOUP, TAG_SOUP
from tests.helpers.news_pages import news_page

SMALL = {"particles": 20, "generations": 10}


def examples(n: int = 3) -> list[Example]:
    return [Example(page.html, page.text) for page in map(news_page, range(n))]


def test_what_was_learned_separates_an_article_from_its_page() -> None:
    system = Pso(**SMALL)
    page = news_page(9)

    system.fit(examples())

    assert system.extract(page.html) == page.text
    assert Pruned().extract(page.html) != page.text


def test_thresholds_are_those_of_the_best_particle_of_all_generations() -> None:
    few = {"particles": 2, "generations": 10, "seed": 20}  # best in the middle
    system = Pso(**few)
    trial = Trial.of(examples())

    system.fit(examples())

    generations = list(fly(trial.fitness, 8, Swarm(**few)))
    passed = passing(trial.values, system.thresholds[np.newaxis])
    best = max(float(generation.scores.max()) for generation in generations)
    assert trial.similarity.scores(passed).mean() == best
    assert best > max(generations[0].scores.max(), generations[-1].scores.max())


def test_what_was_learned_before_is_forgotten() -> None:
    once, twice = Pso(**SMALL), Pso(**SMALL)
    once.fit(examples())

    twice.fit([Example("<div>one</div><div><a>two", "two")])
    twice.fit(examples())

    assert twice.thresholds.tolist() == once.thresholds.tolist()


@given(st.one_of(SOUP, TAG_SOUP))
def test_before_it_has_learned_all_blocks_pass(source: str) -> None:
    untrained, pruned = Pso().locate(source), Pruned().locate(source)

    assert untrained.kept.tolist() == pruned.kept.tolist()
    assert untrained.text == pruned.text


def test_the_lower_bound_is_all_but_what_is_pruned() -> None:
    source = (
        "<title>a</title><nav><a>one</a></nav><p>two<select><option>b</select><button>c</button>"
        "<p>three<script>d</script><noscript>e</noscript>"
    )

    assert Pruned().extract(source) == "one\n\ntwo\n\nthree"


def test_the_options_of_a_spec_are_the_swarms() -> None:
    system = create("pso:particles=7:generations=3:inertia=0.5:cognitive=1.5:social=2.5:seed=4")

    assert isinstance(system, Pso)
    assert isinstance(system, Trainable)
    assert system.swarm == Swarm(7, 3, 0.5, 1.5, 2.5, 4)


def test_without_the_lists_a_system_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    languages_of_words.cache_clear()

    with pytest.raises(ImportError, match="stopwordsiso"):
        create("pso")
