"""Block features: a worked example for each, and properties where a slow walk gives the numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.features import (
    ANCESTORS,
    ELEMENT_LEVELS,
    EPSILON,
    FEATURES,
    KEY_LEVELS,
    PARENTS,
    PATH_LENGTH,
    container_features,
    evidence_mass,
)
from scrapy_mss.blocks.headline import MAX_HEADLINE
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Floats
from tests.helpers.classifiers import columns_of
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_ancestors, block_runs

Row = dict[str, float]


def rows_of(source: str) -> list[Row]:
    """The features of each block by their names."""
    columns = columns_of(Page.of(source))
    n = len(columns["words"])
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(n)]


def values_of(source: str, name: str) -> list[float]:
    return list(columns_of(Page.of(source))[name].tolist())


# A page and what a feature is of each of its blocks, near misses among them.
EXAMPLES: list[tuple[str, str, list[float]]] = [
    # Paragraphs are long, menus short.
    ("words", "<p>one two, three.<p>one", [log(4), log(2)]),
    ("letters", "<p>one, three.<p>a", [log(9), log(2)]),
    ("word_length", "<p>one three five<p>a...", [4, 1]),
    # Menus are links, articles have some.
    ("link_share", "<p><a>one two</a><p><a>one</a> two<p>one", [1, 0.5, 0]),
    ("all_linked", "<p><a>one two</a>, .<p><a>one</a> two", [1, 0]),
    # Headlines and names have capitals, tables digits.
    ("capital_share", "<p>One Two three<p>\u00c9t\u00e9 \u0416 \u00df<p>oNE", [2 / 3, 2 / 3, 0]),
    ("digit_share", "<p>1 2nd three<p>x2", [2 / 3, 0]),
    # Running text has sentences.
    ("sentence_ends", "<p>One. Two!<p>\u4e00\u3002<p>one", [log(3), log(2), 0]),
    ("sentence_end_share", "<p>One. Two two?<p>one", [2 / 3, 0]),
    ("commas", "<p>one, two; three<p>one.", [log(3), 0]),
    ("quotes", '<p>"one"<p>\u201cone\u201d\u00ab<p>one', [log(3), log(4), 0]),
    ("symbol_share", "<p>one | two<p>one", [0.5, 0]),
    ("ends_sentence", "<p>one.<p>one\u3002<p>one:<p>one)<p>one. two", [1, 1, 1, 1, 0]),
    ("ends_with_colon", "<p>one:<p>one: two", [1, 0]),
    ("starts_with_capital", "<p>One<p>one Two<p>\u0416", [1, 0, 1]),
    # A text that recurs is a label of the template.
    ("repetitions", "<p>one two<p>two one<p>one two", [log(2), 0, log(2)]),
    # Templates name the parts of a page.
    ("depth", "<div><p>one</p></div><p>two", [0.2, 0]),
    ("hidden", "<div hidden><p>one</p></div><p>two", [1, 0]),
    # Where on the page it is, by words and by blocks.
    ("position", "<p>one<p>two three<p>four", [0, 1 / 4, 3 / 4]),
    ("rank", "<p>one<p>two three<p>four<p>five", [0, 1 / 4, 2 / 4, 3 / 4]),
    ("words_before", "<p>one<p>two three<p>four", [0, log(2), log(4)]),
    ("words_after", "<p>one<p>two three<p>four", [log(4), log(2), 0]),
    ("page_words", "<p>one<p>two three", [log(4), log(4)]),
    # Headings give text its structure.
    ("heading_rank", "<h1>one</h1><h6>two</h6><h2><p>three</p></h2>", [6, 1, 0]),
    ("words_below_heading", "<p>one<h2>two three</h2><p>four<p>five", [9, 9, log(3), log(4)]),
    ("rank_of_heading_above", "<p>one<h2>two</h2><h3>three</h3><p>four", [0, 0, 5, 4]),
    (
        "main_headings",
        "<p>one<h1>two</h1><h1>three</h1>" + "<h1>x</h1>" * 9,
        [0, 1, 2, 3, *[4] * 8],
    ),
]
HEADLINE = "The ferry sails again this Monday"
TITLED = "<title>The ferry sails again this Monday | Daily</title>"
STORY = (
    f"{TITLED}<h1>Daily</h1><p>one two</p><h2>The ferry sails again this Monday</h2>"
    "<p>three four five</p><h2>Other news</h2><p>six</p>"
)
# The headline is the heading that repeats the title; the article begins below it.
EXAMPLES += [
    ("title_overlap", STORY, [0, 0, 0, 1, 0, 0, 0]),
    ("headline_title_overlap", STORY, [1] * 7),
    ("below_headline", STORY, [0, 0, 0, 0, 1, 1, 1]),
    ("words_from_headline", STORY, [-log1p(10), -log(4), -log(3), 0, log(7), log(10), log(12)]),
    ("later_headings", STORY, [0, 0, 0, 0, 0, log(2), log(2)]),
    ("title_overlap", f"{TITLED}<p>The ferry sails again this Monday", [0, 1]),
    # Of equal ones the main heading is the headline.
    ("below_headline", f"{TITLED}<h2>{HEADLINE}</h2><h1>{HEADLINE}</h1><p>one", [0, 0, 0, 1]),
    # Only the first title is the page's: drawings have their own.
    ("title_overlap", "<title>One two</title><svg><title>Three</title></svg><p>one two", [0, 0, 1]),
]
STATED = '<meta name="description" content="The ferry sails again this Monday.">'
DESCRIBED = (
    f"{STATED}<title>The ferry sails again this Monday</title><li>The ferry</li>"
    "<p>The ferry sails again, this Monday!</p><p>The ferry sails, as it does again this Monday"
)
# A description is often the article's first paragraph, by pairs of words.
EXAMPLES += [
    ("description_recall", DESCRIBED, [0, 1 / 5, 1, 4 / 5]),
    # Two words that the description has as well may be chance.
    ("description_precision", DESCRIBED, [0, 0, 1, 4 / 8]),
    # A pair of words is in one block.
    ("description_recall", f"{STATED}<p>The ferry<p>sails again this Monday", [1 / 5, 3 / 5]),
    ("below_description", DESCRIBED, [-1, -1, 1, 1]),
    ("has_description", DESCRIBED, [1] * 4),
]
for silent in ("", '<meta name="description" content="The ferry sails">'):
    EXAMPLES += [
        (name, f"{silent}<p>The ferry sails again this Monday", [0])
        for name in (
            *("description_recall", "description_precision"),
            *("below_description", "has_description"),
        )
    ]
EXAMPLES += [
    (f"is_{tag}", f"<{tag}><b>one</b></{tag}><h1>two</h1><{tag}><h1>x</h1></{tag}>", [1, 0, 0])
    for tag in PARENTS
]
EXAMPLES += [
    (f"in_{tag}", f"<{tag}><h1>one</h1></{tag}><h1>two</h1><{tag}></{tag}>three", [1, 0, 0])
    for tag in ANCESTORS
]


@pytest.mark.parametrize(
    ("name", "source", "expected"), EXAMPLES, ids=[name for name, _, _ in EXAMPLES]
)
def test_a_feature_by_example(name: str, source: str, expected: list[float]) -> None:
    assert values_of(source, name) == pytest.approx(expected)


def test_every_feature_has_an_example_and_a_name_of_its_own() -> None:
    assert len(set(FEATURES)) == len(FEATURES)
    assert set(FEATURES) == {name for name, _, _ in EXAMPLES}


@given(PAGES)
def test_features_are_one_number_a_block(source: str) -> None:
    page = Page.of(source)

    columns = columns_of(page)

    for column in columns.values():
        assert column.dtype == np.float64
        assert column.shape == (len(page.blocks),)
        assert np.isfinite(column).all()


PIECES = 'One two. 7 , " : Two <b>three</b> <a>four</a> Five\u2026 \u4e2d ;'.split()
TEXT_FEATURES = tuple(name for name, _, _ in EXAMPLES[:15])
PARAGRAPHS = st.lists(
    st.lists(st.sampled_from(PIECES), max_size=6).map(
        lambda pieces: f"<p>{' '.join(['one', *pieces])}</p>"
    ),
    max_size=6,
)


@given(PARAGRAPHS)
def test_features_of_a_text_do_not_depend_on_the_rest_of_the_page(paragraphs: list[str]) -> None:
    found = rows_of("".join(paragraphs))

    alone = [row for paragraph in paragraphs for row in rows_of(paragraph)]
    for name in TEXT_FEATURES:
        assert [row[name] for row in found] == [row[name] for row in alone]


@given(PAGES)
def test_the_heading_above_is_the_last_one_before(source: str) -> None:
    page = Page.of(source)

    found = page.heading_above.tolist()

    headings = np.flatnonzero(page.heading_level).tolist()
    above = ([h for h in headings if h < n] for n in range(len(page.blocks)))
    assert found == [max(each, default=-1) for each in above]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<h1>Anything</h1>", True),
        ("<h1></h1><p>one two", False),
        # A lower heading must have some of the title, a line without a heading most of it.
        ("<h3>The ferry sails again and something else</h3>", True),
        ("<h3>Something else on Tuesday and Friday</h3>", False),
        ("<div>The ferry sails again this Monday</div>", True),
        ("<div>The ferry sails again and something else</div>", False),
        # A single word, and what is too long, is no headline.
        ("<div>Ferry</div>", False),
        (f"<div>{'The ferry sails again this Monday ' * (MAX_HEADLINE // 6)}</div>", True),
        (f"<div>{'The ferry sails again this Monday ' * (MAX_HEADLINE // 6 + 1)}</div>", False),
    ],
)
def test_what_may_be_a_headline(body: str, *, found: bool) -> None:
    assert values_of(f"{TITLED}{body}<p>behind", "below_headline")[-1] == found


SCORES = st.lists(st.sampled_from([-3.0, -0.5, 0.0, 0.25, 1.0, 4.0]), min_size=1, max_size=7)


def scores_for(page: Page, some: list[float]) -> Floats:
    """A score for each block: *some*, over and over."""
    return np.resize(np.array(some), len(page.blocks))


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

    found = container_features(page, mass)

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

    found = container_features(page, mass)

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
