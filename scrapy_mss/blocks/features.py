"""What a passage looks like, whatever its words mean: length, links, signs, place, surroundings.

Every measure is a column, a row of numbers a passage; `columns` lists them all, and the order of
its keys is the order in which the judge knows them. They hold for any language: what is counted
are signs, capitals, digits and lengths. Counts are taken as logarithms, so that long pages are not
out of all proportion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.segmentation import LEVELS, Passages
from scrapy_mss.markup.description import described_pairs, pairs
from scrapy_mss.markup.elements import elements, within
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Bools, Floats, Tokens

Columns = dict[str, Floats]

SENTENCE_ENDS = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
COMMAS = ",;\u060c\u061b\u3001\uff0c"
QUOTES = "\"'\u00ab\u00bb\u2018\u2019\u201c\u201d\u201e\u300c\u300d"
CLOSERS = SENTENCE_ENDS + '"\u00bb\u201d:)'

OWN_TAGS = ("p", "li", "div", "td", "blockquote", "figcaption", "section", "pre", "dd")
AROUND = (
    *("article", "main", "aside", "nav", "footer", "header", "form", "table", "ul", "ol"),
    *("figure", "blockquote", "section", "dl", "details", "button", "select", "noscript"),
)
HEADINGS = tuple(f"h{level}" for level in range(1, 7))
HALF_TITLED, TITLED = 0.3, 0.6  # how much of a lower heading, or of a line, is in a page's title
LONGEST_HEADLINE = 40  # words
SHORT = 4  # words that a description and a headline may share by chance
DESCRIBES = 0.5  # of the description, which a passage that is it holds at the least
FAR = 9.0  # log of the words to what is not there

_LEVELS = np.zeros(256, np.int64)
_LEVELS[[TAG_NUMBERS[name] for name in HEADINGS]] = range(1, len(HEADINGS) + 1)
_N_CODES = 0x2000  # letters with a case and digits stand below, but for wide and rare forms
_UPPER = np.array([chr(code).isupper() for code in range(_N_CODES)])
_DIGIT = np.array([chr(code).isdigit() for code in range(_N_CODES)])


def columns(passages: Passages) -> Columns:
    """All measures of a page's passages: float64[n] each."""
    title = _title(passages)
    return {
        **_text(passages),
        **_surroundings(passages),
        **_place(passages),
        **_headline(passages, title),
        **_headings(passages),
        **_described(passages),
    }


def _text(passages: Passages) -> Columns:
    tokens, words = passages.tokens, np.maximum(passages.words, 1)
    first, last = first_characters(tokens), passages.last
    letters = tokens.clean_end - tokens.clean_start

    def share(chosen: Bools) -> Floats:
        return passages.count(chosen & ~tokens.is_tag) / words

    length = np.bincount(
        passages.of + 1, np.where(tokens.is_word, letters, 0), minlength=len(passages) + 1
    )[1:]
    ends = passages.count(_among(first, SENTENCE_ENDS) & ~tokens.is_tag)
    return {
        "words": np.log1p(words),
        "letters": np.log1p(length),
        "word_length": length / words,
        "link_share": passages.linked_words / words,
        "all_linked": (passages.linked_words == words) * 1.0,
        "capitals": share(_of_kind(first, _UPPER)),
        "digits": share(_of_kind(first, _DIGIT)),
        "ends": np.log1p(ends),
        "end_share": ends / words,
        "commas": np.log1p(passages.count(_among(first, COMMAS) & ~tokens.is_tag)),
        "quotes": np.log1p(passages.count(_among(first, QUOTES) & ~tokens.is_tag)),
        "signs": share(~tokens.is_word),
        "closed": _among(first[last], CLOSERS) * 1.0,
        "colon": (first[last] == ord(":")) * 1.0,
        "capital_first": _of_kind(first, _UPPER)[passages.first] * 1.0,
        "repeated": np.log(_repetitions(passages)),
    }


def _surroundings(passages: Passages) -> Columns:
    tags = np.stack([passages.tags(level) for level in range(LEVELS)])
    own = {f"is_{name}": (tags[0] == TAG_NUMBERS[name]) * 1.0 for name in OWN_TAGS}
    around = {f"in_{name}": (tags == TAG_NUMBERS[name]).any(axis=0) * 1.0 for name in AROUND}
    depth = (passages.around >= 0).sum(axis=0) / 10.0
    return {**own, **around, "depth": depth, "hidden": passages.hidden * 1.0}


def _place(passages: Passages) -> Columns:
    n, before, total = len(passages), words_before(passages), float(passages.words.sum())
    return {
        "place": before / max(total, 1.0),
        "order": np.arange(n) / max(n, 1),
        "before": np.log1p(before),
        "after": np.log1p(total - before - passages.words),
        "page": np.full(n, np.log1p(total)),
    }


