"""What a page holds twice: the article once for wide screens and once for narrow ones.

A sentence may come twice in a text, as a refrain or in a quotation. Two or more passages that come
again in the same order, with a paragraph's words between them, are a second copy.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.segmentation import Passages
from scrapy_mss.markup.tokens import Bools

FEWEST_PASSAGES = 2
FEWEST_WORDS = 60  # of the passages together
SHORT = 3  # a passage of fewer words, a mark or a number, neither makes a copy nor breaks one


def copied(passages: Passages, kept: Bools) -> Bools:
    """bool[n_passages]: those of the *kept* that are a copy of kept ones before them."""
    found = np.zeros(len(passages), np.bool_)
    at = np.flatnonzero(kept & (passages.words >= SHORT))
    _, first, which = np.unique(passages.texts[at], return_index=True, return_inverse=True)
    original = first[which]
    again = original < np.arange(len(at))
    # Originals that follow one another are different passages, so a run repeats none of its own.
    follows = again[1:] & again[:-1] & (np.diff(original) == 1)
    run = np.cumsum(np.concatenate(([True], ~follows)))[: len(at)]
    lengths = np.bincount(run, again)
    words = np.bincount(run, again * passages.words[at])
    enough = (lengths >= FEWEST_PASSAGES) & (words >= FEWEST_WORDS)
    found[at[again & enough[run]]] = True
    return found
