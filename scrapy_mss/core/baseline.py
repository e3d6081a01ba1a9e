"""Simple MSS, the paper's baseline, which needs no training: words score 1, tags a penalty."""

from __future__ import annotations

import numpy as np

from scrapy_mss.markup.tokens import Floats, Tokens

TAG_PENALTY = -3.25  # the paper's, tuned on its training pages


def simple_scores(tokens: Tokens, tag_penalty: float = TAG_PENALTY) -> Floats:
    """1 for each word and symbol, *tag_penalty* for each tag: float64[n_tokens]."""
    return np.where(tokens.is_tag, tag_penalty, 1.0)
