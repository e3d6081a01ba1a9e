"""What systems share that read our tokens: each says which it keeps, the text follows."""

from __future__ import annotations

from research.systems.base import Located
from scrapy_mss.core.cleaning import CODE_ONLY, keep
from scrapy_mss.core.subsequence import Span
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens


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
        return keep(tokens, self.span(tokens), CODE_ONLY)
