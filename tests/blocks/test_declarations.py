"""What a page declares of itself, and what is an article by that."""

from __future__ import annotations

import json

import pytest

from scrapy_mss.pages.declarations import Declarations


def linked(**data: object) -> str:
    text = json.dumps({"@context": "https://schema.org", **data})
    return f'<script type="application/ld+json">{text}</script>'


def graph(kind: str) -> str:
    return f'<meta property="og:type" content="{kind}">'


@pytest.mark.parametrize(
    ("source", "are_of_no_article"),
    [
        ("<p>Nothing is declared.", False),
        (linked(headline="Without a type"), False),
        *((linked(**{"@type": kind}), False) for kind in ("NewsArticle", "BlogPosting", "Report")),
        (linked(**{"@type": ["Thing", "Article"]}), False),
        (linked(**{"@type": "Article"}) + graph("website"), False),
        *((linked(**{"@type": kind}), True) for kind in ("WebPage", "Recipe", "Product")),
        (graph("website"), True),
        (graph("article"), True),
        ('<script>var a = {"@type": "Offer"};</script>', True),
        ('<script>var a = {"@type": "Answer"};</script>', True),
        ('<script>var a = {"@type": "Person"};</script>', False),
    ],
)
def test_pages_of_no_article_are_those_that_declare_another_type(
    source: str, *, are_of_no_article: bool
) -> None:
    assert Declarations(source).are_of_no_article is are_of_no_article
