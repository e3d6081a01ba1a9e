"""Lookups: from a page and the keys of a `FieldSource` to candidate texts, best first.

Strategy: a lookup finds and does not decide; whether a text is a title or a date is for the
field's parser in `fields`. So one lookup serves several fields, and any row can use any.
Most find nothing on a page; what they then give is empty, and no parser is asked.
At the end is what needs no parser: the next page, the trail and the media, which pages declare as
links and as objects of JSON-LD.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from scrapy_mss.metadata import dates
from scrapy_mss.metadata.authors import in_direct_order, labelled_names, person_names
from scrapy_mss.metadata.parsed_page import (
    MAX_OF_TAG,
    ParsedPage,
    first_group,
    markers_of,
    meta_name,
    names_of_person,
    property_value,
    short_texts,
)
from scrapy_mss.metadata.titles import headlines, matching_heading
from scrapy_mss.output.media import AUDIO, FILES, IMAGE, VIDEO, Medium, extension_of, is_junk
from scrapy_mss.pages.addresses import absolute_url, follows
from scrapy_mss.pages.declarations import ARTICLE, OTHER, WEB_PAGE, WEB_SITE, Node, listed
from scrapy_mss.pages.text import clean
from scrapy_mss.pages.tree import Element

Keys = tuple[str, ...]
Lookup = Callable[[ParsedPage, Keys], Iterable[str]]

# --- machine-readable data ------------------------------------------------------------------------


def _json_ld(kind: str) -> Lookup:
    """JSON-LD of a node of *kind*."""
    return lambda page, keys: page.json_ld(kind, keys)


json_ld_article, json_ld_page, json_ld_site = map(_json_ld, (ARTICLE, WEB_PAGE, WEB_SITE))


def meta(page: ParsedPage, keys: Keys) -> list[str]:
    """`<meta>` by name or property."""
    metas, names = page.metas, _meta_names(keys)
    if metas.keys().isdisjoint(names):  # as mostly
        return []
    return [text for name in names if name in metas for text in metas[name]]


@lru_cache  # of a few rows
def _meta_names(keys: Keys) -> Keys:
    return tuple(map(meta_name, keys))


def meta_inverted_name(page: ParsedPage, keys: Keys) -> list[str]:
    """`<meta>` by name or property, with `Last, First` put in direct order."""
    return list(map(in_direct_order, meta(page, keys)))


def link(page: ParsedPage, keys: Keys) -> list[str]:
    """`<link>` by relation."""
    return [url for key in keys for url in page.links(key)]


def microdata_property(page: ParsedPage, keys: Keys) -> Iterable[str]:
    """Microdata."""
    found = page.properties(keys)
    return map(property_value, found) if found else ()


def microdata_person(page: ParsedPage, keys: Keys) -> Iterable[str]:
    """The first person in the microdata and those next to it; others belong to teasers."""
    found = page.properties(keys)
    return chain.from_iterable(map(names_of_person, first_group(found))) if found else ()


def html_language(page: ParsedPage, _: Keys) -> list[str]:
    """The `lang` attribute of `<html>`."""
    return [page.language] if page.language else []


# --- titles ---------------------------------------------------------------------------------------


def confirmed_heading(page: ParsedPage, keys: Keys) -> Iterator[str]:
    """The heading that another title equals, or begins with before the site's name."""
    if not page.headings:
        return
    for titles in (meta, _headlines, title_element):
        for title in titles(page, keys):
            heading = matching_heading(clean(title), page.headings)
            if heading:
                yield heading


def _headlines(page: ParsedPage, _: Keys) -> Iterable[str]:
    return page.json_ld(ARTICLE, ("headline",))


def h1_heading(page: ParsedPage, _: Keys) -> list[str]:
    """The `<h1>` headings."""
    return headlines(page.h1_headings)


def title_element(page: ParsedPage, _: Keys) -> list[str]:
    """`<title>`."""
    return page.title_texts


# --- dates ----------------------------------------------------------------------------------------

MAX_DATE_LINE: Final = 60  # characters: a date, a time and a few words
MAX_SCRIPT_VALUES: Final = 50  # of scripts; the article's comes before those of teasers
MAX_DAYS_APART: Final = 1  # the day in a URL is the site's, a time may be in another zone

_DAY_IN_URL: Final = re.compile(
    r"[/_-]((?:199|20\d)\d)(?P<s>[/_-]?)(1[0-2]|0[1-9]|(?<=[/_-])[1-9])(?P=s)"
    r"(3[01]|[12]\d|0[1-9]|(?<=[/_-])[1-9])(?!\d)"
)
_UPDATED: Final = re.compile(
    r"\b(?:updated?|modified|revised|aktualisiert|geändert|stand|mise? à jour|modifié|"
    r"actualizad[ao]|aggiornat[ao]|atualizad[ao]|bijgewerkt|oppdatert|uppdaterad|opdateret)\b|更新",
    re.IGNORECASE,
)


