from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.cleaning import CODE_ONLY, HORIZONTAL_RULE, PAPER_RULES
from scrapy_mss.core.labels import span_labels
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models import model as module
from scrapy_mss.models.model import (
    MAX_RECENT,
    PAGES_OF_A_GENERATION,
    LearnedPages,
    Model,
    generation_after,
    page_key,
)
from scrapy_mss.models.profiles import CLEANEVAL, DEFAULT, PAPER, PAPER_HR, TRIGRAM
from tests.helpers.classifiers import counts_of, random_classifier


def identifier_after(html: str, inside: Sequence[int], model: Model | None = None) -> str:
    """The identifier of a model that learned *html*, whose tokens *inside* are the article."""
    page, model = Page.of(html), model or Model(DEFAULT)
    labels = np.zeros(len(page.tokens), np.bool_)
    labels[list(inside)] = True
    model.bayes.learn(page, labels)
    return model.identifier


STORY = '<div class="story"><p>One two three.</p></div>'


@pytest.mark.parametrize(
    ("html", "inside"),
    [
        (STORY.replace("three", "four"), [2, 3]),
        (STORY.replace("story", "menu"), [2, 3]),
        (STORY.replace("p>", "h2>"), [2, 3]),
        (STORY, [2, 3, 4]),
        (STORY, [3]),
        (STORY, []),
    ],
    ids=["a word", "a class word", "a tag", "one more label", "one less label", "no label"],
)
def test_any_change_of_a_page_or_its_labels_gives_another_identifier(
    html: str, inside: list[int]
) -> None:
    assert identifier_after(html, inside) != identifier_after(STORY, [2, 3])


def test_another_weight_gives_another_identifier() -> None:
    classifier = random_classifier()
    arrays = {name: array.copy() for name, array in classifier.arrays.items()}
    arrays["page_weights"][-1] += 1
    other = BlockClassifier.from_arrays(arrays)
    bayes = counts_of([1])

    identifiers = {Model(DEFAULT, c, bayes).identifier for c in (None, classifier, other)}

    assert len(identifiers) == 3


def test_learning_changes_the_identifier_of_a_model_with_a_classifier() -> None:
    model = Model(DEFAULT, random_classifier(), counts_of([1]))
    before = model.identifier

    assert identifier_after(STORY, [2], model) != before


def test_an_identifier_names_the_profile_and_the_number_of_pages() -> None:
    assert Model(DEFAULT, None, counts_of([1, 2, 2])).identifier.startswith("default@3p-")
    assert Model(PAPER).identifier == "paper@0p-0000000000000000"
    assert Model(TRIGRAM).identifier != Model(PAPER).identifier


ADDRESS = "https://news.example/story?id=1"
HTML = "<div><p>One story, told <b>once</b>.</p></div><p>Advertisement</p>"


def pages_of(generations: dict[int, int]) -> LearnedPages:
    pages = LearnedPages()
    for key, generation in generations.items():
        pages.add(key, generation)
    return pages


def content(pages: LearnedPages) -> dict[int, int]:
    keys, generations = pages.arrays()
    return dict(zip(keys.tolist(), generations.tolist(), strict=True))


def random_generations(seed: int, n_keys: int) -> dict[int, int]:
    chance = random.Random(seed)  # noqa: S311 - made-up keys
    return {
        chance.choice((chance.getrandbits(64), seed, 7)): chance.randrange(5) for _ in range(n_keys)
    }


def key_of(html: str, address: str = ADDRESS) -> int:
    """The key of a page whose article is its first paragraph."""
    tokens = tokenize(html)
    end = len(tokenize(html[: html.index("</p>")]))
    return page_key(address, tokens, span_labels(len(tokens), 1, end))


def test_what_was_added_is_in_the_set_and_nothing_else() -> None:
    generations = random_generations(3, 3 * MAX_RECENT)
    pages = pages_of(generations)

    assert content(pages) == generations
    assert len(pages) == len(generations)
    assert all(key in pages for key in generations)
    assert not any(key + 1 in pages for key in generations if key + 1 not in generations)
    assert 0 not in pages
    assert 2**64 - 1 not in pages


@pytest.mark.parametrize("limit", [5, 40, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_a_merge_is_the_bounded_union_in_any_order(
    seed: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_KEYS", limit)
    one, other, third = (random_generations(10 * seed + n, 30) for n in range(3))
    union = {
        key: max(generations.get(key, 0) for generations in (one, other, third))
        for key in one | other | third
    }

    left = pages_of(one)
    left.merge(pages_of(other))
    left.merge(pages_of(third))
    right = pages_of(other)
    right.merge(pages_of(third))
    right.merge(pages_of(one))
    right.merge(pages_of(other))

    newest = sorted(union.items(), key=lambda item: (item[1], item[0]))[-limit:]
    assert content(left) == content(right) == dict(newest)


def test_a_merge_counts_the_pages_that_both_have() -> None:
    assert pages_of({1: 0, 2: 0, 3: 1}).merge(pages_of({3: 0, 4: 0, 2: 9})) == 2
    assert pages_of({1: 0}).merge(LearnedPages()) == 0
    assert LearnedPages().merge(pages_of({1: 0})) == 0


def test_an_age_is_some_thousands_of_pages_and_fits_its_column() -> None:
    assert [generation_after(n) for n in (0, PAGES_OF_A_GENERATION - 1, PAGES_OF_A_GENERATION)] == [
        0,
        0,
        1,
    ]
    assert np.uint32(generation_after(2**54)) == 2**32 - 1


def test_the_key_of_a_page_is_of_its_address_and_its_labelled_words() -> None:
    same = [
        key_of(HTML, ADDRESS + "#comments"),
        key_of(HTML.replace("Advertisement", "Other teasers")),
        key_of(HTML.replace("<b>once</b>", "once")),
        key_of(HTML.replace("story, told", "story,   told")),
    ]
    different = [
        key_of(HTML, "https://news.example/story?id=2"),
        key_of(HTML.replace("told", "written")),
        key_of(HTML.replace("told", "told and told")),
        key_of(HTML.replace("story, told", "told, story")),
    ]

    assert set(same) == {key_of(HTML)}
    assert len({key_of(HTML), *different}) == 1 + len(different)


def test_words_and_address_do_not_run_into_each_other() -> None:
    tokens = tokenize("one two")
    nothing, everything = np.zeros(2, np.bool_), np.ones(2, np.bool_)
    words = tokens.token_id.astype("<u8").tobytes().decode("utf-8", "surrogateescape")

    assert page_key("", tokens, everything) != page_key(words, tokens, nothing)


def test_an_address_with_lone_surrogates_has_a_key() -> None:
    assert key_of(HTML, "https://news.example/\ud800") != key_of(HTML, "https://news.example/")


def test_the_paper_profile_is_the_paper() -> None:
    assert PAPER.families == ("trigram", "unclosed_tag")
    assert (PAPER.bias, PAPER.neighbours, PAPER.boundaries) == (0, False, ())
    assert PAPER.rules == PAPER_RULES
    assert PAPER.max_tag_share == 0.2


def test_the_other_profiles_of_the_paper_differ_from_it_as_the_paper_says() -> None:
    assert replace(PAPER, name="paper-hr", boundaries=(HORIZONTAL_RULE,)) == PAPER_HR
    assert replace(PAPER, name="trigram", families=("trigram",)) == TRIGRAM
    assert (
        replace(
            PAPER,
            name="cleaneval",
            families=("unigram", "unclosed_tag"),
            bias=0.14,
            neighbours=True,
            rules=CODE_ONLY,
        )
        == CLEANEVAL
    )
