from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.bench import metrics

# Few words, so that texts repeat and share them.
TEXTS = st.lists(st.sampled_from("abcd"), max_size=12)
MASKS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=20)
SIGNS = st.text(alphabet="aB_1é .,-漢字かなカナ・ー々한국\u0e01\n", max_size=30)
ALONE = set("漢字かなカナー々")


def shared_by_removal(one: list[str], other: list[str]) -> int:
    """How many items two bags share, by crossing them off one by one."""
    left = list(other)
    shared = 0
    for item in one:
        if item in left:
            left.remove(item)
            shared += 1
    return shared


def scores(shared: int, extracted: int, gold: int) -> tuple[float, float, float]:
    """Precision, recall and F1, written out."""
    if extracted == 0 or gold == 0:
        same = float(extracted == gold)
        return same, same, same
    p, r = shared / extracted, shared / gold
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def aligned(one: list[str], other: list[str]) -> tuple[int, int]:
    """Distance and length of the best alignment, by the table of all prefixes."""
    table = {(0, 0): (0, 0)}
    for i in range(len(one) + 1):
        for j in range(len(other) + 1):
            ways = [(d + 1, n + 1) for d, n in _before(table, i, j)]
            if i and j and one[i - 1] == other[j - 1]:
                distance, length = table[i - 1, j - 1]
                ways.append((distance, length + 1))
            if ways:
                table[i, j] = min(ways)
    return table[len(one), len(other)]


def _before(table: dict[tuple[int, int], tuple[int, int]], i: int, j: int) -> list[tuple[int, int]]:
    return [table[place] for place in ((i - 1, j), (i, j - 1)) if place in table]


@given(SIGNS)
def test_words_are_runs_and_single_ideographs(text: str) -> None:
    expected: list[str] = []
    run = ""
    for sign in f"{text.lower()} ":
        if sign in ALONE or not (sign.isalnum() or sign == "_"):
            expected += [run] if run else []
            expected += [sign] if sign in ALONE else []
            run = ""
        else:
            run += sign

    assert metrics.words(text) == expected


@given(TEXTS, TEXTS)
def test_bag_scores_equal_crossing_off_words(extracted: list[str], gold: list[str]) -> None:
    expected = scores(shared_by_removal(extracted, gold), len(extracted), len(gold))

    assert metrics.bag(extracted, gold) == pytest.approx(expected)


def test_best_gold_is_the_first_of_the_highest_f1() -> None:
    golds = [["a", "b", "c"], ["a", "b"], ["b", "a"]]

    assert metrics.best_bag(["a", "b"], golds) == (1, (1, 1, 1))


@given(MASKS)
def test_positions_count_every_word_token_once(rows: list[tuple[bool, bool, bool]]) -> None:
    kept, gold, is_word = (
        (np.array(column, bool) for column in zip(*rows, strict=True))
        if rows
        else (np.zeros(0, bool),) * 3
    )
    in_kept = [i for i, (k, _, w) in enumerate(rows) if k and w]
    in_gold = [i for i, (_, g, w) in enumerate(rows) if g and w]
    shared = len([i for i in in_kept if i in in_gold])

    found = metrics.positions(kept, gold, is_word)

    assert found == pytest.approx(scores(shared, len(in_kept), len(in_gold)))


@given(TEXTS, TEXTS)
def test_shingles_equal_the_definition(extracted: list[str], gold: list[str]) -> None:
    ours, theirs = (
        ["".join(text[i : i + 4]) for i in range(max(1, len(text) - 3))] if text else []
        for text in (extracted, gold)
    )
    shared = shared_by_removal(ours, theirs)
    counts = (shared, len(ours) - shared, len(theirs) - shared)
    total = sum(counts) or 1

    found = metrics.shingles(extracted, gold)

    assert found == pytest.approx(tuple(count / total for count in counts))
    assert found.p == (pytest.approx(shared / len(ours)) if ours else None)
    assert found.r == (pytest.approx(shared / len(theirs)) if theirs else None)


@given(TEXTS, TEXTS)
def test_alignment_equals_the_table_of_all_prefixes(extracted: list[str], gold: list[str]) -> None:
    distance, length = aligned(extracted, gold)

    expected = 1 - distance / length if length else 1

    assert metrics.alignment(extracted, gold) == pytest.approx(expected)


def test_rouge_lsum_of_texts_that_can_be_counted_by_hand() -> None:
    pytest.importorskip("rouge_score", reason="of the extra `research`")
    cases = [
        ("One day. It rained.", ("One day. It rained.",), 1.0),
        ("One day it rained", ("One day. It rained.",), 1.0),
        ("Quite different", ("One day. It rained.",), 0.0),
        ("One day.", ("No.", "One day."), 1.0),
        ("One day.", ("One day. It rained again.",), 2 * (1.0 * 0.4) / 1.4),
        ("雨が降る。", ("雨が降る。晴れ。",), 2 * (1.0 * 4 / 6) / (1 + 4 / 6)),
        ("", ("",), 1.0),
        ("…", ("One day.",), 0.0),
        ("One day.", ("",), 0.0),
    ]

    found = [metrics.rouge_lsum(extracted, golds) for extracted, golds, _ in cases]

    assert found == pytest.approx([expected for *_, expected in cases])
