from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy_mss.blocks.copies import copied

from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.blocks.selection import (
    chosen,
    kept_tokens,
    line,
    rejoined,
    select,
    token_scores,
)
from scrapy_mss.core.subsequence import EMPTY, Span, best_span
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Floats
from tests.helpers.effort import examples
from tests.helpers.layouts import ODD, PAGES, kept_words, runs_of
from tests.helpers.markup import shown

SURE = st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.3, 0.5, 0.51, 0.8, 0.99, 1.0])
WEIGHED = st.lists(st.tuples(SURE, st.integers(1, 9)), min_size=1, max_size=8)


def page_of(sizes: list[int]) -> str:
    """A paragraph of so many words each."""
    return "".join(f"<p>{'one ' * size}</p>" for size in sizes)


def expected_f1(probability: list[float], words: list[int], kept: tuple[bool, ...]) -> float:
    """Twice the hits to be expected, by the words kept and the words to be expected."""
    rows = list(zip(probability, words, kept, strict=True))
    hits = sum(p * n for p, n, stays in rows if stays)
    found = sum(n for _, n, stays in rows if stays) + sum(p * n for p, n, _ in rows)
    return 2 * hits / found if found else 0.0


@given(WEIGHED)
@examples(2)
def test_the_line_is_half_of_the_best_expected_f1_of_all_choices(
    weighed: list[tuple[float, int]],
) -> None:
    probability, words = [p for p, _ in weighed], [n for _, n in weighed]
    passages = tokenize(page_of(words)).passages
    choices = list(product([False, True], repeat=len(words)))
    best = max(expected_f1(probability, words, choice) for choice in choices)

    zero = line(np.array(probability), passages)

    assert zero == pytest.approx(best / 2)
    # What is above the line is such a choice; whether what lies on it stays makes no difference.
    above = tuple(p > zero for p in probability)
    assert expected_f1(probability, words, above) == pytest.approx(best)


@pytest.mark.parametrize(
    ("probability", "expected"),
    [
        ([1.0, 0.0], 0.5),
        ([1.0], 0.5),
        ([0.0, 0.0], 0.0),
        ([], 0.0),
        # Nothing is sure: the line is low enough for what stands out.
        ([0.2, 0.0], 1 / 6),
        ([0.2, 0.2], 1 / 6),
        ([1e-9, 0.0], 1e-9),
    ],
)
def test_the_line_of_passages_of_one_size(probability: list[float], expected: float) -> None:
    passages = tokenize(page_of([3] * len(probability))).passages

    assert line(np.array(probability), passages) == pytest.approx(expected)


def probabilities(draw: st.DrawFn, n: int) -> Floats:
    return np.array(draw(st.lists(SURE, min_size=n, max_size=n)), np.float64)


def choice(draw: st.DrawFn, n: int) -> Bools:
    return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)


@given(PAGES, st.data())
def test_a_token_scores_what_its_passage_is_above_the_line(
    source: str, data: st.DataObject
) -> None:
    passages = tokenize(source).passages
    probability = data.draw(st.composite(probabilities)(len(passages)))

    scores = token_scores(probability, passages, 0.25)

    expected = [
        0 if n < 0 or is_tag else probability[n] - 0.25
        for n, is_tag in zip(passages.of, passages.tokens.is_tag, strict=True)
    ]
    assert scores.tolist() == expected


