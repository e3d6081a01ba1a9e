"""Extractors of other people, each with the settings that its documentation gives for articles.

Strategy: a row of `PEERS` is a function that imports a library and gives back what turns a page
into text; so a library is needed only where it is used, and loads once. Comments are off where
there is a switch for them, tables are as the library has them by default, and nothing is fetched.
Text comes out in paragraphs that are parted by empty lines, as ours does. What a library raises
is passed on: the bench counts it, a crawl falls back.

Where a documentation leaves a choice:

- jusText runs in its language-independent mode, without stop words. On the labelled sets that
  beats the list of the page's language, and the union of all lists beats that list too.
- boilerpy3 goes on past tags that do not match instead of giving the page up.
- Readability gives HTML; our tokenizer makes text of it, without choosing anything.
- newspaper4k reads the language that the page declares, as its `Article` does on its own; for
  Japanese, Chinese and Thai it wants packages that are not among the peers, and fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from research.systems.baselines import AllText

ToText = Callable[[str], str | None]


class External:
    """The library that the row *peer* of the table names."""

    def __init__(self, *, peer: str) -> None:
        if peer not in PEERS:
            raise ValueError(f"no peer is called {peer!r}; there are {', '.join(PEERS)}")
        try:
            self._text = PEERS[peer]()
        except ImportError as error:
            missing = error.name or str(error)
            message = f"{peer} needs {missing}, run: make research"
            raise ImportError(message, name=error.name) from error

    def extract(self, html: str) -> str:
        """The text of *html*; nothing is made of nothing, on which libraries differ."""
        return paragraphs(self._text(html) or "") if html.strip() else ""


def paragraphs(text: str) -> str:
    """*text*, one paragraph for each of its lines."""
    return "\n\n".join(filter(None, map(str.strip, text.splitlines())))


def _trafilatura(**options: Any) -> ToText:
    from trafilatura import extract

    return partial(extract, include_comments=False, **options)


def _readability() -> ToText:
    from readability import Document

    whole = AllText()
    return lambda html: whole.extract(Document(html).summary(html_partial=True))


def _boilerpy3() -> ToText:
    from boilerpy3.extractors import ArticleExtractor

    extractor = ArticleExtractor(raise_on_failure=False)
    return lambda html: extractor.get_content(html)  # noqa: PLW0108 - the method is untyped


def _justext() -> ToText:
    from justext import justext

    def text(html: str) -> str:
        found = justext(html, frozenset(), stopwords_low=0.0, stopwords_high=0.0)
        return "\n".join(" ".join(each.text.split()) for each in found if not each.is_boilerplate)

    return text


def _resiliparse() -> ToText:
    from resiliparse.extract.html2text import extract_plain_text

    return partial(
        extract_plain_text,
        main_content=True,
        alt_texts=False,
        comments=False,
        list_bullets=False,
    )


def _newspaper4k() -> ToText:
    from newspaper import Article

    def text(html: str) -> str:
        article = Article("", fetch_images=False)
        article.download(input_html=html)
        article.parse()
        return str(article.text)

    return text


def _goose3() -> ToText:
    from goose3 import Goose

    goose = Goose({"enable_image_fetching": False})
    return lambda html: goose.extract(raw_html=html).cleaned_text


def _turbohtml() -> ToText:
    from turbohtml import parse

    return lambda html: parse(html).article().text


PEERS: Final[Mapping[str, Callable[[], ToText]]] = {
    "trafilatura": _trafilatura,
    "trafilatura-fast": partial(_trafilatura, fast=True),
    "trafilatura-precision": partial(_trafilatura, favor_precision=True),
    "trafilatura-recall": partial(_trafilatura, favor_recall=True),
    "readability": _readability,
    "boilerpy3": _boilerpy3,
    "justext": _justext,
    "resiliparse": _resiliparse,
    "newspaper4k": _newspaper4k,
    "goose3": _goose3,
    "turbohtml": _turbohtml,
}
