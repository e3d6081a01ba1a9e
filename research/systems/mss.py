"""The paper's systems that learn: supervised, cut at a rule, for CleanEval, self-trained."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.datasets.pages import Example
from research.systems.base import Located
from research.training.examples import training_examples
from research.training.fit import fit
from research.training.self_training import ITERATIONS, SelfTraining, self_train
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.cleaning import CODE_ONLY, keep
from scrapy_mss.core.labels import align
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.files import bundled_model, read_model, with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PROFILES


class Mss:
    """Naive Bayes scores and the span with the greatest sum, as a profile has them.

    The paper measured spans before cleaning, so nothing is cleaned unless *clean* is given;
    *bias* replaces the profile's.
    """

    def __init__(
        self, *, profile: str = "paper", clean: bool = False, bias: float | None = None
    ) -> None:
        if profile not in PROFILES:
            raise ValueError(f"no profile is called {profile!r}; there are {', '.join(PROFILES)}")
        self.profile = PROFILES[profile]
        if not clean:
            self.profile = replace(self.profile, rules=CODE_ONLY)
        if bias is not None:
            self.profile = replace(self.profile, bias=bias)
        self.extractor = Extractor.of(Model(self.profile))

    def fit(self, examples: Iterable[Example]) -> None:
        """Learn from golds that people wrote: none is rejected."""
        for example in examples:
            tokens = tokenize(example.html, self.profile.stem)
            self.extractor.model.bayes.learn(Page(tokens), align(tokens, example.text)[0])

    def load_model(self, path: str | os.PathLike[str]) -> None:
        """Use what a model file holds instead of learning."""
        self.extractor = Extractor.of(with_bundled(read_model(path)), profile=self.profile)

    def locate(self, html: str) -> Located:
        found = self.extractor.extract(html)
        return Located(found.text, found.tokens, found.kept)

    def extract(self, html: str) -> str:
        return self.extractor.extract(html).text


class BlockMss(Mss):
    """The system of the bundled model: counts of words and layout, and a block classifier."""

    def __init__(self, *, bias: float | None = None) -> None:
        super().__init__(profile=DEFAULT.name, clean=True, bias=bias)

    def fit(self, examples: Iterable[Example]) -> None:
        """Learn counts, and a classifier of blocks by them."""
        bayes, classifier = fit(list(training_examples(examples)), self.profile.families)
        self.extractor = Extractor.of(Model(self.profile, classifier, bayes), profile=self.profile)

    def load_bundled(self) -> None:
        """Use the model that comes with the package."""
        self.extractor = Extractor.of(bundled_model(), profile=self.profile)


class SelfTrainedMss(Mss):
    """The supervised system, trained on from the unlabelled pages of one site at a time."""

    def __init__(self, *, iterations: int = ITERATIONS) -> None:
        super().__init__()
        self.options = SelfTraining(iterations=iterations)

    def locate_site(self, pages: Sequence[str]) -> list[list[Located]]:
        """For each iteration, the first of them none, what is found in each page of a site."""
        read = [Page.of(page, self.profile.stem) for page in pages]
        history = self_train(self.extractor.model.bayes, read, options=self.options)
        rows = []
        for predictions in history:
            kept = [
                keep(page.tokens, found.span, self.profile.rules)
                for page, found in zip(read, predictions, strict=True)
            ]
            located = zip((page.tokens for page in read), kept, strict=True)
            rows.append([Located(render(tokens, k), tokens, k) for tokens, k in located])
        return rows

    def extract_site(self, pages: Sequence[str]) -> list[str]:
        return [located.text for located in self.locate_site(pages)[-1]]
