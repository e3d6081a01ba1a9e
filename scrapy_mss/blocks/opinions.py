"""Opinions about a page: which blocks are its text, by other ideas than the counts.

Each opinion is a small extractor of its own, after an idea of the literature, computed on the
page's arrays in some ten microseconds. None knows what was learned, so that they err on other pages
than the counts do, above all on sites unlike those of the training. The network sees for each
block which of them keep it, and for the page how much each of them keeps and how far they agree: an
opinion that stands alone is worth less than two of one mind.

``OPINIONS`` is the table of them. The constants were chosen by the F1 of each opinion alone; the
network weighs what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from scrapy_mss.blocks.class_roles import Role
from scrapy_mss.blocks.features import NO_LEVEL, Columns
from scrapy_mss.blocks.mlp import product
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.readings import PARAGRAPH_LETTERS, Reading
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Bools, Bytes, Floats

LEAST_TEXT = 250  # letters of prose: with fewer, a container that says it is the text is a teaser
MIN_LINKED = 0.5  # of a block's words: a block with more is no text

# Paragraphs that score their containers, after Readability
LEVEL_WEIGHTS = (1.0, 1 / 2, 1 / 6)  # of a paragraph's points for the elements around it
LETTERS_PER_POINT, MOST_LENGTH_POINTS = 100, 3
NAME_POINTS = 25.0  # for a class word that speaks for text, and against it
LEAST_SCORE = 10.0  # of a sibling that belongs to the best container
SIBLING_SHARE = 0.2  # of the best container's score
TAG_POINTS = {
    "article": 10.0,
    "div": 5.0,
    **dict.fromkeys(("pre", "td", "blockquote"), 3.0),
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3.0),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "th"), -5.0),
}
OUTWARD_GAIN = 1.1  # times the density that the element around it must have, to be chosen instead

MAIN_HEADING = NO_LEVEL - 1  # the rank of a heading of level one
SECOND_BODY = 0.5  # of the prose of the longest: a container that comes before it and has that much
HEADLINE_SHARE = 0.4  # of the prose below the headline, that its container has

# A tag costs as much as so many words. For an element, whose end is certain, a small price is best:
# of all lines, .2 gave F1 .940 on articles_wcxb, .3 .938, .5 .933, 1 .916. A run of blocks, which
# nothing but tags ends, needs the whole word.
WORDS_PER_TAG_IN_RUN = 1.0
WORDS_PER_TAG_IN_ELEMENT = 0.3
STOP_WORD_PRICE = 0.3  # of a word, in words that have as many stop words as the page's prose
LEAST_STOP_SHARE = 0.05  # of the words of prose; with fewer, the language has no stop words here

_TAG_POINTS = np.zeros(256)
_TAG_POINTS[[TAG_NUMBERS[name] for name in TAG_POINTS]] = list(TAG_POINTS.values())


class Opinion(NamedTuple):
    """A row of the table: a name, the blocks that it keeps, and whose idea it is."""

    name: str
    of: Callable[[Reading], Bools]
    idea: str


def paragraph_votes(reading: Reading) -> Bools:
    """The container that paragraphs give most points, and its siblings with enough of them."""
    containers = reading.containers
    score = _paragraph_scores(reading)
    best = _outward(reading, int(np.argmax(score)))
    is_sibling = containers.parent[:-1] == containers.parent[best]
    is_sibling &= score >= max(LEAST_SCORE, SIBLING_SHARE * score[best])
    is_sibling &= ~reading.beside
    is_sibling[best] = True
    return _text_of(reading, containers.inside(is_sibling))


def _paragraph_scores(reading: Reading) -> Floats:
    """float64[m]: the points of each element by its paragraphs, tag, names and links."""
    containers, m = reading.containers, len(reading.containers)
    points = _points(reading)
    score = np.zeros(m)
    for level, weight in enumerate(LEVEL_WEIGHTS):
        score += np.bincount(reading.container(level), points * weight, m + 1)[:m]
    has_any = score > 0
    names = (reading.roles[Role.LIKELY] > 0) * 1.0 - (reading.roles[Role.BESIDE] > 0)
    score += _TAG_POINTS[containers.tag] + NAME_POINTS * names
    letters = np.maximum(containers.total(reading.letters), 1.0)
    linked = containers.total(reading.letters * reading.link_share)
    scored: Floats = np.where(has_any, score * (1 - linked / letters), -np.inf)
    return scored


def _points(reading: Reading) -> Floats:
    """float64[n]: what each paragraph gives, by its commas and its length."""
    length = np.minimum(reading.letters / LETTERS_PER_POINT, MOST_LENGTH_POINTS)
    points = (1 + reading.commas + length) * (reading.letters >= PARAGRAPH_LETTERS)
    text = points * (reading.link_share < MIN_LINKED)
    outside = text * ~reading.inside_beside
    return next((each for each in (outside, text) if each.any()), points)


def _outward(reading: Reading, row: int) -> int:
    """The element around *row*, as long as that adds more text than it adds tags."""
    values = _beside_at_most_zero(reading, _values(reading, WORDS_PER_TAG_IN_ELEMENT))
    parent, density = reading.containers.parent, reading.containers.total(values)
    while parent[row] < len(density) and density[parent[row]] > OUTWARD_GAIN * density[row]:
        row = int(parent[row])
    return row


def named_body(reading: Reading) -> Bools:
    """The first container that says it is an article's body, else an article, else the main."""
    containers = reading.containers
    prose = containers.total(reading.prose * ~reading.inside_beside)
    subject, body = reading.roles[Role.SUBJECT], reading.roles[Role.BODY]
    is_body = (subject > 0) & (body > 0) & (subject + body > 1)
    for chosen in (is_body, _is_tag(containers.tag, "article"), _is_tag(containers.tag, "main")):
        rows = np.flatnonzero(chosen & ~reading.beside & (prose >= LEAST_TEXT))
        if len(rows):
            first = rows[prose[rows] >= SECOND_BODY * prose[rows].max()][0]
            return _text_of(reading, containers.run(int(first)))
    return np.zeros(len(reading), np.bool_)


