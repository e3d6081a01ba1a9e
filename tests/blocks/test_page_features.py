from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.classifier import INPUTS, POOLINGS, BlockInputs, block_inputs
from scrapy_mss.blocks.features import Columns, places_of
from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import (
    CONFIDENCE_FEATURES,
    PAGE_FEATURES,
    UNDECLARED,
    Origin,
    ReadPage,
    as_undeclared,
    confidence_features,
    expected_f1,
    page_feature_names,
    page_features,
    without_address,
)
from scrapy_mss.blocks.selection import threshold
from scrapy_mss.markup.tokens import Bools, Floats
from tests.helpers.layouts import PAGES

SCRIPT = '<script type="application/ld+json">{}</script>'
DECLARED, SILENT = SCRIPT.format('{"@type": "Article"}'), SCRIPT.format("{}")
URL = "https://a.example/2024/05/06/a-ferry-sails-again-123"
STATEMENTS = (
    *("article_type", "other_type", "shop_type", "forum_type"),
    *("graph_article", "graph_website", "graph_other"),
)

SCORE, PROBABILITY = 2.0, 0.75


def features_of(source: str, kept: list[bool] | None = None, url: str = "") -> Floats:
    """The features of a page whose blocks are all alike; without *kept* it keeps all of them."""
    page = Page.of(source, url=url)
    n = len(page.blocks)
    score = np.full(n, SCORE)
    inputs = block_inputs(page, np.tile(score, (len(POOLINGS), 1)), score)
    mask: Bools = np.ones(n, np.bool_) if kept is None else np.array(kept, np.bool_)
    probability = np.full(n, PROBABILITY)
    return page_features(ReadPage(page, inputs, probability, mask, threshold(page, probability)))


def named(source: str, kept: list[bool] | None = None, url: str = "") -> dict[str, float]:
    names = page_feature_names()
    return dict(zip(names, features_of(source, kept, url).tolist(), strict=True))


def graph(kind: str) -> str:
    return f'<meta property="og:type" content="{kind}">'


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (SCRIPT.format('{"@type": "NewsArticle"}'), {"article_type"}),
        (
            SCRIPT.format('{"@graph": [{"@type": "WebSite"}, {"@type": "Article"}]}'),
            {"article_type"},
        ),
        (SCRIPT.format('{"@type": "CollectionPage"}'), {"other_type"}),
        (SCRIPT.format('{"@type": "ItemList", "a": {"@type": "Article"}}'), {"other_type"}),
        (SCRIPT.format('{"@type":[ "Product"]}'), {"other_type", "shop_type"}),
        (
            SCRIPT.format('{"@type": "Article", "offers": {"@type": "Offer"}}'),
            {"article_type", "shop_type"},
        ),
        (SCRIPT.format('{"@type": "QAPage"}'), {"other_type", "forum_type"}),
        ('<script>{"@type": "Product"}</script>', {"shop_type"}),
        (graph("article"), {"graph_article"}),
        (graph("website"), {"graph_website"}),
        (graph("video.other"), {"graph_other"}),
        (graph("product"), {"graph_other", "shop_type"}),
        # Near misses.
        ('<script>{"@type": "Article"}</script>', set()),
        ("", set()),
    ],
)
def test_what_a_page_states_that_it_is(statement: str, expected: set[str]) -> None:
    found = named(f"{statement}<p>one two")

    assert {name for name in STATEMENTS if found[name]} == expected


def test_page_features_by_hand() -> None:
    found = named(
        f"{DECLARED}<title>One</title><article><p>One two. Three four!</p>"
        "<li><a href=x>five</a> six</li></article><pre>seven eight</pre><p>nine ten</p>",
        [False, True, True, True, False],
    )

    words = 8
    expected = {
        "words": np.log1p(words),
        "mean_probability": PROBABILITY,
        # All blocks have the probability p, so that all are kept: F1 is 2p / (1 + p).
        "expected_f1": 2 * PROBABILITY / (1 + PROBABILITY),
        "kept_share": 8 / 11,
        "words_per_block": np.log1p(words / 3),
        "in_list_items": 2 / words,
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
        ("author_cues", "\"author\" 'author' byline", 3),
        ("price_cues", '"price" add-to-cart', 2),
        ("forum_cues", "forum thread reply", 3),
        ("price_cues", "price adds to carts", 0),
    ],
)
def test_cues_are_counted_in_the_source(name: str, source: str, n: int) -> None:
    found = named(f"{DECLARED}<!-- {source} --><p>one</p>")

    assert found[name] == pytest.approx(np.log1p(n))


def test_without_kept_blocks_nothing_is_told_of_a_text() -> None:
    found = named(f"{DECLARED}<p>one two<p>three four five", [False, False])

    assert found["article_type"] == 1
    for name in ("mean_probability", "score", "mass_in_body", "times", "least_agreement"):
        assert found[name] == 0


PAGE = "<article><h1>One</h1><p>One two. Three four!</p><li><a href=x>five</a> six</li></article>"


