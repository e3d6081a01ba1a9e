"""What the class words of an element say that it is: main text, or something beside it.

The words are a matter of common sense and of the habits of templates, not learned: what is decided
by them is independent of the counts. They are English, as class names are in all countries, with a
few of other languages. A word's hash is looked up in a table by its low bits and compared whole, so
that no other word is taken for it.
"""

from __future__ import annotations

from enum import IntEnum
from zlib import crc32

import numpy as np

from scrapy_mss.markup.attributes import ElementAttributes
from scrapy_mss.markup.tokens import Bytes, Counts

_TABLE_MASK = 0xFFFF  # of a hash: no two of the words share these bits, which `_tables` makes sure


class Role(IntEnum):
    """What a class word may say; a word may have several roles."""

    SUBJECT = 0  # what the page is about: "article" in article-body
    BODY = 1  # its text: "body" in article-body
    LIKELY = 2  # one word that speaks for main text
    BESIDE = 3  # navigation, recommendations, forms, and what else stands beside a text


WORDS: dict[Role, tuple[str, ...]] = {
    Role.SUBJECT: (
        *("article", "story", "post", "entry", "news", "blog", "single", "page", "main", "text"),
        *("content", "detail", "artikel", "noticia", "nota"),
    ),
    Role.BODY: (
        *("body", "content", "text", "copy", "inner", "main", "paragraph", "paragraphs", "prose"),
        *("detail", "description", "artikel", "txt", "corpo", "cuerpo", "texto", "contenido"),
        "inhalt",
    ),
    Role.LIKELY: (
        *("article", "body", "content", "entry", "hentry", "main", "page", "post", "text"),
        *("blog", "story"),
    ),
    Role.BESIDE: (
        # What readers say, and where they go next
        *("comment", "comments", "commentaires", "comentario", "comentarios", "kommentar"),
        *("kommentare", "disqus", "respond", "reply", "replies", "related"),
        *("relacionadas", "relacionados", "recommended", "recommend", "recommendations"),
        *("recirc", "recirculation", "popular", "trending", "mostread", "ranking", "outbrain"),
        *("taboola", "teaser", "teasers", "card", "cards", "carousel", "slider", "gallery"),
        *("pagination", "pager", "viral"),
        # What the site wants of them
        *("share", "sharing", "social", "newsletter", "subscribe", "subscription", "signup"),
        *("login", "paywall", "donate", "donation", "membership", "supporter", "poll", "survey"),
        *("cookie", "cookies", "consent", "gdpr", "privacy", "legal", "notice", "disclaimer"),
        *("trust", "modal", "popup", "overlay", "upsell", "cta"),
        # Advertising
        *("promo", "promotion", "sponsor", "sponsored", "ad", "ads", "advert", "adverts"),
        *("advertisement", "banner"),
        # The page's frame, and lines around a text
        *("sidebar", "aside", "footer", "nav", "navigation", "subnav", "menu", "masthead"),
        *("toolbar", "breadcrumb", "breadcrumbs", "tags", "meta", "author", "byline", "bio"),
        *("caption", "credit", "copyright", "pullquote", "date", "datetime", "dateline"),
        *("published", "updated"),
    ),
}


def _tables() -> tuple[np.ndarray[tuple[int], np.dtype[np.uint32]], Bytes]:
    """The hash at each place of the table, and the roles of its word as bits."""
    hashes, roles = np.zeros(_TABLE_MASK + 1, np.uint32), np.zeros(_TABLE_MASK + 1, np.uint8)
    for role, words in WORDS.items():
        for word in words:
            code = crc32(word.encode())
            place = code & _TABLE_MASK
            assert hashes[place] in {0, code}, f"{word} shares its place with another word"
            hashes[place] = code
            roles[place] |= 1 << role
    return hashes, roles


_HASHES, _ROLES = _tables()


def role_counts(attributes: ElementAttributes) -> Counts:
    """int64[n_roles, n_elements]: how many class words of each element have each role."""
    word, n = attributes.word, len(attributes.start)
    place = (word & _TABLE_MASK).astype(np.intp)
    known = (_HASHES.take(place) == word).nonzero()[0]
    roles, element = _ROLES.take(place.take(known)), attributes.element.take(known)
    return np.stack([np.bincount(element[(roles >> role & 1) > 0], minlength=n) for role in Role])