@given(PAGES, st.data())
def test_chosen_are_the_passages_of_the_span_that_are_above_the_line(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    passages = tokens.passages
    probability = data.draw(st.composite(probabilities)(len(passages)))
    above = probability > 0.25
    span = best_span(token_scores(probability, passages, 0.25))

    found = chosen(above, passages, span)

    expected = [
        probability[n] > 0.25 and span.start <= run[0] < span.end
        for n, run in enumerate(runs_of(tokens))
    ]
    assert found.tolist() == expected
    assert not chosen(above, passages, EMPTY).any()
    everywhere = chosen(above, passages, Span(0, len(tokens), 0.0))
    assert everywhere.tolist() == above.tolist()


@given(PAGES, st.data())
@examples(2)
def test_what_is_above_the_line_rejoins_what_is_kept_of_elements_named_alike(
    source: str, data: st.DataObject
) -> None:
    passages = tokenize(source).passages
    kept, above = (data.draw(st.composite(choice)(len(passages))) for _ in range(2))
    where = [
        tuple(int(passages.keys(level)[n]) for level in range(LEVELS)) for n in range(len(kept))
    ]
    known = {where[n] for n in np.flatnonzero(kept)}

    found = rejoined(kept, above, passages)

    expected = [bool(kept[n]) or (bool(above[n]) and where[n] in known) for n in range(len(kept))]
    assert found.tolist() == expected


@given(PAGES, st.data())
def test_the_article_is_what_rejoined_the_best_span_without_copies(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    passages = tokens.passages
    probability = data.draw(st.composite(probabilities)(len(passages)))

    scores, span, kept = select(probability, passages)

    above = probability > line(probability, passages)
    best = chosen(above, passages, best_span(scores))
    whole = rejoined(best, above, passages)
    assert kept.tolist() == (whole & ~copied(passages, whole)).tolist()
    at = np.flatnonzero(kept)
    if len(at):
        assert (span.start, span.end) == (passages.first[at[0]], passages.last[at[-1]] + 1)
        assert span.value == pytest.approx(scores[span.start : span.end].sum())
    else:
        assert span == EMPTY


LONG = "one two three four five six seven eight nine ten " * 3
BOX = "<div class=box>x" + "<b></b>" * 200 + "x</div>"


@pytest.mark.parametrize(
    ("source", "sure", "kept"),
    [
        # A box of many tags weighs no more than its words do.
        (f"<p>{LONG}</p><div>{BOX}</div><h2>{LONG * 3}</h2>", [0.9, 0.1, 0.9], [True, False, True]),
        # Much junk: the smaller part rejoins the larger one if it stands in elements named alike.
        (
            f"<p>{LONG}</p><div>{LONG * 9}</div><p>{LONG * 3}</p>",
            [0.9, 0, 0.9],
            [True, False, True],
        ),
        (
            f"<p>{LONG}</p><div>{LONG * 9}</div><h2>{LONG * 3}</h2>",
            [0.9, 0, 0.9],
            [False] * 2 + [True],
        ),
    ],
)
def test_what_junk_does_to_an_article(source: str, sure: list[float], kept: list[bool]) -> None:
    assert select(np.array(sure), tokenize(source).passages)[2].tolist() == kept


@given(PAGES, st.data())
@examples(3)
def test_the_words_kept_are_all_words_of_the_passages_kept_and_no_others(
    source: str, data: st.DataObject
) -> None:
    tokens = tokenize(source)
    passages = tokens.passages
    kept = data.draw(st.composite(choice)(len(passages)))
    runs = runs_of(tokens)

    stays = kept_tokens(passages, kept)

    expected = [at for run, one in zip(runs, kept, strict=True) if one for at in run]
    in_passages = {at for run in runs for at in run}
    assert [at for at in kept_words(tokens, stays) if at in in_passages] == expected
    # Signs that are in no passage stay between what stays, and nothing stays beyond it.
    if expected:
        at = np.flatnonzero(stays)
        assert at[0] == expected[0]
        assert at[-1] == expected[-1]
    else:
        assert not stays.any()


@given(PAGES)
def test_tags_around_what_is_dropped_go_and_others_stay(source: str) -> None:
    tokens = tokenize(source)
    passages = tokens.passages
    everything = np.ones(len(passages), np.bool_)

    stays = kept_tokens(passages, everything)

    at = np.arange(len(tokens))
    ends = (passages.first[:1].tolist() or [0]) + (passages.last[-1:].tolist() or [-1])
    assert stays.tolist() == ((at >= ends[0]) & (at <= ends[-1])).tolist()


@pytest.mark.parametrize(
    ("source", "kept", "expected"),
    [
        ("<p>a</p><p>b</p><p>c</p>", "a c", "a </p> <p> c"),
        ("<p>a</p><div><p>b</p><img></div><p>c</p>", "a c", "a </p> <p> c"),
        ("<p>a</p><div><img></div><hr><p>c</p>", "a c", "a </p> <div> <img> </div> <hr> <p> c"),
        ("<p>a</p><ul><li>b</li><li>c</li></ul>", "a c", "a </p> <ul> <li> c"),
        ("<p>a <b>b</b></p><p>c", "a", "a <b> b"),
        ("<p>a</p><p>b</p>", "", ""),
        # An inline element that holds the end of a passage, and one that is dropped.
        ("a <b>b<p>c</p></b><p>d", "a d", "a <b> b </b> <p> d"),
        ("a <b>b<p>c</p></b><p>d", "c d", "c </p> </b> <p> d"),
    ],
)
def test_what_is_kept_of_a_page(source: str, kept: str, expected: str) -> None:
    """Of passages that begin with the letters *kept*."""
    tokens = tokenize(source)
    seen, passages = shown(tokens), tokens.passages
    letters = kept.split()

    stays = kept_tokens(passages, np.array([seen[at] in letters for at in passages.first]))

    assert [seen[at] for at in np.flatnonzero(stays)] == expected.split()


@pytest.mark.parametrize("name", ODD)
def test_a_choice_of_an_odd_page_is_sound(name: str) -> None:
    tokens = tokenize(ODD[name])
    passages = tokens.passages
    probability = np.arange(len(passages)) % 3 / 3

    zero = line(probability, passages)
    scores, span, kept = select(probability, passages)
    stays = kept_tokens(passages, kept)

    assert 0 <= zero <= 0.5
    assert np.isfinite(scores).all()
    assert 0 <= span.start <= span.end <= len(tokens)
    assert int((stays & tokens.is_word).sum()) == int(passages.words[kept].sum())
