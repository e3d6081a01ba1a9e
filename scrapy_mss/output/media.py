"""Images, videos and audio: their values, which addresses are files, which pictures are equal.

An article's `media` are such values, in page order. `image_urls` and `file_urls` are
their addresses for Scrapy's `ImagesPipeline` and `FilesPipeline`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from scrapy_mss.markup.rendering import without_controls
from scrapy_mss.pages.addresses import path_of

IMAGE, VIDEO, AUDIO = "image", "video", "audio"

MAX_MEDIA: Final = 100  # of an article; a gallery of more is no article
MAX_CAPTION: Final = 2_000  # characters
MIN_NAME: Final = 8  # characters of a file's name that no two pictures share: not `large`, `1200`

# What a file's address ends with, by what it is. Playlists (`.m3u8`, `.mpd`) are none: they name
# the pieces of a stream.
_EXTENSIONS: Final = {
    VIDEO: "mp4 m4v webm mov ogv avi mkv mpg mpeg 3gp",
    AUDIO: "mp3 m4a aac ogg oga opus wav flac",
}
KIND_OF_FILE: Final = {
    extension: kind for kind, extensions in _EXTENSIONS.items() for extension in extensions.split()
}
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
_SIZE: Final = re.compile(r"[-_]?(?:\d{2,4}x\d{2,4}|\d{3,4}w|scaled|w\d{3,4})$")


class Medium(NamedTuple):
    """An image, a video or audio; *is_file* tells what can be downloaded from what is a player."""

    kind: str
    url: str
    caption: str = ""
    alt: str = ""
    is_file: bool = True

    def as_dict(self) -> dict[str, str]:
        """The fields that an article has of it."""
        return {"kind": self.kind, "url": self.url, "caption": self.caption, "alt": self.alt}


def extension_of(url: str) -> str:
    """What the path of *url* ends with, in lower case; empty if it has no extension."""
    name = path_of(url).rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def is_junk(url: str) -> bool:
    """Whether an image is a drawing, or its name says that it is no picture of the story."""
    name = path_of(url).rpartition("/")[2].lower()
    return name.endswith(".svg") or not JUNK.isdisjoint(_WORD.findall(name))


def picture(url: str) -> str:
    """What names the picture at *url* in all of its sizes: a long name of a file, else its path."""
    path = path_of(url)
    name = path.rpartition("/")[2].lower()
    stem = _SIZE.sub("", name.rpartition(".")[0] or name)
    return stem if len(stem) >= MIN_NAME else path


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


def on_one_line(text: str) -> str:
    """*text* as it is kept of a medium: on one line, without what no page shows."""
    return " ".join(without_controls(text, " ").split())[:MAX_CAPTION]
