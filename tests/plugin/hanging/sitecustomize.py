"""Makes worker processes hang on long pages; see `tests.plugin.spiders.HangingWorkers`."""

from __future__ import annotations

import time
from typing import Any

from scrapy_mss import article

LONG = 100_000  # characters
FOR_EVER = 60.0  # seconds, next to the time that a crawl of a test gives a page

sound = article.read_article


def read_article(page: Any, *rest: Any) -> article.ArticleResult:
    """The article in *page*, unless that is long."""
    if len(page if isinstance(page, str) else page.source) > LONG:
        time.sleep(FOR_EVER)
    return sound(page, *rest)


article.read_article = read_article  # type: ignore[assignment]
