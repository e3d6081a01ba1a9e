"""The variants of the algorithm, a row each: what a model counts and how it is used."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_mss.core.cleaning import (
    CODE_ONLY,
    HORIZONTAL_RULE,
    PAPER_RULES,
    Boundary,
    Rule,
)
from scrapy_mss.core.labels import MAX_TAG_SHARE
from scrapy_mss.markup.stemming import Stem, porter, porter_nltk


@dataclass(frozen=True, slots=True)
class Profile:
    """How scores are made and what is done with the span."""

    name: str
    families: tuple[str, ...]
    stem: Stem = porter_nltk
    bias: float = 0.0  # added to every score: more keeps more
    neighbours: bool = False  # whether an unseen token takes its neighbours' features
    boundaries: tuple[Boundary, ...] = ()
    rules: tuple[Rule, ...] = PAPER_RULES
    max_tag_share: float = MAX_TAG_SHARE  # of a page that a wrapper labelled


PAPER = Profile("paper", ("trigram", "unclosed_tag"))
PAPER_HR = Profile("paper-hr", PAPER.families, boundaries=(HORIZONTAL_RULE,))
TRIGRAM = Profile("trigram", ("trigram",))
CLEANEVAL = Profile(
    "cleaneval", ("unigram", "unclosed_tag"), bias=0.14, neighbours=True, rules=CODE_ONLY
)
# That of the bundled model, for modern pages: words, class words and shapes are evidence for a
# block classifier (docs/how-it-works.md). The paper's limit of one fifth tags rejects every fourth
# article of today (204 of 787), whose paragraphs have links and spans.
DEFAULT = Profile(
    "default",
    ("unigram", "shape", "class_words"),
    stem=porter,
    rules=CODE_ONLY,
    max_tag_share=0.5,
)

PROFILES: dict[str, Profile] = {
    profile.name: profile for profile in (PAPER, PAPER_HR, TRIGRAM, CLEANEVAL, DEFAULT)
}
