"""One page of a site: read with the site's memory, and what it adds to that.

The extractor calls a `SiteContext` once, in the middle of reading a page
(`Extractor.extract_page`). The page adds the probabilities of the reading without memory. A page
that this reading does not consider an article adds only its address: teasers on a front page are
text of articles, and must not be remembered as text of the site.

Of an article that was emitted before, the memory takes nothing away: what it had and still has on
the page stays, and what is new on the page is read without memory. New paragraphs beside those that
it had are of the article, too.

With memory, the blocks of a page can show that it is not an article, but only its address can show
that it is one: blocks of a gallery also look like those of the site's articles.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from scrapy_mss.blocks.lessons import corrected
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools, Floats
from scrapy_mss.seen.paragraphs import Paragraphs
from scrapy_mss.sites.address_counts import AddressCounts, with_address
from scrapy_mss.sites.evidence import adjusted
from scrapy_mss.sites.memory import BlockKeys, SiteMemory, main_container, period_of

# Below it a page is no article. At .1 a little more of the error goes away on `sites_daniel`, whose
# articles declare nothing, but three quarters of `other_pages_wcxb` would be learned, not a third.
MIN_LEARNED = 0.5
OF_ARTICLE = 0.6  # of a block of an emitted article: no threshold of `select` is above one half


@dataclass(frozen=True, slots=True)
class SiteUpdate:
    """What a page adds to the memory of its site.

    *place* is the key of the container with most of its article, 0 if it has none.
    """

    added: SiteMemory = field(default_factory=SiteMemory)
    place: int = 0


@dataclass(slots=True)
class SiteContext:
    """Reads the page at *url*, downloaded in *minute* (since 1970), with the *memory* of its site.

    *emitted* are the paragraphs of the page when its article was emitted. ``update`` is what the
    page adds to the memory, nothing until it was read.
    """

    memory: SiteMemory
    minute: int
    url: str = ""
    emitted: Paragraphs | None = None
    update: SiteUpdate = field(default=SiteUpdate(), init=False)

    def block_probabilities(
        self,
        page: Page,
        probability: Floats,
        article_probability: float,
        by_labels: Floats | None = None,
    ) -> Floats:
        """The *probability* of each block (float64[n_blocks]) with what is known of the site.

        *article_probability* is the page's, as it is read without; *by_labels* is what the labels
        of other pages of the site add to the log-odds.
        """
        keys = BlockKeys.of(page)
        self.update = self._update(keys, probability, article_probability)
        with_memory = adjusted(self.memory, keys, probability)
        if by_labels is not None:
            with_memory = corrected(with_memory, by_labels)
        if self.emitted is None:
            return with_memory
        return as_emitted(page, self.emitted, with_memory, probability)

    def recalled(self, page: Page, probability: Floats) -> Floats:
        return adjusted(self.memory, BlockKeys.of(page), probability)

    def article_probability(self, alone: float, with_site: float) -> float:
        """The probability that the page is an article, given that without the site and with it."""
        probability = with_address(self.url, self.memory.addresses, min(alone, with_site))
        return probability if self.emitted is None else max(probability, alone)

    def labelled(self, page: Page, inside: Bools) -> SiteUpdate:
        """What *page* adds, the tokens of whose article are *inside* (bool[n_tokens])."""
        is_inside = page.blocks.mostly(inside & page.tokens.is_word).astype(float)
        return self._update(BlockKeys.of(page), is_inside, 1.0, labelled=True)

    def _update(
        self, keys: BlockKeys, inside: Floats, article_probability: float, *, labelled: bool = False
    ) -> SiteUpdate:
        """What the page adds, by the probability of each of its blocks and of an article."""
        addresses = AddressCounts.of(self.url, article_probability, self.minute)
        if article_probability < MIN_LEARNED:
            return SiteUpdate(SiteMemory(period=period_of(self.minute), addresses=addresses))
        added = SiteMemory.of_page(keys, inside, self.minute, labelled=labelled)
        place = main_container(keys, keys.words * inside)
        return SiteUpdate(replace(added, addresses=addresses), place)


def as_emitted(page: Page, before: Paragraphs, with_memory: Floats, alone: Floats) -> Floats:
    """The probability of each block of *page*, whose article was emitted *before*.

    float64[n] each: *with_memory*, and *alone* as the page is read by itself.
    """
    had, new, added = before.found_on(page)
    probability = with_memory.copy()
    probability[had | new] = np.maximum(with_memory, alone)[had | new]
    probability[had | added] = np.maximum(probability, OF_ARTICLE)[had | added]
    return probability
