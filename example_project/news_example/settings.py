"""Settings of the example project: the add-on, the wrappers, and good manners."""

from pathlib import Path

BOT_NAME = "news_example"
SPIDER_MODULES = ["news_example.spiders"]
NEWSPIDER_MODULE = "news_example.spiders"

ADDONS = {"scrapy_mss.Addon": 500}
MSS_WRAPPERS = [str(Path(__file__).parent.parent / "wrappers")]

# Say who you are: site owners read their logs.
USER_AGENT = "news_example (+https://example.com/about-our-crawler)"
ROBOTSTXT_OBEY = True
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_TARGET_CONCURRENCY = 2.0
CONCURRENT_REQUESTS_PER_DOMAIN = 4

FEED_EXPORT_ENCODING = "utf-8"
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False
