"""Pages made up to a size: a menu, an article, teasers and a footer, again and again."""

from __future__ import annotations

import itertools
import random

SYLLABLES = "ba de fi go lu ma ne pi ro su ta ve wi zo ka le mi no pu ra".split()
N_WORDS = 20_000


def _vocabulary() -> tuple[list[str], list[float]]:
    """Words, and how often each comes before the ones behind it, as Zipf found it."""
    chance = random.Random(0)
    made = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 5))) for _ in range(N_WORDS)]
    weights = itertools.accumulate(1 / rank for rank in range(1, N_WORDS + 1))
    return made, list(weights)


VOCABULARY, WEIGHTS = _vocabulary()


def words(chance: random.Random, count: int) -> str:
    """*count* words with a full stop now and then."""
    made = chance.choices(VOCABULARY, cum_weights=WEIGHTS, k=count)
    made[11::12] = [f"{word}." for word in made[11::12]]
    return " ".join(made)


def section(chance: random.Random) -> str:
    """About 6 KB of a news page."""
    menu = "".join(
        f'<li class="nav-item"><a href="/{words(chance, 1)}?id={chance.random()}">'
        f"{words(chance, 2)}</a></li>"
        for _ in range(12)
    )
    body = "".join(f"<p>{words(chance, 60)}</p>\n" for _ in range(6))
    teasers = "".join(
        f'<div class="teaser"><a href="/t/{chance.random()}"><img src="{number}.jpg" alt="">'
        f"<h3>{words(chance, 6)}</h3></a></div>"
        for number in range(4)
    )
    script = f"<script>window.data = {{'x': '{words(chance, 120)}'}};</script>"
    return f"<nav><ul>{menu}</ul></nav><article>{body}</article>{script}<aside>{teasers}</aside>"


def page(size: int, seed: int = 0) -> str:
    """A page of about *size* characters."""
    chance = random.Random(seed)
    parts = ["<!DOCTYPE html><html><head><title>Page</title></head><body>"]
    length = 0
    while length < size:
        parts.append(section(chance))
        length += len(parts[-1])
    return "".join((*parts, "</body></html>"))[:size]
