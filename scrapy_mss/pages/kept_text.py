"""What stands around the text that was kept of a page: pictures, captions, dates."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np

from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import OPEN, Bools, Tokens, is_tag_of, mask_inside
from scrapy_mss.pages.declarations import AMP_PICTURE, Declarations

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
class KeptText:
    """The *kept* tokens of a page, bool[n_tokens]; the rest is computed when first asked for."""

    tokens: Tokens
    kept: Bools
    declarations: Declarations

    @lazy
    def span(self) -> slice:
        """From the first to the last kept token."""
        kept = self.kept.tobytes()
        return slice(max(kept.find(True), 0), kept.rfind(True) + 1)

    @lazy
    def n_pictures(self) -> int:
        """The pictures between its first and its last word."""
        tokens, span = self.tokens, self.span
        if not span.stop:
            return 0
        begin, end = int(tokens.start[span.start]), int(tokens.end[span.stop - 1])
        in_amp = self.declarations.places[AMP_PICTURE]
        n_in_amp = bisect_left(in_amp, end) - bisect_left(in_amp, begin)
        return tokens.tag[span].tobytes().count(_PICTURE) + n_in_amp

    @lazy
    def n_captions(self) -> int:
        """The words of it inside figures."""
        tokens = self.tokens
        figures = is_tag_of(tokens, FIGURES) & (tokens.kind == OPEN) & (tokens.partner >= 0)
        return int(np.count_nonzero(mask_inside(tokens, figures) & tokens.is_word & self.kept))

    @lazy
    def linked(self) -> Bools:
        """bool[n_tokens]: the words of the page in links."""
        tokens = self.tokens
        links = (tokens.tag == _LINK) & (tokens.kind == OPEN) & (tokens.partner >= 0)
        linked: Bools = tokens.is_word & mask_inside(tokens, links)
        return linked

    @lazy
    def is_dated(self) -> bool:
        """Whether a date stands before it or in its beginning."""
        begin = int(self.tokens.clean_start[self.span.start]) if self.span.stop else 0
        around = self.tokens.clean[max(begin - BEFORE, 0) : begin + AFTER_BEGIN]
        return _DATE.search(around) is not None


NOTHING_KEPT: Final = KeptText(tokenize(""), np.zeros(0, np.bool_), Declarations(""))
