"""The trail to an article and its media, which pages declare as objects of JSON-LD.

    [{"name": "Home", "url": "https://x.example/"}, {"name": "Sport", "url": ""}]

The trail leads from the site's front page to the article. Trails in visible elements are not read:
whether a row of links is one, nothing says. The media are the main image, videos and audio, beside
those in the text of the article. Of a video the file is preferred to the player, since it can be
downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.output.media import AUDIO, IMAGE, KIND_OF_FILE, VIDEO, Medium, extension_of, is_junk
from scrapy_mss.pages.addresses import absolute_url
from scrapy_mss.pages.declarations import ARTICLE, OTHER, WEB_PAGE, Node
from scrapy_mss.pages.text import clean

MAX_CRUMBS: Final = 10  # sites are four levels deep
MAX_NAME: Final = 200  # characters; the last one may be the headline
TYPE: Final = "BreadcrumbList"


def breadcrumbs(page: ParsedPage) -> list[dict[str, str]]:
    """The names and addresses of the trail in *page*, the front page first."""
    for trail in _trails(page):
        items = trail.get("itemListElement")
        crumbs = [
            crumb
            for each in sorted(_nodes(items), key=_position)
            if (crumb := _crumb(page, each)) is not None
        ]
        if crumbs:
            return crumbs[:MAX_CRUMBS]
    return []


def _trails(page: ParsedPage) -> Iterator[Node]:
    """The trails of the page: those that its nodes name, then those beside them."""
    for kind in (WEB_PAGE, ARTICLE):
        node = page.graph.best_node(kind)
        named = node.get("breadcrumb") if node else None
        if isinstance(named, dict):
            yield page.graph.resolved(named)
    for node in page.graph.nodes(OTHER):
        types = node.get("@type")
        if TYPE in (types if isinstance(types, list) else [types]):
            yield node


def _nodes(items: object) -> list[Node]:
    given = items if isinstance(items, list) else [items]
    return [each for each in given[: 2 * MAX_CRUMBS] if isinstance(each, dict)]


def _position(item: Node) -> float:
    """Where *item* is; one without a number stays behind those with one."""
    try:
        return float(item.get("position") or "")
    except (TypeError, ValueError, OverflowError):
        return float("inf")


def _crumb(page: ParsedPage, item: Node) -> dict[str, str] | None:
    """A name with an address, if there is one; in an `item` of its own or beside it."""
    target = item.get("item")
    inner: Mapping[str, object] = target if isinstance(target, dict) else {}
    name = _text(item.get("name")) or _text(inner.get("name"))
    address = target if isinstance(target, str) else inner.get("@id") or inner.get("url")
    url = absolute_url(address, page.base) if isinstance(address, str) else None
    return {"name": name, "url": url or ""} if name else None


def _text(value: object) -> str:
    return clean(value)[:MAX_NAME] if isinstance(value, str) else ""


# --- media ----------------------------------------------------------------------------------------

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
    article = page.graph.best_node(ARTICLE)
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
