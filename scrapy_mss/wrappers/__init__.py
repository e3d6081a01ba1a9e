"""Hand-written rules that say where the articles of a site are, and the labels they give.

registry = load_wrappers(["rules"])
wrapper = registry.find(url)
labelling = label(wrapper, html) if wrapper else None
"""

from scrapy_mss.wrappers.errors import Problem, WrapperError
from scrapy_mss.wrappers.labeller import Labelling, Reason, label
from scrapy_mss.wrappers.registry import Registry, load_wrappers
from scrapy_mss.wrappers.rules import SamplePage, Wrapper
from scrapy_mss.wrappers.selectors import Selector, css, xpath

__all__ = (
    "Labelling",
    "Problem",
    "Reason",
    "Registry",
    "SamplePage",
    "Selector",
    "Wrapper",
    "WrapperError",
    "css",
    "label",
    "load_wrappers",
    "xpath",
)
