"""What the address of a page tells of its kind: an article has a date, a number or a long slug.

A front, a section, a tag has a short word instead, and a page of its own says so by that word. All
is counted in the path and the values of the query; a page whose address is unknown has none of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from scrapy_mss.blocks.lazy import lazy

MAX_LENGTH: Final = 2048  # characters of an address that are read
MAX_DIGITS: Final = 8  # of an article's number: what is longer is a number of something else
MAX_SLUG: Final = 8  # words: a longer slug says no more

_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d([/._-]?)(?:0?[1-9]|1[0-2]|[a-z]{3})(?:\1|/)[0-3]?\d")
_NUMBER = re.compile(r"\d+")
_EXTENSION = re.compile(r"\.[a-z]{3,5}$")
_SEPARATOR = re.compile(r"[-_+.\s]+")

LISTS: Final = frozenset(
    "archiv archive archives archivo auteur author authors autor autoren categoria categories "
    "category etiqueta home index kategorie label page razdel ressort rubrik rubrique search "
    "section sections suche tag tags tema thema themen topic topics".split()
)


@dataclass(frozen=True)
class Address:
    """An address, empty if it is unknown."""

    url: str

    @lazy
    def parts(self) -> tuple[list[str], list[str]]:
        """The segments of the path, without an extension, and the values of the query."""
        try:
            split = urlsplit(self.url[:MAX_LENGTH].lower())
        except ValueError:
            return [], []
        segments = [_EXTENSION.sub("", unquote(each)) for each in split.path.split("/")]
        values = [each.partition("=")[2] for each in split.query.split("&")]
        return list(filter(None, segments)), list(filter(None, values))

    @property
    def is_known(self) -> bool:
        return bool(self.url)

    @property
    def is_root(self) -> bool:
        """Whether it is that of a site's front page."""
        return self.is_known and not any(self.parts)

    @property
    def has_date(self) -> bool:
        return _DATE.search("/".join(self.parts[0])) is not None

    @property
    def digits(self) -> int:
        """The digits of the longest number, up to ``MAX_DIGITS``."""
        segments, values = self.parts
        in_path = (run for segment in segments for run in _NUMBER.findall(segment))
        numbers = [*in_path, *filter(_NUMBER.fullmatch, values)]
        return min(max(map(len, numbers), default=0), MAX_DIGITS)

    @property
    def slug_words(self) -> int:
        """The words of the longest slug, up to ``MAX_SLUG``."""
        words = [sum(map(_is_word, _SEPARATOR.split(each))) for each in self.parts[0]]
        return min(max(words, default=0), MAX_SLUG)

    @property
    def is_list(self) -> bool:
        """Whether a word in the path says that it leads to a list."""
        return not LISTS.isdisjoint(self.parts[0])


def _is_word(piece: str) -> bool:
    return bool(piece) and not piece.isdigit()
