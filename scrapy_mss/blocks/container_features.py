"""Where a page's evidence lies: how much of it each passage's surroundings hold.

The text of an article stands together, in one element of the page or in elements of one name.
A sure passage speaks for those that stand where it stands, whatever the names are: so each page
tells its own article's container from its neighbours, a comment's or a teaser's. Only evidence
for the article counts; it is weighed by words, and everything is a share of the page's whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.segmentation import Passages
from scrapy_mss.core.features import path_of
from scrapy_mss.markup.tokens import Floats

KEYED_LEVELS = 3
HELD_LEVELS = 5


def columns(passages: Passages, score: Floats) -> dict[str, Floats]:
    """Shares of evidence, by *score* (float64[n]): columns of float64[n]."""
    mass, total = _shares(passages, score)
    running = np.cumsum(mass)
    return {
        "mass": np.full(len(passages), np.log1p(total)),
        "mass_before": running - mass,
        "mass_after": 1.0 - running,
        **_by_key(passages, mass),
        **_by_element(passages, mass),
    }


def held(passages: Passages, score: Floats, level: int) -> Floats:
    """float64[n]: the share of the evidence that the element around holds, *level* further out."""
    mass, _ = _shares(passages, score)
    return _held(passages, _before(passages, mass), level, 1.0)


def _shares(passages: Passages, score: Floats) -> tuple[Floats, float]:
    """Each passage's share of the evidence, and how much there is."""
    mass = np.maximum(score, 0.0) * passages.words
    total = float(mass.sum()) + 1e-9
    return mass / total, total


def _by_key(passages: Passages, mass: Floats) -> dict[str, Floats]:
    """What stands in elements of the same tag and names, one, two and three levels out."""
    found: dict[str, Floats] = {}
    for level in range(KEYED_LEVELS):
        _, same = np.unique(passages.keys(level), return_inverse=True)
        words = _summed(passages.words, same)
        found |= {
            f"alike_{level}": _summed(mass, same),
            f"alike_{level}_density": _summed(mass, same) / np.maximum(words, 1.0) * 100,
            f"alike_{level}_count": np.log1p(np.bincount(same)[same]),
            f"alike_{level}_words": np.log1p(words),
            f"alike_{level}_links": _summed(passages.linked_words, same) / np.maximum(words, 1.0),
        }
    _, same = np.unique(path_of(passages), return_inverse=True)
    return {**found, "alike_path": _summed(mass, same)}


def _summed(values: NDArray[np.generic], same: NDArray[np.intp]) -> Floats:
    sums: Floats = np.bincount(same, values.astype(np.float64))[same].astype(np.float64)
    return sums


def _by_element(passages: Passages, mass: Floats) -> dict[str, Floats]:
    """What the elements around hold, from the innermost outwards."""
    before = _before(passages, mass)
    words = _before(passages, passages.words.astype(np.float64))
    found: dict[str, Floats] = {}
    for level in range(HELD_LEVELS):
        share = _held(passages, before, level, 1.0)
        length = _held(passages, words, level, float(words[-1]))
        found |= {
            f"held_{level}": share,
            f"held_{level}_density": share / np.maximum(length, 1.0) * 100,
        }
    return found


def _held(passages: Passages, before: Floats, level: int, whole: float) -> Floats:
    """float64[n]: what the element *level* further out holds, *whole* if there is none."""
    opens = passages.around[level]
    return np.where(opens >= 0, before[passages.tokens.partner[opens]] - before[opens], whole)


def _before(passages: Passages, values: Floats) -> Floats:
    """float64[n_tokens+1]: the sum of *values*, one a passage, in front of each token."""
    at = np.zeros(len(passages.tokens) + 1)
    at[passages.first + 1] = values
    return np.cumsum(at)
