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
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

from scrapy_mss.markup.attributes import CLASS_ATTRIBUTES, class_words_among
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.rendering import decode_all, without_controls
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.pages.addresses import MAX_URL, joined_url, split_url
from scrapy_mss.pages.tree import Element, PageTree

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
_LONGEST_SIZE: Final = len("-1200x1200")


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
    stem = name.rpartition(".")[0] or name
    size = _SIZE_IN_NAME.search(stem, len(stem) - _LONGEST_SIZE)
    stem = stem[: size.start()] if size else stem
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
    shown = text if text.isprintable() else without_controls(text, " ")
    return " ".join(shown.split())[:MAX_CAPTION]


# --- of a page ------------------------------------------------------------------------------------

MAX_LOOKED_AT: Final = 1_000  # tags of media in one article
MAX_LEAD: Final = 1_500  # tokens between the headline and the text
MAX_TAG: Final = 2**14  # characters of a tag; a list of sizes is long
MAX_SIZES: Final = 50  # in one list
MAX_INSIDE: Final = 20  # tags of a kind in an element, such as `<source>` in `<picture>`
MAX_DEPTH: Final = 40  # elements around a picture that are looked at
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

HEADLINE: Final = frozenset({"h1"})
IMAGES: Final = frozenset({"img", "image"})
MEDIA_TAGS: Final = IMAGES | {"video", "audio", "iframe", "embed"}
OF_AMP: Final = {"amp-img": "img", "amp-video": "video", "amp-audio": "audio"}
SAYS_NOTHING: Final = ("null", "undefined")  # what templates write for an absent text
_LOOKED_AT: Final = MEDIA_TAGS | {"unknown"}  # those of AMP are
_NEAR_CAPTION: Final = MEDIA_TAGS | BLOCK_TAGS
BOXES: Final = BLOCK_TAGS | {"a", "picture"}
CAPTION: Final = "caption"

BESIDE: Final = frozenset({"aside", "nav", "footer", "form"})
TELLING: Final = BESIDE | {"a", "picture", "figure"}  # what is looked at around a picture

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
# There are commas in addresses, too. It begins with what is searched for at once: lists are long.
_BETWEEN_SIZES: Final = re.compile(r",(?:\s+|(?<=\d[wx],))")
_SIZE: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)[wx],?\Z")
_PIXELS: Final = re.compile(r"\s*(\d{1,5})(?:px)?\s*\Z")


def kept_media(tree: PageTree, kept: Bools, base: str = "") -> list[Medium]:
    """The media of the article that is the *kept* tokens (bool[n_tokens]) of the page of *tree*.

    Relative addresses begin with *base*; without one they are left out.
    """
    are_kept = kept.tobytes()
    first, last = are_kept.find(1), are_kept.rfind(1)
    if first < 0:
        return []
    article = _Article(tree, kept, base)
    headlines = list(tree.beginning(HEADLINE, first - MAX_LEAD, first))
    begin = tree.tokens_in(headlines[-1])[0] if headlines else first
    elements = islice(tree.beginning(_LOOKED_AT, begin, last + 1), MAX_LOOKED_AT)
    found = filter(None, (article.medium(each, first) for each in elements))
    return list(islice(found, MAX_MEDIA))


