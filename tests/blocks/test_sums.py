"""Sums and counts over blocks, compiled and not: against slow walks, and against each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.blocks.class_roles import role_counts
from scrapy_mss.blocks.features import block_features
from scrapy_mss.blocks.opinions import opinion_columns
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.blocks.shared_words import each_once, pairs, shared_pairs, shared_words
from scrapy_mss.blocks.stop_words import count_stop_words, is_stop_word
from scrapy_mss.blocks.sums import (
    ancestor_pools,
    element_sums,
    group_sums,
    inside,
    run_sums,
    sums_upwards,
)
from scrapy_mss.blocks.text_counts import BITS, CLASSES, SENTENCE_ENDS, text_counts
from scrapy_mss.markup.compiled import IS_COMPILED, compiled_part, python_alone
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import TokenIds
from tests.helpers.container_shares import container_features
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, block_runs

Result = TypeVar("Result")

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.sampled_from([0.0, -0.0])
WORDS = "one two three One \u4e2d \u00e9t\u00e9 7 , . \U0001f600".split()
BLOCKS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join))
SOURCES = BLOCKS.map(lambda texts: "".join(f"<p>{text}</p>" for text in texts))
NESTED = "<div>" * (LEVELS + 3) + "one" + "<p>two</p></div>three" * (LEVELS + 3)


def both(perform: Callable[[], Result]) -> tuple[Result, Result]:
    """What *perform* gives with the compiled part and without it."""
    with python_alone():
        python = perform()
    return perform(), python


def words_of_blocks(page: Page) -> list[list[int]]:
    """The ids of the words of each block."""
    tokens = page.tokens
    return [
        [int(tokens.token_id[at]) for at in run if tokens.is_word[at]] for run in block_runs(tokens)
    ]


def ids(numbers: list[int]) -> TokenIds:
    return np.array(numbers, np.uint64)


@given(st.integers(0, 6), st.integers(1, 3), st.data())
def test_sums_of_elements_are_differences_of_running_sums(
    n: int, k: int, data: st.DataObject
) -> None:
    rows = st.lists(NUMBERS, min_size=n, max_size=n)
    values = np.array(data.draw(st.lists(rows, min_size=k, max_size=k)), np.float64).reshape(k, n)
    edges = data.draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, n))))
    begin, end = np.array(edges, np.intp).reshape(-1, 2).T
    before = [[0.0, *np.cumsum(row).tolist()] for row in values]

    one, other = both(lambda: element_sums(values, begin, end))

    assert one.tobytes() == other.tobytes()  # of -0, too
    assert one.tolist() == [[row[j] - row[i] for i, j in edges] for row in before]


@given(st.lists(st.lists(NUMBERS, min_size=1)))
def test_sums_of_runs_are_taken_in_their_order(runs: list[list[float]]) -> None:
    values = np.array([number for run in runs for number in run], np.float64)
    sizes = np.array(list(map(len, runs)), np.intp)
    block = np.repeat(np.arange(len(runs), dtype=np.int32), sizes)

    one, other = both(lambda: run_sums(values, block, sizes.cumsum() - sizes))

    assert one.tobytes() == other.tobytes()
    assert one.tolist() == [reduce(add, run, 0.0) for run in runs]


@given(st.integers(0, 6), st.data())
def test_places_inside_a_chosen_run_are_found(n: int, data: st.DataObject) -> None:
    run = st.tuples(st.integers(0, n), st.integers(0, n), st.booleans()).map(
        lambda run: (min(run[:2]), max(run[:2]), run[2])
    )
    runs = data.draw(st.lists(run))
    begin, end = (np.array([each[i] for each in runs], np.intp) for i in range(2))
    chosen = np.array([each[2] for each in runs], np.bool_)

    for found in both(lambda: inside(chosen, begin, end, n)):
        expected = [any(i <= at < j and is_one for i, j, is_one in runs) for at in range(n)]
        assert found.tolist() == expected


@given(st.integers(0, 6), st.integers(1, 3), st.data())
def test_sums_of_groups_are_of_the_blocks_with_the_same_number(
    n: int, g: int, data: st.DataObject
) -> None:
    values = np.array([data.draw(st.lists(NUMBERS, min_size=n, max_size=n))], np.float64)
    numbers = data.draw(st.lists(st.integers(0, 2), min_size=g * n, max_size=g * n))
    rows = np.array(numbers, np.intp).reshape(g, n) + 3 * np.arange(g)[:, np.newaxis]
    dense = np.unique(rows, return_inverse=True)[1].reshape(g, n).astype(np.intp)

    one, other = both(lambda: group_sums(values, dense))

    assert one.tobytes() == other.tobytes()
    for row, numbered in zip(one[0], dense.tolist(), strict=True):
        for block, number in enumerate(numbered):
            alike = [at for at in range(n) if numbered[at] == number]
            assert row[block] == pytest.approx(sum(values[0, alike]))


@given(PAGES)
@example(NESTED)
@examples(2)
def test_both_ways_find_the_same_elements_around(source: str) -> None:
    def containers() -> dict[str, object]:
        found = Page.of(source).containers
        names = ("begin", "end", "tag", "around", "parent")
        return {name: getattr(found, name).tolist() for name in names}

    one, other = both(containers)

    assert one == other


@given(PAGES | SOURCES)
@example("<p>" + "One, 2. " * 200 + "<p>" + "One " * 255)  # more than are counted in a byte
@examples(2)
def test_texts_are_counted_by_their_first_characters(source: str) -> None:
    page = Page.of(source)
    tokens = page.tokens

    one, other = both(lambda: text_counts(page))

    assert one.counts.tobytes() == other.counts.tobytes()
    assert one.letters.tobytes() == other.letters.tobytes()
    for end, classes in one.ends.items():
        assert classes.tobytes() == other.ends[end].tobytes()
    for block, run in enumerate(block_runs(tokens)):
        texts = [tokens.clean[tokens.clean_start[at] : tokens.clean_end[at]] for at in run]
        words = [text for at, text in zip(run, texts, strict=True) if tokens.is_word[at]]
        ends = sum(text.startswith(tuple(SENTENCE_ENDS)) for text in texts)
        assert one.of("sentence_end")[block] == ends
        assert one.of("symbol")[block] == len(run) - len(words)
        assert one.letters[block] == sum(map(len, words))
        assert bool(one.ends["last"][block] & BITS["symbol"]) == (not tokens.is_word[run[-1]])
        assert bool(one.ends["first"][block] & BITS["comma"]) == texts[0].startswith((",", ";"))


def test_a_class_is_a_bit_of_a_byte() -> None:
    assert len(CLASSES) == len(set(CLASSES)) == 8


@given(SOURCES, st.lists(st.sampled_from(WORDS)))
@examples(2)
def test_shared_words_and_pairs_are_those_of_a_slow_walk(source: str, other: list[str]) -> None:
    page, tokens = Page.of(source), tokenize(" ".join(other))
    some = tokens.token_id[tokens.is_word]
    known = set(some.tolist())
    known_pairs = set(zip(some[:-1].tolist(), some[1:].tolist(), strict=True))
    blocks = words_of_blocks(page)

    for found in both(lambda: shared_words(page.texts, each_once(some))):
        assert found.tolist() == [sum(word in known for word in words) for words in blocks]
    for found in both(lambda: shared_pairs(page.texts, each_once(pairs(some)))):
        expected = [sum(pair in known_pairs for pair in pairwise(words)) for words in blocks]
        assert found.tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 4), NUMBERS)),
    st.lists(st.tuples(*3 * [st.integers(0, 4)]), max_size=4),
)
def test_pools_are_sums_and_ends_of_what_the_elements_around_have_and_of_0(
    values: list[tuple[int, float]], blocks: list[tuple[int, ...]]
) -> None:
    element = np.array([row for row, _ in values], np.intp)
    numbers = np.array([number for _, number in values], np.float64)
    of_each = [[0.0, *(number for at, number in values if at == row)] for row in range(5)]

    around = np.array(blocks, np.intp).reshape(-1, 3).T.copy()

    for found in both(lambda: ancestor_pools(element, numbers, around, 5)):
        total, least, greatest = found.tolist()
        assert total == [sum(sum(of_each[row]) for row in block) for block in blocks]
        assert least == [min(min(of_each[row]) for row in block) for block in blocks]
        assert greatest == [max(max(of_each[row]) for row in block) for block in blocks]


@given(
    st.lists(st.tuples(NUMBERS, st.integers(0, 3)), max_size=6),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.lists(st.sampled_from([1.0, 0.5, 1 / 6]), max_size=3),
)
def test_sums_upwards_have_a_weight_for_each_level(
    values: list[tuple[float, int]], parents: list[int], weights: list[float]
) -> None:
    numbers = np.array([value for value, _ in values], np.float64)
    element = np.array([row for _, row in values], np.intp)
    parent = np.array([*parents, 3], np.intp)

    one, other = both(lambda: sums_upwards(numbers, element, parent, tuple(weights)).tobytes())

    assert one == other
    expected = np.zeros(4)
    for value, at in zip(numbers, element.tolist(), strict=True):
        row = at
        for weight in weights:
            expected[row] += value * weight
            row = parent[row]
    np.testing.assert_allclose(np.frombuffer(one), expected[:3], rtol=1e-9, atol=1e30)


@given(PAGES)
@examples(2)
def test_hashes_stop_words_and_roles_are_alike_both_ways(source: str) -> None:
    page = Page.of(source)
    stops = is_stop_word(page.texts.token_id) & page.texts.is_word

    for one, other in (
        both(lambda: Page(page.tokens).text_hashes),
        both(lambda: count_stop_words(page.texts)),
        both(lambda: role_counts(page.attributes)),
    ):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    expected = [int(stops[page.texts.block == block].sum()) for block in range(len(page.blocks))]
    assert count_stop_words(page.texts).tolist() == expected


@given(PAGES)
@examples(2)
def test_features_and_opinions_are_the_same_to_the_last_bit(source: str) -> None:
    def columns() -> dict[str, bytes]:
        page = Page.of(source)
        features = block_features(page)
        found = {**features, **opinion_columns(page, features)}
        return {name: column.tobytes() for name, column in found.items()}

    one, other = both(columns)

    assert list(one) == list(other)
    assert [name for name in one if one[name] != other[name]] == []


@given(PAGES, st.data())
@example(NESTED, None)
@examples(2)
def test_shares_of_containers_are_the_same_to_the_last_bit(
    source: str, data: st.DataObject | None
) -> None:
    page = Page.of(source)
    rows = st.lists(NUMBERS, min_size=len(page.blocks), max_size=len(page.blocks))
    masses = [data.draw(rows) if data else [0.5] * len(page.blocks) for _ in range(2)]
    named = {f"{place}_": np.array(mass, np.float64) for place, mass in enumerate(masses)}

    one, other = both(lambda: container_features(page, named))

    assert [name for name in one if one[name].tobytes() != other[name].tobytes()] == []


def shares(
    group: int = 0, end: int = 1, around: int = 1, shape: tuple[int, int] = (10, 1)
) -> Callable[[], None]:
    """The call that fills in what one block shares of one mass: in one group, in one element."""
    part = compiled_part()
    assert part is not None
    values, filled = np.ones((4, shape[1])), np.zeros((shape[0], 1))
    groups, edges = np.array([[group], [1]], np.intp), np.array([[0], [end]], np.intp)
    elements = (edges[0], edges[1], np.array([[around]], np.intp), 1.0)
    return lambda: part.blocks.fill_shares(values, groups, elements, 100, filled)


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled part was not built")
def test_rows_that_do_not_fit_are_not_filled() -> None:
    part = compiled_part()
    assert part is not None
    none, fitting = np.array([-1], np.int32).tobytes(), np.zeros((3, 1))
    shares()()
    part.blocks.fill_around(b"\1", none, (b"\1", b"\2"), fitting)
    calls: tuple[Callable[[], None], ...] = (
        *(shares(group=2), shares(group=-1), shares(end=2), shares(around=2)),
        *(shares(shape=(9, 1)), shares(shape=(10, 2))),
        lambda: part.blocks.fill_around(b"\1", b"", (b"\1", b"\2"), fitting),
        lambda: part.blocks.fill_around(b"\1", none, (b"\1", b"\2\3"), fitting),
    )

    for call in calls:
        with pytest.raises(IndexError):
            call()


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled part was not built")
def test_places_beyond_an_array_are_rejected() -> None:
    part = compiled_part()
    assert part is not None
    none, far = (np.array([place], np.intp).tobytes() for place in (0, 3))
    third, flag, one = np.array([3], np.int32), b"\1", ids([1]).tobytes()
    place, key = third.tobytes(), np.zeros(1, np.uint32)
    classes, value = bytes(0x10000), np.ones(1).tobytes()
    calls: tuple[Callable[[], object], ...] = (
        lambda: part.sums.element_sums(value, none, far, 1),
        lambda: part.sums.ancestor_pools(far, value, np.zeros((1, 1), np.intp), 3),
        lambda: part.sums.ancestor_pools(none, value, np.full((1, 1), 3, np.intp), 3),
        lambda: part.sums.sums_upwards(
            np.ones(1), np.array([3], np.intp), np.zeros(3, np.intp), (1.0,)
        ),
        lambda: part.sums.centre(np.ones(2), np.ones(1, np.uint8), 0.0),
        lambda: part.sums.ratios(np.ones((3, 2), np.uint32), third, (1, 0), 0.5),
        lambda: part.sums.ratios(np.ones((4, 2), np.uint32), third, (1, 2), 0.5),
        lambda: part.sums.inside(flag, none, far, 1),
        lambda: part.sums.run_hashes(one, far),
        lambda: part.sums.run_sums(np.ones(1), np.array([3], np.intp)),
        lambda: part.sums.marked_counts(one, flag, far, (flag, 0)),
        lambda: part.sums.table_counts(
            place, far, (np.array([3], np.uint32).tobytes(), flag), (1, 1)
        ),
        lambda: part.sums.text_counts("one", (place, place, flag, none), none, classes),
        lambda: part.sums.text_counts("one", (place, place, flag, far), none, classes),
        lambda: part.sums.text_counts("one", (place, place, flag, none), far, classes),
        lambda: part.sums.text_counts("one", (place, place, flag, none), none, flag),
        lambda: part.arrays.shared_counts(one, far, one, (1, 0, 0)),
        lambda: part.blocks.path_keys(key, np.full((1, 1), 2), np.zeros((5, 1), np.uint8), 1),
        lambda: part.blocks.path_keys(key, np.zeros((1, 1), int), np.zeros((5, 1), np.uint8), 2),
        lambda: part.blocks.path_keys(key, np.zeros((1, 1), int), np.zeros((5, 2), np.uint8), 1),
        lambda: part.blocks.path_keys(key, np.zeros((1, 1), int), np.zeros((8, 1), np.uint8), 1),
    )

    for call in calls:
        with pytest.raises(IndexError):
            call()
