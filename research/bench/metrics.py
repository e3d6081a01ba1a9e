r"""How near an extracted text is to the gold one: pure functions, each by its definition.

A word is a lower-cased run of `\w`, but every ideograph and kana is a word of its own, as Chinese
and Japanese write no spaces (a run would be a sentence). Two conventions hold everywhere: where
both texts are empty the score is 1, where one of them is empty it is 0.

- `bag`: precision, recall and F1 of the two bags of words.
- `positions`: the same with every occurrence distinct, where it is known which tokens were kept.
- `shingles`: bags of 4-grams, as in the article-extraction-benchmark of Scrapinghub/Zyte. Words
  keep their case there, and here. `summary` averages precision and recall over the pages that
  have them and takes F1 of the two averages, again as there.
- `alignment`: CleanEval's text-only score, 1 - distance / alignment length, with insertions and
  deletions alone. With l the length of the longest common subsequence of n and m words the
  distance is n + m - 2l and the alignment n + m - l long. l comes from rapidfuzz's bit-parallel
  algorithm: linear space, and milliseconds for 10,000 words.
- `rouge_lsum`: ROUGE-LSum F1 by the `rouge-score` package, against the gold that fits best.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from research.errors import require
from scrapy_mss.markup.tokens import CJK

_WORD: Final = re.compile(rf"[^\W{CJK}]+|(?=\w)[{CJK}]")
# A sentence ends a line for ROUGE-LSum. The package would ask nltk for a model that it downloads.
_SENTENCE_END: Final = re.compile(r"\n+|(?<=[.!?])\s+|(?<=[。！？])")  # noqa: RUF001 - Chinese stops
SHINGLE: Final = 4


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean."""

    p: float
    r: float
    f1: float


class Shingles(NamedTuple):
    """What two bags of 4-grams share and do not, as shares of the page's sum."""

    tp: float
    fp: float
    fn: float

    @property
    def p(self) -> float | None:
        """The precision, where anything was extracted."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else None

    @property
    def r(self) -> float | None:
        """The recall, where there is anything to extract."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else None


def words(text: str) -> list[str]:
    """The words of *text*, lower-cased."""
    return _WORD.findall(text.lower())


def cased_words(text: str) -> list[str]:
    """The words of *text* as they are written."""
    return _WORD.findall(text)


def prf(shared: int, extracted: int, gold: int) -> PRF:
    """The scores of *shared* hits of so many *extracted* and so many *gold* items."""
    if not extracted and not gold:
        return PRF(1.0, 1.0, 1.0)
    if not shared:
        return PRF(0.0, 0.0, 0.0)
    return PRF(shared / extracted, shared / gold, 2 * shared / (extracted + gold))


def bag(extracted: Sequence[str], gold: Sequence[str]) -> PRF:
    """Compare two texts as bags of words."""
    shared = (Counter(extracted) & Counter(gold)).total()
    return prf(shared, len(extracted), len(gold))


def best_bag(extracted: Sequence[str], golds: Sequence[Sequence[str]]) -> tuple[int, PRF]:
    """The number of the gold with the highest F1 (the first of equals) and its scores."""
    scores = [bag(extracted, gold) for gold in golds]
    best = max(range(len(scores)), key=lambda i: scores[i].f1)
    return best, scores[best]


def positions(kept: NDArray[np.bool_], gold: NDArray[np.bool_], is_word: NDArray[np.bool_]) -> PRF:
    """Compare kept and gold tokens, bool[n_tokens] each; tokens that are no words do not count."""
    shared = int(np.count_nonzero(kept & gold & is_word))
    return prf(shared, int((kept & is_word).sum()), int((gold & is_word).sum()))


def shingles(extracted: Sequence[str], gold: Sequence[str]) -> Shingles:
    """Compare two texts as bags of 4-grams; a text of fewer words is one shorter gram."""
    ours, theirs = _grams(extracted), _grams(gold)
    tp, fp, fn = ((ours & theirs).total(), (ours - theirs).total(), (theirs - ours).total())
    total = max(1, tp + fp + fn)
    return Shingles(tp / total, fp / total, fn / total)


def _grams(text: Sequence[str]) -> Counter[tuple[str, ...]]:
    starts = range(max(1, len(text) - SHINGLE + 1)) if text else ()
    return Counter(tuple(text[i : i + SHINGLE]) for i in starts)


def alignment(extracted: Sequence[str], gold: Sequence[str]) -> float:
    """CleanEval's text-only score of two texts in words."""
    total = len(extracted) + len(gold)
    if not total:
        return 1.0
    common = _common_length(extracted, gold)
    distance, length = total - 2 * common, total - common
    return 1.0 - distance / length


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence; numbers stand for words, so that hashes cannot."""
    distance = require("rapidfuzz.distance", "the CleanEval score")
    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(word, len(numbers)) for word in text] for text in (one, other)]
    return int(distance.LCSseq.similarity(*coded))


def rouge_lsum(extracted: str, golds: Sequence[str]) -> float:
    """The highest ROUGE-LSum F1 over the golds."""
    return max(_rouge(extracted, gold) for gold in golds)


def _rouge(extracted: str, gold: str) -> float:
    sides = [_sentences(extracted), _sentences(gold)]
    if not all(sides):
        return float(sides[0] == sides[1])
    return _rouge_scorer()(sides[1], sides[0])


def _sentences(text: str) -> str:
    """One sentence a line; sentences without words are left out."""
    return "\n".join(part for part in _SENTENCE_END.split(text) if words(part))


class _Words:
    """The tokenizer of the bench, for ROUGE: the package's own knows ASCII letters alone."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


@lru_cache(maxsize=1)
def _rouge_scorer() -> Callable[[str, str], float]:
    module = require("rouge_score.rouge_scorer", "--rouge")
    scorer = module.RougeScorer(["rougeLsum"], tokenizer=_Words())
    return lambda target, text: cast("float", scorer.score(target, text)["rougeLsum"].fmeasure)
