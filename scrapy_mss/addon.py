"""Enables all components with one line: ``ADDONS = {"scrapy_mss.Addon": 500}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.python import global_object_name

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.downloadermiddlewares import TrainingMiddleware, UnchangedLists
from scrapy_mss.pipelines import ArticlePipeline, NewArticlesPipeline, StoriesPipeline
from scrapy_mss.settings import enabled
from scrapy_mss.spidermiddlewares import ArticleMiddleware, LinkPriority

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# The order of each component. Training sees responses after redirects (600), decompression (590)
# and retries (550); items are made next to the spider, and filled before the project's own
# pipelines (300).
COMPONENTS = (
    ("EXTENSIONS", MssExtension, 0),
    ("DOWNLOADER_MIDDLEWARES", TrainingMiddleware, 545),
    ("SPIDER_MIDDLEWARES", ArticleMiddleware, 950),
    ("DOWNLOADER_MIDDLEWARES", UnchangedLists, 546),
    ("SPIDER_MIDDLEWARES", LinkPriority, 940),
    ("ITEM_PIPELINES", ArticlePipeline, 200),
    ("ITEM_PIPELINES", NewArticlesPipeline, 210),
    ("ITEM_PIPELINES", StoriesPipeline, 220),
)
# Where scrapy-poet is in use, it loads this by its name; elsewhere, nothing imports scrapy-poet.
PROVIDERS = "SCRAPY_POET_PROVIDERS"
PROVIDER = "scrapy_mss.providers.ArticleProvider"
PROVIDER_ORDER = 900


class Addon:
    """Enables all components; the order that a project gives one of them takes precedence."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components that the project has not enabled itself."""
        if not enabled(settings):
            raise NotConfigured("MSS_ENABLED is off")
        for setting, component, order in COMPONENTS:
            settings.setdefault_in_component_priority_dict(setting, component, order)
        providers = settings.getdict(PROVIDERS)
        if PROVIDER not in map(_name_of, providers):
            more = {**providers, PROVIDER: PROVIDER_ORDER}
            settings.set(PROVIDERS, more, settings.getpriority(PROVIDERS) or 0)


def _name_of(component: str | type) -> str:
    return component if isinstance(component, str) else global_object_name(component)
