"""What is known of a page that is to be of some kind: its words, its address, what it declares.

And what stands around the text that was kept of it: pictures, captions, dates.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np

from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.references import decode_value
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import CJK, OPEN, WORD, Bools, Tokens, is_tag_of, mask_inside
from scrapy_mss.pages.addresses import Address, PageUrl, address_of, is_dated, is_headlined
from scrapy_mss.pages.declarations import AMP_PICTURE, AUTHOR_CUES, Declarations

OF_DECLARED_TEASER: Final = 250  # words of a teaser, if it is declared not to be free
SHORT: Final = 60  # words of what was kept; a shorter text needs a reason to be an article
MAX_DATES: Final = 5  # of one article and some links; lists have one for each of their articles
TITLE_WORDS: Final = 4  # of a headline
TITLE_IDEOGRAPHS: Final = 8
HEAD: Final = 30_000  # characters of a source that are searched
MAX_SEEN: Final = 80  # characters of what a sign has seen

# --- around the text ------------------------------------------------------------------------------

_PICTURE: Final = TAG_NUMBERS["img"]
_LINK: Final = TAG_NUMBERS["a"]
FIGURES: Final = frozenset({"figure", "figcaption"})
BEFORE: Final = 1500  # characters of text before an article, where its date is
AFTER_BEGIN: Final = 300  # and of itself
# Dates as readers see them: 2024-05-14, 14.5.2024, 2024年5月14日, 14. Mai 2024, May 14, 2024.
_DATE: Final = re.compile(
    r"\b(?:19|20)\d\d ?[-/.年] ?[01]?\d ?[-/.月] ?[0-3]?\d"
    r"|\b[0-3]?\d[./-][01]?\d[./-](?:19|20)\d\d\b"
    r"|\b[0-3]?\d(?:st|nd|rd|th|\.)? (?:de )?[^\W\d]{3,12}\.?,? (?:de )?(?:19|20)\d\d\b"
    r"|\b[^\W\d]{3,12}\.? [0-3]?\d(?:st|nd|rd|th)?,? (?:19|20)\d\d\b"
)


@dataclass(frozen=True, eq=False)
class PageFacts:
    """What the signs are read from; all but plain values is looked at when first asked for.

    The *kept* ones of *tokens* (bool[n_tokens]) are the *text* that was found in the page, all of
    whose text has *all_words*. *likely* says that the page classifier takes it for an article.
    *requested* is the address that was asked for, if the page was redirected from there.
    """

    tokens: Tokens
    kept: Bools
    text: str
    declarations: Declarations
    page_url: PageUrl
    title: str
    all_words: int
    likely: bool
    requested: str

    @lazy
    def source(self) -> str:
        """The head of the source."""
        return self.declarations.source[:HEAD]

    @lazy
    def own_url(self) -> PageUrl:
        """The address of the page, or the one that it declares if none is known."""
        return self.page_url if self.page_url.is_known else PageUrl(_canonical(self.source))

    @lazy
    def address(self) -> Address:
        return address_at(self.own_url.url)

    @lazy
    def names(self) -> frozenset[str]:
        """The pieces of the title in small letters: the page's name, and those of its site."""
        # With single spaces: in a run of them, the pattern would search from each.
        pieces = _BETWEEN_NAMES.split(" ".join(self.title.casefold().split()))
        return frozenset(" ".join(_NOT_IN_NAMES.sub(" ", piece).split()) for piece in pieces)

    @lazy
    def declares_article(self) -> bool:
        declared = self.declarations
        return declared.has_article_type or "article" in declared.graph_types

    @lazy
    def has_byline_and_date(self) -> bool:
        places = self.declarations.places
        if not any(places[cue] for cue in AUTHOR_CUES):
            return False
        source = self.declarations.source
        return 0 < sum(source.count(cue) for cue in _DATE_CUES) <= MAX_DATES

    @property
    def is_short_article(self) -> bool:
        """Whether it is taken for an article, and a teaser might have as many words."""
        return self.likely and self.n_words < OF_DECLARED_TEASER

    @lazy
    def has_reason(self) -> bool:
        """Whether something but its text says that the page is an article."""
        return self.declares_article or self.has_telling_address or self.has_byline_and_date

    @lazy
    def has_telling_address(self) -> bool:
        """Whether a date or a headline is in its address."""
        return is_telling(self.address)

    @lazy
    def is_published(self) -> bool:
        """Whether the page says of anything when it was published, or by whom."""
        declared = self.declarations
        if any(declared.places[cue] for cue in AUTHOR_CUES) or self.is_dated:
            return True
        return any(cue in declared.source for cue in _PUBLISHED_CUES)

    @lazy
    def has_headline(self) -> bool:
        """Whether the title has a headline: sections have names of a word or two."""
        return any(
            len(name.split()) >= TITLE_WORDS or len(_IDEOGRAPHS.findall(name)) >= TITLE_IDEOGRAPHS
            for name in self.names
        )

    def declared(self, types: frozenset[str]) -> str:
        """Which of *types* the page is of, if it is no article in JSON-LD."""
        own = self.declarations.own_types
        if self.declarations.has_article_type or types.isdisjoint(own):
            return ""
        return min(types & own)

    def declared_in_graph(self, beginning: str) -> str:
        """Its `og:type` with that *beginning*, if it is no article in JSON-LD."""
        if self.declarations.has_article_type:
            return ""
        found = (each for each in self.declarations.graph_types if each.startswith(beginning))
        return min(found, default="")

    def named(self, names: frozenset[str]) -> str:
        """Which of *names* the page has in its title."""
        return "" if names.isdisjoint(self.names) else min(names & self.names)

    def marked(self, mark: re.Pattern[str]) -> str:
        """The *mark* in the head of the source."""
        found = mark.search(self.source)
        return "" if found is None else quoted(found[0])

    # --- around the text --------------------------------------------------------------------------

    @lazy
    def span(self) -> slice:
        """From the first to the last kept token."""
        kept = self.kept.tobytes()
        return slice(max(kept.find(True), 0), kept.rfind(True) + 1)

    @lazy
    def words(self) -> Bools:
        """Whether each token of the span is a word of the text."""
        words: Bools = np.equal(self.tokens.kind[self.span], WORD) & self.kept[self.span]
        return words

    @lazy
    def n_words(self) -> int:
        """The words of the text."""
        return int(np.count_nonzero(self.words))

    def n_inside(self, names: frozenset[str]) -> int:
        """The words of the text inside elements with one of *names*."""
        tokens, start, before = self.tokens, self.span.start, slice(0, self.span.stop)
        is_open = is_tag_of(tokens, names, before) & np.equal(tokens.kind[before], OPEN)
        opens = is_open.nonzero()[0]
        n_words, last = 0, start
        for begin, end in zip(opens.tolist(), tokens.partner[opens].tolist(), strict=True):
            if end > last:  # it is in no other, nor before the text
                inside = self.words[max(begin - start, 0) : end - start]
                n_words += int(np.count_nonzero(inside))
                last = end
        return n_words

    @lazy
    def n_pictures(self) -> int:
        """The pictures between the first and the last word of the text."""
        tokens, span = self.tokens, self.span
        if not span.stop:
            return 0
        n_pictures = tokens.tag[span].tobytes().count(_PICTURE)
        in_amp = self.declarations.places[AMP_PICTURE]
        if not in_amp:
            return n_pictures
        begin, end = int(tokens.start[span.start]), int(tokens.end[span.stop - 1])
        return n_pictures + bisect_left(in_amp, end) - bisect_left(in_amp, begin)

    @lazy
    def n_captions(self) -> int:
        """The words of the text inside figures."""
        return self.n_inside(FIGURES)

    @lazy
    def linked(self) -> Bools:
        """bool[n_tokens]: the words of the page in links."""
        tokens = self.tokens
        links = (tokens.tag == _LINK) & (tokens.kind == OPEN) & (tokens.partner >= 0)
        linked: Bools = tokens.is_word & mask_inside(tokens, links)
        return linked

    @lazy
    def is_dated(self) -> bool:
        """Whether a date stands before the text or in its beginning."""
        begin = int(self.tokens.clean_start[self.span.start]) if self.span.stop else 0
        around = self.tokens.clean[max(begin - BEFORE, 0) : begin + AFTER_BEGIN]
        return _DATE.search(around) is not None


