"""A Scrapy project that makes an article feed of news sites."""
