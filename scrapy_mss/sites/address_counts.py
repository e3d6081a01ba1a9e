"""What is known of the addresses of a site, and how probably a new one is an article's.

The counts of a site map shapes of addresses to pages, articles and the minute of the last one. Like
those of texts they can be added in any order. Beyond the bound, shapes seen once are dropped before
others, and among these the least recently seen.

The probability that an address is an article's begins with `article_prior`. The site's pages with
addresses of the same shape are then counted in addition to the number of pages for which the prior
stands: first those of the general shape, finally those of the exact one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from scrapy_mss.pages.addresses import address_of, article_prior, log_odds, logistic

MAX_SHAPES: Final = 64
QUANTUM: Final = 256  # counts are whole multiples of one part of this
ONCE: Final = 1.5  # pages: below that, a shape or a row was seen on one page, or long ago
START_PAGES: Final = 2.0  # how many pages the start, and each more general shape, counts as
MIN_PAGES: Final = 3.0  # below that, a shape says nothing of a page


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
        return self.of_shape.get(shape, NOTHING)

    def plus(self, other: AddressCounts) -> AddressCounts:
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


NO_ADDRESSES: Final = AddressCounts()


def _most_worth_keeping(of_shape: Mapping[str, Seen]) -> dict[str, Seen]:
    """Seven eighths of the bound, so that not every page has to look for the worst."""

    def worth(item: tuple[str, Seen]) -> tuple[bool, int, str]:
        shape, seen = item
        return seen.pages >= ONCE, seen.minute, shape

    kept = MAX_SHAPES - MAX_SHAPES // 8
    return dict(sorted(of_shape.items(), key=worth, reverse=True)[:kept])


# Beside the shapes themselves, rows of those where pages came that only a browser fills: how many
# pages without it are counted, and how many of them needed it. No shape begins like that.
BROWSER: Final = "browser "
ENOUGH_PAGES: Final = 16.0  # of a shape, so that what changes is noticed soon


def needs_browser(url: str, known: AddressCounts) -> bool:
    """Whether pages at addresses such as *url* mostly needed a browser, by what is *known*."""
    seen = known.find(_of_browser(url))
    return seen.pages >= MIN_PAGES and seen.articles > seen.pages / 2


def of_browser(url: str, known: AddressCounts, minute: int, *, needed: bool) -> AddressCounts:
    """What is to be added to those *known* for the page at *url*, be a browser *needed* or not.

    A page that does not need it where others did weighs as much as these together: to ask for one
    page in vain costs as much as a hundred downloads. Of other shapes such pages are not counted.
    """
    shape = _of_browser(url)
    seen = known.find(shape)
    if needed:
        pages = float(seen.pages < ENOUGH_PAGES or not needs_browser(url, known))
    else:
        pages = seen.pages if needs_browser(url, known) else 0.0
    row = Seen(pages, pages if needed else 0.0, minute)
    return AddressCounts({shape: row} if shape and pages else {})


def _of_browser(url: str) -> str:
    address = address_of(url)
    return f"{BROWSER}{address.shapes.place}" if address else ""


class Guess(NamedTuple):
    """How probably a page is an article, and how many pages at such addresses were read."""

    probability: float
    pages: float


UNREADABLE: Final = Guess(0.0, 0.0)  # of an address that cannot be read


def guess(url: str, known: AddressCounts) -> Guess:
    """What the page at *url*, which was not read yet, is by what is *known* of its site."""
    address = address_of(url)
    if address is None:
        return UNREADABLE
    probability = article_prior(address)
    for shape in dict.fromkeys(address.shapes):
        seen = known.find(shape)
        articles = seen.articles + START_PAGES * probability
        probability = articles / (seen.pages + START_PAGES)
    return Guess(probability, known.find(address.shapes.place).pages)


def with_address(url: str, known: AddressCounts, probability: float) -> float:
    """The *probability* that the page at *url*, which is read, is an article, with what is *known*.

    It moves towards what pages of the most exact shape were that enough are known of: as for
    containers, further, the more pages there are and the more these agree.
    """
    address = address_of(url) if known else None
    shapes = address.shapes if address else None
    for shape in (shapes.exact, shapes.place) if shapes else ():
        seen = known.find(shape)
        if seen.pages >= MIN_PAGES:
            share = seen.articles / seen.pages
            agreement = (2 * share - 1) ** 2 * seen.pages / (seen.pages + 2)
            odds = log_odds(probability)
            return logistic(odds + agreement * (log_odds(share) - odds))
    return probability