def address_at(url: str) -> Address:
    """The parts of *url*; none where it is no address."""
    return address_of(url) or Address("", (), "", "", None)


def is_telling(address: Address) -> bool:
    """Whether a date or a headline is in *address*."""
    return is_dated(address) or is_headlined(address)


def quoted(text: str) -> str:
    """*text* in quotation marks, on one line and not too long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= MAX_SEEN else line[: MAX_SEEN - 1] + '…'}”"


_IDEOGRAPHS: Final = re.compile(f"[{CJK}]")
_HREF: Final = re.compile(r"""\shref\s*=\s*["']?([^"'\s>]+)""")
_BETWEEN_NAMES: Final = re.compile(r" [-–—·»›•:] | ?\| ?")  # noqa: RUF001
_NOT_IN_NAMES: Final = re.compile(r"[.!?…]+")
_PUBLISHED_CUES: Final = ("datePublished", "published_time")
_DATE_CUES: Final = ("<time", *_PUBLISHED_CUES)


def _canonical(source: str) -> str:
    """The address in the `<link>` whose relation is `canonical`; empty if there is none."""
    place = source.find("canonical")
    begin, end = source.rfind("<", 0, max(place, 0)), source.find(">", place)
    if not source.startswith("<link", begin):
        return ""
    found = _HREF.search(source, begin, end)
    return decode_value(found[1]) if found else ""
