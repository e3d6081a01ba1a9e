"""The settings: one row each, with name, default, what it must be and what it does.

Everything follows from the table: `Options` is what a crawl works with, the documentation lists
the rows, and a setting that begins with MSS_ and has no row is reported with the nearest name
that has one.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy_mss.items import ARTICLE_FIELDS
from scrapy_mss.server_address import ServerError, is_server
from scrapy_mss.shards import MAX_SHARDS, Shard

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PREFIX = "MSS_"


class SettingError(ValueError):
    """A setting whose value cannot be used; the message says what is expected."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: *convert* turns what the settings hold into the value, or raises ValueError."""

    name: str
    default: object
    convert: Callable[[Any], Any]
    expected: str
    summary: str

    @property
    def option(self) -> str:
        """The attribute of `Options` that holds the value."""
        return self.name.removeprefix(PREFIX).lower()


def _switch(value: object) -> bool:
    known = {"1": True, "true": True, "0": False, "false": False, "": False, "none": False}
    return known[str(value).lower()]


MOST_UNSURE = 100  # pages of a site; nobody looks at more
LONGEST = 1e9  # seconds, thirty years: timers of the system and of threads take no more than that


def _at_least(lowest: float, kind: type, highest: float = math.inf) -> Callable[[Any], Any]:
    def number(value: object) -> Any:  # noqa: ANN401 - int or float
        converted = kind(value)
        if not lowest <= converted < math.inf or converted > highest:
            raise ValueError(value)
        return converted

    return number


def _share(value: object) -> float:
    number = float(str(value))
    if not 0 <= number <= 1:
        raise ValueError(value)
    return number


def _one_of(*names: str) -> Callable[[Any], str]:
    def name(value: object) -> str:
        if value not in names:
            raise ValueError(value)
        return str(value)

    return name


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
    """The known name that is closest to *name*, or all of them."""
    near = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(names)}"


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _store(value: object) -> str:
    """A file, or the address of a server; what looks like another address is an error."""
    named = _text(value)
    try:
        is_server(named)
    except ServerError as error:  # it has no password in it
        raise SettingError(str(error)) from None
    return named


def _dotted_path(value: object) -> str:
    if not isinstance(value, str | None):
        raise TypeError(value)
    return value or ""


def _shard(value: object) -> Shard | None:
    return Shard.of(str(value)) if value else None


_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*")


def _languages(value: object) -> tuple[str, ...]:
    """Languages without their regions, which articles do not have either."""
    found = [_LANGUAGE.fullmatch(str(each).lower()) for each in listed(value)]
    if not all(found):
        raise ValueError(value)
    return tuple(each[1] for each in found if each)


