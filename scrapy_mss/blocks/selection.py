"""From passages' probabilities to the article: where to draw the line, the span, what stays.

What readers lose by a missing paragraph and by a kept advertisement is measured by F1, the
harmonic mean of precision and recall. If p says how probably each passage is of the article, the
choice with the greatest expected F1 keeps all passages above half of that very value: near one
half on a page that is clear, lower on a page unlike all others, where no passage is sure but some
stand out. That line is the zero of the scores; the article is their maximum subsequence, and
what lies below the line inside of it is cleaned away. Tags score nothing: a box of many tags and
few words must not weigh more than its words do.

Where much junk splits an article, the maximum subsequence is its larger part. The other part stands
in elements of the same tags and names, all the way up, and is brought back. A second copy of the
text goes.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.copies import copied
from scrapy_mss.blocks.segmentation import LEVELS, Passages
from scrapy_mss.core.subsequence import EMPTY, Span, best_span
from scrapy_mss.markup.elements import elements, held, within
from scrapy_mss.markup.tokens import Bools, Floats

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd: each level's key stays in the mix


def line(probability: Floats, passages: Passages) -> float:
    """Half of the expected F1 of the best choice of passages, by words; 0 if there are none."""
    words = passages.words
    best_first = np.argsort(-probability, kind="stable")
    hits = np.cumsum((probability * words)[best_first])
    kept = np.cumsum(words[best_first])
    return float((hits / (kept + hits[-1])).max()) if len(hits) and hits[-1] > 0 else 0.0


def select(
    probability: Floats, passages: Passages, bias: float = 0.0
) -> tuple[Floats, Span, Bools]:
    """The scores of the tokens, the span, and the passages that stay, all of them in the span.

    With *bias* the line is so much lower.
    """
    scores = token_scores(probability, passages, line(probability, passages) - bias)
    above = scores[passages.first] > 0
    kept = rejoined(chosen(above, passages, best_span(scores)), above, passages)
    kept &= ~copied(passages, kept)
    return scores, _around(kept, passages, scores), kept


def token_scores(probability: Floats, passages: Passages, zero: float) -> Floats:
    """float64[n_tokens]: how far its passage is above *zero*; 0 for tags and what is in none."""
    return passages.spread(probability - zero) * ~passages.tokens.is_tag


def chosen(above: Bools, passages: Passages, span: Span) -> Bools:
    """bool[n_passages]: those of the *span* that are *above* the line."""
    first = passages.first
    return above & (first >= span.start) & (first < span.end)


def rejoined(kept: Bools, above: Bools, passages: Passages) -> Bools:
    """bool[n_passages]: the *kept*, and those *above* the line in elements that are named alike."""
    where = passages.keys(0).astype(np.uint64)
    for level in range(1, LEVELS):
        where = where * _MULTIPLIER + passages.keys(level)
    return kept | above & np.isin(where, where[kept])


def _around(kept: Bools, passages: Passages, scores: Floats) -> Span:
    """The span from the first passage that is *kept* to the last."""
    at = np.flatnonzero(kept)
    if not len(at):
        return EMPTY
    start, end = int(passages.first[at[0]]), int(passages.last[at[-1]]) + 1
    return Span(start, end, float(scores[start:end].sum()))


def kept_tokens(passages: Passages, kept: Bools) -> Bools:
    """bool[n_tokens]: the passages *kept*, with the tags around and between them.

    An element that holds passages, but none that is kept, goes with its tags; one that holds
    no passage, a picture or a rule, stays if it stands between kept ones.
    """
    tokens = passages.tokens
    if not kept.any():
        return np.zeros(len(tokens), np.bool_)
    between = np.zeros(len(tokens), np.bool_)
    between[passages.first[kept][0] : passages.last[kept][-1] + 1] = True
    dropped = passages.spread(~kept)
    stays: Bools = between & ~dropped & ~within(tokens, _barren(passages, kept))
    return stays


def _barren(passages: Passages, kept: Bools) -> Bools:
    """bool[n_tokens]: the opening tags of elements that hold tokens of dropped passages alone."""
    tokens = passages.tokens
    opens = np.flatnonzero(elements(tokens))
    of_any = held(tokens, opens, passages.of >= 0)
    of_kept = held(tokens, opens, passages.spread(kept))
    barren = np.zeros(len(tokens), np.bool_)
    barren[opens] = (of_any > 0) & (of_kept == 0)
    return barren
