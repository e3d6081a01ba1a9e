"""Small generated news sites: one template a site around different articles."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import span_labels
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens

SYLLABLES = "ba de fi go lu ma ne pi ro su ta ve wi zo ka le".split()
N_WORDS = 600


@dataclass(frozen=True, slots=True)
class NewsPage:
    """A page and the text of its article, with an empty line between paragraphs."""

    html: str
    text: str

    @property
    def tokens(self) -> Tokens:
        return tokenize(self.html)

    @property
    def page(self) -> Page:
        return Page(self.tokens)

    @property
    def inside(self) -> Bools:
        """bool[n_tokens]: the article, from its first word to its last."""
        tokens = self.tokens
        before = len(tokenize(self.html[: self.html.index("<!-- article -->")]))
        after = len(tokenize(self.html[self.html.index("<!-- /article -->") :]))
        return span_labels(len(tokens), before + 1, len(tokens) - after - 1)


def news_page(number: int, *, site: str = "one", paragraphs: int = 5) -> NewsPage:
    """A page of about 3 kB; those of one *site* share menu, teasers and footer."""
    rng = random.Random(f"{site} {number}")  # noqa: S311
    words = _vocabulary(site)
    body = [_paragraph(rng, words) for _ in range(paragraphs)]
    article = "".join(f"<p>{text}</p>\n" for text in body)
    teasers = "".join(
        f'<li><a href="/{site}/{n}.html">{" ".join(rng.sample(words, 3))}</a></li>'
        for n in range(12)
    )
    html = (
        f"<!DOCTYPE html><html><head><title>{site} {number}</title><script>var a = 1;</script>"
        f'</head><body class="{site}"><ul class="menu"><li><a href="/">Home</a><li>'
        f'<a href="/news">News</a><li><a href="/sport">Sport</a></ul><div id="{site}-body">'
        f"<!-- article -->{article}<!-- /article --></div>"
        f'<div class="more"><h3>More from {site}</h3><ul>{teasers}</ul></div>'
        f"<div>Copyright {site} | <a>Terms</a> | <a>Privacy</a></div></body></html>"
    )
    return NewsPage(html, "\n\n".join(body))


def _vocabulary(site: str) -> list[str]:
    rng = random.Random(site)  # noqa: S311
    return ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(N_WORDS)]


def _paragraph(rng: random.Random, words: list[str]) -> str:
    sentences = (" ".join(rng.choices(words, k=11)).capitalize() + "." for _ in range(3))
    return " ".join(sentences)


def random_labels(tokens: Tokens, seed: int = 0) -> Bools:
    """Labels that mean nothing."""
    return np.random.default_rng(seed).random(len(tokens)) < 0.5
