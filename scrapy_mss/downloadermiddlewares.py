"""Training while spidering: pages of wrapped sites are labelled, learned and passed on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response

from scrapy_mss import stats
from scrapy_mss.crawl.session import SKIP_TRAINING, Session, is_page
from scrapy_mss.settings import enabled

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class TrainingMiddleware:
    """Learns from each page that a wrapper labels; whatever happens, the response goes on."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not enabled(crawler.settings):
            raise NotConfigured("MSS_ENABLED is off")
        session = Session.of(crawler)
        if not session.options.train:
            raise NotConfigured("MSS_TRAIN is off")
        if not session.wrappers:
            raise NotConfigured("MSS_WRAPPERS names no wrapper, so there is nothing to learn from")
        return cls(session)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Learn the page, if it is one, and pass it on unchanged."""
        if (
            isinstance(response, HtmlResponse)
            and is_page(request, response)
            and not request.meta.get(SKIP_TRAINING)
        ):
            try:
                self.session.train(response)
            except Exception:
                self.session.numbers.add(stats.TRAIN_REFUSED, reason="error")
                logger.exception("scrapy-mss: cannot learn %s; the crawl goes on", response.url)
        return response