def test_a_page_that_states_nothing_is_decided_by_its_text_and_its_address_alone() -> None:
    stating, silent = named(DECLARED + PAGE, url=URL), named(SILENT + PAGE, url=URL)

    assert (stating.pop(UNDECLARED), silent.pop(UNDECLARED)) == (0, 1)
    for feature in PAGE_FEATURES:
        is_read = feature.origin in {Origin.TEXT, Origin.ADDRESS}
        assert silent[feature.name] == (stating[feature.name] if is_read else 0)
    assert stating["in_article"] > 0
    assert stating["date"] == 1


def test_any_page_can_be_taken_for_a_silent_one() -> None:
    stating, silent = features_of(DECLARED + PAGE), features_of(SILENT + PAGE)

    assert as_undeclared(stating).tolist() == silent.tolist()
    assert as_undeclared(silent).tolist() == silent.tolist()


@pytest.mark.parametrize("statement", [DECLARED, SILENT])
def test_any_page_can_be_taken_for_one_whose_address_is_unknown(statement: str) -> None:
    known, unknown = features_of(statement + PAGE, url=URL), features_of(statement + PAGE)

    assert known.tolist() != unknown.tolist()
    assert without_address(known).tolist() == unknown.tolist()
    assert without_address(unknown).tolist() == unknown.tolist()


TIMES = "<time>a</time><p>one<p>two <time>b</time><div><time>c</time></div><p>three<time>d</time>"


@pytest.mark.parametrize(
    ("kept", "n"), [((1, 2), 1), ((1, 2, 3, 4), 3), ((2, 4), 3), ((4,), 1), ((1,), 0), ((), 0)]
)
def test_times_are_those_between_the_first_and_the_last_kept_block(
    kept: tuple[int, ...], n: int
) -> None:
    page = Page.of(TIMES)
    mask: Bools = np.isin(np.arange(len(page.blocks)), kept)

    assert len(page.blocks) == 5
    assert read_as(page, mask).times == n


SHORT = Page.of("<p>one two three four<p>five six<p>seven eight")  # of 4, 2 and 2 words


def read_as(
    page: Page,
    kept: Sequence[bool] | Bools,
    said: Sequence[Sequence[float]] = (),
    probability: Sequence[float] | None = None,
) -> ReadPage:
    """A *page* of which these blocks were *kept*, by its first opinions as they have *said*."""
    n = len(page.blocks)
    columns = Columns(places_of(INPUTS), np.zeros((len(INPUTS), n)))
    for opinion, of in zip(OPINIONS, said, strict=False):
        columns[f"opinion_{opinion.name}"][:] = of
        columns[f"share_of_{opinion.name}"][:] = np.average(of, weights=page.words)
    inputs = BlockInputs(np.zeros(n), columns)
    of_blocks = np.full(n, PROBABILITY) if probability is None else np.array(probability, float)
    return ReadPage(page, inputs, of_blocks, np.array(kept, np.bool_), 0.5)


def test_agreement_is_f1_by_words_with_each_opinion_that_keeps_anything() -> None:
    kept = [True, True, False]

    found = read_as(SHORT, kept, [[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]]).agreements

    assert found == pytest.approx([1, 2 * 4 / (6 + 4), 0])
    assert read_as(SHORT, kept).agreements == []


@pytest.mark.parametrize(
    ("probability", "kept", "expected"),
    [
        ([1, 0, 0], [True, False, False], 1),
        ([1, 1, 0], [True, False, False], 2 * 4 / (4 + 6)),
        ([1, 0, 0], [True, True, False], 2 * 4 / (6 + 4)),
        ([0.5, 0.5, 0.5], [True, True, True], 2 * 4 / (8 + 4)),
        ([0, 0, 0], [True, True, True], 0),
        ([1, 1, 1], [False, False, False], 0),
    ],
)
def test_the_expected_f1_by_hand(
    probability: list[float], kept: list[bool], expected: float
) -> None:
    assert expected_f1(read_as(SHORT, kept, probability=probability)) == pytest.approx(
        expected, abs=0.001
    )


@given(PAGES, st.data())
def test_confidence_features_are_finite(html: str, data: st.DataObject) -> None:
    page = Page.of(html)
    n = len(page.blocks)
    probability = data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    kept = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))

    found: Floats = confidence_features(read_as(page, kept, probability=probability))

    assert found.shape == (len(CONFIDENCE_FEATURES),)
    assert np.isfinite(found).all()


@given(PAGES, st.data())
def test_a_page_that_is_read_again_is_told_by_the_later_reading(
    html: str, data: st.DataObject
) -> None:
    page = Page.of(html)
    n = len(page.blocks)
    score = np.zeros(n)
    inputs = block_inputs(page, np.tile(score, (len(POOLINGS), 1)), score)
    marks = st.lists(st.booleans(), min_size=n, max_size=n)
    first = np.array(data.draw(marks), np.bool_)
    later = data.draw(st.sampled_from([first, np.array(data.draw(marks), np.bool_)]))
    read = ReadPage(page, inputs, np.full(n, 0.5), first, 0.25)
    page_features(read)
    likely = np.linspace(0.1, 0.9, n)

    again, fresh = read.again(likely, later, 0.3), ReadPage(page, inputs, likely, later, 0.3)

    for features_of_reading in (page_features, confidence_features):
        assert features_of_reading(again).tolist() == features_of_reading(fresh).tolist()