class _Article:
    """The elements of a page, and which of its tokens are kept."""

    def __init__(self, tree: PageTree, kept: Bools, base: str) -> None:
        self.tree, self.base, self._kept = tree, base, kept
        self._texts: dict[Element, str] = {}

    def medium(self, element: Element, first: int) -> Medium | None:
        """What *element* shows; None if that is nothing of the article's, kept from *first* on."""
        name = OF_AMP.get(element.tag, element.tag)
        if name not in MEDIA_TAGS:
            return None
        boxes = self.tree.rows_around(element.row, BOXES, MAX_DEPTH)
        around, (place, _) = self.tree.among(boxes, TELLING), self.tree.tokens_in(element)
        beside = [each.row for each in around if each.tag in BESIDE]
        if beside and self._without_kept(place, beside):
            return None
        if place < first:  # in the lead
            figure = next((each for each in around if each.tag == "figure"), None)
            if figure is None:
                return None
            around = around[: around.index(figure) + 1]
            boxes = boxes[: boxes.index(figure.row) + 1]
        if name not in IMAGES:
            return self._player(element, name)
        return self._image(element, place, around, boxes)

    def _image(
        self, element: Element, place: int, around: list[Element], boxes: list[int]
    ) -> Medium | None:
        attributes = element.attrib
        is_picture = not _is_no_picture(attributes)
        url = self._address(attributes, self._sources(element, around)) if is_picture else None
        if not url:
            return None
        caption = self._caption(place, around)
        if not caption and (_is_teaser(around) or self._is_in_box(place, boxes)):
            return None
        alt = _on_one_line(attributes.get("alt", ""))
        return Medium(IMAGE, url, caption, "" if alt in SAYS_NOTHING else alt)

    def _player(self, element: Element, name: str) -> Medium | None:
        attributes = element.attrib
        if name in (VIDEO, AUDIO):
            given = [attributes, *self._inside(element)]
            found = list(filter(None, map(self._first_address, given)))
            files = [url for url in found if extension_of(url) not in PLAYLISTS]
            best = next(iter(files or found), None)
            return Medium(name, best, is_file=bool(files)) if best else None
        url = self._first_address(attributes) or ""
        kind = _KIND_OF_HOST.get((split_url(url).hostname or "").removeprefix("www."))
        title = _on_one_line(attributes.get("title", ""))
        return Medium(kind, url, title, is_file=False) if kind else None

    # --- what is around an element ----------------------------------------------------------------

    @lazy
    def _words(self) -> bytes:
        """bool[n_tokens], as bytes: they are searched in no time."""
        return self.tree.tokens.is_word.tobytes()

    @lazy
    def _kept_words(self) -> bytes:
        return (self._kept & self.tree.tokens.is_word).tobytes()

    def _without_kept(self, place: int, boxes: list[int]) -> list[int]:
        """Of the rows of *boxes* around a token, those in which no word is kept: the innermost."""
        words = self._kept_words
        behind = words.find(1, place)
        return self.tree.inside_of(
            words.rfind(1, 0, place), behind if behind >= 0 else len(words), boxes
        )

    def _is_in_box(self, place: int, boxes: list[int]) -> bool:
        """Whether the outermost of *boxes* around a token without a kept word has words."""
        beside = self._without_kept(place, boxes)
        if not beside:
            return False
        box = self.tree.element(beside[-1])
        at, end = self.tree.tokens_in(box)
        for _ in range(FEW_WORDS if self.tree.within(box, "a", 1) else MANY_WORDS + 1):
            at = self._words.find(1, at, end) + 1
            if not at:
                return False
        return True

    def _sources(self, element: Element, around: list[Element]) -> Iterator[Mapping[str, str]]:
        """The attributes of each `<source>` in the `<picture>` around its first image."""
        for picture in around[:1]:
            if picture.tag == "picture" and self.tree.within(picture, "img", 1) == [element]:
                yield from self._inside(picture)

    def _inside(self, element: Element) -> Iterator[Mapping[str, str]]:
        """The attributes of the `<source>` tags in an *element*."""
        return (each.attrib for each in self.tree.within(element, "source", MAX_INSIDE))

    def _caption(self, place: int, around: list[Element]) -> str:
        """The caption in the figure around an image; else what is called one and follows it."""
        figures = (each for each in around if each.tag == "figure")
        for figure in islice(figures, 1):
            for caption in self.tree.within(figure, "figcaption", 1):
                return self._text(caption)
        if not self._may_have_caption(place):
            return ""
        for each in self.tree.beginning(_NEAR_CAPTION, place + 1, place + CAPTION_WITHIN):
            if each.tag in MEDIA_TAGS:
                break
            is_caption = each.tag == "figcaption" or self._is_called_caption(each)
            if is_caption and each.has_end:
                return self._text(each)
        return ""

    def _is_called_caption(self, element: Element) -> bool:
        may_be = CAPTION in self.tree.tag_of(element)
        return may_be and CAPTION in class_words_among(element.attrib)

    def _may_have_caption(self, place: int) -> bool:
        """Whether anything is called a caption near behind a picture, or much stands there."""
        ends, clean = self.tree.tokens.clean_end, self.tree.tokens.clean
        start, end = int(ends[place]), int(ends[min(place + CAPTION_WITHIN, len(ends)) - 1])
        return end - start > MAX_TAG or CAPTION in clean[start:end].lower()

    def _text(self, element: Element) -> str:
        """The text of an *element* on one line; many pictures may share it."""
        if element not in self._texts:
            inside = self._source_in(element) if element.has_end else ""
            text = _TAG.sub(" ", _INLINE_TAG.sub("", inside))
            self._texts[element] = _on_one_line(decode_all(text))
        return self._texts[element]

    def _source_in(self, element: Element) -> str:
        tokens, (first, last) = self.tree.tokens, self.tree.tokens_in(element)
        start, end = int(tokens.clean_end[first]), int(tokens.clean_start[last])
        return tokens.clean[start : min(end, start + 4 * MAX_CAPTION)]

    # --- where a picture is -----------------------------------------------------------------------

    def _address(
        self, attributes: Mapping[str, str], sources: Iterator[Mapping[str, str]]
    ) -> str | None:
        """The address of a picture in its largest size, if it has several; None of junk."""
        every = (attributes, *sources)
        listed = [given[name] for given in every for name in SIZES if name in given]
        sizes = [size for each in listed for size in _sizes(each)]
        for _, address in sorted(sizes, key=itemgetter(0), reverse=True):
            url = self._absolute(address)
            if url and not is_junk(url):
                return url
        url = self._first_address(attributes)
        return url if url and not is_junk(url) else None

    def _first_address(self, attributes: Mapping[str, str]) -> str | None:
        for name in ADDRESSES:
            url = self._absolute(attributes[name]) if name in attributes else None
            if url:
                return url
        return None

    def _absolute(self, address: str) -> str | None:
        address = "".join(address.split())  # as browsers read it
        is_usable = address and len(address) <= MAX_URL and address.isprintable()
        return joined_url(address, self.base) if is_usable else None


