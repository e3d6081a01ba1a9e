"""A model: a profile, counts of its feature families, and optionally a block classifier.

Counts are additive. A model that a crawl learns has counts, the keys of their pages, and lessons;
the bundled one has a classifier and the counts that it was trained with. These never change: what
crawls learn is a model of its own beside them (`Model.learned`). A model that another version of
this library has stored may lack counts of families that this version computes differently, and
carries theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.lessons import VERSION, Lessons, Readings, corrected
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.places import BlocksRead
from scrapy_mss.core.labels import Rejection, check_example
from scrapy_mss.core.naive_bayes import DIGEST_BITS, MAX_COUNT, NaiveBayes, Observation, Table
from scrapy_mss.markup.tokens import Bools, Floats, Ints, TokenIds, Tokens
from scrapy_mss.models.profiles import Profile

MAX_KEYS = 2**18  # 3 MB; five hundred articles a day of each of ten sites, for fifty days
# A sixteenth of the bound: of so many it does not matter which go first.
PAGES_OF_A_GENERATION = 2**14
MAX_RECENT = 2**10  # keys that wait to be sorted in; that takes a few milliseconds
KEY_BYTES = 8
UNUSED_BITS = np.uint64(32)  # of a token's id: half the bytes to hash, which is most of the time

Generations = NDArray[np.uint32]


def page_key(address: str, tokens: Tokens, inside: Bools) -> int:
    """What names the page *address* whose article is the tokens *inside* (bool[n_tokens]).

    The address counts without its fragment, which no server sees. Words count as the model sees
    them, by their stems; tags between them do not.
    """
    page, _, _ = address.partition("#")
    words = tokens.token_id[inside & ~tokens.is_tag] >> UNUSED_BITS
    key = blake2b(words.astype("<u4").tobytes(), digest_size=KEY_BYTES)
    key.update(page.encode("utf-8", "surrogatepass"))
    return int.from_bytes(key.digest(), "little")


def generation_after(pages: int) -> int:
    """The generation of a page that is learned after so many *pages*."""
    return min(pages // PAGES_OF_A_GENERATION, 2**32 - 1)


class LearnedPages:
    """A bounded set of page keys, so that a page that is crawled again is not counted again.

    Each key has the number of its generation: how many times 16,384 pages had been learned before.
    Beyond the bound, the keys of the oldest generations are dropped, so that the union of two sets
    is bounded, commutative and idempotent. (A bound on the keys alone, such as keeping the
    smallest, would forget new pages as soon as old ones.)

    A new address is mistaken for a learned one with a probability of at most 2**18 / 2**64; a
    learned one with a text that differs in a single word, with one in 2**32.
    """

    def __init__(
        self, keys: TokenIds | None = None, generations: Generations | None = None
    ) -> None:
        """The keys uint64[n], strictly ascending, and their generations uint32[n]."""
        self._keys = np.zeros(0, np.uint64) if keys is None else keys
        self._generations = np.zeros(0, np.uint32) if generations is None else generations
        self._recent: dict[int, int] = {}  # not sorted in yet

    def __contains__(self, key: int) -> bool:
        if key in self._recent:
            return True
        at = int(self._keys.searchsorted(np.uint64(key)))
        return at < len(self._keys) and int(self._keys[at]) == key

    def __len__(self) -> int:
        return len(self.arrays()[0])

    def newest(self) -> tuple[int, int]:
        generations = self.arrays()[1]
        newest = generations.max(initial=0)
        return int(newest), int(np.count_nonzero(generations == newest))

    def add(self, key: int, generation: int) -> None:
        self._recent[key] = max(generation, self._recent.get(key, 0))
        if len(self._recent) >= MAX_RECENT:
            self.arrays()

    def merge(self, other: LearnedPages) -> int:
        """Take in the pages of *other*; how many of them were here already."""
        (keys, generations), more = self.arrays(), other.arrays()
        n_both = int(np.isin(more[0], keys, assume_unique=True).sum())
        self._keys, self._generations = _united(
            np.concatenate((keys, more[0])), np.concatenate((generations, more[1]))
        )
        return n_both

    def arrays(self) -> tuple[TokenIds, Generations]:
        """All keys, in ascending order, and their generations."""
        if self._recent:
            keys = np.fromiter(self._recent.keys(), np.uint64, len(self._recent))
            generations = np.fromiter(self._recent.values(), np.uint32, len(self._recent))
            self._keys, self._generations = _united(
                np.concatenate((self._keys, keys)), np.concatenate((self._generations, generations))
            )
            self._recent = {}
        return self._keys, self._generations


def _united(keys: TokenIds, generations: Generations) -> tuple[TokenIds, Generations]:
    """*keys* in order, each once with the newest of its *generations*, and not too many.

    The oldest generations go first, and within one the least keys, so that it does not matter in
    which order sets were united.
    """
    if not len(keys):
        return keys, generations
    order = keys.argsort(kind="stable")  # of keys that are two sorted runs: it merges them
    keys, generations = keys[order], generations[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    keys, generations = keys[first], np.maximum.reduceat(generations, first)
    if len(keys) <= MAX_KEYS:
        return keys, generations
    kept = np.sort(generations.argsort(kind="stable")[-MAX_KEYS:])
    return keys[kept], generations[kept]


class OtherFamily(NamedTuple):
    """Stored counts of a family that this version of the library does not compute."""

    pages: int
    buckets: Ints  # int32[n], ascending
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
        self.lessons = Lessons()
        self._learned: Model | None = None
        self._counted: tuple[int, NaiveBayes[Page]] | None = None
        self.other_families: dict[tuple[str, int], OtherFamily] = {}  # by name and version
        self.uncounted: Counter[str] = Counter()  # pages that a family lacks, by its name
        self.unusable_classifier = ""  # why that of the stored model was left out

    @property
    def learned(self) -> Model:
        """What learns: this model itself, or one beside it if a classifier weighs its counts."""
        if self._learned is None:
            if self.classifier is None:
                return self
            self._learned = Model(self.profile)
        return self._learned

    @learned.setter
    def learned(self, learned: Model) -> None:
        self._learned = learned

    @property
    def reader(self) -> int:
        """What lessons are relative to, a classifier and how places are told; 0 without one."""
        return (self.classifier.digest + VERSION) % (1 << DIGEST_BITS) if self.classifier else 0

    def learn_once(self, page: Page, inside: Bools) -> Rejection | None:
        """Learn *page*, unless it was learned with this text before or there is no room."""
        learned, example = self.learned, _example(page, inside, self)
        rejection = learned.rejection(example)
        if rejection is None:
            learned.add(example, generation_after(learned.bayes.pages))
        return rejection

    def rejection(self, example: Example) -> Rejection | None:
        """Why *example* is not learned: it was learned before, or there is no room."""
        if example.key in self.learned_pages:
            return Rejection.ALREADY_LEARNED
        return None if self.bayes.has_room(example.observation) else Rejection.MODEL_FULL

    def add(self, example: Example, generation: int) -> None:
        """Learn *example*, for which there is room, in this *generation*."""
        self.lessons.add(example.lessons)  # first: where memory is short, nothing is learned
        self.bayes.add(example.observation)
        self.learned_pages.add(example.key, generation)

    def merge(self, other: Model) -> int:
        """Add what *other* has learned; how many of its pages count twice, since both had them."""
        self.bayes.merge(other.bayes)
        self.lessons.add(other.lessons)
        self.uncounted += other.uncounted
        for key, more in other.other_families.items():
            known = self.other_families.get(key)
            self.other_families[key] = more if known is None else known.plus(more)
        return self.learned_pages.merge(other.learned_pages)

    def counted(self) -> NaiveBayes[Page]:
        """The counts that the classifier was trained with, and those of crawls, in one."""
        learned = self.learned.bayes
        if self._counted is None or self._counted[0] != learned.digest:
            both = new_counts(self.profile.families)
            both.merge(self.bayes)
            both.merge(learned)
            self._counted = learned.digest, both
        return self._counted[1]

    def pages_of(self, family: str) -> int:
        return self.bayes.pages - self.uncounted[family]

    @property
    def restarted(self) -> dict[str, int]:
        """The families that start from zero, and how many pages another version has counted."""
        pages: dict[str, int] = {}
        for (name, _), other in self.other_families.items():
            if name in self.profile.families and not self.pages_of(name):
                pages[name] = max(other.pages, pages.get(name, 0))
        return pages

    @property
    def identifier(self) -> str:
        """Names this very state: models with the same identifier have learned the same pages.

        The digest is the sum of those of all learned pages and of the classifier, so that it is up
        to date at no cost. Corrections by lessons may be of up to a tenth fewer pages than these.
        """
        digest, pages = self.bayes.digest, self.bayes.pages
        if self.classifier is not None:
            digest += self.classifier.digest
        if self._learned is not None:
            digest += self._learned.bayes.digest
            pages += self._learned.bayes.pages
        return f"{self.profile.name}@{pages}p-{digest % (1 << DIGEST_BITS):0{DIGEST_BITS // 4}x}"


@dataclass(frozen=True, slots=True)
class Example:
    """A page to learn: its key among the learned pages, what it adds to counts, and to lessons."""

    key: int
    observation: Observation
    lessons: Lessons = field(default_factory=Lessons)

    def trusted(self, share: float) -> Example:
        """The same by labels that are trusted as a *share* of those of people and wrappers.

        It has no counts, which learn only from these.
        """
        lessons = self.lessons.scaled(share)
        return replace(self, observation=self.observation.uncounted(), lessons=lessons)


# The probability of the blocks of a page, given that without what is known of its site.
Recalled: TypeAlias = Callable[[Page, Floats], Floats]


def example_of(
    page: Page, inside: Bools, model: Model, recalled: Recalled | None = None
) -> Example | Rejection:
    """What *model* learns from *page*; why it is rejected, if it is.

    ``inside`` is bool[n_tokens], the tokens of the article. *recalled* is what is known of its site
    otherwise.
    """
    rejection = check_example(page.tokens, inside, model.profile.max_tag_share)
    return _example(page, inside, model, recalled) if rejection is None else rejection


def _example(page: Page, inside: Bools, model: Model, recalled: Recalled | None = None) -> Example:
    key = page_key(page.url, page.tokens, inside)
    observation = model.bayes.observe(page, inside)
    if model.classifier is None or not len(page.blocks):
        return Example(key, observation)
    readings = _readings(page, model, model.classifier, recalled)
    of_blocks = page.blocks.mostly(inside & page.tokens.is_word)
    return Example(key, observation, model.learned.lessons.of_page(of_blocks, readings))


def _readings(
    page: Page, model: Model, classifier: BlockClassifier, recalled: Recalled | None
) -> Readings:
    """How *model* reads the blocks of *page* before it learns them."""
    networks, learned = classifier.networks, model.learned
    alone = BlocksRead(page, networks.probabilities(page, classifier.inputs(page, model.bayes)))
    taught, known, by_site = learned.lessons.taught(alone), alone.probability, None
    if taught is not None:
        known, by_site = corrected(known, taught.by_others), taught.by_site
    with_others = known if recalled is None else recalled(page, known)
    if learned.lessons.knows(page.url) or not learned.bayes.pages:
        return Readings(alone, with_others, None, model.reader, by_site)
    counted = networks.probabilities(page, classifier.inputs(page, model.counted()))
    return Readings(alone, with_others, counted, model.reader, by_site)
