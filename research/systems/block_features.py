"""Eight numbers about a block: four of its language, four of the markup that was taken out.

After Ziegler and Skubacz (2007). For each the paper says whether content has more or less of it:
that is the side of the threshold that passes. A ratio of some words to the others is given as
their share of all words, which orders blocks in the same way and never divides by zero. Blanks are
no characters here and a sign is one, whatever it takes to write it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from research.systems.blocks import FORMATTING, LISTS, STRUCTURE, Blocks, opened
from research.systems.sentences import sentences
from research.systems.stopwords import stop_words
from scrapy_mss.markup.tokens import Bools, Floats, Tokens, linked_words


@dataclass(frozen=True, slots=True)
class Feature:
    """A number about each block, of which content has at least or at most so much."""

    name: str
    at_least: bool
    of: Callable[[Tokens, Blocks], Floats]


def _sentence_length(tokens: Tokens, blocks: Blocks) -> Floats:
    return blocks.words / sentences(tokens, blocks)


def _alphanumeric(tokens: Tokens, blocks: Blocks) -> Floats:
    letters = blocks.sums(tokens.is_word, tokens.clean_end - tokens.clean_start)
    signs = blocks.sums(~tokens.is_word & ~tokens.is_tag)
    return letters / (letters + signs)


def _stop_words(tokens: Tokens, blocks: Blocks) -> Floats:
    return stop_words(tokens, blocks) / blocks.words


def _links(tokens: Tokens, blocks: Blocks) -> Floats:
    return blocks.sums(linked_words(tokens)) / blocks.words


def _tags(names: frozenset[str]) -> Callable[[Tokens, Blocks], Floats]:
    return lambda tokens, blocks: blocks.sums(opened(tokens, names)) / blocks.words


FEATURES: Final = (
    Feature("words a sentence", at_least=True, of=_sentence_length),
    Feature("sentences", at_least=True, of=sentences),
    Feature("letters and digits", at_least=True, of=_alphanumeric),
    Feature("stop words", at_least=True, of=_stop_words),
    Feature("words in links", at_least=False, of=_links),
    Feature("formatting tags", at_least=True, of=_tags(FORMATTING)),
    Feature("list tags", at_least=False, of=_tags(LISTS)),
    Feature("structuring tags", at_least=True, of=_tags(STRUCTURE)),
)


def features(tokens: Tokens, blocks: Blocks) -> Floats:
    """float64[8, n_blocks]: the features of each block."""
    return np.stack([feature.of(tokens, blocks) for feature in FEATURES])


def passing(values: Floats, thresholds: Floats) -> Bools:
    """bool[n, n_blocks]: whether *values* (float64[8, n_blocks]) satisfy each of *thresholds*.

    These are float64[n, 8]; a block passes with all eight features or not at all.
    """
    passed = np.ones((len(thresholds), values.shape[1]), np.bool_)
    for feature, value, threshold in zip(FEATURES, values, thresholds.T, strict=True):
        compare = np.greater_equal if feature.at_least else np.less_equal
        passed &= compare(value, threshold[:, np.newaxis])
    return passed
