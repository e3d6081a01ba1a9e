"""The settings: one row each, with name, default, expected value and meaning.

Everything follows from the table: `Options` has the values for a crawl, and the documentation lists
its rows. A name that begins with MSS_ and has no row is an error, which says what to write instead.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_mss.items import ARTICLE_FIELDS, OPTIONAL_FIELDS
from scrapy_mss.pages.kinds import ARTICLE_KINDS, KINDS
from scrapy_mss.sites.shards import MAX_SHARDS, Shard
from scrapy_mss.storage.opening import is_server
from scrapy_mss.storage.tables import StoreError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PREFIX = "MSS_"


class SettingError(ValueError):
    """A setting whose value cannot be used; the message says what is expected."""


class Setting(NamedTuple):
    """One row: *convert* turns what the settings hold into the value, or raises ValueError."""

    default: object
    convert: Callable[[Any], Any]
    expected: str
    summary: str


def _setting(*row: Any) -> Any:  # noqa: ANN401 - a field of any type
    return field(metadata={Setting: Setting(*row)})


def _switch(value: object) -> bool:
    known = {"1": True, "true": True, "0": False, "false": False, "": False, "none": False}
    return known[str(value).lower()]


LONGEST = 1e9  # seconds, thirty years: timers of the system and of threads take no more than that


def _number(kind: Callable[[Any], Any], lowest: float, highest: float, value: object) -> Any:  # noqa: ANN401
    converted = kind(value)
    if not lowest <= converted <= highest:
        raise ValueError(value)
    return converted


def _share(value: object) -> float:
    return float(_number(float, 0, 1, str(value)))


def _link_priority(value: object) -> float:
    """0 for off, 1 for on; what is between them is the least probability of a request."""
    try:
        return float(_switch(value))
    except KeyError:
        return _share(value)


def _recheck(value: object) -> float:
    """0 for off; hours after which an article is downloaded again, a day if it is just on."""
    try:
        return 24.0 * _switch(value)
    except KeyError:
        hours = float(_number(float, 0, LONGEST, value))
        if not hours:
            raise ValueError(value) from None
        return hours


def _some_of(names: Sequence[str], value: object) -> tuple[str, ...]:
    found = listed(value)
    if not all(each in names for each in found):
        raise ValueError(value)
    return tuple(each for each in names if each in found)


def _kinds(value: object) -> tuple[str, ...]:
    """The kinds of pages by their names, which those of several kinds stand for, too."""
    found = _some_of((*KINDS, EMIT_ARTICLES, EMIT_ALL, EMIT_UNRESERVED), value)
    if EMIT_ARTICLES in found or EMIT_ALL in found or set(found) == {EMIT_UNRESERVED}:
        found = (*ARTICLE_KINDS, *found)
    return tuple(each for each in (*KINDS, EMIT_ALL, EMIT_UNRESERVED) if each in found)


def _one_of(names: Sequence[str], value: object) -> str:
    if value not in names:
        raise ValueError(value)
    return str(value)


def listed(value: object) -> list[object]:
    """*value* as a list: a string is split at its commas."""
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return list(value)
    return [value]


def _field_map(value: object) -> dict[str, str]:
    if isinstance(value, str):  # JSON, as in Scrapy's own settings on the command line
        value = json.loads(value or "{}")
    if not isinstance(value, Mapping):
        raise TypeError(value)
    for key in value:
        if key not in ARTICLE_FIELDS:
            raise SettingError(f"an article has no field {key!r}: {_nearest(key, ARTICLE_FIELDS)}")
    return {str(key): _text(name) for key, name in value.items()}


def _nearest(name: object, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(names)}"


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _store(value: object) -> str:
    """A folder, or the address of a server; what looks like another address is an error."""
    named = _text(value)
    try:
        is_server(named)
    except StoreError as error:  # it has no password in it
        raise SettingError(str(error)) from None
    return named


def _shard(value: object) -> Shard | None:
    return Shard.of(str(value)) if value else None


_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*")


def _languages(value: object) -> tuple[str, ...]:
    """Languages without their regions, which articles do not have either."""
    found = [_LANGUAGE.fullmatch(str(each).lower()) for each in listed(value)]
    if not all(found):
        raise ValueError(value)
    return tuple(each[1] for each in found if each)


EMIT_ARTICLES, EMIT_ALL, EMIT_UNRESERVED = "articles", "all", "unreserved"
COPIES_KEEP, COPIES_MARK, COPIES_DROP = "keep", "mark", "drop"
RENDER_OFF, RENDER_AUTO = "off", "auto"
REPORT_OFF, REPORT_COUNTS, REPORT_PAGES = "off", "counts", "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of one crawl, a row each: the value of `workers` is that of MSS_WORKERS."""

    enabled: bool = _setting(
        True,
        _switch,
        "True or False",
        "Whether any part of scrapy-mss is active.",
    )
    wrappers: list[Any] = _setting(
        [],
        listed,
        "a list of files, folders or Wrapper objects",
        "Labelling rules: YAML files or folders of them, or Wrapper objects. See "
        "[wrappers](wrappers.md).",
    )
    store: str = _setting(
        "",
        _store,
        "a folder or the address of a Redis server",
        "Where crawls keep all that they learn and remember: the model, the memory of sites, seen "
        "articles, stories, counts for the report. A folder gets an SQLite database, which "
        "several crawls can share; if empty: `mss` in the project's `.scrapy` folder. A server, "
        "as in `redis://host:6379/0?prefix=news`, is shared by crawls on several machines. See "
        "[several machines](scale.md).",
    )
    train: bool = _setting(
        True,
        _switch,
        "True or False",
        "Whether to learn from pages that wrappers or [feeds](every-hour.md#texts-of-feeds) "
        "label. If not, the model does not change.",
    )
    emit: tuple[str, ...] = _setting(
        ARTICLE_KINDS,
        _kinds,
        f"a list of {EMIT_ARTICLES!r}, {EMIT_ALL!r}, {EMIT_UNRESERVED!r} and kinds: "
        f"{', '.join(KINDS)}",
        "The [kinds](kinds.md) of pages that scrapy-mss creates items for: `articles` stands for "
        "`article` and `live_blog`, and `articles,teaser` adds teasers, with the text that was "
        "found. Pages of other kinds get no item; with `all` they get one without a text, with a "
        "probability of 0. With `unreserved`, those that are "
        "[reserved](metadata.md#reservations) get none. Items that the spider yields are never "
        "dropped.",
    )
    min_probability: float = _setting(
        0.0,
        _share,
        "a number from 0 to 1",
        "Pages with a lower probability are treated like pages without an article.",
    )
    languages: tuple[str, ...] = _setting(
        (),
        _languages,
        "a list of languages, such as en,de",
        "Articles in other languages are treated like pages without an article; those in an "
        "unknown language pass. If empty, all pass. With `pip install 'scrapy-mss[language]'`, "
        "the text decides if the page declares no language or a wrong one. See "
        "[language](metadata.md#language).",
    )
    join_pages: int = _setting(
        10,
        partial(_number, int, 1, math.inf),
        "a number of pages, 1 for none but the first",
        "The maximum number of pages that are joined if an article is split over several. See "
        "[articles of several pages](crawling.md#articles-of-several-pages).",
    )
    render: str = _setting(
        RENDER_OFF,
        partial(_one_of, (RENDER_OFF, RENDER_AUTO)),
        f"{RENDER_OFF!r} or {RENDER_AUTO!r}",
        "With `auto`, and `pip install 'scrapy-mss[render]'`, pages that only scripts fill are "
        "asked for once more, through a [browser](troubleshooting.md#javascript).",
    )
    item_class: str | type = _setting(
        "scrapy_mss.items.Article",
        lambda value: value,
        "a class or its dotted path",
        "The class of the item that is created for a page if the spider yields none.",
    )
    field_map: dict[str, str] = _setting(
        {},
        _field_map,
        "a dict from fields of Article to those of your items",
        "The names of the fields of [Article](api.md#article) in your items, as in "
        "`{'text': 'body'}`. Fields that are not listed keep their names; an empty name omits the "
        "field. A key that is not a field of Article stops the crawl.",
    )
    fields: tuple[str, ...] = _setting(
        (),
        partial(_some_of, OPTIONAL_FIELDS),
        f"a list of {', '.join(OPTIONAL_FIELDS)}",
        "Fields of [Article](api.md#article) that cost time or space and are therefore filled only "
        "on request: `markdown`, the text with headings, lists, tables, quotations, links and "
        "pictures, `sources`, where each field is from, `reservations`, what page and site say on "
        "[machine use](metadata.md#reservations), and `raw_html`, the page's own source of the "
        "article, with its scripts, event handlers and frames, which is **not safe to show**.",
    )
    max_body: int = _setting(
        5_000_000,
        partial(_number, int, 1, math.inf),
        "a number of characters",
        "Longer pages are neither learned nor extracted.",
    )
    timeout: float = _setting(
        10.0,
        partial(_number, float, 0.001, LONGEST),
        "a number of seconds",
        "If a worker takes longer for a page, the page is given up and the worker is replaced. "
        "Without workers no page can be interrupted; only `MSS_MAX_BODY` limits the time per page.",
    )
    workers: int = _setting(
        1,
        partial(_number, int, 0, math.inf),
        "a number of processes",
        "The number of worker processes that label, learn and read pages. The default is one, so "
        "that no page blocks the event loop and any page can be given up: a process can be killed "
        "in the middle of a page, a thread cannot. With 0, the crawl's own process reads the "
        "pages. This is also the fallback on Windows, in a frozen executable, or if Scrapy does "
        "not run on asyncio. "
        "See [workers](crawling.md#workers).",
    )
    site_memory: int = _setting(
        64,
        partial(_number, int, 0, math.inf),
        "a number of megabytes, 0 for no memory",
        "The size of the site memory that is cached in the crawl's process, with at most 64 KB per "
        "site; the rest is in the store. With 0, each page is read on its own. See "
        "[site memory](site-memory.md).",
    )
    only_new: float = _setting(
        False,
        _recheck,
        "True, False or a number of hours above 0",
        "Whether to emit only articles that earlier crawls have not seen, or whose page has "
        "changed. Articles that need no recheck are not downloaded, except with `dont_filter` or "
        "`mss_recheck` in a request's `meta`; one needs it after so many hours (24 for `True` or "
        "1), or if a feed or sitemap has dated it twice, only if the second date is later. "
        "`NewsSpider` turns it on. See [what is new](every-hour.md#what-is-new).",
    )
    copies: str = _setting(
        COPIES_KEEP,
        partial(_one_of, (COPIES_KEEP, COPIES_MARK, COPIES_DROP)),
        f"{COPIES_KEEP!r}, {COPIES_MARK!r} or {COPIES_DROP!r}",
        "What to do if several papers print the same text, such as an agency's: `keep` does not "
        "look for copies, `mark` gives all copies the same key in `story`, `drop` keeps only the "
        "first. `NewsSpider` uses `mark`. See [One story, many papers]"
        "(every-hour.md#one-story-many-papers).",
    )
    report: str = _setting(
        REPORT_COUNTS,
        partial(_one_of, (REPORT_OFF, REPORT_COUNTS, REPORT_PAGES)),
        f"{REPORT_OFF!r}, {REPORT_COUNTS!r} or {REPORT_PAGES!r}",
        "What to keep for the report: `counts` counts, by site and day, how many pages are "
        "articles, which fields they have and which requests fail. `scrapy mss report` shows them, "
        "and a decline or a site that gives nothing raises an alarm. `pages` also keeps, with "
        "their HTML, the five pages of each site on which the model was least certain. See "
        "[quality](quality.md).",
    )
    sites: list[Any] = _setting(
        [],
        listed,
        "a list of sites, or the path of a file with one on each line",
        "The sites that `NewsSpider` crawls: `example.com`, `https://example.com/news/`. Hosts "
        "that its feeds and sitemaps may name, too, follow a site after a space: `example.com "
        "feeds.example.org`. See [What a site may name](every-hour.md#what-a-site-may-name). Each "
        "has a row in `scrapy mss report`.",
    )
    shard: Shard | None = _setting(
        None,
        _shard,
        f"two numbers such as '3/8', the third of eight shards, of {MAX_SHARDS} at most",
        "The part of the sites that this crawl takes if several crawls share the work. Requests "
        "for sites of other shards are dropped, and `NewsSpider` starts only with its own. "
        "If empty: all sites. See [shards](scale.md#shards).",
    )
    link_priority: float = _setting(
        False,
        _link_priority,
        "True, False or a probability between 0 and 1",
        "Whether requests get more priority, by up to 10, the more probable it is that their "
        "address is that of an article. With a number, requests that are less probable are also "
        "dropped, once three pages at such addresses of the site have been read. This drops lists "
        "of articles, too, so articles that only they link to are not found. See "
        "[links](crawling.md#links).",
    )

    def field_name(self, name: str) -> str:
        """What the project's items call our field; empty if they are to leave it out."""
        return self.field_map.get(name, name)


