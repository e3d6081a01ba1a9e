"""A page's elements as each of the two trees finds them."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.metadata.lxml_tree import LxmlTree
from scrapy_mss.metadata.page_tree import PageTree
from scrapy_mss.metadata.token_tree import TokenTree


def parsed_by_lxml(source: str) -> PageTree:
    return LxmlTree(etree.fromstring(source, etree.HTMLParser(huge_tree=True)))


def made_of_tokens(source: str) -> PageTree:
    return TokenTree(tokenize(source))


TREES: dict[str, Callable[[str], PageTree]] = {"lxml": parsed_by_lxml, "tokens": made_of_tokens}
