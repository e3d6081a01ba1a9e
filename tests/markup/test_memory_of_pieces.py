"""The compiled memory of pieces against a model of it: what is forgotten, what waits meanwhile."""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import cache
from hashlib import blake2b
from itertools import count, product
from operator import mul
from string import ascii_lowercase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.markup.compiled import python_alone
from scrapy_mss.markup.tokenizer import tokenize

_compiled = pytest.importorskip("scrapy_mss.markup._compiled", reason="it was not built")

SLOTS = 4  # of a set
AHEAD = 8  # pieces that wait at most
MANY = 2 * AHEAD
FACTORS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
LETTERS = ("a", "Z", "1", "\u00e9", "\u0130", "\u0436", "\u4e2d", "\U00020000", "\ufb01", "_", "&")
ENDINGS = ("", " ", "x", ".", "&amp;", "\u00e9", "\u0436", "\u4e2d", "\U0001f600", "\ud800", "\0")


def set_of(word: str) -> int:
    """Which set of slots a *word* of ASCII is remembered in, as `_pieces` has it."""
    key = bytes((len(word), 1)) + word.encode().ljust(22, b"\0")
    parts = (int.from_bytes(key[at : at + 8], sys.byteorder) for at in (0, 8, 16))
    mixed = sum(part * factor for part, factor in zip(parts, FACTORS, strict=True)) % 2**64
    return (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93 % 2**64 >> 48


@cache
def rivals() -> tuple[str, ...]:
    """Twice as many words of one set as it has slots."""
    by_set: dict[int, list[str]] = defaultdict(list)
    for word in map("".join, product(ascii_lowercase, repeat=5)):
        of_set = by_set[set_of(word)]
        of_set.append(word)
        if len(of_set) == 2 * SLOTS:
            return tuple(of_set)
    raise AssertionError


@given(st.lists(st.integers(0, 2 * SLOTS - 1), max_size=60))
@example([0, 1, 2, 3, 0, 4, 0, 1])  # the oldest is kept, for it was asked for again
@example([0, 1, 2, 3, 4, 0])
def test_a_full_set_forgets_what_its_model_forgets(numbers: list[int]) -> None:
    asked: list[str] = []
    model: list[str | None] = [None] * SLOTS
    expected: list[str] = []

    def ask(word: str) -> int:
        asked.append(word)
        return rivals().index(word)

    memory = _compiled.Memory(ask)
    for number in numbers:
        word = rivals()[number]
        assert memory[word] == number
        if word not in model:
            expected.append(word)
            model = [word, *model[:-1]]
        elif (at := model.index(word)) > 1:
            model[1], model[at] = model[at], model[1]

    assert asked == expected


def code_of(word: str) -> int:
    digest = blake2b(word.lower().encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 4 << 4 | 2


WORDS = st.lists(
    st.tuples(st.integers(0, 2 * SLOTS - 1), st.booleans()).map(
        lambda each: rivals()[each[0]].title() if each[1] else rivals()[each[0]]
    ),
    max_size=3 * MANY,
)


@given(WORDS, WORDS)
def test_pieces_that_wait_are_not_mistaken_whatever_is_read_meanwhile(
    words: list[str], meanwhile: list[str]
) -> None:
    depth = count()

    def stem(word: str) -> str:
        if meanwhile and next(depth) < MANY:
            read(meanwhile)
        return word

    def read(each: list[str]) -> list[int]:
        return list(_compiled.scan(" ".join(each), codes, 1)[0])

    codes = _compiled.Codes(code_of, code_of, str.lower, stem, (2, 3), 4)

    assert read(words) == list(map(code_of, words))


@pytest.mark.parametrize("beside", ["", "\u2019", "\U0001f600"])
@pytest.mark.parametrize(("letter", "other"), ["ab", "\u00e9\u00e8", "\u0436\u0437", "6\u0436"])
@pytest.mark.parametrize("n", range(1, 26))
def test_words_that_differ_in_one_letter_are_told_apart(
    n: int, letter: str, other: str, beside: str
) -> None:
    codes = _compiled.Codes(code_of, code_of, str.lower, str.lower, (2, 3), 4)
    words = [letter * at + other + letter * (n - at - 1) for at in range(n)]

    ids, _, _ = _compiled.scan(" ".join([*words, beside]), codes, 1)

    assert list(ids) == list(map(code_of, words))


def repeated(pieces: tuple[str, ...], least: int, most: int) -> st.SearchStrategy[str]:
    return st.builds(mul, st.sampled_from(pieces), st.integers(least, most))


@given(
    st.sampled_from(("", "\u0436 ", "\U0001f600 ")),
    repeated(LETTERS, 1, 40),
    repeated(ENDINGS, 0, 30),
)
def test_both_ways_read_words_of_each_length_at_each_distance_from_the_end(
    before: str, word: str, ending: str
) -> None:
    source = before + word + ending

    tokens = tokenize(source)
    with python_alone():
        alone = tokenize(source)

    for name in ("token_id", "start", "end", "kind"):
        assert getattr(tokens, name).tolist() == getattr(alone, name).tolist()