SETTINGS: dict[str, Setting] = {
    PREFIX + each.name.upper(): each.metadata[Setting] for each in fields(Options)
}

_IN_STORE = "everything that crawls keep is in MSS_STORE, a folder or the address of a Redis server"
_CONSTANT = "delete the line, since the value is now fixed"
_ARCHIVES = "use an archive of its own, such as scrapy-webarchive"

# Settings of earlier versions, and what to do instead. A name that has a row is not removed.
REMOVED = {
    "MSS_MODEL": _IN_STORE,
    "MSS_SEEN": _IN_STORE,
    "MSS_QUALITY_FILE": _IN_STORE,
    "MSS_UNSURE_FILE": _IN_STORE,
    "MSS_QUALITY": "write MSS_REPORT",
    "MSS_UNSURE_PAGES": "write MSS_REPORT",
    "MSS_FREEZE_AFTER": "write MSS_TRAIN = False for a crawl that is not to learn",
    "MSS_TRUST_AFTER": "delete the line, since the model reads the first page, too",
    "MSS_RECHECK_HOURS": "write the hours as MSS_ONLY_NEW",
    "MSS_SEEN_DAYS": _CONSTANT,
    "MSS_STORY_DAYS": _CONSTANT,
    "MSS_CHECKPOINT_PAGES": _CONSTANT,
    "MSS_CHECKPOINT_SECONDS": _CONSTANT,
    "MSS_WORKER_MEMORY": _CONSTANT,
    "MSS_RAW_HTML": "write MSS_FIELDS = ['raw_html']",
    "MSS_MARKDOWN": "write MSS_FIELDS = ['markdown']",
    "MSS_PREFER_WRAPPER": "write `train_only: true` into wrappers whose pages the model is to read",
    "MSS_TRUST_WRAPPER_MISS": "write `drop_misses: true` into wrappers that match all articles",
    "MSS_MIN_LINK_PROBABILITY": "write the probability as MSS_LINK_PRIORITY",
    "MSS_EXTRACTOR": "yield items with its text from the callback, as in docs/crawling.md",
    "MSS_WARC": _ARCHIVES,
    "MSS_WARC_MEGABYTES": _ARCHIVES,
    "MSS_REPLAY": _ARCHIVES,
}


def read(settings: BaseSettings) -> Options:
    """The options that *settings* hold; a `SettingError` names all that cannot be used."""
    values: dict[str, Any] = {}
    errors = _unknown(settings)
    for name, row in SETTINGS.items():
        value = settings.get(name, row.default)
        try:
            values[name.removeprefix(PREFIX).lower()] = row.convert(value)
        except SettingError as error:
            errors.append(f"{name}: {error}")
        except (TypeError, ValueError, KeyError, OverflowError):
            errors.append(f"{name}: expected {row.expected}, got {value!r}")
    if errors:
        raise SettingError("; ".join(errors))
    return Options(**values)


def _unknown(settings: BaseSettings) -> list[str]:
    found = sorted(str(key) for key in settings if str(key).startswith(PREFIX))
    return [
        f"{name} was removed: {REMOVED[name]}"
        if name in REMOVED
        else f"{name}: unknown setting, {_nearest(name, [*SETTINGS])}"
        for name in found
        if name not in SETTINGS
    ]


def enabled(settings: BaseSettings) -> bool:
    """Whether to go on and `read`, which also reports a value that is neither on nor off."""
    try:
        return _switch(settings.get("MSS_ENABLED", True))
    except KeyError:
        return True
