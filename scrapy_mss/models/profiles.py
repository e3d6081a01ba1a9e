"""The variants of the algorithm, a row each: what a model learns and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.cleaning import PAPER_RULES, UNCLEANED, Rule
from scrapy_mss.core.constraints import HORIZONTAL_RULE, Boundary
from scrapy_mss.core.labels import LARGEST_TAG_SHARE
from scrapy_mss.markup.tokens import Floats, Tokens


@dataclass(frozen=True, slots=True)
class Profile:
    """How scores are made and what is done with the span."""

    name: str
    families: tuple[str, ...]
    bias: float = 0.0  # added to every score: more keeps more
    neighbours: bool = False  # whether an unseen token takes its neighbours' features
    boundaries: tuple[Boundary, ...] = ()
    rules: tuple[Rule, ...] = PAPER_RULES
    largest_tag_share: float = LARGEST_TAG_SHARE  # of an example that a wrapper labelled


PAPER = Profile("paper", ("trigram", "unclosed_tag"))
PAPER_HR = Profile("paper-hr", PAPER.families, boundaries=(HORIZONTAL_RULE,))
TRIGRAM = Profile("trigram", ("trigram",))
CLEANEVAL = Profile(
    "cleaneval", ("unigram", "unclosed_tag"), bias=0.14, neighbours=True, rules=UNCLEANED
)
# For modern pages: words, the tags and names of the elements around, and shapes, weighed by a judge
# (docs/model.md). The paper's limit of one fifth tags refuses every fourth article of today (204
# of 787), whose paragraphs hold links and spans.
DEFAULT = Profile(
    "default",
    ("unigram", "element", "shape", "names"),
    rules=UNCLEANED,
    largest_tag_share=0.5,
)

PROFILES: dict[str, Profile] = {
    profile.name: profile for profile in (PAPER, PAPER_HR, TRIGRAM, CLEANEVAL, DEFAULT)
}

# Simple MSS, the paper's baseline that needs no training: what a tag counts beside a word's 1.
TAG_PENALTY = -3.25

# The same for pages of today, which have more tags to a word (docs/results.md).
MODERN_TAG_PENALTY = -2.0


def simple_scores(tokens: Tokens, tag_penalty: float = TAG_PENALTY) -> Floats:
    """1 for each word and sign, *tag_penalty* for each tag."""
    return np.where(tokens.is_tag, tag_penalty, 1.0)