EMIT_ARTICLES, EMIT_ALL = "articles", "all"
COPIES_KEEP, COPIES_MARK, COPIES_DROP = "keep", "mark", "drop"

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "MSS_ENABLED", True, _switch, "True or False", "Whether any part of scrapy-mss is active."
    ),
    Setting(
        "MSS_WRAPPERS",
        [],
        listed,
        "a list of files, folders, archives, dotted paths or Wrapper objects",
        "Labelling rules: YAML files or folders of them, folders or archives of ftr-site-config "
        "files, paths `module:NAME` to Wrapper objects, or the objects themselves. See "
        "[wrappers](wrappers.md).",
    ),
    Setting(
        "MSS_MODEL",
        "",
        _store,
        "a path or the address of a Redis server",
        "The file that the model is read from and written to; several crawls may share one. If "
        "empty: `mss/model` in the JOBDIR if there is one, otherwise in the project's `.scrapy` "
        "folder. Or a server that crawls on several machines share, as in "
        "`redis://host:6379/0?prefix=news`. See [beyond one machine](scale.md).",
    ),
    Setting(
        "MSS_TRAIN",
        True,
        _switch,
        "True or False",
        "Whether to learn from pages of sites with wrappers. If not, the model file is only read.",
    ),
    Setting(
        "MSS_FREEZE_AFTER",
        0,
        _at_least(0, int),
        "a number of pages, 0 for never",
        "Stop learning once crawls have learned this many pages, earlier crawls included.",
    ),
    Setting(
        "MSS_EXTRACTOR",
        "",
        _dotted_path,
        "the dotted path of a module, instance or class with extract(html)",
        "Another extractor to use instead of the model, for pages that no wrapper labels: the "
        "dotted path of a module, an instance or a class with `extract(html: str) -> str | None`. "
        "If empty: the model. See [other extractors](crawling.md#other-extractors).",
    ),
    Setting(
        "MSS_EMIT",
        EMIT_ARTICLES,
        _one_of(EMIT_ARTICLES, EMIT_ALL),
        f"{EMIT_ARTICLES!r} or {EMIT_ALL!r}",
        "`articles` drops the items that scrapy-mss has made for pages without an article, `all` "
        "keeps them, with a probability of 0. Items that the spider yields are never dropped.",
    ),
    Setting(
        "MSS_MIN_PROBABILITY",
        0.0,
        _share,
        "a number from 0 to 1",
        "A page with a lower probability is treated like a page without an article.",
    ),
    Setting(
        "MSS_LANGUAGES",
        (),
        _languages,
        "a list of languages, such as en,de",
        "An article in another language is treated like a page without an article; one whose "
        "language is not known passes. Empty: all pass. With `pip install 'scrapy-mss[language]'` "
        "the text tells the language where the page is silent or wrong. See "
        "[language](metadata.md#language).",
    ),
    Setting(
        "MSS_JOIN_PAGES",
        10,
        _at_least(1, int),
        "a number of pages, 1 for none but the first",
        "How many pages of an article that is spread over several are joined at most. See "
        "[articles of several pages](crawling.md#articles-of-several-pages).",
    ),
    Setting(
        "MSS_ITEM_CLASS",
        "scrapy_mss.items.Article",
        lambda value: value,
        "a class or its dotted path",
        "The class of the item that is made for a page if the spider yields none.",
    ),
    Setting(
        "MSS_FIELD_MAP",
        {},
        _field_map,
        "a dict from fields of Article to those of your items",
        "What your items call the fields of [Article](python-api.md#article), as in "
        "`{'text': 'body'}`. Fields that are not listed keep their names; an empty name leaves a "
        "field out. A key that is no field of Article stops the crawl.",
    ),
    Setting(
        "MSS_RAW_HTML",
        False,
        _switch,
        "True or False",
        "Whether `html` is the page's own source, with its scripts, event handlers and frames: "
        "**not safe to show**. If not, it is sanitized: elements and attributes of an allow-list, "
        "absolute links. See [HTML](python-api.md#html).",
    ),
    Setting(
        "MSS_MARKDOWN",
        False,
        _switch,
        "True or False",
        "Whether articles have their text as `markdown`, too: headings, lists, tables, quotations, "
        "links and pictures. See [Markdown](python-api.md#markdown).",
    ),
    Setting(
        "MSS_PREFER_WRAPPER",
        True,
        _switch,
        "True or False",
        "Whether a page that a wrapper labels gets the wrapper's text and fields, not the model's.",
    ),
    Setting(
        "MSS_TRUST_WRAPPER_MISS",
        False,
        _switch,
        "True or False",
        "Whether a page of a wrapped site that its wrapper finds nothing on has no article "
        "(`wrapper_miss`). If not, the model reads it. Needs `MSS_PREFER_WRAPPER`.",
    ),
    Setting(
        "MSS_MAX_BODY",
        5_000_000,
        _at_least(1, int),
        "a number of characters",
        "Longer pages are neither learned nor extracted.",
    ),
    Setting(
        "MSS_TIMEOUT",
        10.0,
        _at_least(0.001, float, LONGEST),
        "a number of seconds",
        "A page that takes longer in a worker is given up, and the worker is replaced. Without "
        "workers no page can be interrupted; `MSS_MAX_BODY` limits the time that one can take.",
    ),
    Setting(
        "MSS_WORKERS",
        1,
        _at_least(0, int),
        "a number of processes",
        "How many processes label, learn and read pages for the crawl. One by default, so that no "
        "page stops downloads and any can be given up: a process can be ended in the middle of a "
        "page, a thread cannot. With 0 the crawl's own process does it, as also where there can "
        "be no workers: on Windows, in a frozen executable, or if Scrapy does not run on asyncio. "
        "See [workers](crawling.md#workers).",
    ),
    Setting(
        "MSS_WORKER_MEMORY",
        1024,
        _at_least(0, int),
        "a number of megabytes, 0 for no limit",
        "A page for which a worker needs more memory is given up, and the worker is replaced. A "
        "worker has some 100 MB without a page, 180 with the extra `language`; a page of 5,000,000 "
        "characters (`MSS_MAX_BODY`) may take 130 bytes for each of them, in its tree and in ours. "
        "Needs Linux.",
    ),
    Setting(
        "MSS_SITE_MEMORY",
        64,
        _at_least(0, int),
        "a number of megabytes, 0 for no memory",
        "How much of what is known of sites is held in the crawl's process: 64 KB of each site at "
        "most, the rest is in a file next to the model. With 0 each page is read by itself. See "
        "[site memory](site-memory.md).",
    ),
    Setting(
        "MSS_ONLY_NEW",
        False,
        _switch,
        "True or False",
        "Whether only articles are emitted that earlier crawls have not seen, or not in this "
        "wording; addresses that need no second look are not downloaded. `NewsSpider` turns it on. "
        "See [Every hour](every-hour.md).",
    ),
    Setting(
        "MSS_SEEN",
        "",
        _store,
        "the path of a file or the address of a Redis server",
        "The file with what crawls have seen, an SQLite database that several crawls can share, "
        "or a server, as in `MSS_MODEL`. Empty: `.scrapy/mss/seen.db` in the project, where the "
        "stories of `MSS_COPIES` are beside a server, too.",
    ),
    Setting(
        "MSS_SEEN_DAYS",
        400,
        _at_least(0, int),
        "a number of days",
        "Articles that no crawl has met for so many days are forgotten; 0 keeps all.",
    ),
    Setting(
        "MSS_COPIES",
        COPIES_KEEP,
        _one_of(COPIES_KEEP, COPIES_MARK, COPIES_DROP),
        f"{COPIES_KEEP!r}, {COPIES_MARK!r} or {COPIES_DROP!r}",
        "What is done where several papers print one text, such as an agency's: `keep` looks for "
        "no copies, `mark` gives articles of one `story` the same key, `drop` lets only the first "
        "pass. `NewsSpider` marks. See [One story, many papers]"
        "(every-hour.md#one-story-many-papers).",
    ),
    Setting(
        "MSS_STORY_DAYS",
        7.0,
        _at_least(0, float, LONGEST),
        "a number of days",
        "For so long a text is known, and what is printed later in its words is a copy of it.",
    ),
    Setting(
        "MSS_RECHECK_HOURS",
        24.0,
        _at_least(0, float, LONGEST),
        "a number of hours",
        "After so long an article is downloaded again, to see whether it has changed, if neither "
        "feed nor sitemap has dated it twice. With two dates it is when the second is later.",
    ),
    Setting(
        "MSS_QUALITY",
        True,
        _switch,
        "True or False",
        "Whether to count by site and day how many pages are articles and what they have, so that "
        "`scrapy mss report` can show it and a fall is told. See [quality](quality.md).",
    ),
    Setting(
        "MSS_QUALITY_FILE",
        "",
        _store,
        "the path of a file or the address of a Redis server",
        "The file with these counts, an SQLite database that several crawls can share, or a "
        "server, as in `MSS_MODEL`. Empty: `.scrapy/mss/quality.db` in the project.",
    ),
    Setting(
        "MSS_UNSURE_PAGES",
        0,
        _at_least(0, int, MOST_UNSURE),
        f"a number of pages, at most {MOST_UNSURE}, or 0 for none",
        "So many pages of each site are kept with their HTML: those on which the model was least "
        "sure. See [unsure pages](quality.md#unsure-pages).",
    ),
    Setting(
        "MSS_UNSURE_FILE",
        "",
        _text,
        "the path of a file",
        "The file with these pages, an SQLite database that several crawls can share. Empty: "
        "`.scrapy/mss/unsure.db` in the project.",
    ),
    Setting(
        "MSS_SITES",
        [],
        listed,
        "a list of sites, or the path of a file with one on each line",
        "The sites that `NewsSpider` crawls: `example.com`, `https://example.com/news/`.",
    ),
    Setting(
        "MSS_SHARD",
        None,
        _shard,
        f"two numbers such as '3/8', the third of eight shards, of {MAX_SHARDS} at most",
        "Which part of the sites this crawl takes, where several crawls share the work. Requests "
        "of spiders for sites of other parts are dropped, and `NewsSpider` begins with its own. "
        "Empty: all. See [shards](scale.md#shards).",
    ),
    Setting(
        "MSS_LINK_PRIORITY",
        0,
        _at_least(0, int),
        "a number, 0 for no priorities",
        "Requests get up to this much more priority, by how probably their address is that of an "
        "article; 10 is a good value. See [links](crawling.md#links).",
    ),
    Setting(
        "MSS_MIN_LINK_PROBABILITY",
        0.0,
        _share,
        "a number from 0 to 1",
        "Requests whose address is less probably that of an article are dropped, once three pages "
        "at such addresses of the site have been read. Lists of articles are among them, and what "
        "only they link to is not found.",
    ),
    Setting(
        "MSS_CHECKPOINT_PAGES",
        500,
        _at_least(1, int),
        "a number of pages",
        "A checkpoint is written after this many learned pages: what was learned since the last "
        "one is added to the model file.",
    ),
    Setting(
        "MSS_CHECKPOINT_SECONDS",
        300.0,
        _at_least(0.001, float, LONGEST),
        "a number of seconds",
        "A checkpoint is also written at this interval, if anything was learned since the last.",
    ),
    Setting(
        "MSS_WARC",
        "",
        _text,
        "the path of a folder",
        "The folder for WARC files of all that the crawl downloads, as it was received. Empty: "
        "none. See [WARC](feeds.md#warc).",
    ),
    Setting(
        "MSS_WARC_MEGABYTES",
        1000,
        _at_least(1, int),
        "a number of megabytes",
        "A WARC file of this size is followed by another one.",
    ),
    Setting(
        "MSS_REPLAY",
        [],
        listed,
        "a list of files or folders",
        "Where `scrapy_mss.replay.ReplayHandler` takes pages from, instead of the network: JSON "
        "lines with `url` and `html`, WARC files, or folders of HTML files with a canonical URL. "
        "See [pages from files](crawling.md#pages-from-files).",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of one crawl; `SETTINGS` describes each."""

    enabled: bool
    wrappers: list[Any]
    model: str
    train: bool
    freeze_after: int
    extractor: str
    emit: str
    min_probability: float
    languages: tuple[str, ...]
    join_pages: int
    item_class: str | type
    field_map: dict[str, str]
    raw_html: bool
    markdown: bool
    prefer_wrapper: bool
    trust_wrapper_miss: bool
    max_body: int
    timeout: float
    workers: int
    worker_memory: int
    site_memory: int
    only_new: bool
    seen: str
    seen_days: int
    copies: str
    story_days: float
    recheck_hours: float
    quality: bool
    quality_file: str
    unsure_pages: int
    unsure_file: str
    sites: list[Any]
    shard: Shard | None
    link_priority: int
    min_link_probability: float
    checkpoint_pages: int
    checkpoint_seconds: float
    warc: str
    warc_megabytes: int
    replay: list[Any]

    def field_name(self, ours: str) -> str:
        """What the project's items call our field; empty if they are to leave it out."""
        return self.field_map.get(ours, ours)


def read(settings: BaseSettings) -> Options:
    """The options that *settings* hold; a `SettingError` names all that cannot be used."""
    values: dict[str, Any] = {}
    errors = []
    for row in SETTINGS:
        value = settings.get(row.name, row.default)
        try:
            values[row.option] = row.convert(value)
        except SettingError as error:
            errors.append(f"{row.name}: {error}")
        except (TypeError, ValueError, KeyError, OverflowError):
            errors.append(f"{row.name}: expected {row.expected}, got {value!r}")
    if errors:
        raise SettingError("; ".join(errors))
    return Options(**values)


def enabled(settings: BaseSettings) -> bool:
    """Whether to go on and `read`, which also reports a value that is neither on nor off."""
    row = SETTINGS[0]
    try:
        return bool(row.convert(settings.get(row.name, row.default)))
    except KeyError:
        return True


def unknown(settings: BaseSettings) -> list[str]:
    """A message for each setting with our prefix that does not exist."""
    names = [row.name for row in SETTINGS]
    ours = sorted(str(key) for key in settings if str(key).startswith(PREFIX))
    return [
        f"unknown setting {name}: {_nearest(name, names)}" for name in ours if name not in names
    ]
