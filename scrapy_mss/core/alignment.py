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
# Of a text's words, below which it is not the page's. Of 114 articles of six sets, all but one have
# more in their own page; of those of another page none has more than .02.
MIN_SHARE = 0.5

_WORD = re.compile(rf"[^\W{CJK}]+|[{CJK}]")


def words_of(text: str) -> list[str]:
    """The words of plain text, cut as the tokenizer cuts them."""
    return _WORD.findall(text)


def has_words(text: str) -> bool:
    """Whether there is anything to align."""
    return _WORD.search(text) is not None


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


def label_words(tokens: Tokens, text: str) -> Bools:
    """bool[n_tokens]: the span of the page that has *text*."""
    return align(tokens, text)[0]
