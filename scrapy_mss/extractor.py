"""From HTML to article: tokens, scores, the span of the greatest sum, cleaning, text.

An extractor with a model scores tokens by Naive Bayes, one without by the paper's untrained
baseline. A model with a judge, as the one in the box, lets it weigh what the counts say. The same
page and the same counts always give the same extraction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.classifier import Judge, evidence_of
from scrapy_mss.blocks.page_features import EVEN, is_article, looks_of, span_probability
from scrapy_mss.blocks.selection import kept_tokens, select
from scrapy_mss.core.cleaning import keep, trimmed, well_formed
from scrapy_mss.core.constraints import cut
from scrapy_mss.core.labels import Rejection, check_example
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.core.subsequence import Span, best_span
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Floats, Tokens
from scrapy_mss.models.format import Model
from scrapy_mss.models.profiles import PAPER, TAG_PENALTY, Profile, simple_scores


@dataclass(frozen=True, slots=True, eq=False)
class Extraction:
    """A page's article and how it was found.

    ``span`` counts tokens and ``offsets`` characters of the source; ``scores`` has one score a
    token, ``kept`` is true for the tokens that make up ``text`` and ``html``.
    """

    text: str
    span: Span
    probability: float
    is_article: bool
    tokens: Tokens
    scores: Floats
    kept: Bools

    @property
    def html(self) -> str:
        """The article's HTML: the page's own source, with cut tags opened and closed."""
        return well_formed(self.tokens, self.kept)

    @property
    def offsets(self) -> tuple[int, int]:
        """Where in the source the span begins and ends."""
        start, end, _ = self.span
        if start == end:
            return 0, 0
        return int(self.tokens.start[start]), int(self.tokens.end[end - 1])


class Extractor:
    """Finds the article in a page; with a model it can also learn from labelled pages."""

    def __init__(
        self,
        model: Model | None = None,
        *,
        profile: Profile | None = None,
        tag_penalty: float = TAG_PENALTY,
    ) -> None:
        """Use *model* as its own profile says, or as *profile* does.

        *tag_penalty* is what a tag scores where there is no model.
        """
        self.model = model
        self.profile = profile or (model.profile if model else PAPER)
        if model and model.profile.families != self.profile.families:
            raise ValueError(
                f"a model of profile {model.profile.name!r} (features "
                f"{', '.join(model.profile.families)}) cannot be used as "
                f"{self.profile.name!r}, which asks for {', '.join(self.profile.families)}"
            )
        self.tag_penalty = tag_penalty

    @classmethod
    def untrained(cls, profile: Profile = PAPER) -> Extractor:
        """An extractor that has learned nothing yet, for learning."""
        return cls(Model(profile))

    def extract(self, html: str) -> Extraction:
        """The article in *html*, a page's source."""
        return self.extract_tokens(tokenize(html))

    def extract_tokens(self, tokens: Tokens) -> Extraction:
        """The article in a tokenized page."""
        if self.model is not None and self.model.judge is not None:
            return self._judged(tokens, self.model.bayes, self.model.judge)
        scores = self.scores(tokens)
        span = cut(best_span(scores), tokens, scores, self.profile.boundaries)
        span = trimmed(tokens, span)
        kept = keep(tokens, span, self.profile.rules)
        text = render(tokens, kept)
        probability = span_probability(scores, span)
        return Extraction(text, span, probability, is_article(text), tokens, scores, kept)

    def _judged(self, tokens: Tokens, bayes: NaiveBayes, judge: Judge) -> Extraction:
        """The article by the judge's probabilities of passages instead of the bare counts."""
        passages = tokens.passages
        evidence = evidence_of(bayes, passages)
        probability = judge.probabilities(evidence, passages)
        scores, span, stays = select(probability, passages, self.profile.bias)
        kept = keep(tokens, span, self.profile.rules) & kept_tokens(passages, stays)
        text = render(tokens, kept)
        looks = looks_of(passages, judge.score(evidence), probability, stays)
        sure = judge.article(looks) if text else 0.0
        return Extraction(text, span, sure, sure >= EVEN, tokens, scores, kept)

    def scores(self, tokens: Tokens) -> Floats:
        """How much each token speaks for being inside the article: float64[n_tokens]."""
        if self.model is None:
            return simple_scores(tokens, self.tag_penalty)
        bayes, profile = self.model.bayes, self.profile
        probability = bayes.probability(bayes.features(tokens), neighbours=profile.neighbours)
        return probability - 0.5 + profile.bias

    def learn(self, tokens: Tokens, inside: Bools, *, checked: bool = True) -> Rejection | None:
        """Learn a page whose article is *inside* (bool[n_tokens]), and say why not if not.

        With *checked*, pages are refused that look wrongly labelled; golds that people wrote
        need no check.
        """
        if self.model is None:
            raise ValueError("an extractor without a model cannot learn: use Extractor.untrained()")
        limit = self.profile.largest_tag_share
        rejection = check_example(tokens, inside, limit) if checked else None
        if rejection is None:
            self.model.learn(tokens, np.asarray(inside, np.bool_))
        return rejection
