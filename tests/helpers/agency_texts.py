"""Articles of an agency, and what papers make of them."""

from __future__ import annotations

import random

WORDS = [f"{a}{b}" for a in "ba ke li mo nu ro si ta".split() for b in "dan fel gor hit".split()]


def sentences(seed: int, count: int = 40, letters: str = "") -> list[str]:
    """So many sentences that no other *seed* has, in words or in *letters* without spaces."""
    chance = random.Random(seed)  # noqa: S311 - words of a test
    if letters:
        return ["".join(chance.choices(letters, k=16)) + "。" for _ in range(count)]
    return [" ".join(chance.choices(WORDS, k=12)).capitalize() + "." for _ in range(count)]


def text(seed: int) -> str:
    """The text of an agency."""
    return "\n\n".join(sentences(seed))


def copy(seed: int, paper: int, kept: float = 0.8) -> str:
    """What a *paper* makes of it: its own beginning, and not all of the rest."""
    original = sentences(seed)
    chance = random.Random(paper)  # noqa: S311
    rest = sorted(chance.sample(range(len(original)), round(kept * len(original))))
    return "\n\n".join([*sentences(1000 + paper, 2), *(original[each] for each in rest)])
