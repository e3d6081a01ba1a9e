"""One page, one system: the answer, and all its scores in one row.

The row is what everything else is made of: the tables average it, the intervals resample it, the
JSON keeps it. So it holds numbers alone, no text, and a score that was not asked for is None.
"""

from __future__ import annotations

from dataclasses import dataclass

from research.bench import metrics
from research.bench.metrics import PRF
from research.datasets.pages import LabelledPage

POOR = 0.80  # a page under this F1 misses a fifth of its words or has a quarter too many


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system made of a page, and how long it took; *error* says why it failed."""

    text: str
    ms: float = 0.0
    lxml_ms: float | None = None
    positions: PRF | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class PageScore:
    """The scores of one page; p, r, f1 are against the short gold, best_* against the best one."""

    id: str
    site: str
    lang: str
    p: float
    r: float
    f1: float
    ms: float
    words: int
    gold_words: int
    bytes: int
    best_gold: int
    best_p: float
    best_r: float
    best_f1: float
    shingle_p: float | None
    shingle_r: float | None
    cleaneval: float
    rouge: float | None
    position_p: float | None
    position_r: float | None
    position_f1: float | None
    lxml_ms: float | None
    error: str | None

    @property
    def poor(self) -> float:
        """1 for a page that a reader would call wrong."""
        return float(self.f1 < POOR)


def score_page(page: LabelledPage, answer: Answer, *, rouge: bool = False) -> PageScore:
    """Compare *answer* with the golds of *page*; ROUGE-LSum is slow and has to be asked for."""
    extracted, golds = metrics.words(answer.text), [metrics.words(gold) for gold in page.golds]
    short = metrics.bag(extracted, golds[0])
    number, best = metrics.best_bag(extracted, golds)
    grams = metrics.shingles(metrics.cased_words(answer.text), metrics.cased_words(page.golds[0]))
    exact = answer.positions
    return PageScore(
        id=page.id,
        site=page.site,
        lang=page.language,
        p=short.p,
        r=short.r,
        f1=short.f1,
        ms=answer.ms,
        words=len(extracted),
        gold_words=len(golds[0]),
        bytes=len(page.source),
        best_gold=number,
        best_p=best.p,
        best_r=best.r,
        best_f1=best.f1,
        shingle_p=grams.p,
        shingle_r=grams.r,
        cleaneval=metrics.alignment(extracted, golds[0]),
        rouge=metrics.rouge_lsum(answer.text, page.golds) if rouge else None,
        position_p=exact.p if exact else None,
        position_r=exact.r if exact else None,
        position_f1=exact.f1 if exact else None,
        lxml_ms=answer.lxml_ms,
        error=answer.error,
    )
