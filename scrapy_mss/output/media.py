"""Images, videos and audio: their values, and those that a page shows in its article.

An article's `media` are such values, in page order. `image_urls` and `file_urls` are
their addresses for Scrapy's `ImagesPipeline` and `FilesPipeline`.

What is looked at of a page is the article's run of tokens, from its first kept one to its last, and
the lead: what stands between the headline and the text, of which figures alone are taken. Left out
are

    pictures that say so           `JUNK` names and classes, drawings (SVG), `data:` addresses
    small ones                     a declared side of less than `MIN_SIDE` pixels
    teasers                        no caption, and a link to another page around them
    those of other boxes           no caption, but words that are not the article's, and a link or
                                   many of them, in a block without a kept word
    what stands beside the text    in an `aside`, `nav`, `footer` or `form` without a kept word

Of the sizes of a picture the largest is taken. Pages that load pictures late have their addresses
in other attributes (`LATE`), and a placeholder in `src`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from scrapy_mss.markup.attributes import attributes_of_tag, class_words, class_words_among
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.references import decode_all
from scrapy_mss.markup.rendering import without_controls
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES, TAG_NUMBERS
from scrapy_mss.markup.tokens import OPEN, Bools, Tokens, is_tag_of, tag_table
from scrapy_mss.output.sanitizing import base_url
from scrapy_mss.pages.addresses import MAX_URL, joined_url, split_url

IMAGE, VIDEO, AUDIO = "image", "video", "audio"

MAX_MEDIA: Final = 100  # of an article; a gallery of more is no article
MAX_CAPTION: Final = 2_000  # characters
MIN_NAME: Final = 8  # characters of a file's name that no two pictures share: not `large`, `1200`

# What the address of a file with video or audio ends with. Playlists are excluded: they name the
# pieces of a stream.
FILES: Final = frozenset(
    "3gp avi m4v mkv mov mp4 mpeg mpg ogv webm aac flac m4a mp3 oga ogg opus wav".split()
)
PLAYLISTS: Final = frozenset({"m3u8", "mpd"})
IMAGE_FILES: Final = frozenset("avif gif jpeg jpg jxl png webp".split())

# What is no picture of the story, by a word in the name of its file.
JUNK: Final = frozenset(
    """
    avatar avatars badge blank button emoji favicon gravatar icon icons loader loading logo logos
    pixel placeholder spacer spinner sprite tracking transparent
    """.split()
)
_WORD: Final = re.compile(r"[a-z]+")
# What an address begins with that `urlsplit` gives back as it is, up to the end of its path.
_PLAIN_PATH: Final = re.compile(r"https?://[A-Za-z0-9.-]+/[!$-.0-9:;=@-Z_a-z~/]*(?=[?#]|\Z)")
_SIZE_IN_NAME: Final = re.compile(r"[-_]?(?:\d{2,4}x\d{2,4}|\d{3,4}w|scaled|w\d{3,4})$")


class Medium(NamedTuple):
    """An image, a video or audio; *is_file* is False for a player, which cannot be downloaded."""

    kind: str
    url: str
    caption: str = ""
    alt: str = ""
    is_file: bool = True

    def as_dict(self) -> dict[str, str]:
        return {"kind": self.kind, "url": self.url, "caption": self.caption, "alt": self.alt}


def extension_of(url: str) -> str:
    """What the path of *url* ends with, in lower case; empty if it has no extension."""
    name = _file_name(url)
    return name.rpartition(".")[2] if "." in name else ""


def is_junk(url: str) -> bool:
    """Whether an image is a drawing, or its name says that it is no picture of the story."""
    name = _file_name(url)
    return name.endswith(".svg") or not JUNK.isdisjoint(_WORD.findall(name))


def picture(url: str) -> str:
    """What names the picture at *url* in all of its sizes: a long name of a file, else its path."""
    name = _file_name(url)
    stem = _SIZE_IN_NAME.sub("", name.rpartition(".")[0] or name)
    return stem if len(stem) >= MIN_NAME else split_url(url).path


@lru_cache(2**8)  # of a picture, several things are asked one after the other
def _file_name(url: str) -> str:
    plain = _PLAIN_PATH.match(url)
    path = plain[0] if plain else split_url(url).path
    return path.rpartition("/")[2].lower()


def merged(media: Iterable[Medium]) -> list[Medium]:
    """*media* with each picture, and each other address, once: the first with all its texts."""
    found: dict[tuple[str, str], Medium] = {}
    for each in media:
        name = picture(each.url) if each.kind == IMAGE else each.url
        key = each.kind, name or each.url
        known = found.get(key)
        if known is not None:
            caption, alt = known.caption or each.caption, known.alt or each.alt
            found[key] = known._replace(caption=caption, alt=alt)
        elif len(found) < MAX_MEDIA:
            found[key] = each
    return list(found.values())


def media_fields(media: Iterable[Medium]) -> dict[str, Any]:
    """The fields of an article with these *media*."""
    once = merged(media)
    return {
        "media": [each.as_dict() for each in once],
        "image_urls": [each.url for each in once if each.kind == IMAGE],
        "file_urls": [each.url for each in once if each.kind != IMAGE and each.is_file],
    }


def _on_one_line(text: str) -> str:
    """*text* as it is kept of a medium: on one line, without what no page shows."""
    return " ".join(without_controls(text, " ").split())[:MAX_CAPTION]


# --- of a page ------------------------------------------------------------------------------------

MAX_LOOKED_AT: Final = 1_000  # tags of media in one article
MAX_LEAD: Final = 1_500  # tokens between the headline and the text
MAX_TAG: Final = 2**14  # characters of a tag; a list of sizes is long
MAX_SIZES: Final = 50  # in one list
MAX_INSIDE: Final = 20  # tags of a kind in an element, such as `<source>` in `<picture>`
MAX_DEPTH: Final = 40  # elements around a picture that are looked at
MAX_STEPS: Final = 1_000  # tags on the way to them, some of them never closed
FEW_WORDS: Final = 4  # in a box with a link: a name and an agency may have one
MANY_WORDS: Final = 15  # in a box without one: more than who took the picture
CAPTION_WITHIN: Final = 60  # tokens behind a picture, in which its caption begins
MIN_SIDE: Final = 100  # pixels: authors are shown in 96, icons in 64 and less

# Where the address of a picture is: lists of sizes, then single addresses, `src` last.
SIZES: Final = ("data-srcset", "data-lazy-srcset", "srcset")
LATE: Final = tuple(
    "data-src data-lazy-src data-original data-original-src data-full-src data-hi-res-src "
    "data-url".split()
)
ADDRESSES: Final = (*LATE, "src")

MEDIA_TAGS: Final = frozenset({"img", "image", "video", "audio", "iframe", "embed"})
OF_AMP: Final = {"amp-img": "img", "amp-video": "video", "amp-audio": "audio"}
SAYS_NOTHING: Final = ("null", "undefined")  # what templates write for an absent text
_LOOKED_AT: Final = MEDIA_TAGS | {"unknown"}  # those of AMP are
AROUND: Final = BLOCK_TAGS | {"a", "picture"}
_IS_AROUND: Final = tag_table(AROUND)
CAPTION: Final = "caption"

# By the numbers of their names.
BESIDE: Final = frozenset(map(TAG_NUMBERS.__getitem__, ("aside", "nav", "footer", "form")))
FIGURE: Final = frozenset({TAG_NUMBERS["figure"]})
LINK: Final = frozenset({TAG_NUMBERS["a"]})

# Hosts of players in frames; what else is framed are maps, posts, forms and adverts.
PLAYERS: Final = {
    VIDEO: """
        youtube.com youtube-nocookie.com player.vimeo.com dailymotion.com geo.dailymotion.com
        players.brightcove.net content.jwplatform.com cdn.jwplayer.com fast.wistia.net
        player.twitch.tv rumble.com tv.rutube.ru rutube.ru player.bilibili.com ok.ru
        embed.ted.com streamable.com
    """.split(),
    AUDIO: """
        w.soundcloud.com open.spotify.com embed.podcasts.apple.com embed.acast.com
        player.megaphone.fm playlist.megaphone.fm widget.spreaker.com embeds.audioboom.com
        omny.fm player.captivate.fm html5-player.libsyn.com player.simplecast.com
        mixcloud.com widget.deezer.com embed.art19.com anchor.fm
    """.split(),
}
_KIND_OF_HOST: Final = {host: kind for kind, hosts in PLAYERS.items() for host in hosts}

_INLINE_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|bdi|em|font|i|mark|s|small|span|strong|u)\b[^<>]*>"
)
_TAG: Final = re.compile(r"<[^<>]*>")
_NAME: Final = re.compile(r"<([a-z-]+)", re.IGNORECASE)
_OPENING: Final = re.compile(re.escape(bytes([OPEN])))  # among kinds of tokens
# There are commas in addresses, too. It begins with what is searched for at once: lists are long.
_BETWEEN_SIZES: Final = re.compile(r",(?:\s+|(?<=\d[wx],))")
_SIZE: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)[wx],?\Z")
_PIXELS: Final = re.compile(r"\s*(\d{1,5})(?:px)?\s*\Z")


def kept_media(tokens: Tokens, kept: Bools, url: str = "") -> list[Medium]:
    """The media of the article that is the *kept* tokens (bool[n_tokens]) of the page at *url*."""
    are_kept = kept.tobytes()
    first, last = are_kept.find(1), are_kept.rfind(1)
    if first < 0:
        return []
    article = _Article(tokens, kept, url)
    places = article.places(_lead(tokens, first), last)
    media = (article.medium(place, in_lead=place < first) for place in places)
    return list(islice(filter(None, media), MAX_MEDIA))


def _lead(tokens: Tokens, first: int) -> int:
    """Where the headline above the text begins, if there is one near; else the text itself."""
    begin = max(0, first - MAX_LEAD)
    is_heading = np.equal(tokens.tag[begin:first], TAG_NUMBERS["h1"])
    at = (is_heading & np.equal(tokens.kind[begin:first], OPEN)).tobytes().rfind(1)
    return begin + at if at >= 0 else first


class _Article:
    """The tokens of a page, with what is around each of them."""

    def __init__(self, tokens: Tokens, kept: Bools, url: str) -> None:
        self.tokens, self.kept, self.url = tokens, kept, url
        # What is looked at one by one.
        self._kinds = tokens.kind.data
        self._tags = tokens.tag.data
        self._partners = tokens.partner.data
        self._unclosed = tokens.unclosed.data
        self._starts = tokens.clean_start.data
        self._ends = tokens.clean_end.data
        self._places: dict[str, list[int]] = {}
        self._texts: dict[int, str] = {}
        self._values: dict[int, dict[str, str]] = {}

    @lazy
    def base(self) -> str:
        """What relative addresses of the page begin with."""
        return base_url(self.tokens, self.url)

    def places(self, first: int, last: int) -> list[int]:
        """Where tags of media open between two tokens."""
        part = slice(first, last + 1)
        named = is_tag_of(self.tokens, _LOOKED_AT, part) & np.equal(self.tokens.kind[part], OPEN)
        places: list[int] = (named.nonzero()[0][:MAX_LOOKED_AT] + first).tolist()
        return places

    def medium(self, place: int, *, in_lead: bool) -> Medium | None:
        """What the tag at *place* shows; None if that is nothing of the article's."""
        name = TAG_NAMES[self._tags[place]]
        if name == "unknown":
            found = _NAME.match(self._source(place))
            name = OF_AMP.get(found[1].lower(), "") if found else ""
        if not name:
            return None
        around = self._around(place)
        if not all(map(self._has_kept, self._called(BESIDE, around))):
            return None
        if in_lead:
            figures = self._called(FIGURE, around)
            if not figures:
                return None
            around = around[: around.index(figures[0]) + 1]
        if name in ("img", "image"):
            return self._image(place, around)
        return self._player(place, name)

    def _image(self, place: int, around: list[int]) -> Medium | None:
        attributes = self._attributes(place)
        if _is_small(attributes) or not JUNK.isdisjoint(class_words_among(attributes)):
            return None
        url = self._address(attributes, self._sources(place, around))
        if not url or is_junk(url):
            return None
        caption = self._caption(place, around)
        if not caption and (self._is_teaser(around) or self._is_in_box(around)):
            return None
        alt = _on_one_line(attributes.get("alt", ""))
        return Medium(IMAGE, url, caption, "" if alt in SAYS_NOTHING else alt)

    def _player(self, place: int, name: str) -> Medium | None:
        attributes = self._attributes(place)
        if name in (VIDEO, AUDIO):
            given = [attributes, *self._inside(place)]
            found = list(filter(None, map(self._first_address, given)))
            files = [url for url in found if extension_of(url) not in PLAYLISTS]
            best = next(iter(files or found), None)
            return Medium(name, best, is_file=bool(files)) if best else None
        url = self._first_address(attributes) or ""
        kind = _KIND_OF_HOST.get((split_url(url).hostname or "").removeprefix("www."))
        title = _on_one_line(attributes.get("title", ""))
        return Medium(kind, url, title, is_file=False) if kind else None

    # --- what is around a tag ---------------------------------------------------------------------

    def _around(self, place: int) -> list[int]:
        """The opening tags of the innermost elements around *place*, the innermost first.

        They are among the `MAX_STEPS` nearest tags that are open there.
        """
        kinds, tags = self._kinds, self._tags
        partners, unclosed = self._partners, self._unclosed
        around: list[int] = []
        at = place
        for _ in range(MAX_STEPS):
            at = unclosed[at - 1] if at > 0 else -1
            if at < 0 or len(around) >= MAX_DEPTH:
                break
            if _IS_AROUND[tags[at]] and kinds[at] == OPEN and partners[at] >= 0:
                around.append(at)
        return around

    def _called(self, numbers: frozenset[int], elements: list[int]) -> list[int]:
        """Those of *elements* whose names have one of *numbers*."""
        return [each for each in elements if self._tags[each] in numbers]

    @lazy
    def _words(self) -> bytes:
        """bool[n_tokens], as bytes: they are searched in no time."""
        return self.tokens.is_word.tobytes()

    @lazy
    def _kept_words(self) -> bytes:
        return (self.kept & self.tokens.is_word).tobytes()

    def _has_kept(self, element: int) -> bool:
        """Whether any of an element's words is kept; if not, it stands beside the text."""
        return self._kept_words.find(1, element, self._partners[element]) >= 0

    def _is_in_box(self, around: list[int]) -> bool:
        """Whether a picture is in a block that has words, none of which is kept."""
        box = -1
        for element in around:
            if self._has_kept(element):
                break
            box = element
        if box < 0:
            return False
        at, end = box, self._partners[box]
        for _ in range(FEW_WORDS if self._opening("a", box) else MANY_WORDS + 1):
            at = self._words.find(1, at, end) + 1
            if not at:
                return False
        return True

    def _is_teaser(self, around: list[int]) -> bool:
        """Whether a link around a picture leads to another page, and not to the picture itself."""
        links = self._called(LINK, around)
        if not links:
            return False
        href = self._attributes(links[0]).get("href", "").strip()
        is_page = bool(href) and not href.startswith(("#", "javascript:"))
        return is_page and extension_of(href) not in IMAGE_FILES

    def _sources(self, place: int, around: list[int]) -> Iterator[Mapping[str, str]]:
        """The attributes of each `<source>` in the `<picture>` around its first image."""
        for element in around[:1]:
            is_picture = TAG_NAMES[self._tags[element]] == "picture"
            if is_picture and self._opening("img", element)[:1] == [place]:
                yield from self._inside(element)

    def _inside(self, element: int) -> Iterator[Mapping[str, str]]:
        """The attributes of the `<source>` tags in an *element*."""
        return map(self._attributes, self._opening("source", element))

    def _opening(self, name: str, element: int) -> list[int]:
        """Where the first tags called *name* open in an *element*."""
        if name not in self._places:
            self._places[name] = self.tokens.is_open(name).nonzero()[0].tolist()
        places, end = self._places[name], self._partners[element]
        first = bisect_left(places, element)
        after = bisect_left(places, max(end, element), first)
        return places[first : min(after, first + MAX_INSIDE)]

    def _caption(self, place: int, around: list[int]) -> str:
        """The caption in the figure around an image; else what is called one and follows it."""
        figures = self._called(FIGURE, around)
        captions = self._opening("figcaption", figures[0]) if figures else []
        if captions:
            return self._text(captions[0])
        if not self._may_have_caption(place):
            return ""
        near = self._kinds[place + 1 : place + CAPTION_WITHIN].tobytes()
        for at in (place + 1 + found.start() for found in _OPENING.finditer(near)):
            name = TAG_NAMES[self._tags[at]]
            if name in MEDIA_TAGS:
                break
            is_block = name in BLOCK_TAGS and self._partners[at] > at
            if is_block and (name == "figcaption" or self._is_called_caption(at)):
                return self._text(at)
        return ""

    def _may_have_caption(self, place: int) -> bool:
        """Whether anything is called a caption near behind a picture, or much stands there."""
        ends = self._ends
        start, end = ends[place], ends[min(place + CAPTION_WITHIN, len(ends)) - 1]
        return end - start > MAX_TAG or CAPTION in self.tokens.clean[start:end].lower()

    def _is_called_caption(self, element: int) -> bool:
        source = self._source(element)
        return CAPTION in source.lower() and CAPTION in class_words(source)

    def _text(self, element: int) -> str:
        """The text of an *element* on one line; many pictures may share it."""
        if element not in self._texts:
            start, end = self._ends[element], self._partners[element]
            until = min(self._starts[end], start + 4 * MAX_CAPTION) if end > 0 else start
            text = _TAG.sub(" ", _INLINE_TAG.sub("", self.tokens.clean[start:until]))
            self._texts[element] = _on_one_line(decode_all(text))
        return self._texts[element]

    # --- what a tag says --------------------------------------------------------------------------

    def _bounds(self, place: int) -> tuple[int, int]:
        """Where the tag at *place* begins and ends, cut if it is too long."""
        start = self._starts[place]
        return start, min(self._ends[place], start + MAX_TAG)

    def _source(self, place: int) -> str:
        start, end = self._bounds(place)
        return self.tokens.clean[start:end]

    def _attributes(self, place: int) -> dict[str, str]:
        """The attributes of the tag at *place*, the first of each name."""
        if place not in self._values:
            self._values[place] = attributes_of_tag(self.tokens.clean, *self._bounds(place))
        return self._values[place]

    def _address(
        self, attributes: Mapping[str, str], sources: Iterator[Mapping[str, str]]
    ) -> str | None:
        """The address of a picture in its largest size, if it has several."""
        sizes: list[tuple[float, str]] = []
        for given in (attributes, *sources):
            for listed in filter(None, map(given.get, SIZES)):
                sizes.extend(_sizes(listed))
        for _, address in sorted(sizes, key=lambda size: -size[0]):
            url = self._absolute(address)
            if url and not is_junk(url):
                return url
        return self._first_address(attributes)

    def _first_address(self, attributes: Mapping[str, str]) -> str | None:
        urls = map(self._absolute, filter(None, map(attributes.get, ADDRESSES)))
        return next((url for url in urls if url), None)

    def _absolute(self, address: str) -> str | None:
        address = "".join(address.split())  # as browsers read it
        is_usable = address and len(address) <= MAX_URL and address.isprintable()
        return joined_url(address, self.base) if is_usable else None


def _sizes(listed: str) -> Iterator[tuple[float, str]]:
    """The addresses in a `srcset`, each with its width or density."""
    for part in _BETWEEN_SIZES.split(listed)[:MAX_SIZES]:
        words = part.split(maxsplit=2)
        if words:
            size = _SIZE.match(words[1]) if len(words) > 1 else None  # `1200w` or `2x`
            yield float(size[1]) if size else 1.0, words[0]


def _is_small(attributes: Mapping[str, str]) -> bool:
    """Whether a side of the picture is declared to be short."""
    sides = (_PIXELS.match(attributes[name]) for name in ("width", "height") if name in attributes)
    return any(side is not None and int(side[1]) < MIN_SIDE for side in sides)
