"""The stats of a crawl: one row each. Code uses the rows, the documentation lists them.

`{…}` in a name is a variable part, such as a reason or a site. All values are numbers, so that
Scrapy's PeriodicLog can report them and their changes. Their number is bounded, however many sites
have rules: beyond the first sites of a stat, the others are added up under one name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

PREFIX = "mss/"
MAX_SITES = 100  # with names of their own in a stat; ten names each are a thousand in Scrapy's dump
OTHER_SITES = "other_sites"  # no host has an underscore


@dataclass(frozen=True, slots=True)
class Stat:
    """One row: a name and what it counts."""

    rows: ClassVar[list[Stat]] = []  # all that there are, in order

    name: str
    summary: str

    def __post_init__(self) -> None:
        self.rows.append(self)

    def of(self, **parts: str) -> str:
        """The full name, with its *parts* filled in."""
        return PREFIX + self.name.format(**parts)


TRAIN_SEEN = Stat("train/seen", "pages of sites with wrappers that reached the training middleware")
TRAIN_LEARNED = Stat("train/learned", "pages learned from")
TRAIN_SOURCE = Stat("train/source/{source}", "these pages, by what labelled them: wrapper, feed")
TRAIN_TOKENS = Stat("train/tokens", "tokens of these pages")
TRAIN_REFUSED = Stat("train/refused/{reason}", "pages not learned from, by reason")
TRAIN_SECONDS = Stat(
    "train/seconds", "seconds spent on labelling and learning, including in workers"
)
EXTRACT_PAGES = Stat("extract/pages", "pages read; each counts once, even if it has several items")
EXTRACT_ARTICLES = Stat("extract/articles", "pages with an article")
EXTRACT_DROPPED = Stat(
    "extract/dropped/{reason}",
    "pages without an article, by [reason](crawling.md#pages-without-an-article)",
)
KIND = Stat("kind/{kind}", "pages read, by [kind](kinds.md)")
EXTRACT_SECONDS = Stat("extract/seconds", "seconds spent on extraction, including in workers")
EXTRACT_PROBABILITY = Stat("extract/probability", "sum of the articles' probabilities")
EXTRACT_SOURCE = Stat(
    "extract/source/{source}",
    "articles, by what extracted them: wrapper, model, or the feed where there is no page",
)
EXTRACT_FAILED = Stat(
    "extract/failed/{reason}", "pages given up, by reason: error, timeout, memory, crash"
)
ENCODING_MENDED = Stat(
    "encoding/mended/{encoding}",
    "responses in another [encoding](crawling.md#encodings) than they declare, by that encoding",
)
RENDER_PAGES = Stat(
    "render/pages", "pages asked for by the [browser](troubleshooting.md#javascript)"
)
RENDER_AT_ONCE = Stat("render/at_once", "of these, at once, as the site memory knows")
RENDER_IN_VAIN = Stat("render/in_vain", "of these, without a text")
RENDER_FAILED = Stat("render/failed", "of these, not shown")
RENDER_LEFT_OUT = Stat("render/left_out", "shells beyond the limits of the browser")
JOINED = Stat("join/pages", "further pages joined to the article of the first page")
JOIN_STOPPED = Stat(
    "join/stopped/{reason}",
    "articles whose next page was not joined, by [reason](crawling.md#articles-of-several-pages)",
)
ITEMS_UNPAIRED = Stat(
    "items/unpaired",
    "items passed on unchanged because they have no page: yielded for a response that is not HTML "
    "or is skipped, or substituted for the yielded item by another pipeline",
)
WRAPPER_HIT = Stat("wrapper/{site}/hit", "pages that a wrapper of the site labelled")
WRAPPER_MISS = Stat("wrapper/{site}/miss", "pages on which a wrapper of the site found nothing")
FIELD_HIT = Stat(
    "wrapper/field/hit/{site}/{field}",
    "labelled pages on which a wrapper's selectors for a field match: title, authors, published, "
    "exclude",
)
FIELD_MISS = Stat(
    "wrapper/field/miss/{site}/{field}",
    "labelled pages on which they match nothing; for a title, often a sign of an outdated rule",
)
MODEL_PAGES = Stat("model/pages", "pages learned in this crawl and earlier ones")
MODEL_CHECKPOINTS = Stat("model/checkpoints", "checkpoints of the model that were stored")
MODEL_TWICE = Stat(
    "model/twice",
    "pages that the model counts twice because another crawl learned them at the same time",
)
LEARNING_SITES = Stat("learning/sites/{script}", "labelled sites with text in the script")
LEARNING_WEIGHT = Stat(
    "learning/weight/{script}",
    "weight, up to 1, with which they correct pages of other sites; 0 without a proven gain",
)
LEARNING_GAIN = Stat(
    "learning/gain/{script}",
    "what a page of one of them gains at least from the others, in log-likelihood",
)
MODEL_FAILED = Stat("model/failed", "checkpoints that could not be written")
LINKS_DROPPED = Stat("links/dropped", "requests dropped because `MSS_LINK_PRIORITY` is a number")
SHARD_DROPPED = Stat(
    "shard/dropped", "requests dropped because their site belongs to another shard"
)
SITES_LEARNED = Stat("sites/pages", "pages with an article that were added to the site memory")
SITES_CHANGED = Stat(
    "sites/changed", "sites whose layout has changed, so that their memory was reset"
)
SEEN_SKIPPED = Stat(
    "seen/skipped", "requests dropped because the article was seen and needs no recheck"
)
SEEN_UNCHANGED = Stat(
    "seen/unchanged", "items dropped because the article was seen and its page has not changed"
)
SEEN_CHANGED = Stat("seen/changed", "items of articles that have changed")
SEEN_NEW = Stat("seen/new", "items of articles not seen before")
SEEN_FAILED = Stat("seen/failed", "failures of the store of seen articles")
STORIES_NEW = Stat("stories/new", "items whose text no other paper had printed")
STORIES_COPIES = Stat(
    "stories/copies",
    "items whose text another paper had printed; dropped with `MSS_COPIES = 'drop'`",
)
STORIES_FAILED = Stat("stories/failed", "failures of the store of stories")
LISTS_UNCHANGED = Stat(
    "seen/lists_unchanged",
    "feeds, sitemaps and front pages that were not sent because they had not changed",
)
LISTS_FAILED = Stat(
    "lists/failed/{reason}",
    "feeds, sitemaps and front pages that could not be read, by reason: error, timeout, memory, "
    "crash, `too_large` unpacked, `not_html` for a page, or `slow` after others of the site took "
    "too long",
)
HOSTS_REFUSED = Stat(
    "hosts/refused", "requests dropped by `NewsSpider` because their host is not public"
)
ANNOUNCED = Stat("announced", "addresses of articles that lists announced")
FATE = Stat("fate/{fate}", "these, by what became of them, see [fates](fates.md)")
QUALITY_ALARMS = Stat(
    "quality/alarms",
    "alarms: sites of the crawl that give nothing, nothing new, or worse than in their own past, "
    "see [quality](quality.md)",
)
QUALITY_ALARM = Stat(
    "quality/alarm/{site}/{measure}",
    "1 for each of these, by the measure that has declined, or `unreachable`, `empty`, `silent`",
)
QUALITY_FAILED = Stat("quality/failed", "failures of the store of site quality")
UNSURE_FAILED = Stat("unsure/failed", "failures of the store of the least certain pages")
SITES_FAILED = Stat("sites/failed", "failures of the site memory's store")

STATS = tuple(Stat.rows)


@dataclass(frozen=True, slots=True)
class CrawlStats:
    """The statistics of one crawl, by the rows of the table."""

    collector: StatsCollector
    # Of all sites, by full names.
    _of_sites: Counter[str] = field(default_factory=Counter, compare=False)
    # By what the names of stats begin with.
    _named: defaultdict[str, set[str]] = field(
        default_factory=lambda: defaultdict(set), compare=False
    )

    def add(self, stat: Stat, amount: float = 1, **parts: str) -> None:
        if "site" in parts:
            self._of_sites[stat.of(**parts)] += amount  # type: ignore[assignment]
            parts = {**parts, "site": self._name_of(stat, parts["site"])}
        self.collector.inc_value(stat.of(**parts), amount)  # type: ignore[arg-type]

    def put(self, stat: Stat, value: float, **parts: str) -> None:
        self.collector.set_value(stat.of(**parts), value)

    def get(self, stat: Stat, **parts: str) -> float:
        """The value so far; of a site also where it has no name of its own."""
        if "site" in parts:
            return float(self._of_sites[stat.of(**parts)])
        return float(self.collector.get_value(stat.of(**parts), 0))

    def _name_of(self, stat: Stat, site: str) -> str:
        """What *site* is called in the names of a *stat* and of those that begin alike."""
        named = self._named[stat.name.partition("{")[0]]
        if len(named) < MAX_SITES:
            named.add(site)
        return site if site in named else OTHER_SITES
