"""The main image, videos and audio that a page declares, beside those in the text of its article.

Of a video the file is preferred to the player, since it can be downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scrapy_mss.metadata import jsonld
from scrapy_mss.metadata.jsonld import Node
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.metadata.text import absolute_url, clean
from scrapy_mss.output.media import AUDIO, IMAGE, KIND_OF_FILE, VIDEO, Medium, extension_of, is_junk

MAX_OBJECTS: Final = 20  # of one kind
# Of a kind: where JSON-LD has its objects, and which `<meta>` have its address.
PLACES: Final = (
    (VIDEO, ("video",), ("og:video", "og:video:secure_url", "og:video:url")),
    (AUDIO, ("audio",), ("og:audio", "og:audio:secure_url", "og:audio:url")),
)
TYPED: Final = {"VideoObject": VIDEO, "AudioObject": AUDIO}
SHARED: Final = ("associatedMedia",)  # objects of any kind, by their type
ADDRESSES: Final = ("contentUrl", "embedUrl", "url")
NAMES: Final = ("caption", "name", "headline")


def declared_media(page: ParsedPage, main_image: str | None) -> list[Medium]:
    """The main image of *page*, unless it is the site's logo, and its videos and audio."""
    media = []
    if main_image and not is_junk(main_image):
        alt = next(iter(page.metas.get("og:image:alt", ())), "")
        media.append(Medium(IMAGE, main_image, alt=clean(alt)))
    article = page.graph.best_node(jsonld.ARTICLE)
    for kind, keys, metas in PLACES:
        found = list(_in_article(page, article, kind, keys)) if article else []
        media += found or list(_in_metas(page, kind, metas))
    return media


def _in_article(
    page: ParsedPage, article: Node, kind: str, keys: Sequence[str]
) -> Iterator[Medium]:
    for key in (*keys, *SHARED):
        given = article.get(key)
        for each in (given if isinstance(given, list) else [given])[:MAX_OBJECTS]:
            node = page.graph.resolved(each) if isinstance(each, dict) else {}
            if key not in SHARED or TYPED.get(str(node.get("@type"))) == kind:
                yield from _of_node(page, node, kind)


def _of_node(page: ParsedPage, node: Node, kind: str) -> Iterator[Medium]:
    """The medium that *node* is, by the first of its addresses that can be read."""
    for text in map(node.get, ADDRESSES):
        url = absolute_url(text, page.base) if isinstance(text, str) else None
        if url:
            caption = next((text for key in NAMES if isinstance(text := node.get(key), str)), "")
            is_file = KIND_OF_FILE.get(extension_of(url)) is not None
            yield Medium(kind, url, caption=clean(caption), is_file=is_file)
            return


def _in_metas(page: ParsedPage, kind: str, names: Sequence[str]) -> Iterator[Medium]:
    texts = (text for name in names for text in page.metas.get(name, ())[:MAX_OBJECTS])
    for text in texts:
        url = absolute_url(text, page.base)
        if url:
            yield Medium(kind, url, is_file=KIND_OF_FILE.get(extension_of(url)) is not None)
            return
