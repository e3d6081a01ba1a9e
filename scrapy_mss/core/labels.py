"""Labels of training pages, and which labelled pages are good enough to learn from.

A label is a span of tokens: that of a wrapper, or the one that has an article's known text. The
text's words are aligned with the page's by their longest common subsequence; the span is then the
maximum subsequence of +1 for a word that was matched and -1/2 for one that was not, so that a stray
match in a menu does not stretch it.

The paper learns only from pages whose extraction has at least fifty words and symbols and is at
most one fifth tags, which leaves out index pages, galleries and wrappers that no longer match their
site.
"""

from __future__ import annotations

import re
from enum import Enum

import numpy as np

from scrapy_mss.core.common_subsequence import common_subsequence
from scrapy_mss.core.subsequence import best_span
from scrapy_mss.markup.tokens import CJK, Bools, Tokens

MIN_WORDS = 50
MAX_TAG_SHARE = 0.2

MATCHED, UNMATCHED = 1.0, -0.5
# Of a text's words, below which it is not the page's. Of 114 articles of six sets, all but one have
# more in their own page; of those of another page none has more than .02.
MIN_SHARE = 0.5

_WORD = re.compile(rf"[^\W{CJK}]+|[{CJK}]")


class Rejection(Enum):
    """Why a page is not learned from; the value is its name in the stats."""

    EMPTY = "empty"
    NOT_FOUND = "not_found"  # the page does not have the text that it is said to have
    DISAGREES = "disagrees"  # it is read otherwise
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


def words_of(text: str) -> list[str]:
    """The words of plain text, cut as the tokenizer cuts them."""
    return _WORD.findall(text)


def has_words(text: str) -> bool:
    """Whether there is anything to align."""
    return _WORD.search(text) is not None


def match_words(tokens: Tokens, text: str) -> Bools:
    """bool[n_tokens]: the word tokens that a longest common subsequence pairs with *text*."""
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word.lower(), len(numbers)) for word in tokens.words()]
    known = [numbers.setdefault(word.lower(), len(numbers)) for word in words_of(text)]
    at = np.flatnonzero(tokens.is_word)
    matched = np.zeros(len(tokens), np.bool_)
    matched[at[common_subsequence(page, known)]] = True
    return matched


def align(tokens: Tokens, text: str) -> tuple[Bools, float]:
    """The span of the page that has *text*, and the share of the text's words that are in it.

    The span is bool[n_tokens]; without a word in common it is empty.
    """
    matched = match_words(tokens, text)
    span = best_span(np.where(matched, MATCHED, UNMATCHED) * tokens.is_word)
    at = np.flatnonzero(matched[span.start : span.end])
    if not len(at):
        return np.zeros(len(tokens), np.bool_), 0.0
    inside = span_labels(len(tokens), span.start + int(at[0]), span.start + int(at[-1]) + 1)
    return inside, len(at) / len(words_of(text))
