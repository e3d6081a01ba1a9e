"""All parts by one line: ``ADDONS = {"scrapy_mss.Addon": 500}``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.downloadermiddlewares import TrainingMiddleware
from scrapy_mss.pipelines import ArticlePipeline
from scrapy_mss.settings import enabled
from scrapy_mss.spidermiddlewares import ArticleMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# Where each part is. Training sees pages behind redirects (600), decompression (590) and
# retries (550), which come first on the way in; articles are made next to the spider; items are
# filled before the project's own pipelines (300).
COMPONENTS = (
    ("EXTENSIONS", MssExtension, 0),
    ("DOWNLOADER_MIDDLEWARES", TrainingMiddleware, 545),
    ("SPIDER_MIDDLEWARES", ArticleMiddleware, 950),
    ("ITEM_PIPELINES", ArticlePipeline, 200),
)
PROVIDER_ORDER = 900


class Addon:
    """Enables training, articles and the pipeline; a project's own order of them wins."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the parts that the project has not placed itself."""
        if not enabled(settings):
            raise NotConfigured("MSS_ENABLED is off")
        for setting, component, order in COMPONENTS:
            settings.setdefault_in_component_priority_dict(setting, component, order)
        if find_spec("scrapy_poet"):
            from scrapy_mss.providers import ArticleProvider

            settings.setdefault_in_component_priority_dict(
                "SCRAPY_POET_PROVIDERS", ArticleProvider, PROVIDER_ORDER
            )