def _times(*, marked: bool) -> Lookup:
    """`<time>` with a class, id or property that contains a key, or without one."""

    def lookup(page: ParsedPage, keys: Keys) -> Iterable[str]:
        def is_meant(element: Element) -> bool:
            markers = f"{markers_of(element)} {'pubdate' if 'pubdate' in element.attrib else ''}"
            return any(key in markers for key in keys) == marked

        if not page.times:
            return ()
        return (each.get("datetime") or each.text for each in filter(is_meant, page.times))

    return lookup


marked_time, other_time = _times(marked=True), _times(marked=False)


def script_value(page: ParsedPage, keys: Keys) -> Iterator[str]:
    """The values of the keys in scripts that are not JSON-LD."""
    scripts = page.tree.scripts(MAX_OF_TAG, json_ld=False)
    found = chain.from_iterable(map(_values_of(keys).finditer, scripts))
    return (match[1] for match in islice(found, MAX_SCRIPT_VALUES))


@lru_cache
def _values_of(keys: Keys) -> re.Pattern[str]:
    # It begins with a letter that is searched for at once, and few of the others go on with an
    # initial of a key: scripts are long, and have many quotes.
    initials = "".join(sorted({key[0] for key in keys}))
    names = "|".join(map(re.escape, keys))
    return re.compile(
        rf'"(?=[{initials}])(?:{names})\\?"\s{{0,3}}:\s{{0,3}}\\?"([^"\\]{{8,40}})', re.IGNORECASE
    )


def url_day(page: ParsedPage, _: Keys) -> Iterator[str]:
    """The days in the page's URL."""
    for match in _DAY_IN_URL.finditer(page.url or ""):
        yield "-".join(part.zfill(2) for part in match.group(1, 3, 4))


def _dates(lines: Callable[[ParsedPage], list[str]], *, in_short: bool) -> Lookup:
    """The dates in those of *lines* that are little more than a date, or in the longer ones."""

    def lookup(page: ParsedPage, _: Keys) -> Iterator[str]:
        for line in lines(page):
            if (len(line) <= MAX_DATE_LINE) == in_short:
                found = dates.find(line, page.language)
                if found and not _UPDATED.search(line):
                    yield found

    return lookup


date_line = _dates(lambda page: page.dated, in_short=True)
line_with_date = _dates(lambda page: page.dated, in_short=False)
distant_date_line = _dates(lambda page: page.distant, in_short=True)


def update_line(page: ParsedPage, _: Keys) -> Iterator[str]:
    """Lines near the heading with the date of the last update."""
    for line in page.dated:
        updated = _UPDATED.search(line)
        found = updated and dates.find(line[updated.start() :], page.language)
        if found:
            yield found


def consistent_with_url(lookup: Lookup) -> Lookup:
    """*lookup* without the dates that contradict the day in the page's URL."""

    def consistent(page: ParsedPage, keys: Keys) -> Iterable[str]:
        texts = lookup(page, keys)
        if not texts:
            return ()
        values = (dates.parse(clean(text), page.language) for text in texts)
        return (value for value in values if value and _is_near_day_of_url(page, value))

    return consistent


def _is_near_day_of_url(page: ParsedPage, value: str) -> bool:
    day = next(filter(None, map(dates.parse, url_day(page, ()))), None)
    return day is None or dates.days_between(day, value) <= MAX_DAYS_APART


# --- authors --------------------------------------------------------------------------------------

MAX_AUTHOR_LINKS: Final = 500  # a page of comments links each of their authors


def author_link(page: ParsedPage, _: Keys) -> list[str]:
    """Links with `rel=author`."""
    links = page.tree.related_links("author", MAX_AUTHOR_LINKS)
    return person_names(short_texts(first_group(links)))


def labelled_name(page: ParsedPage, _: Keys) -> list[str]:
    """`By Ann Lee` after the heading, on one line or on several."""
    return _first_persons(labelled_names(page.following))


def byline(page: ParsedPage, _: Keys) -> list[str]:
    """A byline after the heading: an element with such a class, or a link to an author's page."""
    return _first_persons(page.bylines)


def _first_persons(texts: Iterable[str]) -> list[str]:
    """The persons in the first text with any; later texts are other people's teasers."""
    return next((names for text in texts if (names := person_names([text]))), [])


# --- tags and paywalls ---------------------------------------------------------------------------

MAX_TAG_LINKS: Final = 200  # a page of posts links the tags of each
MAX_PARTS: Final = 50  # of an article; pages with a paywall have one or two
FLAGS: Final = (bool, int, str)
FREE: Final = {
    **dict.fromkeys(("true", "1", "yes", "free"), True),
    **dict.fromkeys(("false", "0", "no", "locked"), False),
}
_VOCABULARY: Final = ("https://schema.org/", "http://schema.org/")


def tag_link(page: ParsedPage, _: Keys) -> Iterable[str]:
    """Links with `rel=tag` next to the first of them."""
    found = page.tree.related_links("tag", MAX_TAG_LINKS)
    links = [each for each in found if "tag" in (each.get("rel") or "").lower().split()]
    return (link.text for link in links if _around(link) == _around(links[0])) if links else ()


