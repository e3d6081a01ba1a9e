from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page_features import (
    N_LOOKS,
    N_OF_TEXT,
    N_OPEN,
    count_sentences,
    is_article,
    looks_of,
    looks_of_silent,
    span_probability,
)
from scrapy_mss.core.subsequence import EMPTY, Span
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Floats
from tests.helpers.layouts import ODD
from tests.helpers.news_pages import news_page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        # Eight sentences and two paragraphs are enough, one less of either is not.
        ("One. " * 4 + "\n\n" + "Two. " * 4, True),
        ("One. " * 4 + "\n\n" + "Two. " * 3, False),
        ("One. " * 7 + "\n\n" + "Two.", True),
        ("One. " * 7 + "\n\n" + "Two", False),
        ("One. " * 8, False),
        ("One. " * 100, False),
        ("One. " * 4 + "\n" + "Two. " * 4, False),
        ("One. " * 4 + "\n\n" + "Two\n\n" + "Three. " * 4, True),
        ("One.\n\n" * 8, True),
        ("One\n\n" * 100, False),
    ],
)
def test_an_article_has_two_paragraphs_and_eight_sentences(
    text: str,
    expected: bool,  # noqa: FBT001
) -> None:
    assert is_article(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("No end", 0),
        ("One.", 1),
        ("One. Two", 1),
        ("One. Two.", 2),
        ("One! Two? Three\u2026 Four.", 4),
        ("One.\nTwo.\n\nThree.", 3),
        # Quotes and brackets stand behind the point.
        ('"One." (Two.) \u201cThree.\u201d \u00abFour.\u00bb', 4),
        ('He said "one.") Two.', 2),
        # Near misses: a point within a number, a name, an address; points in a row.
        ("3.5 www.example.com e.g.this", 0),
        ("One.Two", 0),
        ("One...", 1),
        ("One?!", 1),
        # Other scripts; in those without spaces the point alone is enough.
        ("\u4e00\u3002\u4e8c\uff01\u4e09\uff1f\u56db", 3),
        ("\u0645\u0631\u062d\u0628\u0627\u061f \u0646\u0639\u0645.", 2),
        ("\u0939\u093e\u0901\u0964 \u0939\u093e\u0901\u0964", 2),
    ],
)
def test_sentences_are_counted_by_their_ends(text: str, expected: int) -> None:
    assert count_sentences(text) == expected


def test_the_probability_of_a_span_is_the_mean_of_its_tokens() -> None:
    scores = np.array([-0.5, 0.5, 0.25, 0.0, -0.5])

    assert span_probability(scores, Span(1, 4, 0.75)) == 0.75
    assert span_probability(scores, Span(0, 5, -0.25)) == 0.45
    assert span_probability(scores, EMPTY) == 0


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=9))
def test_a_probability_stays_between_0_and_1_for_any_scores(scores: list[float]) -> None:
    """Scores of simple MSS are no probabilities, and a bias lifts scores over one half."""
    assert 0 <= span_probability(np.array(scores), Span(0, len(scores), sum(scores))) <= 1


# Where the looks of what a page says begin: an article, a shop's page, a discussion, a list.
SAID = 19


SAYS = '<script>{"@type": "Article"}</script>'


def looks(source: str) -> Floats:
    """The looks of a page all of whose passages are kept."""
    passages = tokenize(source).passages
    n = len(passages)
    return looks_of(passages, np.full(n, 2.0), np.full(n, 0.75), np.ones(n, np.bool_))


@pytest.mark.parametrize(
    ("said", "expected"),
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
def test_what_a_page_says_it_is(said: str, expected: list[int]) -> None:
    found = looks(f"<script>{said}</script><p>one two")

    assert found[SAID : SAID + 4].tolist() == expected


def test_looks_of_a_page_by_hand() -> None:
    found = looks(
        f"{SAYS}<article><p>One two. Three four!</p><li><a href=x>five</a> six</li></article>"
    )

    size, kept, sentences = 6, 2, 2
    assert found[:2].tolist() == pytest.approx([np.log1p(size), np.log1p(kept)])
    assert found[2:4].tolist() == [0.75, 0.75]
    # Of two passages of one probability p, all kept: F1 2p / (1 + p).
    assert found[4] == pytest.approx(1.5 / 1.75)
    assert found[5:7].tolist() == pytest.approx([1, np.log1p(size)])
    assert found[7] == pytest.approx(1 / 6)
    assert found[8:11].tolist() == pytest.approx([np.log1p(3), np.log1p(2), sentences / size])
    no_code, score, together, in_article = 0, 2, 1, 1
    assert found[11:13].tolist() == pytest.approx([2 / 6, 4 / 6])
    assert found[13:17].tolist() == pytest.approx([no_code, score, together, in_article])


def test_text_that_is_spread_over_the_page_and_code_have_looks_of_their_own() -> None:
    row = "<div><div><p>One two three four.</p></div></div>"

    spread, code = looks(SAYS + row * 4), looks(f"{SAYS}<pre>one two</pre><p>three four</p>")

    assert spread[15] == pytest.approx(1 / 4)
    assert code[13] == pytest.approx(1 / 2)


def test_nothing_kept_has_no_looks_but_the_page_s() -> None:
    passages = news_page(0).tokens.passages
    nothing = np.zeros(len(passages), np.bool_)

    score, probability = np.zeros(len(passages)), np.full(len(passages), 0.1)
    found = looks_of(passages, score, probability, nothing)

    text = found[N_OPEN : N_OPEN + N_OF_TEXT]  # the page says nothing of itself
    assert text[1] == text[2] == text[7] == text[9] == 0
    assert text[6] > 0


def test_a_page_that_says_nothing_is_decided_by_its_text_alone() -> None:
    page = "<article><p>One two. Three four!</p><li><a href=x>five</a> six</li></article>"

    saying, silent = looks(SAYS + page), looks(page)

    assert silent[:N_OPEN].tolist() == [0] * N_OPEN
    assert silent[N_OPEN:].tolist() == [*saying[:N_OF_TEXT], 1]
    assert saying[N_OPEN:].tolist() == [0] * (N_OF_TEXT + 1)
    assert looks_of_silent(saying).tolist() == silent.tolist()


@pytest.mark.parametrize("name", ODD)
def test_looks_of_odd_pages_are_finite(name: str) -> None:
    found = looks(ODD[name])

    assert found.shape == (N_LOOKS,)
    assert np.isfinite(found).all()
