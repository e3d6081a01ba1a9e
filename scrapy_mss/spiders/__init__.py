"""Spiders that find articles, and the functions that spiders of one's own find them with."""

from scrapy_mss.spiders.news import NewsSpider

__all__ = ["NewsSpider"]
