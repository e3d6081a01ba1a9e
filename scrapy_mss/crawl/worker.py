"""One worker process: reads pages from standard input, writes their results to standard output.

Standard input that ends, because the crawl did or was killed, ends the worker.
"""

from __future__ import annotations

import logging
import os
import signal
import sys

from scrapy_mss.article import ArticleResult, ReadOptions, page_metadata, read_article
from scrapy_mss.crawl.shared_model import SharedModelReader
from scrapy_mss.crawl.wire import READY, PageRequest, receive, result_to_bytes, send
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.format import from_bytes
from scrapy_mss.text_extractor import load_text_extractor

logger = logging.getLogger(__name__)

# The first page of a process pays for imports that later ones do not, out of its own time limit.
WARM_UP_URL = "https://news.example.com/2026/a"
WARM_UP = """<html lang=en><title>A - News</title><meta property="article:author" content="Ann Lee">
<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "2026-01-02"}</script>
<h1>A</h1><p>By Ann Lee, 2 January 2026</p><p>One two three. <a href=x>Four</a></p>"""
ERROR = "error"  # why a page that raised has no article; its traceback is on standard error


def _read(page: PageRequest, model: SharedModelReader, options: ReadOptions) -> ArticleResult:
    try:
        return read_article(page.html, page.url, model.state(), options)
    except Exception:
        logger.exception("scrapy-mss: extraction failed on %s; the crawl continues", page.url)
        return ArticleResult(reason=ERROR)


def main(descriptor: str, extractor_path: str, raw_html: str) -> None:
    """Take a model whose counts are elsewhere, then answer pages until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl's process says when to stop
    model = SharedModelReader(from_bytes(receive(sys.stdin.buffer)), int(descriptor))
    os.close(int(descriptor))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    loaded = load_text_extractor(extractor_path)
    options = ReadOptions((extractor_path, loaded) if loaded else None, bool(raw_html))
    Extractor(model.state().model).extract(WARM_UP)
    page_metadata(WARM_UP, WARM_UP_URL)
    send(answers, READY)
    while True:
        try:
            page = PageRequest.from_bytes(receive(sys.stdin.buffer))
        except EOFError:
            return
        send(answers, result_to_bytes(_read(page, model, options)))


if __name__ == "__main__":
    main(*sys.argv[1:])