def _around(link: Element) -> Element | None:
    """The element that holds *link* and its neighbours, be each in an item of a list or not."""
    around = list(islice(link.iterancestors(), 2))
    is_item = bool(around) and around[0].tag in ("li", "span")
    return next(iter(around[is_item:]), None)


def is_free(text: str) -> bool | None:
    """What a value of `isAccessibleForFree` or of `article:content_tier` says, if it says it.

    `metered` says neither: it depends on what else a reader has read.
    """
    name = text.strip().lower()
    for prefix in _VOCABULARY:
        name = name.removeprefix(prefix)
    return FREE.get(name)


def _flag(kind: str) -> Lookup:
    """JSON-LD of a node of *kind*, which may be a boolean."""
    return lambda page, keys: _flags(page.best_node(kind), keys)


article_flag, page_flag = map(_flag, (ARTICLE, WEB_PAGE))


def part_flag(page: ParsedPage, keys: Keys) -> list[str]:
    """JSON-LD of the parts of the article, if one of them is not free."""
    node = page.best_node(ARTICLE)
    parts = listed(node["hasPart"], MAX_PARTS) if node and "hasPart" in node else ()
    flags = (flag for part in parts if isinstance(part, dict) for flag in _flags(part, keys))
    return [flag for flag in flags if is_free(flag) is False] if parts else []


def _flags(node: Node | None, keys: Keys) -> list[str]:
    """The values of *keys*, which may be booleans, as texts."""
    if not node:
        return []
    return [str(value) for value in map(node.get, keys) if isinstance(value, FLAGS)]


# --- next page ------------------------------------------------------------------------------------

MAX_LINKS: Final = 20


def next_page(page: ParsedPage) -> str:
    """Where the next page of the article in *page* is; empty if nothing says that."""
    if not page.url:
        return ""
    links = page.tree.related_links("next", MAX_LINKS)
    named = [each.get("href") or "" for each in links if "next" in (each.get("rel") or "").split()]
    for href in (*page.links("next")[:MAX_LINKS], *named):
        url = absolute_url(href, page.base)
        if url and follows(url, page.url):
            return url
    return ""


# --- the trail to the article ---------------------------------------------------------------------

# It leads from the site's front page to the article. Trails in visible elements are not read:
# whether a row of links is one, nothing says.

MAX_CRUMBS: Final = 10  # sites are four levels deep
MAX_NAME: Final = 200  # characters; the last one may be the headline
TYPE: Final = "BreadcrumbList"


def breadcrumbs(page: ParsedPage) -> list[dict[str, str]]:
    """The names and addresses of the trail in *page*, the front page first.

    [{"name": "Home", "url": "https://x.example/"}, {"name": "Sport", "url": ""}]
    """
    for trail in _trails(page):
        items = listed(trail.get("itemListElement"), 2 * MAX_CRUMBS)
        nodes = sorted((each for each in items if isinstance(each, dict)), key=_position)
        crumbs = [crumb for each in nodes if (crumb := _crumb(page, each)) is not None]
        if crumbs:
            return crumbs[:MAX_CRUMBS]
    return []


def _trails(page: ParsedPage) -> Iterator[Node]:
    """The trails of the page: those that its nodes name, then those beside them."""
    for kind in (WEB_PAGE, ARTICLE):
        node = page.best_node(kind)
        named = node.get("breadcrumb") if node else None
        if isinstance(named, dict):
            yield page.graph.resolved(named)
    for node in page.graph.nodes(OTHER):
        if TYPE in listed(node.get("@type")):
            yield node


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


# --- declared media -------------------------------------------------------------------------------

# The main image, videos and audio, beside those in the text of the article. Of a video the file is
# preferred to the player, since it can be downloaded.

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
    article = page.best_node(ARTICLE)
    for kind, keys, metas in PLACES:
        found = list(_in_article(page, article, kind, keys)) if article else []
        media += found or _in_metas(page, kind, metas)
    return media


def _in_article(
    page: ParsedPage, article: Node, kind: str, keys: Sequence[str]
) -> Iterator[Medium]:
    for key in filter(article.__contains__, (*keys, *SHARED)):
        for each in listed(article.get(key), MAX_OBJECTS):
            node = page.graph.resolved(each) if isinstance(each, dict) else {}
            if key not in SHARED or TYPED.get(str(node.get("@type"))) == kind:
                yield from _of_node(page, node, kind)


def _of_node(page: ParsedPage, node: Node, kind: str) -> Iterator[Medium]:
    """The medium that *node* is, by the first of its addresses that can be read."""
    for text in map(node.get, ADDRESSES):
        url = absolute_url(text, page.base) if isinstance(text, str) else None
        if url:
            caption = next((text for key in NAMES if isinstance(text := node.get(key), str)), "")
            yield Medium(kind, url, clean(caption), is_file=extension_of(url) in FILES)
            return


def _in_metas(page: ParsedPage, kind: str, names: Keys) -> list[Medium]:
    for text in meta(page, names):
        if url := absolute_url(text, page.base):
            return [Medium(kind, url, is_file=extension_of(url) in FILES)]
    return []