def below_headline(reading: Reading) -> Bools:
    """What follows the headline in the first element around it that has text below it."""
    below = reading.columns["below_headline"] > 0
    if not below.any():
        return below
    headline = int(np.argmax(below)) - 1
    prose = reading.prose * below * ~reading.inside_beside
    enough = max(LEAST_TEXT, HEADLINE_SHARE * float(prose.sum()))
    total = np.append(reading.containers.total(prose), 0.0)  # the last is of no element
    around = reading.containers.around[:, headline]
    if (total[around] >= enough).any():
        below &= reading.containers.run(int(around[np.argmax(total[around] >= enough)]))
    if reading.columns["heading_rank"][headline] == MAIN_HEADING:
        below &= reading.columns["later_headings"] == 0
    return _text_of(reading, below)


def densest_run(reading: Reading) -> Bools:
    """The run of blocks with the most words in it and tags around it: body text extraction."""
    return best_run(_values(reading, WORDS_PER_TAG_IN_RUN)) & _is_unlinked(reading)


def densest_element(reading: Reading) -> Bools:
    """The element with the most words and the fewest tags and linked words in it."""
    return _best_element(reading, _values(reading, WORDS_PER_TAG_IN_ELEMENT))


def stop_word_element(reading: Reading) -> Bools:
    """The element with more stop words than its other words outweigh."""
    prose = reading.prose > 0
    share = reading.stop_words[prose].sum() / max(reading.words[prose].sum(), 1.0)
    as_words = reading.stop_words / max(share, LEAST_STOP_SHARE)
    values = as_words * (1 - 2 * reading.link_share) - STOP_WORD_PRICE * reading.words
    return _best_element(reading, values)


