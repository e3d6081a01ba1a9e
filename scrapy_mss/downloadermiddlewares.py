"""Training during the crawl: pages of sites with wrappers are labelled, learned, passed on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import SKIP_EXTRACTION, SKIP_TRAINING, is_page

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_mss.crawl.training import Trainer

logger = logging.getLogger(__name__)


class TrainingMiddleware:
    """Learns from each page that a wrapper labels; whatever happens, the response goes on."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = MssExtension.of(crawler)
        why = ""
        if not extension.options.train:
            why = "MSS_TRAIN is off"
        elif not extension.wrappers:
            why = "there are no wrappers in MSS_WRAPPERS to label pages with"
        if why:
            # With a message Scrapy warns, at each crawl without wrappers, of what is no mistake.
            logger.debug("scrapy-mss: no training: %s", why)
            raise NotConfigured
        return cls(extension.trainer)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Have the page learned, if it is one, and pass it on unchanged.

        That waits where more pages are under way than workers need to be busy.
        """
        if is_page(response, request) and not request.meta.get(SKIP_TRAINING):
            article = not request.meta.get(SKIP_EXTRACTION)
            await self._trainer.train(response, article=article)
        return response
