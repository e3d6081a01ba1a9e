from __future__ import annotations

from itertools import product
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import MIN_BLOCKS
from scrapy_mss.blocks.selection import (
    MIN_BLOCK_WORDS,
    MIN_COPIED_BLOCKS,
    MIN_COPIED_WORDS,
    duplicates,
    kept_at,
    kept_tokens,
    rejoined,
    select,
    threshold,
    token_scores,
)
from scrapy_mss.core.subsequence import EMPTY, best_span
from scrapy_mss.markup.rendering import readable
from scrapy_mss.markup.tokens import Bools, Floats
from tests.helpers.compiled import both
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_runs
from tests.helpers.markup import shown

Value = TypeVar("Value")

CERTAINTY = st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.3, 0.5, 0.51, 0.8, 0.99, 1.0])
WEIGHED = st.lists(st.tuples(CERTAINTY, st.integers(1, 9)), min_size=1, max_size=8)


def paragraphs(sizes: list[int]) -> Page:
    """A page with a paragraph of so many words each."""
    return Page.of("".join(f"<p>{'one ' * size}</p>" for size in sizes))


def one_a_block(data: st.DataObject, page: Page, values: st.SearchStrategy[Value]) -> list[Value]:
    n = len(page.blocks)
    return data.draw(st.lists(values, min_size=n, max_size=n))


def probabilities(data: st.DataObject, page: Page) -> Floats:
    return np.array(one_a_block(data, page, CERTAINTY), np.float64)


def choice(data: st.DataObject, page: Page) -> Bools:
    return np.array(one_a_block(data, page, st.booleans()), np.bool_)


def expected_f1(probability: list[float], words: list[int], kept: tuple[bool, ...]) -> float:
    """Twice the expected hits, by the words kept and the expected words of the article."""
    rows = list(zip(probability, words, kept, strict=True))
    hits = sum(p * n for p, n, stays in rows if stays)
    size = sum(n for _, n, stays in rows if stays) + sum(p * n for p, n, _ in rows)
    return 2 * hits / size if size else 0.0


def test_a_table_that_begins_in_a_joined_block_stays_by_the_scores_of_its_tokens() -> None:
    table = "<table><tr><td>1<td>2<tr><td>3<td>4</table>"
    page = Page.of(f"<p>one<p>two{table}" * MIN_BLOCKS)

    chosen = select(page, np.random.default_rng(0).random(len(page.blocks)))

    scores, (start, end, score) = token_scores(page, chosen.of_blocks), chosen.span
    rows = zip(chosen.tables.first, chosen.tables.last, strict=True)
    sums = [scores[first:last].sum() for first, last in rows]
    assert any(page.blocks.of_token[chosen.tables.first] >= 0)
    assert chosen.tables.stays.tolist() == [each > 0 for each in sums]
    assert score == pytest.approx(scores[start:end].sum())


@given(WEIGHED)
@examples(2)
def test_the_threshold_is_half_of_the_best_expected_f1_of_all_choices(
    weighed: list[tuple[float, int]],
) -> None:
    probability, words = [p for p, _ in weighed], [n for _, n in weighed]
    choices = list(product([False, True], repeat=len(words)))
    best = max(expected_f1(probability, words, some) for some in choices)

    zero = threshold(paragraphs(words), np.array(probability))

    assert zero == pytest.approx(best / 2)
    # What is above is such a choice; whether what equals the threshold stays makes no difference.
    above = tuple(p > zero for p in probability)
    assert expected_f1(probability, words, above) == pytest.approx(best)


@given(PAGES, st.data())
def test_a_token_has_the_score_of_its_block(source: str, data: st.DataObject) -> None:
    page = Page.of(source)
    of_blocks = probabilities(data, page) - 0.25

    scores = token_scores(page, of_blocks)

    expected = [0.0] * len(page.tokens)
    for number, run in enumerate(block_runs(page.tokens)):
        for at in run:
            expected[at] = of_blocks[number]
    assert scores.tolist() == expected


@given(PAGES, st.data())
@examples(2)
def test_blocks_rejoin_those_in_elements_with_the_same_keys(
    source: str, data: st.DataObject
) -> None:
    page = Page.of(source)
    kept, above = choice(data, page), choice(data, page)
    where = [tuple(keys) for keys in page.ancestor_keys.T.tolist()]
    known = {where[n] for n in np.flatnonzero(kept)}

    found = rejoined(page, kept, above)

    expected = [bool(kept[n]) or (bool(above[n]) and where[n] in known) for n in range(len(kept))]
    assert found.tolist() == expected


