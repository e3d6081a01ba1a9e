"""Enables all components with one line: ``ADDONS = {"scrapy_mss.Addon": 500}``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.python import global_object_name

from scrapy_mss.crawl import rendering
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.rendering import RenderMiddleware
from scrapy_mss.downloadermiddlewares import (
    EncodingMiddleware,
    FedPages,
    SeenArticlesMiddleware,
    SiteAnswers,
    TrainingMiddleware,
    UnchangedLists,
    WorkerRoom,
)
from scrapy_mss.pipelines import ArticlePipeline, NewArticlesPipeline, StoriesPipeline
from scrapy_mss.settings import RENDER_AUTO, SettingError, enabled
from scrapy_mss.spidermiddlewares import ArticleMiddleware, LinkPriority, ShardMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# The order of each component. Training sees responses after redirects (600), decompression (590)
# and retries (550); those that the spider is to have wait for workers after all else was done with
# them. Items are made next to the spider, and filled before the project's own pipelines (300).
COMPONENTS = (
    ("EXTENSIONS", MssExtension, 0),
    ("DOWNLOADER_MIDDLEWARES", EncodingMiddleware, EncodingMiddleware.ORDER),
    ("DOWNLOADER_MIDDLEWARES", RenderMiddleware, RenderMiddleware.ORDER),
    ("DOWNLOADER_MIDDLEWARES", TrainingMiddleware, 545),
    ("SPIDER_MIDDLEWARES", ArticleMiddleware, 950),
    ("DOWNLOADER_MIDDLEWARES", SeenArticlesMiddleware, 80),  # before robots.txt is asked for
    ("DOWNLOADER_MIDDLEWARES", UnchangedLists, 546),
    ("DOWNLOADER_MIDDLEWARES", WorkerRoom, 10),
    ("DOWNLOADER_MIDDLEWARES", SiteAnswers, 5),
    ("DOWNLOADER_MIDDLEWARES", FedPages, 4),
    ("SPIDER_MIDDLEWARES", LinkPriority, 940),
    ("SPIDER_MIDDLEWARES", ShardMiddleware, 955),
    ("ITEM_PIPELINES", ArticlePipeline, 200),
    ("ITEM_PIPELINES", NewArticlesPipeline, 210),
    ("ITEM_PIPELINES", StoriesPipeline, 220),
)
# Where scrapy-poet is in use, it loads this by its name; elsewhere, nothing imports scrapy-poet.
PROVIDERS = "SCRAPY_POET_PROVIDERS"
PROVIDER = "scrapy_mss.providers.ArticleProvider"
PROVIDER_ORDER = 900
# For each response, Scrapy starts as many tasks, 100 by default: a quarter of the time that a small
# page takes. A page of news has one item, and many pages are under way at once.
CONCURRENT_ITEMS = 8
# By its name, too: only a crawl with feeds needs it.
PARQUET = "parquet"
PARQUET_EXPORTER = "scrapy_mss.exporters.ParquetItemExporter"
URI_PARAMS = "scrapy_mss.exporters.uri_params"


class Addon:
    """Enables all components; the order that a project gives one of them takes precedence."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components that the project has not enabled itself."""
        if not enabled(settings):
            raise NotConfigured("MSS_ENABLED is off")
        for setting, component, order in COMPONENTS:
            settings.setdefault_in_component_priority_dict(setting, component, order)
        settings.set("CONCURRENT_ITEMS", CONCURRENT_ITEMS, "addon")
        providers = settings.getdict(PROVIDERS)
        if PROVIDER not in map(_name_of, providers):
            more = {**providers, PROVIDER: PROVIDER_ORDER}
            settings.set(PROVIDERS, more, settings.getpriority(PROVIDERS) or 0)
        _add_formats(settings)
        if settings.get("MSS_RENDER") == RENDER_AUTO:
            rendering.add_to(settings)


def _add_formats(settings: BaseSettings) -> None:
    """Make the formats of feeds known, but for those that the project has exporters of."""
    configured = settings.getdict("FEED_EXPORTERS")
    has_pyarrow = find_spec("pyarrow") is not None
    for uri, options in settings.getdict("FEEDS").items():
        # Scrapy would log an unknown format, and crawl.
        name = options.get("format", PurePath(str(uri)).suffix[1:])
        if name == PARQUET and name not in configured and not has_pyarrow:
            message = f"FEEDS: {uri} needs pyarrow; run: pip install 'scrapy-mss[parquet]'"
            raise SettingError(message)
        if name == "spreadsheet" and name not in configured:
            raise SettingError(f"FEEDS: {uri} has the format 'spreadsheet', which is gone: use csv")
    if has_pyarrow:
        priority = settings.getpriority("FEED_EXPORTERS") or 0
        settings.set("FEED_EXPORTERS", {PARQUET: PARQUET_EXPORTER, **configured}, priority)
    if not settings.get("FEED_URI_PARAMS"):
        settings.set("FEED_URI_PARAMS", URI_PARAMS, "addon")


def _name_of(component: str | type) -> str:
    return component if isinstance(component, str) else global_object_name(component)