def best_run(values: Floats) -> Bools:
    """bool[n]: the run with the greatest sum of *values* (float64[n])."""
    sums = np.concatenate((np.zeros(1), np.cumsum(values)))
    end = int(np.argmax(sums - np.minimum.accumulate(sums)))
    start = int(np.argmin(sums[: end + 1]))
    at = np.arange(len(values))
    return (at >= start) & (at < end)


def _values(reading: Reading, words_per_tag: float) -> Floats:
    """float64[n]: the words of each block, linked ones against it, less the price of its tags."""
    return reading.words * (1 - 2 * reading.link_share) - words_per_tag * reading.tags


def _beside_at_most_zero(reading: Reading, values: Floats) -> Floats:
    """*values*, where what is beside the text cannot speak for it."""
    return np.where(reading.inside_beside, np.minimum(values, 0.0), values)


def _best_element(reading: Reading, values: Floats) -> Bools:
    """The text of the element with the greatest sum of *values*."""
    total = reading.containers.total(_beside_at_most_zero(reading, values))
    return _text_of(reading, reading.containers.run(int(np.argmax(total))))


def _is_tag(tags: Bytes, name: str) -> Bools:
    return np.equal(tags, TAG_NUMBERS[name])


def _is_unlinked(reading: Reading) -> Bools:
    return reading.link_share < MIN_LINKED


def _text_of(reading: Reading, blocks: Bools) -> Bools:
    """The *blocks* that are lines of a text, without what is beside it and without linked ones."""
    return blocks & reading.is_line & ~reading.inside_beside & _is_unlinked(reading)


OPINIONS: tuple[Opinion, ...] = (
    Opinion("paragraph_votes", paragraph_votes, "Readability (Arc90, 2009)"),
    Opinion("named_body", named_body, "trafilatura (Barbaresi, 2021): the container by its names"),
    Opinion("below_headline", below_headline, "the text follows the headline"),
    Opinion("densest_run", densest_run, "body text extraction (Finn and others, 2001)"),
    Opinion("densest_element", densest_element, "the same idea, of whole elements"),
    Opinion("stop_words", stop_word_element, "Goose (2011): running text has stop words"),
)


def opinions(reading: Reading) -> dict[str, Bools]:
    """The blocks that each opinion keeps, by its name: bool[n]."""
    if not len(reading.containers):
        return {opinion.name: np.zeros(len(reading), np.bool_) for opinion in OPINIONS}
    return {opinion.name: opinion.of(reading) for opinion in OPINIONS}


def opinion_columns(page: Page, features: Columns) -> Columns:
    """What the opinions say of each block, how much each keeps, and how far two of them agree.

    An opinion that keeps nothing is silent: it does not contradict the others. What they say on
    average stands in its place.
    """
    found = opinions(Reading(page, features))
    words, n = page.blocks.words.astype(np.float64), len(page.blocks)
    kept = np.stack(list(found.values())).astype(np.float64)
    size = product(kept, words)
    speaks = size > 0
    agreement = _agreement(kept, words)
    pairs = list(combinations(range(len(found)), 2))
    spoken = [agreement[pair] for pair in pairs if speaks[list(pair)].all()]
    kept[~speaks] = kept[speaks].mean(axis=0) if speaks.any() else 0.0

    columns = {f"opinion_{name}": row for name, row in zip(found, kept, strict=True)}
    columns["opinions"] = kept.mean(axis=0)
    for name, words_kept in zip(found, size, strict=True):
        columns[f"share_of_{name}"] = np.full(n, words_kept / max(float(words.sum()), 1.0))
    for pair in pairs:
        f1 = agreement[pair] if speaks[list(pair)].all() else np.mean(spoken or [0.0])
        one, other = (OPINIONS[i].name for i in pair)
        columns[f"agreement_of_{one}_and_{other}"] = np.full(n, f1)
    return columns


def _agreement(kept: Floats, words: Floats) -> Floats:
    """float64[k, k]: the F1, by words, of what each two of the opinions keep (float64[k, n])."""
    common = product(kept * words, kept.T)
    size = np.diag(common)
    f1: Floats = 2 * common / np.maximum(size[:, np.newaxis] + size, 1.0)
    return f1