def _is_teaser(around: list[Element]) -> bool:
    """Whether a link around a picture leads to another page, and not to the picture itself."""
    link = next((each for each in around if each.tag == "a"), None)
    href = (link.get("href") or "").strip() if link else ""
    is_page = bool(href) and not href.startswith(("#", "javascript:"))
    # A longer one is no address, and would be remembered.
    return is_page and (len(href) > MAX_URL or extension_of(href) not in IMAGE_FILES)


def _sizes(listed: str) -> list[tuple[float, str]]:
    """The addresses in a `srcset`, each with its width or density."""
    found = []
    for part in _BETWEEN_SIZES.split(listed)[:MAX_SIZES]:
        words = part.split(maxsplit=2)
        if words:
            size = _SIZE.match(words[1]) if len(words) > 1 else None  # `1200w` or `2x`
            found.append((float(size[1]) if size else 1.0, words[0]))
    return found


def _is_no_picture(attributes: Mapping[str, str]) -> bool:
    """Whether a side of an image is declared to be short, or its class or the like says so."""
    for name in ("width", "height"):
        side = _PIXELS.match(attributes[name]) if name in attributes else None
        if side is not None and int(side[1]) < MIN_SIDE:
            return True
    said = " ".join([attributes[name] for name in CLASS_ATTRIBUTES if name in attributes]).lower()
    may_be_junk = any(map(said.__contains__, JUNK))  # in less time than to read its words
    return may_be_junk and not JUNK.isdisjoint(class_words_among(attributes))
