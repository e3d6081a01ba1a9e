"""Labels of training pages, and which labelled pages are good enough to learn from.

A wrapper labels a span of tokens. The paper learns only from pages whose extraction has at least
fifty words and symbols and is at most one fifth tags, which leaves out index pages, galleries and
wrappers that no longer match their site.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from scrapy_mss.markup.tokens import Bools, Tokens

MIN_WORDS = 50
MAX_TAG_SHARE = 0.2


class Rejection(Enum):
    """Why a page is not learned from; the value is its name in the stats."""

    EMPTY = "empty"
    NOT_FOUND = "not_found"  # the page does not have the text that it is said to have
    TOO_FEW_WORDS = "too_few_words"
    TOO_MANY_TAGS = "too_many_tags"
    MODEL_FULL = "model_full"
    ALREADY_LEARNED = "already_learned"
    READ_BY_MODEL = "read_by_model"  # what is text said the model, which is no label


def span_labels(n_tokens: int, start: int, end: int) -> Bools:
    """bool[n_tokens]: true for tokens start … end-1."""
    inside = np.zeros(n_tokens, np.bool_)
    inside[start:end] = True
    return inside


def check_example(
    tokens: Tokens, inside: Bools, max_tag_share: float = MAX_TAG_SHARE
) -> Rejection | None:
    """Why a page labelled *inside* (bool[n_tokens]) is rejected; None if it is a good example."""
    size = int(inside.sum())
    if not size:
        return Rejection.EMPTY
    tags = int((inside & tokens.is_tag).sum())
    if size - tags < MIN_WORDS:
        return Rejection.TOO_FEW_WORDS
    if tags > max_tag_share * size:
        return Rejection.TOO_MANY_TAGS
    return None
