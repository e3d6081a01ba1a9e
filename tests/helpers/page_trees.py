"""A page's elements as each of the two trees finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from lxml import etree

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.metadata.tree import PageTree
from tests.helpers.lxml_tree import LxmlTree


def parsed_by_lxml(source: str) -> PageTree:
    return cast("PageTree", LxmlTree(etree.fromstring(source, etree.HTMLParser(huge_tree=True))))


def made_of_tokens(source: str) -> PageTree:
    return PageTree(tokenize(source))


TREES: dict[str, Callable[[str], PageTree]] = {"lxml": parsed_by_lxml, "tokens": made_of_tokens}
