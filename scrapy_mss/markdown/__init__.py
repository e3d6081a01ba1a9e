"""Sanitized HTML -> Markdown: CommonMark with the tables and the strikethrough of GitHub."""

from __future__ import annotations

from scrapy_mss.markdown.blocks import blocks, joined
from scrapy_mss.markdown.tree import parse


def markdown(html: str) -> str:
    """*html*, as `scrapy_mss.sanitizing` gives it, as Markdown: a parser of it shows the same."""
    return joined(blocks(parse(html)))
