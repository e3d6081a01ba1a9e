"""Hand-written rules that say where a site's articles are, and the labels that they give.

registry = load_wrappers(["rules/", "ftr-site-config.tar.xz"])
wrapper = registry.find(url)
labelling = label(wrapper, html) if wrapper else None
"""

from scrapy_mss.wrappers.errors import Fault, WrapperError
from scrapy_mss.wrappers.ftr import Account
from scrapy_mss.wrappers.labeller import Labelling, Reason, label
from scrapy_mss.wrappers.registry import Registry
from scrapy_mss.wrappers.rules import Between, Example, UrlPattern, Wrapper
from scrapy_mss.wrappers.selectors import Selector, class_or_id, css, xpath
from scrapy_mss.wrappers.sources import load_wrappers

__all__ = (
    "Account",
    "Between",
    "Example",
    "Fault",
    "Labelling",
    "Reason",
    "Registry",
    "Selector",
    "UrlPattern",
    "Wrapper",
    "WrapperError",
    "class_or_id",
    "css",
    "label",
    "load_wrappers",
    "xpath",
)