@given(PAGES, st.data())
def test_the_article_is_what_rejoined_the_best_span_without_duplicates(
    source: str, data: st.DataObject
) -> None:
    page = Page.of(source)
    probability = probabilities(data, page)

    of_blocks, span, kept, chosen_from, copied, *_ = select(page, probability)
    scores = token_scores(page, of_blocks)

    above = (probability > threshold(page, probability)) & ~page.in_title
    assert chosen_from.tolist() == above.tolist()
    best = best_span(scores)
    firsts = [run[0] for run in block_runs(page.tokens)]
    in_span = above & np.array([best.start <= at < best.end for at in firsts], np.bool_)
    whole = rejoined(page, in_span, above)
    assert copied.tolist() == duplicates(page, whole).tolist()
    assert kept.tolist() == (whole & ~copied).tolist()
    at = np.flatnonzero(kept)
    if len(at):
        assert (span.start, span.end) == (page.blocks.first[at[0]], page.blocks.last[at[-1]] + 1)
        assert span.value == pytest.approx(scores[span.start : span.end].sum())
    else:
        assert span == EMPTY


LONG = "one two three four five six seven eight nine ten " * 3
BOX = "<div class=box>x" + "<b></b>" * 200 + "x</div>"


@pytest.mark.parametrize(
    ("source", "probability", "kept"),
    [
        # A box of many tags weighs no more than its words do.
        (f"<p>{LONG}</p><div>{BOX}</div><h2>{LONG * 3}</h2>", [0.9, 0.1, 0.9], [1, 0, 1]),
        # Much junk: the smaller part rejoins the larger one if it is in the same kind of element.
        (f"<p>{LONG}</p><div>{LONG * 9}</div><p>{LONG * 3}</p>", [0.9, 0, 0.9], [1, 0, 1]),
        (f"<p>{LONG}</p><div>{LONG * 9}</div><h2>{LONG * 3}</h2>", [0.9, 0, 0.9], [0, 0, 1]),
        # The same text once more, for small screens.
        (f"<p>{LONG}</p><p>x {LONG}</p>" * 2, [0.9] * 4, [1, 1, 0, 0]),
    ],
    ids=["many tags", "split in two", "two different texts", "twice"],
)
def test_what_junk_does_to_an_article(
    source: str, probability: list[float], kept: list[int]
) -> None:
    assert select(Page.of(source), np.array(probability)).kept.tolist() == kept


@given(PAGES, st.data())
def test_both_ways_choose_the_same_to_the_last_bit(source: str, data: st.DataObject) -> None:
    page = Page.of(source)
    probability, others = probabilities(data, page), choice(data, page)

    one, other = both(lambda: select(page, probability, 0.1, others))

    assert [np.asarray(each).tobytes() for each in one[:7]] == [
        np.asarray(each).tobytes() for each in other[:7]
    ]


@given(PAGES, st.data())
def test_a_bias_is_added_to_the_score_of_all_blocks(source: str, data: st.DataObject) -> None:
    page = Page.of(source)
    probability = probabilities(data, page)

    scores, more_scores = (select(page, probability, bias).of_blocks for bias in (0.0, 0.2))

    assert (more_scores - scores).tolist() == pytest.approx([0.2] * len(page.blocks))


@given(PAGES, st.data())
@examples(3)
def test_kept_tokens_have_all_text_of_the_kept_blocks_and_none_of_the_others(
    source: str, data: st.DataObject
) -> None:
    page = Page.of(source)
    kept = choice(data, page)
    runs = block_runs(page.tokens)
    expected = [at for run, stays in zip(runs, kept, strict=True) if stays for at in run]

    stays = np.flatnonzero(kept_tokens(page, kept)).tolist()

    in_blocks = {at for run in runs for at in run}
    assert [at for at in stays if at in in_blocks] == expected
    # Symbols outside of blocks stay between what stays, and nothing stays beyond it.
    assert stays[:1] == expected[:1]
    assert stays[-1:] == expected[-1:]


