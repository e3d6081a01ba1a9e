"""A model: a profile, counts of its feature families, and optionally a block classifier.

Counts are additive. A model that a crawl learns has counts and the keys of their pages; the bundled
one also has a classifier. A model that another version of this library has stored may lack counts
of families that this version computes differently, and carries theirs.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection
from scrapy_mss.core.naive_bayes import DIGEST_BITS, MAX_COUNT, NaiveBayes, Table
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.models.learned_pages import LearnedPages, generation_after, page_key
from scrapy_mss.models.profiles import Profile


class OtherFamily(NamedTuple):
    """Stored counts of a family that this version of the library does not compute."""

    pages: int
    buckets: NDArray[np.int64]  # [n], ascending
    counts: Table  # uint32[n, 2]

    def plus(self, more: OtherFamily) -> OtherFamily:
        """Both added, up to the greatest count."""
        both = np.concatenate((self.buckets, more.buckets))
        buckets, at = np.unique(both, return_inverse=True)
        total = np.zeros((len(buckets), 2), np.uint64)
        np.add.at(total, at, np.concatenate((self.counts, more.counts)))
        counts = np.minimum(total, MAX_COUNT).astype(np.uint32)
        return OtherFamily(self.pages + more.pages, buckets, counts)


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
        self.other_families: dict[tuple[str, int], OtherFamily] = {}  # by name and version
        self.uncounted: Counter[str] = Counter()  # pages that a family lacks, by its name
        self.unusable_classifier = ""  # why that of the stored model was left out

    def learn(self, page: Page, inside: Bools) -> None:
        """Count *page*, whose article is the tokens *inside* (bool[n_tokens])."""
        self.bayes.learn(page, inside)

    def learn_once(self, page: Page, inside: Bools) -> Rejection | None:
        """Learn *page*, unless it was learned with this text before or there is no room."""
        key = page_key(page.url, page.tokens, inside)
        if key in self.learned_pages:
            return Rejection.ALREADY_LEARNED
        observation = self.bayes.observe(page, inside)
        if not self.bayes.has_room(observation):
            return Rejection.MODEL_FULL
        self.learned_pages.add(key, generation_after(self.bayes.pages))
        self.bayes.add(observation)
        return None

    def merge(self, other: Model) -> int:
        """Add what *other* has learned; how many of its pages count twice, since both had them."""
        self.bayes.merge(other.bayes)
        self.uncounted += other.uncounted
        for key, more in other.other_families.items():
            known = self.other_families.get(key)
            self.other_families[key] = more if known is None else known.plus(more)
        return self.learned_pages.merge(other.learned_pages)

    def pages_of(self, family: str) -> int:
        """How many pages the counts of a *family* are of."""
        return self.bayes.pages - self.uncounted[family]

    @property
    def restarted(self) -> dict[str, int]:
        """The families that start from zero, and how many pages another version has counted."""
        pages: dict[str, int] = {}
        for (name, _), other in self.other_families.items():
            if name in self.bayes.counts and not self.pages_of(name):
                pages[name] = max(other.pages, pages.get(name, 0))
        return pages

    @property
    def identifier(self) -> str:
        """Names this very state: models with the same identifier read every page alike.

        The digest is the sum of those of all learned pages and of the classifier, so that it is up
        to date at no cost.
        """
        of_classifier = self.classifier.digest if self.classifier else 0
        digest = (self.bayes.digest + of_classifier) % (1 << DIGEST_BITS)
        return f"{self.profile.name}@{self.bayes.pages}p-{digest:0{DIGEST_BITS // 4}x}"
