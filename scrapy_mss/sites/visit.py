"""One page of a site: read with what is known of the site, and what it adds to that.

The extractor asks a `Visit` once, in the middle of reading a page (`Extractor.extract_page`). What
the page adds are the probabilities of the reading without memory. A page that this reading
takes for no article adds nothing: teasers on a front page are text of articles, which must not
become text of the site by that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools, Floats
from scrapy_mss.sites.evidence import adjusted
from scrapy_mss.sites.layout import agreement
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.observation import BlockKeys, observation

# Below it a page is no article. At .1 a little more of the error goes away on `sites_daniel`, whose
# articles declare nothing, but three quarters of `other_pages_wcxb` would be learned, not a third.
MIN_LEARNED = 0.5


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a page adds to the memory of its site, and how far it agrees with that (`layout`)."""

    added: SiteMemory = field(default_factory=SiteMemory)
    agreement: float = 1.0


@dataclass(slots=True)
class Visit:
    """Reads a page that was downloaded in *minute* (since 1970) with the *memory* of its site.

    ``lesson`` is what the page teaches, nothing until it was read.
    """

    memory: SiteMemory
    minute: int
    lesson: Lesson = field(default_factory=Lesson)

    def adjusted(self, page: Page, probability: Floats, article_probability: float) -> Floats:
        """The *probability* of each block with what is known of the site."""
        keys = BlockKeys.of(page)
        if article_probability >= MIN_LEARNED:
            added = learned(keys, probability, self.minute)
            self.lesson = Lesson(added, agreement(self.memory, keys, probability))
        return adjusted(self.memory, keys, probability)


def learned(keys: BlockKeys, probability: Floats, minute: int) -> SiteMemory:
    """What the page with these *keys* adds, by the *probability* of each block without memory."""
    return SiteMemory.of(observation(keys, probability, minute), minute)


def lesson_of_labels(page: Page, inside: Bools, minute: int) -> Lesson:
    """What *page* teaches, the tokens of whose article are *inside* (bool[n_tokens])."""
    words = page.blocks.count(inside & page.tokens.is_word)
    return Lesson(learned_from_labels(BlockKeys.of(page), words * 2 > page.blocks.words, minute))


def learned_from_labels(keys: BlockKeys, inside: Bools, minute: int) -> SiteMemory:
    """What the page with these *keys* adds, whose article is *inside* (bool[n_blocks])."""
    seen = observation(keys, inside.astype(float), minute, labelled=True)
    return SiteMemory.of(seen, minute, labelled=True)
