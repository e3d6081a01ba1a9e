"""What systems share that read our tokens: each says which it keeps, the text follows."""

from __future__ import annotations

from scrapy_mss.core.cleaning import UNCLEANED, keep
from scrapy_mss.core.rendering import render
from scrapy_mss.core.subsequence import Span
from scrapy_mss.core.tokenizer import tokenize
from scrapy_mss.core.tokens import Bools, Tokens
from scrapy_mss.extractors.base import Located


class TokenSystem:
    """A system that chooses tokens of a page."""

    def kept(self, tokens: Tokens) -> Bools:
        """bool[n_tokens]: the tokens that are main text."""
        raise NotImplementedError

    def locate(self, html: str) -> Located:
        tokens = tokenize(html)
        kept = self.kept(tokens)
        return Located(render(tokens, kept), tokens, kept)

    def extract(self, html: str) -> str:
        return self.locate(html).text


class SpanSystem(TokenSystem):
    """A system that chooses one run of tokens and cleans nothing in it."""

    def span(self, tokens: Tokens) -> Span:
        raise NotImplementedError

    def kept(self, tokens: Tokens) -> Bools:
        return keep(tokens, self.span(tokens), UNCLEANED)
