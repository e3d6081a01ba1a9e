from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.cleaning import CODE_ONLY, HORIZONTAL_RULE, PAPER_RULES
from scrapy_mss.core.labels import span_labels
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models import model as module
from scrapy_mss.models.model import (
    PAGES_OF_A_GENERATION,
    LearnedPages,
    Model,
    generation_after,
    page_key,
)
from scrapy_mss.models.profiles import CLEANEVAL, DEFAULT, PAPER, PAPER_HR, TRIGRAM
from tests.helpers.classifiers import counts_of, random_classifier


def test_the_identifier_changes_with_any_word_class_word_or_tag_that_is_learned() -> None:
    pages = ["", "<p>One two", "<p>One three", "<p class=menu>One two", "<h2>One two"]
    models = [Model(DEFAULT, random_classifier(), counts_of([1])) for _ in pages]
    for model, page in zip(models, map(Page.of, pages), strict=True):
        model.bayes.learn(page, np.ones(len(page.tokens), np.bool_))

    assert len({model.identifier for model in models}) == len(pages)


def test_an_identifier_names_the_profile_and_the_number_of_pages() -> None:
    assert Model(DEFAULT, None, counts_of([1, 2, 2])).identifier.startswith("default@3p-")
    assert Model(PAPER).identifier == "paper@0p-0000000000000000"
    assert Model(TRIGRAM).identifier != Model(PAPER).identifier
    assert Model(DEFAULT, random_classifier()).identifier != Model(DEFAULT).identifier


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


GENERATIONS = st.dictionaries(
    st.integers(0, 9) | st.integers(0, 2**64 - 1), st.integers(0, 4), max_size=30
)


def key_of(html: str, address: str = ADDRESS) -> int:
    """The key of a page whose article is its first paragraph."""
    tokens = tokenize(html)
    end = len(tokenize(html[: html.index("</p>")]))
    return page_key(address, tokens, span_labels(len(tokens), 1, end))


@given(GENERATIONS, st.integers(0, 2**64 - 1), st.integers(1, 3))
def test_what_was_added_is_in_the_set_and_nothing_else(
    generations: dict[int, int], other: int, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_RECENT", most)
        pages = pages_of(generations)

    assert [key in pages for key in (*generations, other)] == [
        *[True] * len(generations),
        other in generations,
    ]
    assert content(pages) == generations
    assert len(pages) == len(generations)
    assert all(key in pages for key in generations)


@given(GENERATIONS, GENERATIONS, GENERATIONS, st.integers(1, 60))
def test_a_merge_is_the_bounded_union_in_any_order(
    one: dict[int, int], other: dict[int, int], third: dict[int, int], limit: int
) -> None:
    union = {
        key: max(generations.get(key, 0) for generations in (one, other, third))
        for key in one | other | third
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_KEYS", limit)
        left, right = pages_of(one), pages_of(other)
        n_both = left.merge(pages_of(other))
        left.merge(pages_of(third))
        for more in (third, one, other):
            right.merge(pages_of(more))

    newest = sorted(union.items(), key=lambda item: (item[1], item[0]))[-limit:]
    assert content(left) == content(right) == dict(newest)
    assert limit < len(union) or n_both == len(one.keys() & other.keys())


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
