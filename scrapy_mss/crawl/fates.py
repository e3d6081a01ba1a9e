"""Counts what becomes of announced addresses: one fate each, by the site that announced it.

An address is announced as soon as the spider names it. What the downloader, the pipelines and the
end of the crawl say of it replaces `NOT_YET`, and takes back what was counted: so fates add up,
whenever the crawl is killed. The mark in the meta of its request is copied to redirects and
retries. No error in counting costs a page.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Concatenate, Final, NamedTuple, ParamSpec

from scrapy.http import Request, Response

from scrapy_mss import stats
from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl.items import ItemNotes, RejectedItemError
from scrapy_mss.crawl.pages import ANNOUNCED, SITE, first_url, is_fed, left_site
from scrapy_mss.crawl.processes import FAILURES
from scrapy_mss.crawl.site_quality import SiteQuality
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.pages.kinds import ARTICLE_KINDS, WALLS
from scrapy_mss.quality import counts as names
from scrapy_mss.quality.counts import Counts
from scrapy_mss.quality.fates import (
    AGE,
    ARTICLE,
    DUPLICATE,
    ERROR,
    FED,
    IGNORED,
    NEW,
    NOT_YET,
    OFF_SITE,
    Fate,
    of_page,
)
from scrapy_mss.quality.store import Losses, LossesOfSites, QualityStore, adding_losses
from scrapy_mss.seen.keys import address_key
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.checkpoints import CheckpointPart
from scrapy_mss.storage.tables import DAY, MAX_SITES, minute_now

logger = logging.getLogger(__name__)

# Of a site in a crawl, some 100 bytes each; what it announces beyond that is not counted.
MAX_ANNOUNCED: Final = 5000
MAX_EMITTED: Final = 10_000  # addresses; two of one article are in lists of the same hour
MAX_OLD: Final = 200  # of these, those that are too old: sitemaps name the archive

P = ParamSpec("P")


def _harmless(
    method: Callable[Concatenate[Fates, P], None],
) -> Callable[Concatenate[Fates, P], None]:
    @wraps(method)
    def call(self: Fates, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception:
            if not self.has_failed:
                self.has_failed = True
                logger.exception("scrapy-mss: a fate cannot be counted; the crawl continues")

    return call  # type: ignore[return-value]  # mypy names its first argument


class _State(NamedTuple):
    """The fate of an address so far, and the day on which it was announced."""

    fate: Fate
    day: int


_state = cache(_State)  # there are few, and many addresses with each


@dataclass(slots=True)
class _Announced:
    """What a site has announced in this crawl, by the keys of the addresses."""

    states: dict[int, _State] = field(default_factory=dict)
    waiting: dict[int, str] = field(default_factory=dict)  # addresses that are not yet answered
    n_old: int = 0


class Fates(CheckpointPart[LossesOfSites]):
    """The fates of the announced addresses of a crawl; examples of what is lost are stored."""

    FAILED = "examples of lost articles cannot be stored or read"
    LOST = "examples of lost articles of %d sites"

    def __init__(
        self,
        store: QualityStore,
        quality: SiteQuality,
        numbers: CrawlStats,
        *,
        only_new: bool,
    ) -> None:
        super().__init__(dict, lambda batch: adding_losses(batch, minute_now()))
        self._store = store
        self._quality = quality
        self._stats = numbers
        self._only_new = only_new
        self._sites: dict[str, _Announced] = {}
        self._lost_before: dict[str, dict[int, None]] = {}
        self._of_items: ItemNotes[Fate] = ItemNotes()
        self._emitted: dict[int, None] = {}  # keys of addresses of articles of this crawl
        self.has_failed = False

    def is_full(self, site: str, *, of_old: bool = False) -> bool:
        """Whether no more that *site* announces is counted, or nothing more that is old."""
        known = self._sites.get(site)
        if known is None:
            return False
        return len(known.states) >= MAX_ANNOUNCED or (of_old and known.n_old >= MAX_OLD)

    @_harmless
    def announce(self, request: Request) -> None:
        """Note that the address of *request*, which has the mark, was announced."""
        mark = request.meta[ANNOUNCED]
        if not isinstance(mark, list | tuple):
            site = request.meta.get(SITE) or site_of(request.url)
            request.meta[ANNOUNCED] = [site, address_key(request.url)] if mark else None
        self.decide(request, NOT_YET)

    @_harmless
    def decide(self, request: Request | None, fate: Fate) -> None:
        """Note the *fate* of an announced address by its *request*."""
        mark = request.meta.get(ANNOUNCED) if request is not None else None
        if request is not None and isinstance(mark, list | tuple):  # as a queue on disk has it
            site, key = mark
            self.set(site, key, first_url(request), fate)

    @_harmless
    def read(self, item: object, response: Response, result: ArticleResult) -> None:
        """Note what the *result* of a page says of its item."""
        fate = FED if is_fed(response) else NEW
        if result.article is None or (result.kind and result.kind not in ARTICLE_KINDS):
            fate = ERROR if result.reason in FAILURES else of_page(result.kind, result.reason)
            if left_site(response.request) and result.kind not in WALLS:
                fate = OFF_SITE
        self._of_items.put(item, response, fate)

    def emit(self, keys: Iterable[int]) -> None:
        """Note that the article with these *keys* of its addresses is emitted."""
        self._emitted |= dict.fromkeys(keys)
        while len(self._emitted) > MAX_EMITTED:
            del self._emitted[next(iter(self._emitted))]

    def of_seen(self, keys: Iterable[int], before: Fate) -> Fate:
        """The fate of an article that was seen, in this crawl or *before*."""
        return DUPLICATE if any(key in self._emitted for key in keys) else before

    @_harmless
    def note(self, item: object, response: Response | None, fate: Fate) -> None:
        """Note the *fate* of an item, if it is that of an article."""
        if (self._of_items.get(item) or NEW).group == ARTICLE:
            self._of_items.put(item, response, fate)

    def scraped(self, item: object, response: Response | None) -> None:
        self._left(response, self._of_items.pop(item, response) or NEW)

    def dropped(self, item: object, response: Response | None, exception: Exception) -> None:
        """Note the fate of a rejected item; any other was dropped by another component."""
        noted = self._of_items.pop(item, response) or IGNORED
        self._left(response, noted if isinstance(exception, RejectedItemError) else IGNORED)

    def item_failed(self, item: object, response: Response | None) -> None:
        self._of_items.pop(item, response)
        self._left(response, ERROR)

    def spider_failed(self, response: Response | None) -> None:
        self._left(response, ERROR)

    def request_dropped(self, request: Request) -> None:
        """Note that the crawl has requested the address before, or what it is redirected to."""
        self.decide(request, DUPLICATE)

    @_harmless
    def end(self, *, finished: bool) -> None:
        """Note what has no answer: a crawl that has *finished* has asked for all it could."""
        for site, announced in self._sites.items():
            for key, url in [*announced.waiting.items()]:
                if finished:
                    self.set(site, key, url, IGNORED)
                else:
                    self._lose(site, url, NOT_YET)

    def _left(self, response: Response | None, fate: Fate) -> None:
        self.decide(response.request if response is not None else None, fate)

    @_harmless
    def set(self, site: str, key: int, url: str, fate: Fate) -> None:
        """Count the *fate* of what *site* has announced at *url*, unless its fate says more."""
        if not site or (site not in self._sites and len(self._sites) >= MAX_SITES):
            return
        announced = self._sites.setdefault(site, _Announced())
        known = announced.states.get(key)
        if known is None:
            if self.is_full(site, of_old=fate is AGE):
                return
            announced.n_old += fate is AGE
            state = _state(fate, minute_now() // DAY)
            counts = Counter({names.ANNOUNCED: 1})
        elif not fate.replaces(known.fate):
            return
        else:
            state = _state(fate, known.day)
            counts = Counter()
            counts.subtract(self._counts(site, key, known.fate))
            if known.fate.is_loss and site in self._unsaved:
                self._unsaved[site].remove(known.fate.name, url, key)
        announced.states[key] = state
        counts.update(self._counts(site, key, fate))
        self._count(site, counts, state.day)
        if fate is NOT_YET:
            announced.waiting[key] = url
            return
        announced.waiting.pop(key, None)
        if fate.lost:
            self._lose(site, url, fate)
        if fate.is_loss:
            self._unsaved[site].keys[key] = None

    def _counts(self, site: str, key: int, fate: Fate) -> Counts:
        """What an address with this *fate* counts; what was lost before is not lost again."""
        counts = fate.counts
        if self._only_new and fate.is_loss and key in self._lost_of(site):
            counts[names.ASKED] = 0
        return counts

    def _lost_of(self, site: str) -> dict[int, None]:
        """The addresses of *site* that were lost in earlier crawls."""
        if site not in self._lost_before:
            stored = self.asked(self._store.losses, [site]) or {}
            self._lost_before[site] = stored.get(site, Losses()).keys
        return self._lost_before[site]

    def _count(self, site: str, counts: Counts, day: int) -> None:
        self._quality.count(site, counts, day)
        for name, number in counts.items():
            if name == names.ANNOUNCED:
                self._stats.add(stats.ANNOUNCED, number)
            elif name.startswith(names.FATE) and number:
                self._stats.add(stats.FATE, number, fate=name.removeprefix(names.FATE))

    def _lose(self, site: str, url: str, fate: Fate) -> None:
        self._unsaved.setdefault(site, Losses()).add(fate.name, url, minute_now())

    def _joined(self, batch: LossesOfSites, later: LossesOfSites) -> LossesOfSites:
        for site, losses in later.items():
            batch.setdefault(site, Losses()).update(losses)
        return batch
