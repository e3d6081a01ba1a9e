"""A model: a profile, counts of its feature families, and optionally a block classifier.

Counts are additive. A model that a crawl learns has counts and the keys of their pages; the bundled
one also has a classifier.
"""

from __future__ import annotations

from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.naive_bayes import DIGEST_BITS, NaiveBayes
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.models.families import new_counts
from scrapy_mss.models.learned_pages import LearnedPages
from scrapy_mss.models.profiles import Profile


class Model:
    """What was learned, and the *profile* that it is for; without *bayes* the counts are empty."""

    def __init__(
        self,
        profile: Profile,
        classifier: BlockClassifier | None = None,
        bayes: NaiveBayes[Page] | None = None,
    ) -> None:
        self.profile = profile
        self.classifier = classifier
        self.bayes = new_counts(profile.families) if bayes is None else bayes
        self.learned_pages = LearnedPages()

    def learn(self, page: Page, inside: Bools) -> None:
        """Count *page*, whose article is the tokens *inside* (bool[n_tokens])."""
        self.bayes.learn(page, inside)

    def merge(self, other: Model) -> int:
        """Add what *other* has learned; how many of its pages count twice, since both had them."""
        self.bayes.merge(other.bayes)
        return self.learned_pages.merge(other.learned_pages)

    @property
    def identifier(self) -> str:
        """Names this very state: models with the same identifier read every page alike.

        The digest is the sum of those of all learned pages and of the classifier, so that it is up
        to date at no cost.
        """
        of_classifier = self.classifier.digest if self.classifier else 0
        digest = (self.bayes.digest + of_classifier) % (1 << DIGEST_BITS)
        return f"{self.profile.name}@{self.bayes.pages}p-{digest:0{DIGEST_BITS // 4}x}"