@pytest.mark.parametrize(
    ("source", "kept", "expected"),
    [
        ("<p>a</p><p>b</p><p>c</p>", "a c", "a </p> <p> c"),
        ("<p>a</p><div><p>b</p><img></div><p>c</p>", "a c", "a </p> <p> c"),
        ("<p>a</p><div><img></div><hr><p>c</p>", "a c", "a </p> <div> <img> </div> <hr> <p> c"),
        ("<p>a</p><ul><li>b</li><li>c</li></ul>", "a c", "a </p> <ul> <li> c"),
        ("<p>a <b>b</b></p><p>c", "a", "a <b> b"),
        ("<p>a</p><p>b</p>", "", ""),
        # An inline element that contains the end of a kept block, and one that is removed.
        ("a <b>b<p>c</p></b><p>d", "a d", "a <b> b </b> <p> d"),
        ("a <b>b<p>c</p></b><p>d", "c d", "c </p> </b> <p> d"),
    ],
)
def test_tokens_kept_of_a_page(source: str, kept: str, expected: str) -> None:
    """The kept blocks are those that begin with the letters *kept*."""
    page = Page.of(source)
    seen, letters = shown(page.tokens), kept.split()

    stays = kept_tokens(page, np.array([seen[at] in letters for at in page.blocks.first]))

    assert [seen[at] for at in np.flatnonzero(stays)] == expected.split()


SIZES = dict(zip("abcdef", (1, 2, 3, 30, 40, 70), strict=True))  # words of each letter's paragraph


def marked(letters: str, kept: list[bool]) -> str:
    """Which paragraphs are duplicates, as a row of x; each letter is a paragraph of its own."""
    page = Page.of("".join(f"<p>{f'{letter} ' * SIZES[letter]}</p>" for letter in letters))
    return "".join("x" if one else "." for one in duplicates(page, np.array(kept, np.bool_)))


def marked_by_search(letters: str, kept: list[bool]) -> str:
    """The same by looking at every run of paragraphs."""
    at = [i for i, stays in enumerate(kept) if stays and SIZES[letters[i]] >= MIN_BLOCK_WORDS]
    first = [min(p for p, other in enumerate(at) if letters[other] == letters[i]) for i in at]
    marks = ["."] * len(letters)
    for begin in range(len(at)):
        for end in range(begin + MIN_COPIED_BLOCKS, len(at) + 1):
            run = range(begin, end)
            is_copy = all(first[p] < p and first[p] - first[begin] == p - begin for p in run)
            if is_copy and sum(SIZES[letters[at[p]]] for p in run) >= MIN_COPIED_WORDS:
                for p in run:
                    marks[at[p]] = "x"
    return "".join(marks)


@given(st.text("abcdef", max_size=9), st.data())
@examples(3)
def test_duplicates_are_those_of_a_search_through_all_runs(
    letters: str, data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(letters), max_size=len(letters)))

    assert marked(letters, kept) == marked_by_search(letters, kept)


BLOCKS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=12)


def spread(page: Page, of_block: list[bool]) -> Bools:
    """bool[n_tokens]: the tokens of these blocks."""
    return page.blocks.spread(np.array(of_block, np.bool_))


def by_definition(rows: list[tuple[bool, bool, bool]]) -> list[str]:
    """The names of the blocks that stay: from each kept one at the place, on to both sides."""
    wanted = [kept and not excluded for kept, _, excluded in rows]
    stays = set[int]()
    for start, (_, at_place, _) in enumerate(rows):
        for step in (-1, 1):
            at = start
            while at_place and 0 <= at < len(rows) and wanted[at]:
                stays.add(at)
                at += step
    return [f"w{n}" for n in sorted(stays)]


@examples(1)
@given(BLOCKS)
def test_what_stays_are_the_kept_blocks_at_the_place_and_on_from_there(
    rows: list[tuple[bool, bool, bool]],
) -> None:
    page = Page.of("".join(f"<div><p>w{n}</p></div>" for n in range(len(rows))))
    kept, place, excluded = (list(each) for each in zip(*rows, strict=True)) if rows else ([],) * 3
    tokens = kept_tokens(page, np.array(kept, np.bool_))

    found = kept_at(page, tokens, spread(page, place), spread(page, excluded))

    assert readable(page.tokens, found).split() == by_definition(rows)
    assert not (found & ~tokens).any()


def test_part_of_a_block_can_be_excluded() -> None:
    page = Page.of("<p>one <b>two</b> three</p>")
    everything = np.ones(len(page.tokens), np.bool_)
    at = int(np.flatnonzero(page.tokens.is_word)[1])
    excluded = np.zeros_like(everything)
    excluded[at - 1 : at + 2] = True

    found = kept_at(page, everything, everything, excluded)

    assert readable(page.tokens, found).split() == ["one", "three"]
