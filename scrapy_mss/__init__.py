"""Clean articles from a news crawl: the public names, described in ``docs/api.md``.

They are loaded when first used, so that importing one module imports only what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_mss.addon import Addon
    from scrapy_mss.extractor import Extraction, Extractor
    from scrapy_mss.items import Article
    from scrapy_mss.models.format import ModelError
    from scrapy_mss.spidermiddlewares import LinkPriority
    from scrapy_mss.spiders.news import NewsSpider

__version__ = "0.2.0"

__all__ = [
    "Addon",
    "Article",
    "Extraction",
    "Extractor",
    "LinkPriority",
    "ModelError",
    "NewsSpider",
    "__version__",
]

_HOME = {
    "Addon": "scrapy_mss.addon",
    "Article": "scrapy_mss.items",
    "Extraction": "scrapy_mss.extractor",
    "Extractor": "scrapy_mss.extractor",
    "LinkPriority": "scrapy_mss.spidermiddlewares",
    "ModelError": "scrapy_mss.models.format",
    "NewsSpider": "scrapy_mss.spiders.news",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
