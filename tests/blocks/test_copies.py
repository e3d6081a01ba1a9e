from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy_mss.blocks.copies import FEWEST_PASSAGES, FEWEST_WORDS, SHORT, copied

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools
from tests.helpers.effort import examples

SIZES = {letter: size for size, letter in zip((1, 2, 3, 30, 40, 70), "abcdef", strict=True)}


def source(letters: str) -> str:
    """A paragraph for each of the *letters*, always of the same text."""
    return "".join(f"<p>{f'{letter} ' * SIZES.get(letter, 1)}</p>" for letter in letters)


def found(letters: str, kept: Bools | None = None) -> str:
    """The places of the paragraphs that are copies, as a row of x."""
    passages = tokenize(source(letters)).passages
    everything = np.ones(len(passages), np.bool_)
    mask = copied(passages, everything if kept is None else kept)
    return "".join("x" if one else "." for one in mask)


def by_hand(letters: str, kept: list[bool]) -> str:
    """One paragraph after the other, and the whole run of each."""
    at = [i for i, letter in enumerate(letters) if kept[i] and SIZES[letter] >= SHORT]
    first = [min(p for p, other in enumerate(at) if letters[other] == letters[i]) for i in at]
    marks = ["."] * len(letters)
    for begin in range(len(at)):
        for end in range(begin + 1, len(at) + 1):
            run = range(begin, end)
            again = all(first[p] < p and first[p] - first[begin] == p - begin for p in run)
            words = sum(SIZES[letters[at[p]]] for p in run)
            if again and len(run) >= FEWEST_PASSAGES and words >= FEWEST_WORDS:
                for p in run:
                    marks[at[p]] = "x"
    return "".join(marks)


@given(st.text("abcdef", max_size=9), st.data())
@examples(3)
def test_copies_are_those_of_a_search_through_all_runs(letters: str, data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(letters), max_size=len(letters)))

    assert found(letters, np.array(kept, np.bool_)) == by_hand(letters, kept)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("", ""),
        ("f", "."),
        ("def", "..."),
        # The whole again, and again.
        ("defdef", "...xxx"),
        ("defdefdef", "...xxxxxx"),
        # The whole again between other paragraphs, and only its end.
        ("cdefccdefc", ".....xxxx."),
        ("cdefef", "....xx"),
        # One paragraph alone is a refrain, so are two in another order, and few words.
        ("fdfef", "....."),
        ("deed", "...."),
        ("cdcd", "...."),
        # What is too short to tell does not part a run, and is no copy.
        ("deadbe", "...x.x"),
    ],
)
def test_copies(letters: str, expected: str) -> None:
    assert found(letters) == expected
