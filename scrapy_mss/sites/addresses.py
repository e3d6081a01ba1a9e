"""Shapes of addresses: what the addresses of a site's articles have in common, and those of lists.

    /news/2024/03/26/storm-over-the-harbour.html        /story.php?id=17
    exact    /news/{year}/{n}/{slug}.html               /story.php?id={n}
    general  /{word}/{year}/{n}/{slug}.html             /{word}.php?id={n}

Every address has three shapes. The exact one keeps single words and replaces what differs from page
to page by its kind. The shape of its place also replaces the last word, so that
all sections of a site are one, and the general one replaces all words. The counts of a site map
shapes to pages, articles and the minute of the last one. Like those of texts they can be added
in any order. Beyond the bound, shapes seen once are dropped before others, and among these
the least recently seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

MAX_SHAPES: Final = 64
MAX_SHAPE_BYTES: Final = 108  # of four parts, an ending, and a key with its value
MAX_WORD_BYTES: Final = 16  # longer words are not names of sections
MAX_PARTS: Final = 4  # the first three and the last: deeper paths differ in the middle
MAX_ADDRESS: Final = 2000  # characters; longer ones are of no shape
SLUG_WORDS: Final = 3  # from so many words on, a part of a path is a headline
QUANTUM: Final = 256  # counts are whole multiples of one part of this
ONCE: Final = 1.5  # pages: below that, a shape was seen on one page, or long ago

YEAR, NUMBER, DATE, IDENTIFIER, SLUG, WORD = ("{year}", "{n}", "{date}", "{id}", "{slug}", "{word}")
_WORDS = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(19|20)\d\d")
_DATE = re.compile(r"(19|20)\d\d[-_]?[01]\d([-_]?[0-3]\d)?")
_ENDING = re.compile(r"\.[a-z]{1,5}")
_TRACKING = re.compile(r"utm_|ref$|src$|fbclid$|gclid$|srsltid$")


class Part(NamedTuple):
    """A part of a path, or the value of a query: its kind and its text."""

    kind: str
    text: str

    @property
    def exact(self) -> str:
        return self.text if self.kind == WORD else self.kind


class Shapes(NamedTuple):
    """The shapes of an address, which may be the same."""

    general: str
    place: str
    exact: str


class Address(NamedTuple):
    """An address: the parts of its path, and the first key of its query with its value."""

    host: str  # its first label, if there are three and more: news.example.com
    parts: tuple[Part, ...]
    ending: str  # such as .html
    key: str
    value: Part | None

    @property
    def words(self) -> frozenset[str]:
        """The words that may say what kind of page it is: all but those of headlines."""
        texts = [part.text for part in self.parts if part.kind != SLUG]
        return frozenset(_WORDS.findall(" ".join((self.host, self.key, *texts))))

    @property
    def shapes(self) -> Shapes:
        """Its shapes."""
        exact = [part.exact for part in self.parts]
        kinds = [part.kind for part in self.parts]
        value = self.value or Part("", "")
        place = exact if self.key else [*exact[:-1], *kinds[-1:]]
        return Shapes(
            self._shape(kinds, value.kind),
            self._shape(place, value.kind),
            self._shape(exact, value.exact),
        )

    def _shape(self, parts: Iterable[str], value: str) -> str:
        query = f"?{self.key}={value}" if self.key else ""
        return f"/{'/'.join(parts)}{self.ending}{query}"


def address_of(url: str) -> Address | None:
    """The address in *url*; None for one that cannot be read."""
    try:
        split = urlsplit(url[: MAX_ADDRESS + 1])
    except ValueError:  # an unclosed bracket, and the like
        return None
    if len(url) > MAX_ADDRESS:
        return None
    texts = [unquote(text) for text in split.path.split("/") if text]
    name, dot, ending = texts[-1].rpartition(".") if texts else ("", "", "")
    ending = f".{ending.lower()}" if name and dot else ""
    if _ENDING.fullmatch(ending):
        texts[-1] = name
    else:
        ending = ""
    parts = [_part(text) for text in texts]
    if len(parts) > MAX_PARTS:
        parts = [*parts[: MAX_PARTS - 1], parts[-1]]
    host, _, rest = split.netloc.rpartition("@")[-1].lower().partition(".")
    host = host if "." in rest else ""
    return Address(host, tuple(parts), ending, *_first_key(split.query))


def _part(text: str) -> Part:
    text = text.lower()
    if _YEAR.fullmatch(text):
        return Part(YEAR, text)
    if _DATE.fullmatch(text):
        return Part(DATE, text)
    if text.isdigit():
        return Part(NUMBER, text)
    if len(_WORDS.findall(text)) >= SLUG_WORDS:
        return Part(SLUG, text)
    is_name = text.isprintable() and len(text.encode("utf-8", "replace")) <= MAX_WORD_BYTES
    if not is_name or any(each.isdigit() for each in text):
        return Part(IDENTIFIER, text)
    return Part(WORD, text)


def _first_key(query: str) -> tuple[str, Part | None]:
    """The first key of a *query* that does not only say where readers came from."""
    for key, value in parse_qsl(query, keep_blank_values=True):
        name = _part(key)
        if name.kind == WORD and not _TRACKING.match(name.text):
            return name.text, _part(value)
    return "", None


class Seen(NamedTuple):
    """How many pages had a shape, how many of them were articles, and the minute of the last."""

    pages: float
    articles: float
    minute: int

    def plus(self, other: Seen) -> Seen:
        return Seen(
            self.pages + other.pages,
            self.articles + other.articles,
            max(self.minute, other.minute),
        )


NOTHING: Final = Seen(0.0, 0.0, 0)


@dataclass(frozen=True, slots=True)
class AddressCounts:
    """How often pages at addresses of a shape were articles."""

    of_shape: Mapping[str, Seen] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.of_shape)

    def __iter__(self) -> Iterator[tuple[str, Seen]]:
        """Shapes and what was seen, in the order of the shapes."""
        return iter(sorted(self.of_shape.items()))

    @classmethod
    def of(cls, url: str, article_probability: float, minute: int) -> AddressCounts:
        """Those of a single page at *url*."""
        address = address_of(url) if url else None
        if address is None:
            return cls()
        articles = round(article_probability * QUANTUM) / QUANTUM
        return cls(dict.fromkeys(address.shapes, Seen(1.0, articles, minute)))

    def find(self, shape: str) -> Seen:
        """What was seen of *shape*."""
        return self.of_shape.get(shape, NOTHING)

    def plus(self, other: AddressCounts) -> AddressCounts:
        """Both added, within the bound."""
        if not self.of_shape or not other.of_shape:
            return self if self.of_shape else other
        total = dict(self.of_shape)
        for shape, seen in other.of_shape.items():
            total[shape] = total.get(shape, NOTHING).plus(seen)
        return AddressCounts(total if len(total) <= MAX_SHAPES else _most_worth_keeping(total))

    def scaled(self, halvings: int) -> AddressCounts:
        """Every count halved so many times; shapes that count nothing are gone."""
        if not halvings:
            return self
        share = 0.5**halvings
        halved = {
            shape: Seen(seen.pages * share, seen.articles * share, seen.minute)
            for shape, seen in self.of_shape.items()
        }
        return AddressCounts({s: seen for s, seen in halved.items() if seen.pages * QUANTUM >= 1})


def _most_worth_keeping(of_shape: Mapping[str, Seen]) -> dict[str, Seen]:
    """Seven eighths of the bound, so that not every page has to look for the worst."""

    def worth(item: tuple[str, Seen]) -> tuple[bool, int, str]:
        shape, seen = item
        return seen.pages >= ONCE, seen.minute, shape

    kept = MAX_SHAPES - MAX_SHAPES // 8
    return dict(sorted(of_shape.items(), key=worth, reverse=True)[:kept])
