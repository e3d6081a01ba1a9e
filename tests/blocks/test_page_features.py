from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.classifier import POOLINGS, block_inputs
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import (
    PAGE_FEATURES,
    UNDECLARED,
    Group,
    ReadPage,
    as_undeclared,
    page_feature_names,
    page_features,
)
from scrapy_mss.markup.tokens import Bools, Floats
from tests.helpers.layouts import PAGES

DECLARED = '<script>{"@type": "Article"}</script>'
TEXT = [feature.name for feature in PAGE_FEATURES if feature.group is Group.TEXT]
STATEMENTS = ("article_type", "shop_type", "forum_type", "list_type")

SCORE, PROBABILITY = 2.0, 0.75


def features_of(source: str, kept: list[bool] | None = None) -> Floats:
    """The features of a page whose blocks are all alike; without *kept* it keeps all of them."""
    page = Page.of(source)
    n = len(page.blocks)
    score = np.full(n, SCORE)
    inputs = block_inputs(page, np.tile(score, (len(POOLINGS), 1)), score)
    mask: Bools = np.ones(n, np.bool_) if kept is None else np.array(kept, np.bool_)
    return page_features(ReadPage(page, inputs, np.full(n, PROBABILITY), mask))


@given(PAGES, st.sampled_from(["", '{"@type": "NewsArticle"}', "<p>forum thread"]), st.data())
def test_features_of_other_kept_blocks_are_those_of_a_first_reading(
    html: str, statement: str, data: st.DataObject
) -> None:
    page = Page.of(html + statement)
    n = len(page.blocks)
    score = np.full(n, SCORE)
    inputs = block_inputs(page, np.tile(score, (len(POOLINGS), 1)), score)

    def read() -> ReadPage:
        kept = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
        return ReadPage(page, inputs, np.full(n, PROBABILITY), np.array(kept, np.bool_))

    before, now = page_features(read()), read()

    assert page_features(now, before).tolist() == page_features(now).tolist()


def named(source: str, kept: list[bool] | None = None) -> dict[str, float]:
    names = page_feature_names()
    return dict(zip(names, features_of(source, kept).tolist(), strict=True))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('{"@type": "NewsArticle"}', [1, 0, 0, 0]),
        ("{'@type' : ['BlogPosting', 'Thing']}", [1, 0, 0, 0]),
        ('{"@type":[ "Product"]}', [0, 1, 0, 0]),
        ('{"@type": "QAPage"}', [0, 0, 1, 0]),
        ('{"@type": "ItemList"} {"@type": "Article"}', [1, 0, 0, 1]),
        ('<meta property="og:type" content="article">', [1, 0, 0, 0]),
        ("<meta property='og:type' content = 'product'>", [0, 1, 0, 0]),
        ('<meta property="og:type" content="website">', [0, 0, 0, 1]),
        # Near misses.
        ('{"@type": Article}', [0, 0, 0, 0]),
        ('{"type": "Article"}', [0, 0, 0, 0]),
        ('{"@type": [[ "Article"]]}', [0, 0, 0, 0]),
        ('{"@type": "ArticleList"}', [0, 0, 0, 0]),
        ('<meta property="og:type">', [0, 0, 0, 0]),
        ("", [0, 0, 0, 0]),
    ],
)
def test_what_a_page_states_that_it_is(statement: str, expected: list[int]) -> None:
    found = named(f"<script>{statement}</script><p>one two")

    assert [found[name] for name in STATEMENTS] == expected


def test_page_features_by_hand() -> None:
    found = named(
        f"{DECLARED}<title>One</title><article><p>One two. Three four!</p>"
        "<li><a href=x>five</a> six</li></article><pre>seven eight</pre><p>nine ten</p>",
        [False, True, True, True, False],
    )

    words, sentences = 8, 2
    expected = {
        "words": np.log1p(words),
        "blocks": np.log1p(3),
        "mean_probability": PROBABILITY,
        "max_probability": PROBABILITY,
        # All blocks have the probability p, so that all are kept: F1 is 2p / (1 + p).
        "expected_f1": 2 * PROBABILITY / (1 + PROBABILITY),
        "kept_share": 8 / 11,
        "page_words": np.log1p(11),
        "link_share": 1 / words,
        "words_per_block": np.log1p(words / 3),
        "sentences": np.log1p(sentences),
        "sentence_share": sentences / words,
        "in_list_items": 2 / words,
        "ends_sentence": 4 / words,
        "is_code": 2 / words,
        "score": SCORE,
        "in_article": 6 / words,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<div>" + "<p>One two.</p>" * 4 + "</div>", 1),
        ("<div><div><p>One two.</p></div></div>" * 4, 1 / 4),
    ],
    ids=["together", "spread"],
)
def test_the_text_of_an_article_is_together(body: str, expected: float) -> None:
    assert named(f"{DECLARED}<div>{body}</div>")["mass_in_body"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "source", "n"),
    [
        ("date_cues", '<time>1</time> "datePublished" article:published_time', 3),
        ("author_cues", "\"author\" 'author' byline", 3),
        ("price_cues", '"price" add-to-cart', 2),
        ("forum_cues", "forum thread reply", 3),
        ("price_cues", "price adds to carts", 0),
    ],
)
def test_cues_are_counted_in_the_source(name: str, source: str, n: int) -> None:
    found = named(f"{DECLARED}<!-- {source} --><p>one</p>")

    assert found[name] == pytest.approx(np.log1p(n))


def test_without_kept_blocks_there_are_features_of_the_page_alone() -> None:
    found = named(f"{DECLARED}<p>one two<p>three four five", [False, False])

    assert found["page_words"] == pytest.approx(np.log1p(5))
    for name in ("blocks", "mean_probability", "link_share", "sentences", "score", "mass_in_body"):
        assert found[name] == 0


PAGE = "<article><p>One two. Three four!</p><li><a href=x>five</a> six</li></article>"


def test_a_page_that_states_nothing_is_decided_by_its_text_alone() -> None:
    stating, silent = named(DECLARED + PAGE), named(PAGE)

    for name in page_feature_names():
        of_text = name.removeprefix(f"{UNDECLARED}:")
        if name == UNDECLARED:
            assert (stating[name], silent[name]) == (0, 1)
        elif of_text != name:
            assert (stating[name], silent[name]) == (0, stating[of_text])
        else:
            assert silent[name] == 0
    assert {f"{UNDECLARED}:{name}" for name in TEXT} < set(page_feature_names())


def test_any_page_can_be_taken_for_a_silent_one() -> None:
    stating, silent = features_of(DECLARED + PAGE), features_of(PAGE)

    assert as_undeclared(stating).tolist() == silent.tolist()
    assert as_undeclared(silent).tolist() == silent.tolist()


@given(PAGES)
def test_page_features_are_one_finite_number_a_name(source: str) -> None:
    found = features_of(source)

    assert found.shape == (len(page_feature_names()),)
    assert np.isfinite(found).all()
