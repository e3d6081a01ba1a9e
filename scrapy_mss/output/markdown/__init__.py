"""Sanitized HTML -> Markdown: CommonMark with the tables and the strikethrough of GitHub."""

from __future__ import annotations

from scrapy_mss.output.markdown.blocks import blocks, joined
from scrapy_mss.output.markdown.tree import parse


def markdown(html: str) -> str:
    """*html*, sanitized by `scrapy_mss.output.sanitizing`, as Markdown that shows the same."""
    return joined(blocks(parse(html)))
