"""The labels of a page, made once for training and extraction alike."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse, Response

from scrapy_mss import stats
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.stats import CrawlStats
from scrapy_mss.wrappers import Labelling, Registry, label


class PageLabels:
    """Labels pages by the wrappers of their sites, and counts hits and misses by site."""

    def __init__(self, wrappers: Registry, numbers: CrawlStats) -> None:
        self.wrappers = wrappers
        self._stats = numbers
        self._labellings: WeakKeyDictionary[Response, Labelling] = WeakKeyDictionary()

    def covers(self, response: HtmlResponse) -> bool:
        """Whether a wrapper matches the URL of *response*."""
        return self.wrappers.find(response.url) is not None

    def of(self, response: HtmlResponse) -> Labelling | None:
        """The labels of the page; None if no wrapper matches its URL."""
        labelling = self._labellings.get(response)
        if labelling is not None:
            return labelling
        wrapper = self.wrappers.find(response.url)
        if wrapper is None:
            return None
        labelling = label(wrapper, response.text, tokenize(response.text))
        self._labellings[response] = labelling
        stat = stats.WRAPPER_MISS if labelling.reason else stats.WRAPPER_HIT
        self._stats.add(stat, site=wrapper.site)
        for name, hit in labelling.field_hits.items():
            field_stat = stats.FIELD_HIT if hit else stats.FIELD_MISS
            self._stats.add(field_stat, site=wrapper.site, field=name)
        return labelling
