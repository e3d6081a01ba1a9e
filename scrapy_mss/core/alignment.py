"""From an article's known text to labels of the page's tokens.

The text's words are aligned with the page's by their longest common subsequence; the labelled
span is then the maximum subsequence of +1 for a word that was matched and -1/2 for one that was
not, so that a stray match in a menu does not stretch it.
"""

from __future__ import annotations

import re

import numpy as np

from scrapy_mss.core.labels import span_labels
from scrapy_mss.core.subsequence import best_span
from scrapy_mss.markup.tokenizer import CJK
from scrapy_mss.markup.tokens import Bools, Tokens

MATCHED, UNMATCHED = 1.0, -0.5

_WORD = re.compile(rf"[^\W{CJK}]+|[{CJK}]")


def words_of(text: str) -> list[str]:
    """The words of plain text, cut as the tokenizer cuts them."""
    return _WORD.findall(text)


def match_words(tokens: Tokens, text: str) -> Bools:
    """bool[n_tokens]: the word tokens that a longest common subsequence pairs with *text*."""
    try:
        from rapidfuzz.distance import LCSseq
    except ImportError as error:
        message = "labelling by a known text needs rapidfuzz: pip install 'scrapy-mss[labels]'"
        raise ImportError(message) from error
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word.lower(), len(numbers)) for word in tokens.words()]
    known = [numbers.setdefault(word.lower(), len(numbers)) for word in words_of(text)]
    at = np.flatnonzero(tokens.is_word)
    matched = np.zeros(len(tokens), np.bool_)
    for run in LCSseq.opcodes(page, known):
        if run.tag == "equal":
            matched[at[run.src_start : run.src_end]] = True
    return matched


def label_words(tokens: Tokens, text: str) -> Bools:
    """bool[n_tokens]: the span of the page that has *text*."""
    matched = match_words(tokens, text)
    scores = np.where(matched, MATCHED, UNMATCHED) * tokens.is_word
    span = best_span(scores)
    at = np.flatnonzero(matched[span.start : span.end])
    if not len(at):
        return np.zeros(len(tokens), np.bool_)
    return span_labels(len(tokens), span.start + int(at[0]), span.start + int(at[-1]) + 1)
