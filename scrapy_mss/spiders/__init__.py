"""Spiders that find articles, and the functions behind them for your own spiders."""

from scrapy_mss.spiders.news import NewsSpider

__all__ = ["NewsSpider"]