def _headline(passages: Passages, title: Floats) -> Columns:
    """How far the passage is from the heading that says what the page's title says."""
    n, level, order = len(passages), heading_level(passages), np.arange(len(passages))
    outside = passages.tags(0) != TAG_NUMBERS["title"]
    candidates = outside & ((level == 1) | ((level > 1) & (title > HALF_TITLED)) | (title > TITLED))
    none = {"from_headline": np.zeros(n), "below": np.zeros(n), "next_headlines": np.zeros(n)}
    found = {"titled": title, "headline_titled": np.zeros(n), **none}
    if not candidates.any():
        return found
    rank = title + 0.15 * (level == 1) + 0.05 * (level > 1)
    at = int(np.argmax(np.where(candidates, rank, -1.0)))
    before = words_before(passages)
    distance = before - before[at]
    same = np.cumsum((level == level[at]) & (level > 0))
    return {
        "titled": title,
        "headline_titled": np.full(n, title[at]),
        "from_headline": np.sign(distance) * np.log1p(np.abs(distance)),
        "below": (order > at) * 1.0,
        "next_headlines": np.log1p(np.maximum(same - same[at], 0)),
    }


def _headings(passages: Passages) -> Columns:
    level, last = heading_level(passages), last_heading(passages)
    before = words_before(passages)
    known = last >= 0
    return {
        "heading": np.where(level > 0, 7.0 - level, 0.0),
        "below_heading": np.where(known, np.log1p(np.maximum(before - before[last], 0.0)), FAR),
        "heading_above": np.where(known, 7.0 - level[last], 0.0),
        "main_headings": np.minimum(np.cumsum(level == 1), 4.0),
    }


def _described(passages: Passages) -> Columns:
    """How much a passage and the page's description of itself have in common, by pairs of words."""
    tokens, n = passages.tokens, len(passages)
    known = described_pairs(tokens)
    words = np.flatnonzero(tokens.is_word & (passages.of >= 0))
    of = passages.of[words]
    common = np.isin(pairs(tokens.symbol[words]), known) & (np.diff(of) == 0)
    hits = np.bincount(of[:-1][common], minlength=n)
    shown, long = passages.tags(0) != TAG_NUMBERS["title"], passages.words > SHORT
    describes = np.minimum(1.0, hits / max(len(known), 1)) * shown
    first = np.append(np.flatnonzero(describes > DESCRIBES), n)[0]
    return {
        "describes": describes,
        "described": hits / np.maximum(passages.words - 1, 1) * long * shown,
        "below_described": np.where(first < n, np.where(np.arange(n) >= first, 1.0, -1.0), 0.0),
        "description": np.full(n, float(len(known) > 0)),
    }


def words_before(passages: Passages) -> Floats:
    """float64[n]: the words of the page in front of each passage."""
    return (np.cumsum(passages.words) - passages.words).astype(np.float64)


def heading_level(passages: Passages) -> NDArray[np.int64]:
    """int64[n]: 1 to 6 for a heading, 0 for what is none."""
    return _LEVELS[passages.tags(0)]


def last_heading(passages: Passages) -> NDArray[np.int64]:
    """int64[n]: the number of the nearest heading before each passage, -1 if there is none."""
    at = np.where(heading_level(passages) > 0, np.arange(len(passages)), -1)
    return np.concatenate(([-1], np.maximum.accumulate(at)))[: len(passages)]


def _title(passages: Passages) -> Floats:
    """float64[n]: how much of a short passage's text is in the page's title, 0 to 1."""
    tokens = passages.tokens
    title = within(tokens, _first(elements(tokens, frozenset({"title"})))) & tokens.is_word
    known = np.unique(tokens.symbol[title])
    hits = passages.count(tokens.is_word & np.isin(tokens.symbol, known))
    words = passages.words
    short = (words > 1) & (words <= LONGEST_HEADLINE) & (passages.tags(0) != TAG_NUMBERS["title"])
    enough = np.minimum(1.0, hits / max(1, min(len(known), 6)))
    return np.where(short, hits / np.maximum(words, 1) * enough, 0.0)


def _first(chosen: Bools) -> Bools:
    """Only the first of what is *chosen*."""
    first: Bools = chosen & (np.cumsum(chosen) == 1)
    return first


def _repetitions(passages: Passages) -> Floats:
    """float64[n]: how many passages of the page have the same text."""
    _, which, counts = np.unique(passages.texts, return_inverse=True, return_counts=True)
    return counts[which].astype(np.float64)


def first_characters(tokens: Tokens) -> NDArray[np.uint32]:
    """uint32[n_tokens]: the code of each token's first character."""
    codes = np.frombuffer(tokens.clean.encode("utf-32-le", "surrogatepass"), "<u4")
    return codes[tokens.clean_start].astype(np.uint32)


def _among(codes: NDArray[np.uint32], characters: str) -> Bools:
    return np.isin(codes, np.array([ord(c) for c in characters], np.uint32))


def _of_kind(codes: NDArray[np.uint32], table: Bools) -> Bools:
    return table[np.minimum(codes, _N_CODES - 1)] & (codes < _N_CODES)
