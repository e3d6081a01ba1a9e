"""Hand-written rules that say where the articles of a site are, and the labels they give.

registry = load_wrappers(["rules", "ftr-site-config"])
wrapper = registry.find(url)
labelling = label(wrapper, html) if wrapper else None
"""

from scrapy_mss.wrappers.errors import Problem, WrapperError
from scrapy_mss.wrappers.ftr import ImportReport
from scrapy_mss.wrappers.labeller import Labelling, Reason, label
from scrapy_mss.wrappers.registry import Registry, load_wrappers
from scrapy_mss.wrappers.rules import Between, SamplePage, UrlPattern, Wrapper
from scrapy_mss.wrappers.selectors import Selector, class_or_id, css, xpath

__all__ = (
    "Between",
    "ImportReport",
    "Labelling",
    "Problem",
    "Reason",
    "Registry",
    "SamplePage",
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
