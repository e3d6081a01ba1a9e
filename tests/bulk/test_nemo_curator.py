"""The algorithm in NeMo Curator's extractor of Common Crawl pages."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "nemo_curator.stages.text.download.html_extractors.base",
    reason="NeMo Curator, which brings PyTorch, is not installed: make test-curator",
    exc_type=ImportError,
)

from nemo_curator.stages.text.download.common_crawl.extract import CommonCrawlHTMLExtractor

from scrapy_mss import Extractor
from scrapy_mss.bulk.nemo_curator import MssAlgorithm
from tests.plugin.site import index, plain

RECORD = {"url": "https://news.example/1", "warc_id": "1", "source_id": "a.warc.gz"}


def test_records_have_the_text_of_their_article() -> None:
    extractor = CommonCrawlHTMLExtractor(algorithm=MssAlgorithm())

    article = extractor.extract({**RECORD, "content": plain(1).encode()})
    front = extractor.extract({**RECORD, "content": index(1).encode()})

    assert article == {
        **RECORD,
        "language": "ENGLISH",
        "text": Extractor().extract(plain(1)).text,
    }
    assert front is None
