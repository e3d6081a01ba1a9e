"""Writes responses, as received, to WARC files in a thread.

A response is passed on when its records are written. The number of waiting responses is thus
limited by the downloads in progress, and the spider sees nothing that is not in the archive.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.waiting import finished
from scrapy_mss.settings import SettingError

if TYPE_CHECKING:
    from scrapy.http import Request, Response

    from scrapy_mss.files.warc import Exchange, Headers, WarcFiles
    from scrapy_mss.stats import CrawlStats

logger = logging.getLogger(__name__)

CACHED = "cached"  # the flag of what was received in an earlier crawl
# The flags of bodies that break off, and what WARC calls that.
TRUNCATED = {"dataloss": "disconnect", "partial": "disconnect", "download_stopped": "unspecified"}


class Archive:
    """Writes what a crawl receives to *files*."""

    def __init__(self, files: WarcFiles, stats_of_crawl: CrawlStats) -> None:
        self._files = files
        self._stats = stats_of_crawl
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-warc")

    async def add(self, request: Request, response: Response) -> None:
        """Write both; whatever goes wrong is counted, and logged once."""
        if CACHED in response.flags or not request.url.startswith(("http://", "https://")):
            return
        written = self._thread.submit(self._write, request, response)
        if _compat.runs_asyncio():
            await finished(written)
        error = written.exception()
        if error is None:
            self._stats.add(stats.WARC_RESPONSES)
            self._stats.add(stats.WARC_BYTES, written.result())
            return
        self._stats.add(stats.WARC_FAILED)
        if self._stats.get(stats.WARC_FAILED) == 1:
            logger.error(
                "scrapy-mss: %s cannot be written to a WARC file: %s. The crawl continues; further "
                "failures are only counted",
                response.url,
                error,
            )

    def close(self) -> None:
        """End the last file."""
        self._thread.submit(self._files.close)
        self._thread.shutdown()

    def _write(self, request: Request, response: Response) -> int:
        return self._files.add(exchange_of(request, response))


def files_in(folder: str, prefix: str, megabytes: int) -> WarcFiles:
    """WARC files in *folder*, which is made if it is not there."""
    try:
        from scrapy_mss.files.warc import WarcFiles
    except ImportError as error:
        raise SettingError("MSS_WARC needs warcio; run: pip install 'scrapy-mss[warc]'") from error
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"MSS_WARC: {folder} cannot be made: {error.strerror}") from error
    return WarcFiles(Path(folder), prefix, megabytes * 10**6)


def exchange_of(request: Request, response: Response) -> Exchange:
    """What was asked and answered."""
    from scrapy_mss.files.warc import Exchange

    took = timedelta(seconds=float(request.meta.get("download_latency", 0)))
    return Exchange(
        url=request.url,
        at=datetime.now(timezone.utc) - took,
        method=request.method,
        request_headers=_pairs(request),
        request_body=request.body,
        status=response.status,
        headers=_pairs(response),
        body=response.body,
        address=str(response.ip_address or ""),
        truncated=next((TRUNCATED[flag] for flag in response.flags if flag in TRUNCATED), ""),
    )


def _pairs(message: Request | Response) -> Headers:
    return [(name, value) for name, values in dict.items(message.headers) for value in values]
